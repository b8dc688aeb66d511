"""A patch of Codex as one unified diff, as people know it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agents.codex.wire.items import Change


def unified(changes: Sequence[Change]) -> str:
    """All changes, each with its two header lines; new and deleted files come without signs on the wire."""
    return "\n".join(_one(change) for change in changes)


def _one(change: Change) -> str:
    before, after = change.path, change.moved_to or change.path
    if change.kind == "add":
        return "\n".join(["--- /dev/null", f"+++ {after}", *_signed(change.diff, "+")])
    if change.kind == "delete":
        return "\n".join([f"--- {before}", "+++ /dev/null", *_signed(change.diff, "-")])
    return "\n".join([f"--- {before}", f"+++ {after}", change.diff.rstrip("\n")]).rstrip("\n")


def _signed(content: str, sign: str) -> list[str]:
    lines = content.splitlines()
    span = f"1,{len(lines)}" if lines else "0,0"
    header = f"@@ -0,0 +{span} @@" if sign == "+" else f"@@ -{span} +0,0 @@"
    ended = [] if content.endswith("\n") or not content else ["\\ No newline at end of file"]
    return [header, *(sign + line for line in lines), *ended]
