"""What goes to an agent: prompts and how to open a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agents.contract.ids import SessionId


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture that travels inside the prompt."""

    data: bytes
    media_type: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file that already lies below the session's folder; the agent is told its path."""

    path: Path
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person wants done.

    ``text`` is delivered literally: no slash dispatch and no ``@path`` expansion, unless ``is_command`` says that
    it is one of the agent's own slash commands (then ``text`` begins with "/").
    """

    text: str
    images: tuple[ImagePart, ...] = ()
    files: tuple[FilePart, ...] = ()
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """How to open a session. ``None`` means the agent's own default.

    ``topic_key`` is unique and stable per topic ([a-z0-9]+); adapters use it to name what must not collide
    between topics of one process (MCP servers of Hermes).
    """

    cwd: Path
    topic_key: str
    resume: SessionId | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class AgentLaunch:
    """The user's settings for one agent: replaces the program found, adds arguments and environment.

    ``title`` names an agent that has no adapter of its own; "" = the name of its entry.
    """

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    mode: str | None = None
    title: str = ""
