"""Requests of Codex in the contract's words, and the person's answers in Codex' words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.codex.diffs import unified
from agents.codex.wire.items import AsyncQuestion, FileChange
from agents.codex.wire.requests import (
    AskedQuestion,
    CommandApproval,
    FileApproval,
    Form,
    FormField,
    Link,
    McpToolApproval,
    PermissionsApproval,
    UserInput,
    answers,
    approval,
    filled,
    granted,
)
from agents.contract import (
    AgentOption,
    Answers,
    AskId,
    Choice,
    Decision,
    Declined,
    PermissionRequest,
    Question,
    QuestionKind,
    QuestionRequest,
    ToolId,
    ToolKind,
)

Approval = CommandApproval | FileApproval | PermissionsApproval | McpToolApproval
Inquiry = UserInput | Form | Link
NOT_TOLD = "(Codex did not say which files)"
IN_THE_OPEN = "The agent wants to keep this secret, but what you type here stays readable in the chat."


def permission(ask_id: AskId, asked: Approval, cwd: Path, patch: FileChange | None, helper: str) -> PermissionRequest:
    """What the person is asked. ``patch`` is the item a patch approval belongs to; ``helper`` names a sub-agent."""
    if isinstance(asked, CommandApproval):
        return _command(ask_id, asked, cwd, helper)
    if isinstance(asked, FileApproval):
        return _patch(ask_id, asked, cwd, patch, helper)
    if isinstance(asked, PermissionsApproval):
        return PermissionRequest(
            id=ask_id,
            tool="permissions",
            kind=ToolKind.NETWORK if asked.wants_network else ToolKind.OTHER,
            title="More rights for the rest of this turn",
            subject=asked.summary,
            cwd=Path(asked.cwd or cwd),
            reason=asked.reason,
            sub_agent=helper,
            tool_id=ToolId(asked.item),
        )
    name = f"{asked.server}.{asked.tool}"
    return PermissionRequest(
        id=ask_id,
        tool=name,
        kind=ToolKind.OTHER,
        title=f"Use the tool {name}",
        subject=name,
        cwd=cwd,
        reason=asked.message,
        arguments=asked.arguments,
        sub_agent=helper,
    )


def _command(ask_id: AskId, asked: CommandApproval, cwd: Path, helper: str) -> PermissionRequest:
    title, kind = "Run a command", ToolKind.EXECUTE
    if asked.is_input:
        title = "Type into a running command"
    if asked.network:
        title, kind = f"Reach {asked.network}", ToolKind.NETWORK
    return PermissionRequest(
        id=ask_id,
        tool="shell",
        kind=kind,
        title=title,
        subject=asked.command or asked.network,
        cwd=Path(asked.cwd or cwd),
        reason=asked.reason,
        arguments=asked.extra,
        sub_agent=helper,
        options=tuple(AgentOption(decision, decision) for decision in asked.decisions),
        tool_id=ToolId(asked.item),
    )


def _patch(ask_id: AskId, asked: FileApproval, cwd: Path, patch: FileChange | None, helper: str) -> PermissionRequest:
    changes = patch.changes if patch else ()
    paths = [path for change in changes for path in (change.path, change.moved_to) if path]
    title = f"Change {len(changes)} files" if len(changes) > 1 else "Change a file"
    reason = asked.reason
    if asked.grant_root:
        reason = f"{reason}\nIt would like to write everywhere below {asked.grant_root}.".strip()
    return PermissionRequest(
        id=ask_id,
        tool="apply_patch",
        kind=ToolKind.EDIT,
        title=title,
        subject="\n".join(paths) or NOT_TOLD,
        cwd=cwd,
        reason=reason,
        diff=unified(changes),
        sub_agent=helper,
        tool_id=ToolId(asked.item),
    )


def decided(asked: Approval, decision: Decision) -> dict[str, Any]:
    """The person's decision for Codex: never more than once, never less than said."""
    if isinstance(asked, PermissionsApproval):
        return granted(asked.permissions if decision.is_allowed else None)
    if isinstance(asked, McpToolApproval):
        return filled({} if decision.is_allowed else None)
    return approval(is_allowed=decision.is_allowed)


