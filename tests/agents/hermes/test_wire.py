"""What Hermes puts into texts is read out of them."""

from __future__ import annotations

import pytest

from agents.hermes.wire import is_slash_command, read_failure, read_result, tool_of


@pytest.mark.parametrize(
    ("text", "output", "code"),
    [
        ("terminal result\n- **output:** a\nb\n- **exit_code:** 0", "a\nb", 0),
        ("terminal result\n- **exit_code:** 3", "", 3),
        ("terminal result\n- **output:** x\n- **exit_code:** 0\n- **approval:** was approved by the user.", "x", 0),
        (
            "terminal result\n- **output:** says\n- **exit_code:** 9\nitself\n- **exit_code:** 1",
            "says\n- **exit_code:** 9\nitself",
            1,
        ),
        ("mcp__hub_t1__send_file result\n- **result:** The user has it.", "The user has it.", None),
        ("terminal failed: BLOCKED: no", "terminal failed: BLOCKED: no", None),
        ("", "", None),
    ],
)
def test_output_and_exit_code_are_taken_out_of_the_text(text: str, output: str, code: int | None) -> None:
    found = read_result(text)
    assert (found.output, found.exit_code) == (output, code)


def test_the_tool_s_name_stands_before_the_colon() -> None:
    assert tool_of("terminal: echo a: b") == "terminal"
    assert tool_of("mcp__hub_t1__send_file") == "mcp__hub_t1__send_file"


@pytest.mark.parametrize("words", ["/help", " /reset now", "/queue\nx"])
def test_what_hermes_would_run_itself_is_known(words: str) -> None:
    assert is_slash_command(words)


@pytest.mark.parametrize("words", ["/etc/hosts is wrong", "/helpers", "help", "look at /help"])
def test_a_text_is_not_taken_for_a_command(words: str) -> None:
    assert not is_slash_command(words)


@pytest.mark.parametrize("answer", ["HTTP 401: no key", "API call failed after 3 retries: HTTP 429: slow down"])
def test_an_error_that_came_as_an_answer_is_an_error(answer: str) -> None:
    failure = read_failure(answer)
    assert failure is not None
    assert failure.detail == answer


def test_an_answer_about_errors_is_an_answer() -> None:
    assert read_failure("The server said HTTP 401: check the key.") is None
