"""Requests and answers, each in the other side's words. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.codex.asks import IN_THE_OPEN, answered, as_message, decided, inquiry, open_questions, permission
from agents.codex.wire.items import AsyncQuestion
from agents.codex.wire.requests import (
    CommandApproval,
    Form,
    Link,
    McpToolApproval,
    UnknownRequest,
    UserInput,
    parse_request,
)
from agents.contract import Answer, Answers, AskId, Decision, Declined, QuestionKind, ToolKind, Verdict

ASK = AskId("ask")
FOLDER = Path("/project")
ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY)
FORM = {
    "threadId": "t",
    "serverName": "lab",
    "mode": "form",
    "message": "Which colour?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Blue"]},
            "count": {"type": "integer", "title": "How many"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "sure": {"type": "boolean"},
            "note": {"type": "string", "description": "Anything else"},
        },
        "required": ["colour"],
    },
}


def elicited(**params: Any) -> Any:
    return parse_request("mcpServer/elicitation/request", {**FORM, **params})


def given(**values: str) -> Answers:
    return Answers(tuple(Answer(key, tuple(value.split("|"))) for key, value in values.items()))


def test_a_host_to_reach_is_a_network_request() -> None:
    asked = parse_request(
        "item/commandExecution/requestApproval",
        {"command": "curl x", "networkApprovalContext": {"host": "example.org", "protocol": "https"}},
    )
    assert isinstance(asked, CommandApproval)
    request = permission(ASK, asked, FOLDER, None, "")
    assert (request.kind, request.title) == (ToolKind.NETWORK, "Reach https://example.org")


def test_a_command_of_several_parts_is_shown_whole() -> None:
    whole = "/bin/bash -lc 'cat a | wc -l && rm -rf b'"
    actions = [{"type": "read", "command": "cat a"}, {"type": "unknown", "command": "rm -rf b"}]
    asked = parse_request("item/commandExecution/requestApproval", {"command": whole, "commandActions": actions})
    assert isinstance(asked, CommandApproval)
    assert permission(ASK, asked, FOLDER, None, "").subject == whole


def test_even_a_reading_command_is_asked_for_as_a_command() -> None:
    actions = [{"type": "read", "command": "cat a", "path": "a", "name": "a"}]
    asked = parse_request("item/commandExecution/requestApproval", {"command": "cat a", "commandActions": actions})
    assert isinstance(asked, CommandApproval)
    assert permission(ASK, asked, FOLDER, None, "").kind is ToolKind.EXECUTE


@pytest.mark.parametrize(("decision", "action"), [(ALLOW, "accept"), (DENY, "decline")])
def test_a_tool_of_an_mcp_server_is_allowed_once_or_declined(decision: Decision, action: str) -> None:
    meta = {
        "codex_approval_kind": "mcp_tool_call",
        "tool_name": "danger",
        "tool_params": {"x": 1},
        "persist": ["always"],
    }
    asked = elicited(_meta=meta)
    assert isinstance(asked, McpToolApproval)
    request = permission(ASK, asked, FOLDER, None, "")
    assert (request.tool, request.arguments) == ("lab.danger", '{\n  "x": 1\n}')
    answer = decided(asked, decision)
    assert answer["action"] == action
    assert "_meta" not in answer


def test_a_form_is_asked_field_by_field_in_the_right_kinds() -> None:
    form = elicited()
    assert isinstance(form, Form)
    asked = inquiry(ASK, form, "")
    assert [question.kind for question in asked.questions] == [
        QuestionKind.CHOICE,
        QuestionKind.NUMBER,
        QuestionKind.CHOICE,
        QuestionKind.CONFIRM,
        QuestionKind.TEXT,
    ]
    assert [choice.label for choice in asked.questions[0].choices] == ["Red", "Blue"]
    assert asked.questions[2].is_multiple
    assert "Which colour?" in asked.title


def test_a_filled_form_goes_back_in_its_own_types() -> None:
    answer = answered(elicited(), given(colour="Red", count="3", tags="a|b", sure="yes", note="hi"))
    assert answer == {
        "action": "accept",
        "content": {"colour": "red", "count": 3, "tags": ["a", "b"], "sure": True, "note": "hi"},
    }


def test_a_form_without_what_it_needs_is_declined() -> None:
    assert answered(elicited(), given(note="hi"))["action"] == "decline"
    assert answered(elicited(), Declined())["action"] == "decline"


def test_a_number_that_is_none_is_left_out() -> None:
    assert answered(elicited(), given(colour="Blue", count="many"))["content"] == {"colour": "blue"}


def test_a_link_is_accepted_only_when_it_was_opened() -> None:
    link = elicited(mode="url", url="https://example.org/x")
    assert isinstance(link, Link)
    assert inquiry(ASK, link, "").questions[0].link == "https://example.org/x"
    assert answered(link, given(link="yes"))["action"] == "accept"
    assert answered(link, given(link="no"))["action"] == "decline"


def test_a_kind_of_form_nobody_knows_is_an_unknown_request() -> None:
    assert isinstance(elicited(mode="openai/userVerification"), UnknownRequest)


def test_a_secret_is_not_promised_where_there_is_none() -> None:
    asked = parse_request(
        "item/tool/requestUserInput",
        {"questions": [{"id": "k", "question": "Key?", "isSecret": True}], "autoResolutionMs": 60000},
    )
    assert isinstance(asked, UserInput)
    question = inquiry(ASK, asked, "bob")
    assert IN_THE_OPEN in question.questions[0].text
    assert (question.time_limit, question.sub_agent) == (60.0, "bob")


def test_answers_go_back_under_their_questions_names() -> None:
    asked = parse_request("item/tool/requestUserInput", {"questions": [{"id": "db"}, {"id": "name"}]})
    assert isinstance(asked, UserInput)
    answers = Answers((Answer("db", ("SQLite",)), Answer("name", ())))
    assert answered(asked, answers) == {"answers": {"db": {"answers": ["SQLite"]}}}


def test_open_questions_are_answered_as_ordinary_text() -> None:
    asked = (AsyncQuestion("Red or blue?", ("Red", "Blue")), AsyncQuestion("Anything else?", ()))
    assert [q.kind for q in open_questions(ASK, asked).questions] == [QuestionKind.CHOICE, QuestionKind.TEXT]
    both = Answers((Answer("0", ("Red",)), Answer("1", ("no",))))
    assert as_message(asked, both) == "Red or blue? Red\nAnything else? no"
    assert as_message(asked[:1], Answers((Answer("0", ("Red",)),))) == "Red"
    assert as_message(asked, Answers((Answer("0", ()), Answer("1", ())))) == ""
