"""The modes a session can be in: who is asked, and what the sandbox lets through.

Each mode is an approval policy, a sandbox and a way of working. "untrusted" asks the most Codex can ask: every
command and every patch (measured on Codex 0.171.0). What is approved still runs inside the sandbox; the model has to
ask again to leave it. A user's own ``rules`` files may allow commands by themselves; no mode overrides them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from agents.contract import AgentChoice, AgentError, sentence

DEFAULT = "untrusted"
FULL_ACCESS = "full-access"
"""Never offered in a chat: only the settings file on the computer may choose it."""


@dataclass(frozen=True, slots=True)
class Mode:
    """``policy``, ``sandbox`` and ``is_planning`` as Codex understands them; ``unasked`` is for people."""

    id: str
    label: str
    policy: str
    sandbox: str
    is_planning: bool
    unasked: str

    @property
    def choice(self) -> AgentChoice:
        return AgentChoice(self.id, self.label, self.unasked)


_ALL = (
    Mode(
        DEFAULT, sentence("Ask for everything"), "untrusted", "workspaceWrite", False, sentence("Nothing runs unasked.")
    ),
    Mode(
        "on-request",
        sentence("Ask to leave the sandbox"),
        "on-request",
        "workspaceWrite",
        False,
        sentence("Commands and changes inside the folder run unasked, without network."),
    ),
    Mode(
        "read-only",
        sentence("Look, don't touch"),
        "on-request",
        "readOnly",
        False,
        sentence("Commands that only read run unasked; every change of a file asks."),
    ),
    Mode(
        "plan",
        sentence("Make a plan first"),
        "untrusted",
        "readOnly",
        True,
        sentence("Nothing runs unasked; nothing is changed."),
    ),
    Mode(
        FULL_ACCESS,
        sentence("No questions, no sandbox"),
        "never",
        "dangerFullAccess",
        False,
        sentence("Everything runs unasked."),
    ),
)
MODES = MappingProxyType({mode.id: mode for mode in _ALL})


def offered(configured: str | None) -> tuple[AgentChoice, ...]:
    """The modes a chat may choose; full access only where the settings name it."""
    return tuple(mode.choice for mode in _ALL if mode.id != FULL_ACCESS or configured == FULL_ACCESS)


def chosen(name: str, configured: str | None) -> Mode:
    """The mode of this name. Raises AgentError for one that is unknown, or that a chat may not choose."""
    choices = [choice.id for choice in offered(configured)]
    if name not in choices:
        raise AgentError(
            sentence("Codex has no mode {name} here.", name=name),
            hint=sentence("Choose one of: {choices}.", choices=", ".join(choices)),
        )
    return MODES[name]
