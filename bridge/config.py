"""What the bridge needs to know from the settings, as frozen values. Built by ``app.settings``; no file access here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from bridge.policy.classes import PolicySettings


class Role(StrEnum):
    """owner: everything; operator: prompt and decide, no rules, no settings."""

    OWNER = "owner"
    OPERATOR = "operator"


class Verbosity(StrEnum):
    """How much of a turn is shown while it runs."""

    QUIET = "quiet"
    NORMAL = "normal"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class LockSettings:
    """The second factor. Seconds: locked after ``idle`` without a person, ``/unlock`` opens for ``open_for``.

    ``attempts`` wrong codes within ``attempts_window`` refuse every code until the window has passed.
    """

    is_enabled: bool = False
    idle: float = 1800.0
    open_for: float = 3600.0
    attempts: int = 5
    attempts_window: float = 900.0


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Spend caps; 0 = none. Dollars and tokens as the agents tell them."""

    turn_usd: float = 0.0
    session_usd: float = 0.0
    day_usd: float = 0.0
    turn_tokens: int = 0
    session_tokens: int = 0
    day_tokens: int = 0

    @property
    def is_set(self) -> bool:
        return self != LimitSettings()

    def of(self, scope: str) -> tuple[float, int]:
        """(dollars, tokens) of "turn", "session" or "day"."""
        return {
            "turn": (self.turn_usd, self.turn_tokens),
            "session": (self.session_usd, self.session_tokens),
            "day": (self.day_usd, self.day_tokens),
        }[scope]


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """How voice notes become text: a ``command`` ("{file}" is the sound file) or an OpenAI-compatible ``url``.

    ``key_variable`` names the environment variable of the hub that holds the endpoint's key.
    """

    command: str = ""
    url: str = ""
    model: str = ""
    language: str = ""
    key_variable: str = ""

    @property
    def is_set(self) -> bool:
        return bool(self.command or self.url)


@dataclass(frozen=True, slots=True)
class BridgeConfig:
    """``users`` maps Telegram user ids to roles; ``roots`` are absolute, existing when the hub started.

    Times in seconds: ``ask_timeout`` until an unanswered request is denied, ``idle_close`` until an idle session's
    process is ended, ``background_limit`` for which one background task keeps it awake, ``silence_notice`` until a
    silent running agent is asked about. ``reads_pass``: reads inside the session's folder are allowed unless
    ``policy.modes`` says otherwise.
    """

    chats: frozenset[int]
    users: Mapping[int, Role]
    roots: tuple[Path, ...]
    default_agent: str
    language: str = "en"
    verbosity: Verbosity = Verbosity.NORMAL
    ask_timeout: float = 600.0
    open_asks_per_topic: int = 50
    idle_close: float = 900.0
    background_limit: float = 1800.0
    silence_notice: float = 600.0
    backlog_age: float = 60.0
    runs_backlog: bool = False
    allows_session_scope: bool = False
    reads_pass: bool = True
    agent_modes: Mapping[str, str] = field(default_factory=dict)
    policy: PolicySettings = field(default_factory=PolicySettings)
    lock: LockSettings = field(default_factory=LockSettings)
    audit_days: int = 90
    limits: LimitSettings = field(default_factory=LimitSettings)
    voice: VoiceSettings = field(default_factory=VoiceSettings)
