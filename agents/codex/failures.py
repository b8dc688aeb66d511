"""What an error of Codex means for a person: what happened, and what to do. Pure.

Codes as measured on Codex 0.171.0. Texts that providers write never come into a title: they go to the detail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from agents.codex.wire.events import Problem
from agents.contract import FailureKind, Retrying, TurnFailed, sentence

DETAIL = 1000
"""Letters of a provider's own text that are kept."""
_OF = re.compile(r"(\d+)\s*/\s*(\d+)")
_Words = tuple[FailureKind, str, str]
_LOGIN: _Words = (
    FailureKind.LOGIN,
    sentence("The model's provider refused the login of Codex."),
    sentence("Log in again on the computer: codex login"),
)
_SPENT: _Words = (
    FailureKind.QUOTA,
    sentence("The allowance of this account is used up."),
    sentence("Go on when it is reset; /status shows when."),
)
_LONG: _Words = (
    FailureKind.TOO_LONG,
    sentence("The conversation is too long for the model."),
    sentence("Shorten it with /compact."),
)
_REFUSED: _Words = (
    FailureKind.REFUSED,
    sentence("The model's provider refused this task."),
    sentence("Say the task in another way."),
)
_BUSY: _Words = (
    FailureKind.OVERLOADED,
    sentence("The model's provider is overloaded."),
    sentence("Try again in a few minutes."),
)
_SLOWER: _Words = (
    FailureKind.OVERLOADED,
    sentence("The model's provider asks to slow down."),
    sentence("Try again in a minute."),
)
_FAULT: _Words = (
    FailureKind.OVERLOADED,
    sentence("The model's provider has a fault."),
    sentence("Try again in a few minutes."),
)
_NO_MODEL: _Words = (
    FailureKind.OTHER,
    sentence("The provider does not know this model."),
    sentence("Choose another one with /model."),
)
_BROKEN: _Words = (
    FailureKind.NETWORK,
    sentence("The connection to the model's provider broke."),
    sentence("Send the message again."),
)
_SANDBOX: _Words = (
    FailureKind.OTHER,
    sentence("The sandbox of Codex does not work here."),
    sentence("Run codex doctor on the computer."),
)
_UNKNOWN: _Words = (
    FailureKind.OTHER,
    sentence("Codex could not finish the turn."),
    sentence("Send the message again; see the details."),
)

_BY_CODE: Mapping[str, _Words] = {
    "unauthorized": _LOGIN,
    "usageLimitExceeded": _SPENT,
    "sessionBudgetExceeded": _SPENT,
    "contextWindowExceeded": _LONG,
    "cyberPolicy": _REFUSED,
    "bioPolicy": _REFUSED,
    "misalignmentPolicyViolation": _REFUSED,
    "inferenceHookDenied": _REFUSED,
    "tooManyDenials": _REFUSED,
    "serverOverloaded": _BUSY,
    "policyCapacityUnavailable": _BUSY,
    "flexUnavailable": _BUSY,
    "rateLimitExceeded": _SLOWER,
    "modelNotFound": _NO_MODEL,
    "internalServerError": _FAULT,
    "sandboxError": _SANDBOX,
}
_BY_STATUS: Mapping[int, _Words] = {401: _LOGIN, 403: _LOGIN, 404: _NO_MODEL, 429: _SLOWER, 503: _BUSY}
_BY_TRANSPORT: Mapping[str, _Words] = {
    "httpConnectionFailed": _BROKEN,
    "responseStreamConnectionFailed": _BROKEN,
    "responseStreamDisconnected": _BROKEN,
    "responseTooManyFailedAttempts": _BROKEN,
}


def turn_failed(problem: Problem | None, resets_at: datetime | None = None) -> TurnFailed:
    """The end of a turn by ``problem``; ``resets_at`` is used up quota's end as the limits told it."""
    if problem is None:
        return TurnFailed(
            FailureKind.OTHER, sentence("Codex ended the turn without saying why."), sentence("Send the message again.")
        )
    kind, title, hint = _words(problem)
    detail = "\n".join(filter(None, (problem.message, problem.details)))[:DETAIL]
    return TurnFailed(kind, title, hint, detail, resets_at if kind is FailureKind.QUOTA else None)


def _words(problem: Problem) -> _Words:
    found = _BY_CODE.get(problem.code) or _BY_STATUS.get(problem.http or 0)
    if found is not None:
        return found
    if (problem.http or 0) >= 500:
        return _FAULT
    return _BY_TRANSPORT.get(problem.code, _UNKNOWN)


def retrying(problem: Problem, seen: int) -> Retrying:
    """Codex tries again by itself; ``seen`` is how many such messages this turn had before. It tells no delay."""
    counted = _OF.search(problem.message)
    if counted:
        return Retrying(int(counted.group(1)), int(counted.group(2)), 0.0, _why(problem))
    return Retrying(seen + 1, None, 0.0, _why(problem))


def _why(problem: Problem) -> str:
    if "waiting for network" in problem.message:
        return "no network"
    if problem.http is not None:
        return f"HTTP {problem.http}"
    return problem.message.split("...")[0].strip()[:80] or "connection lost"
