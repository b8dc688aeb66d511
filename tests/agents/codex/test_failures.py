"""What an error means for a person, for every error Codex was seen to tell."""

from __future__ import annotations

import pytest

from agents.codex.failures import DETAIL, retrying, turn_failed
from agents.codex.wire.events import Problem, parse_problem
from agents.contract import FailureKind


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, FailureKind.LOGIN),
        ({"httpConnectionFailed": {"httpStatusCode": 403}}, FailureKind.LOGIN),
        ("unauthorized", FailureKind.LOGIN),
        ("usageLimitExceeded", FailureKind.QUOTA),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, FailureKind.OVERLOADED),
        ("rateLimitExceeded", FailureKind.OVERLOADED),
        ("serverOverloaded", FailureKind.OVERLOADED),
        ("internalServerError", FailureKind.OVERLOADED),
        ({"httpConnectionFailed": {"httpStatusCode": 502}}, FailureKind.OVERLOADED),
        ("contextWindowExceeded", FailureKind.TOO_LONG),
        ("cyberPolicy", FailureKind.REFUSED),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, FailureKind.NETWORK),
        ("other", FailureKind.OTHER),
        (None, FailureKind.OTHER),
        ({"ofTomorrow": {}}, FailureKind.OTHER),
    ],
)
def test_every_error_has_a_kind_a_title_and_something_to_do(info: object, kind: FailureKind) -> None:
    failed = turn_failed(parse_problem({"message": "raw words", "codexErrorInfo": info}))
    assert failed.kind is kind
    assert failed.title
    assert failed.hint
    assert "raw words" in failed.detail


def test_the_providers_own_words_stay_out_of_the_title_and_are_cut() -> None:
    failed = turn_failed(Problem("key sk-secret is wrong " + "x" * 5000, "other"))
    assert "sk-secret" not in failed.title + failed.hint
    assert len(failed.detail) == DETAIL


def test_a_failure_without_a_reason_says_so() -> None:
    assert "without saying why" in turn_failed(None).title


def test_attempts_are_read_from_the_words_and_counted_where_there_are_none() -> None:
    assert (retrying(Problem("Reconnecting... 2/5"), 0).attempt, retrying(Problem("Reconnecting... 2/5"), 0).of) == (
        2,
        5,
    )
    waiting = retrying(Problem("Reconnecting... waiting for network"), 6)
    assert (waiting.attempt, waiting.of, waiting.reason) == (7, None, "no network")
    assert retrying(Problem("Reconnecting... 1/2", http=503), 0).reason == "HTTP 503"
