"""Permission requests and questions: Claude Code's in the contract's words, the answers in Claude Code's. Pure."""

from __future__ import annotations

from pathlib import Path

from agents.claude import wire
from agents.claude.messages import Json, ToolPermission
from agents.claude.tools import PLAN_TOOL, describe, plain
from agents.contract import (
    AgentOption,
    Answers,
    AskId,
    Choice,
    Decision,
    Declined,
    PermissionRequest,
    Question,
    QuestionRequest,
    ToolId,
)

NO_REASON = "The user said no to this."
NOT_ANSWERED = "The user does not want to answer these questions."


def permission(
    ask: ToolPermission, ask_id: AskId, cwd: Path, *, diff: str, plan: str, helper: str
) -> PermissionRequest:
    """The request for a person. ``plan`` is the fallback where the program dropped an inline plan (measured)."""
    call = describe(ask.tool, ask.arguments, ask.description)
    is_plan = ask.tool == PLAN_TOOL
    reason = plain(ask.reason)
    if ask.blocked_path and ask.blocked_path not in call.subject:
        reason = f"{reason} ({ask.blocked_path})" if reason else ask.blocked_path
    return PermissionRequest(
        id=ask_id,
        tool=ask.tool,
        kind=call.kind,
        title=call.title,
        subject=call.subject,
        cwd=cwd,
        reason=reason,
        diff=diff,
        plan=(wire.text_of(ask.arguments, "plan") or plan) if is_plan else "",
        arguments="" if is_plan else call.arguments,
        sub_agent=helper,
        options=tuple(_option(suggestion) for suggestion in ask.suggestions),
        tool_id=ToolId(ask.tool_id) if ask.tool_id else None,
    )


def _option(suggestion: Json) -> AgentOption:
    kind = wire.text_of(suggestion, "type")
    rules = [
        f"{wire.text_of(rule, 'toolName')}({wire.text_of(rule, 'ruleContent')})"
        for rule in wire.objects_of(suggestion, "rules")
    ]
    folders = suggestion.get("directories")
    names = [*rules, *(map(str, folders) if isinstance(folders, list) else []), wire.text_of(suggestion, "mode")]
    return AgentOption(kind, ", ".join(name for name in names if name), wire.text_of(suggestion, "destination"))


def questions(ask: ToolPermission, ask_id: AskId, helper: str) -> QuestionRequest:
    """``AskUserQuestion``: the answer's key is the question's full text (measured)."""
    return QuestionRequest(
        id=ask_id,
        questions=tuple(_question(item) for item in wire.objects_of(ask.arguments, "questions")),
        sub_agent=helper,
    )


def _question(item: Json) -> Question:
    choices = (
        Choice(
            wire.text_of(option, "label"),
            "\n".join(text for key in ("description", "preview") if (text := wire.text_of(option, key))),
        )
        for option in wire.objects_of(item, "options")
    )
    return Question(
        key=wire.text_of(item, "question"),
        text=plain(wire.text_of(item, "question")),
        header=plain(wire.text_of(item, "header")),
        choices=tuple(choices),
        is_multiple=item.get("multiSelect") is True,
    )


def decision_line(request_id: str, decision: Decision) -> bytes:
    """Allow is always "once": no stored suggestion ever goes back."""
    if decision.is_allowed:
        return wire.allow(request_id)
    return wire.deny(request_id, f"The user denied this: {decision.reason}" if decision.reason else NO_REASON)


def answers_line(ask: ToolPermission, given: Answers | Declined) -> bytes:
    """Answers travel as the tool's input with ``answers`` added; several labels are joined by a comma (measured)."""
    if isinstance(given, Declined):
        return wire.deny(ask.request_id, given.reason or NOT_ANSWERED)
    values = {answer.key: ", ".join(answer.values) for answer in given.answers if answer.values}
    return wire.allow(ask.request_id, {**ask.arguments, "answers": values})
