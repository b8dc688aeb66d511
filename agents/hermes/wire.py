"""What Hermes 0.19.0 puts into texts instead of fields: tool names, results, exit codes, errors. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.acp.wire import mapping
from agents.contract import FailureKind, InputId, TurnFailed, sentence

QUEUED = "Queued for the next turn."
"""The whole answer of a session that believes a turn still runs: nothing will come of the prompt."""
STEER, STEERED = "_agentHub/steer", "_agentHub/steered"
"""What the shim serves and tells, see there; the underscore marks what is no part of the protocol."""
_RESULT = re.compile(r"^\S+ result(?=\n- \*\*)")
_OUTPUT = re.compile(r"^\n- \*\*(?:output|result):\*\* ")
_EXIT = re.compile(r"\n- \*\*exit_code:\*\* (-?\d+)(?=\n|$)")
_APPROVAL = re.compile(r"\n- \*\*approval:\*\* [^\n]*$")
_BACKGROUND = re.compile(r"Background process started\n- \*\*session_id:\*\* (\S+)\n- \*\*pid:\*\* (\d+)")
_HTTP = re.compile(r"^(?:HTTP (\d{3}):|API call failed\b|Error: )")
_COMMAND = re.compile(r"^/([a-z_]+)(?:\s|$)")
SLASH_COMMANDS = frozenset({"help", "model", "tools", "context", "reset", "compact", "steer", "queue", "version"})


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A terminal's result, taken out of its text."""

    output: str
    exit_code: int | None


def read_result(text: str) -> CommandResult:
    """``terminal result - output: ... - exit_code: N``; any other text is the output itself."""
    head = _RESULT.match(text)
    if head is None:
        return CommandResult(text, None)
    body, code = _APPROVAL.sub("", text[head.end() :]), None
    if found := list(_EXIT.finditer(body)):
        body, code = body[: found[-1].start()], int(found[-1][1])
    return CommandResult(_OUTPUT.sub("", body), code)


@dataclass(frozen=True, slots=True)
class Started:
    """A command that goes on beside the turn; its end is never told."""

    key: str
    pid: int


def read_background(text: str) -> Started | None:
    """The answer of a terminal to a command started in the background."""
    found = _BACKGROUND.search(text)
    return Started(found[1], int(found[2])) if found else None


def tool_of(title: str) -> str:
    """The tool's name out of a title such as "terminal: ls" or "mcp__hub_x__send_file"."""
    return title.partition(":")[0].strip() or "tool"


def is_slash_command(words: str) -> bool:
    """Whether Hermes would run this text itself; a leading blank does not keep it from that."""
    found = _COMMAND.match(words.strip())
    return found is not None and found[1] in SLASH_COMMANDS


def read_failure(answer: str) -> TurnFailed | None:
    """A model's error that came as the answer of a turn without ``usage``."""
    if _HTTP.match(answer):
        return TurnFailed(FailureKind.OTHER, "", detail=answer)
    if answer.startswith("No reply:"):
        return TurnFailed(FailureKind.OTHER, sentence("The model gave no answer."), sentence("Send the message again."))
    return None


def write_steer(input_id: InputId, words: str) -> dict[str, str]:
    """A text for the running turn, for the shim."""
    return {"id": input_id, "text": words}


def was_taken(answer: object) -> bool:
    """Whether the shim gave the text to the turn."""
    return mapping(answer).get("taken") is True


def read_steered(params: object) -> list[InputId]:
    """The texts that stand in front of the model now."""
    ids = mapping(params).get("ids")
    return [InputId(one) for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
