"""The one tree of errors that a person may see."""

from __future__ import annotations


class HubError(Exception):
    """Base of every error a person may see: what happened, what to do, and the technical detail.

    ``title`` is one sentence without a token, key or prompt text; ``hint`` says what to do next;
    ``detail`` is for logs and the "more" button (program, path tried, last lines of stderr).
    """

    def __init__(self, title: str, hint: str = "", detail: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.hint = hint
        self.detail = detail


class AgentError(HubError):
    """An agent could not do what was asked."""


class AgentNotFoundError(AgentError):
    """The agent's program is not on this computer (detail: every path tried)."""


class AgentVersionError(AgentError):
    """The agent's program is too old, or its version can't be told."""


class AgentNotLoggedInError(AgentError):
    """The agent needs a login that only the person can do at the desk (hint: the command)."""


class AgentGoneError(AgentError):
    """The agent's process ended or never answered; open it again with ``SessionSpec.resume``."""


class SessionNotFoundError(AgentError):
    """The session to resume does not exist any more."""
