"""The shapes that Qwen Code 0.24.4 adds to ACP: questions, steering, background work. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.acp.wire import Json, PermissionAsk, mapping, number, objects, selected, text
from agents.contract import Answers, Choice, Question

DRAIN = "craft/drainMidTurnQueue"
START_TURN = "_qwencode/start_turn"
END_TURN = "_qwencode/end_turn"
KNOWN_NOTICES = frozenset(
    {
        # Repeats what current_mode_update and the answers to our own calls say.
        "qwen/notify/session/mode-update",
        "qwen/notify/session/model-update",
        # A guess at the person's next message; the hub's composer is Telegram's.
        "qwen/notify/session/prompt-suggestion",
        "qwen/notify/session/title-update",
        "qwen/notify/session/pr-binding",
        "qwen/notify/session/artifact-event",
        "qwen/notify/session/mcp-budget-event",
        "authenticate/update",
    }
)
PROCEED = "proceed_once"


def read_questions(ask: PermissionAsk) -> tuple[Question, ...]:
    """The questions of ``ask_user_question``; free text is always allowed."""
    if ask.call.meta.get("qwenInteractionKind") != "user_question":
        return ()
    found = []
    for index, item in enumerate(objects(ask.call.meta.get("qwenQuestions"))):
        choices = tuple(
            Choice(text(option.get("label")), text(option.get("description")))
            for option in objects(item.get("options"))
        )
        found.append(
            Question(
                key=str(index),
                text=text(item.get("question")),
                header=text(item.get("header")),
                choices=choices,
                is_multiple=item.get("multiSelect") is True,
            )
        )
    return tuple(found)


def write_answers(answers: Answers) -> dict[str, Any]:
    """``answers`` stands beside ``outcome``; keys are indices as text, several choices are joined by ", "."""
    given = {answer.key: ", ".join(answer.values) for answer in answers.answers if answer.values}
    return {**selected(PROCEED), "answers": given}


def drained(messages: Sequence[str]) -> dict[str, Any]:
    """The answer to ``craft/drainMidTurnQueue``; an error answer would turn steering off for good."""
    return {"messages": list(messages), "hasQueuedPrompt": False}


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one model request, in the ``_meta`` of an empty text."""

    input_tokens: int
    output_tokens: int


def read_spent(meta: Json) -> Spent | None:
    usage = mapping(meta.get("usage"))
    if not usage:
        return None
    return Spent(number(usage.get("inputTokens")) or 0, number(usage.get("outputTokens")) or 0)


@dataclass(frozen=True, slots=True)
class Background:
    """What the ``_meta`` of a text says of background work; ``source`` tells which of three texts it is."""

    source: str
    task_id: str


def read_background(meta: Json) -> Background:
    return Background(text(meta.get("source")), text(mapping(meta.get("backgroundTask")).get("taskId")))