def inquiry(ask_id: AskId, asked: Inquiry, helper: str) -> QuestionRequest:
    """Questions that wait for an answer."""
    if isinstance(asked, UserInput):
        questions = tuple(_question(question) for question in asked.questions)
        return QuestionRequest(ask_id, questions, sub_agent=helper, time_limit=asked.limit)
    if isinstance(asked, Link):
        link = Question("link", asked.message, header=asked.server, kind=QuestionKind.LINK, link=asked.url)
        return QuestionRequest(ask_id, (link,), title=asked.server, sub_agent=helper)
    message = asked.message if len(asked.fields) == 1 else ""
    fields = tuple(_form_question(field, message) for field in asked.fields)
    if not fields:
        fields = (Question("ok", asked.message, header=asked.server, kind=QuestionKind.CONFIRM, is_required=True),)
    title = f"{asked.server}: {asked.message}" if len(fields) > 1 else asked.server
    return QuestionRequest(ask_id, fields, title=title, sub_agent=helper)


def _question(asked: AskedQuestion) -> Question:
    return Question(
        key=asked.id,
        text=f"{asked.text}\n{IN_THE_OPEN}" if asked.is_secret else asked.text,
        header=asked.header,
        kind=QuestionKind.CHOICE if asked.options else QuestionKind.TEXT,
        choices=tuple(Choice(option.label, option.description) for option in asked.options),
        allows_free_text=asked.is_free,
    )


_FIELD_KINDS = {"integer": QuestionKind.NUMBER, "number": QuestionKind.NUMBER, "boolean": QuestionKind.CONFIRM}


def _form_question(field: FormField, message: str) -> Question:
    said = field.description or field.title or field.key
    return Question(
        key=field.key,
        text=f"{message}\n{said}" if message and said != field.key else message or said,
        header=field.title or field.key,
        kind=QuestionKind.CHOICE if field.values else _FIELD_KINDS.get(field.type, QuestionKind.TEXT),
        choices=tuple(Choice(label) for label in field.labels),
        is_multiple=field.is_multiple,
        allows_free_text=False,
        is_required=field.is_required,
    )


def answered(asked: Inquiry, given: Answers | Declined) -> dict[str, Any]:
    """The person's answers for Codex."""
    values = {} if isinstance(given, Declined) else {answer.key: answer.values for answer in given.answers}
    if isinstance(asked, UserInput):
        return answers({key: said for key, said in values.items() if said})
    if isinstance(given, Declined):
        return filled(None)
    if isinstance(asked, Link):
        return filled({} if "yes" in values.get("link", ()) else None)
    if not asked.fields:
        return filled({} if "yes" in values.get("ok", ()) else None)
    return filled(_content(asked, values))


def _content(asked: Form, values: Mapping[str, tuple[str, ...]]) -> dict[str, Any] | None:
    """The form's values by their types; None when one that is needed is missing or can't be read."""
    content: dict[str, Any] = {}
    for field in asked.fields:
        said = values.get(field.key, ())
        value = _typed(field, said) if said else None
        if value is not None:
            content[field.key] = value
        elif field.is_required:
            return None
    return content


def _typed(field: FormField, said: tuple[str, ...]) -> Any:
    if field.values:
        known = dict(zip(field.labels, field.values, strict=True))
        chosen = [known[label] for label in said if label in known]
        return chosen if field.is_multiple else next(iter(chosen), None)
    if field.type == "boolean":
        return said[0] == "yes"
    if field.type in {"integer", "number"}:
        try:
            number = float(said[0])
        except ValueError:
            return None
        return int(number) if field.type == "integer" else number
    return list(said) if field.is_multiple else said[0]


def open_questions(ask_id: AskId, asked: tuple[AsyncQuestion, ...]) -> QuestionRequest:
    """Questions the turn does not wait for."""
    questions = tuple(
        Question(
            key=str(index),
            text=question.title,
            kind=QuestionKind.CHOICE if question.options else QuestionKind.TEXT,
            choices=tuple(Choice(option) for option in question.options),
        )
        for index, question in enumerate(asked)
    )
    return QuestionRequest(ask_id, questions)


def as_message(asked: tuple[AsyncQuestion, ...], given: Answers) -> str:
    """The answers to such questions as the ordinary text Codex expects; "" when nothing was answered."""
    said = {answer.key: ", ".join(answer.values) for answer in given.answers if answer.values}
    if len(asked) == 1:
        return said.get("0", "")
    lines = [f"{question.title} {said[str(at)]}" for at, question in enumerate(asked) if str(at) in said]
    return "\n".join(lines)
