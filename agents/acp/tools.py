"""One tool call of an ACP agent, merged from its messages, and what a person should see of it. Pure."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from agents.acp.wire import Block, DiffBlock, Json, MediaBlock, TextBlock, ToolCallPart, mapping, number, text
from agents.contract import ToolKind

_KINDS = {
    "read": ToolKind.READ,
    "search": ToolKind.READ,
    "edit": ToolKind.EDIT,
    "delete": ToolKind.EDIT,
    "move": ToolKind.EDIT,
    "execute": ToolKind.EXECUTE,
    "fetch": ToolKind.NETWORK,
}
_PATH_KEYS = ("file_path", "filePath", "absolute_path", "path", "abs_path")
_COMMAND_KEYS = ("command", "cmd")
_ADDRESS_KEYS = ("url", "uri", "query")
_MAX_DIFF_LINES = 20_000
"""Lines of a file above which no line-by-line comparison is made: it would hold up every other topic."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """All that is known of one call. ``merge`` adds a message; what a message does not say stays."""

    id: str
    title: str = ""
    kind: str = ""
    status: str = ""
    content: tuple[Block, ...] = ()
    paths: tuple[str, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    meta: Json = field(default_factory=dict)

    def merge(self, part: ToolCallPart) -> ToolCall:
        return replace(
            self,
            title=self.title if part.title is None else part.title,
            kind=self.kind if part.kind is None else part.kind,
            status=self.status if part.status is None else part.status,
            content=self.content if part.content is None else part.content,
            paths=part.paths or self.paths,
            raw_input=part.raw_input or self.raw_input,
            raw_output=self.raw_output if part.raw_output is None else part.raw_output,
            meta={**self.meta, **part.meta},
        )

    @property
    def is_over(self) -> bool:
        return self.status in {"completed", "failed", "cancelled"}

    @property
    def is_preparing(self) -> bool:
        """The agent has named the tool only; command or path follow.

        Qwen Code 0.24.4 sends an empty input first, OpenCode 1.18.33 one that holds the folder and no command yet.
        """
        if self.status != "pending" or self.content:
            return False
        return not self.command if self.kind == "execute" else not self.raw_input

    @property
    def tool_kind(self) -> ToolKind:
        """A call with a command is a command, whatever else the agent says of it: reads may be allowed unasked."""
        if self.command:
            return ToolKind.EXECUTE
        if self.has_diff:
            return ToolKind.EDIT
        return _KINDS.get(self.kind, ToolKind.OTHER)

    @property
    def command(self) -> str:
        command = _first(mapping(self.raw_input), _COMMAND_KEYS)
        words = mapping(self.raw_input).get("command")
        if not command and isinstance(words, list):
            return " ".join(str(word) for word in words)
        return command

    @property
    def has_diff(self) -> bool:
        return any(isinstance(block, DiffBlock) for block in self.content)

    @property
    def subject(self) -> str:
        """The exact command, path or address; empty when the agent tells none."""
        if self.command:
            return self.command
        raw = mapping(self.raw_input)
        arguments = mapping(raw.get("arguments"))
        found = _first(raw, _PATH_KEYS) or _first(arguments, _PATH_KEYS)
        if not found:
            found = next((block.path for block in self.content if isinstance(block, DiffBlock)), "")
        if not found and self.paths:
            found = self.paths[0]
        return found or _first(raw, _ADDRESS_KEYS)

    @property
    def arguments(self) -> str:
        """The input as indented JSON, empty when the subject says it all."""
        raw = mapping(self.raw_input)
        if not raw or self.command or self.has_diff or set(raw) <= set(_PATH_KEYS):
            return ""
        return json.dumps(raw, ensure_ascii=False, indent=2)

    @property
    def diff(self) -> str:
        """What the call changes, in unified form."""
        own = "\n".join(unified(block) for block in self.content if isinstance(block, DiffBlock))
        return own or text(mapping(self.raw_output).get("fileDiff"))

    @property
    def output(self) -> str:
        """What the tool gave back, whole: the machine's copy where there is one, else the text for people."""
        raw = mapping(self.raw_output)
        for key in ("output", "stdout", "text"):
            if isinstance(raw.get(key), str):
                return str(raw[key])
        if isinstance(self.raw_output, str):
            return self.raw_output
        return "\n".join(shown for block in self.content if (shown := plain(block)))

    @property
    def exit_code(self) -> int | None:
        raw = mapping(self.raw_output)
        for key in ("exitCode", "exit_code", "exit"):
            if (code := number(raw.get(key))) is not None:
                return code
        return number(mapping(raw.get("metadata")).get("exit"))


def plain(block: Block) -> str:
    """A block as text; diffs are shown apart."""
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, MediaBlock):
        return f"[{block.media_type}, {max(1, block.size // 1024)} kB]"
    return ""


def unified(block: DiffBlock) -> str:
    """A unified diff of one file."""
    old, new = (block.old or "").splitlines(), block.new.splitlines()
    source = "/dev/null" if block.old is None else block.path
    if len(old) + len(new) > _MAX_DIFF_LINES:
        return f"--- {source}\n+++ {block.path}\n@@ {len(old)} lines before, {len(new)} lines after @@"
    return "\n".join(difflib.unified_diff(old, new, source, block.path, lineterm=""))


def _first(raw: Json, keys: tuple[str, ...]) -> str:
    return next((text(raw[key]) for key in keys if text(raw.get(key))), "")
