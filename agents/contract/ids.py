"""Names of things that live in more than one room."""

from __future__ import annotations

from typing import NewType

SessionId = NewType("SessionId", str)
"""The agent's own name of a session (Claude: UUID, Codex: thread id, ACP: sessionId)."""
AskId = NewType("AskId", str)
"""One permission request or question, unique over all processes and process generations of this hub's life."""
InputId = NewType("InputId", str)
"""One prompt or steering text handed to an agent; random, made by the adapter."""
ToolId = NewType("ToolId", str)
"""One tool call as the agent names it; unique inside a session."""
