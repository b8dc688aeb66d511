"""What went wrong in a turn, in words a person can act on. Pure."""

from __future__ import annotations

from datetime import datetime

from agents.claude.messages import Result
from agents.contract import FailureKind, TurnFailed, sentence

LOGIN_HINT = sentence("At the computer, run in a terminal: {command}", command="claude auth login")

_KINDS = {
    "authentication_failed": FailureKind.LOGIN,
    "oauth_org_not_allowed": FailureKind.LOGIN,
    "account_on_hold": FailureKind.LOGIN,
    "verification_required": FailureKind.LOGIN,
    "cloud_credential_error": FailureKind.LOGIN,
    "billing_error": FailureKind.QUOTA,
    "rate_limit": FailureKind.QUOTA,
    "overloaded": FailureKind.OVERLOADED,
    "server_error": FailureKind.OVERLOADED,
}
_STATUSES = {
    401: FailureKind.LOGIN,
    403: FailureKind.LOGIN,
    402: FailureKind.QUOTA,
    429: FailureKind.QUOTA,
    500: FailureKind.OVERLOADED,
    502: FailureKind.OVERLOADED,
    503: FailureKind.OVERLOADED,
    529: FailureKind.OVERLOADED,
}
_WORDS = {
    FailureKind.LOGIN: (sentence("Claude Code has no valid login."), LOGIN_HINT),
    FailureKind.QUOTA: (
        sentence("The usage limit is reached."),
        sentence("Send the task again after the reset, or switch the model."),
    ),
    FailureKind.OVERLOADED: (
        sentence("The model's servers are overloaded."),
        sentence("Send the task again in a few minutes."),
    ),
    FailureKind.NETWORK: (
        sentence("Claude Code can't reach its servers."),
        sentence("Check the computer's network, then send it again."),
    ),
    FailureKind.TOO_LONG: (
        sentence("The conversation is too long for the model."),
        sentence("Send /compact, or begin anew with /new."),
    ),
    FailureKind.REFUSED: (
        sentence("The model refused this task."),
        sentence("Say it in another way, or begin anew with /new."),
    ),
    FailureKind.OTHER: (sentence("Claude Code could not finish the turn."), sentence("Send the message again.")),
}


def is_interrupted(result: Result) -> bool:
    """Stopped on purpose; ``errors`` then holds an internal diagnostic that nobody should read (measured)."""
    return result.terminal_reason.startswith("aborted")


def failure(result: Result, error: str, resets_at: datetime | None) -> TurnFailed:
    """The failed turn. ``error`` is the code of the last error message, ``resets_at`` the quota's reset."""
    kind = _kind(result, error)
    title, hint = _WORDS[kind]
    detail = result.text or "; ".join(result.errors)
    return TurnFailed(kind, title, hint, detail, resets_at if kind is FailureKind.QUOTA else None)


def _kind(result: Result, error: str) -> FailureKind:
    if result.terminal_reason in {"prompt_too_long", "blocking_limit"}:
        return FailureKind.TOO_LONG
    if result.stop_reason == "refusal":
        return FailureKind.REFUSED
    if error in _KINDS:
        return _KINDS[error]
    if result.status in _STATUSES:
        return _STATUSES[result.status]
    is_offline = result.terminal_reason == "api_error" and result.status is None
    return FailureKind.NETWORK if is_offline else FailureKind.OTHER
