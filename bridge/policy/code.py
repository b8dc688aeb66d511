"""Judges program text on a command line (``python -c``, ``node -e``): words that delete, commands it starts. Pure.

No interpreter's grammar is read; what deletes or starts programs has few names, and its strings are judged as commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.policy.classes import Finding
from bridge.policy.commands import Word
from bridge.policy.looking import Judging, destructive
from bridge.policy.paths import is_credential
from bridge.texts import tr

_DELETES = re.compile(
    r"rmtree|\bunlink\b|os\.remove|os\.rmdir|removedirs|\.rmdir\(|rmSync|rmdirSync|fs\.(promises\.)?rm\b|unlinkSync"
    r"|File\.delete|FileUtils\.rm|remove_dir|rimraf|truncate\(|Deno\.remove|shutil\.move"
)
_STARTS = re.compile(
    r"os\.system|subprocess|popen|child_process|exec(Sync|File|v|l)?\b|spawn|system\b|Kernel\.|`|shell_exec|passthru"
    r"|Deno\.(run|Command)|do shell script|pty\."
)
_HIDES = re.compile(
    r"b64|base64|unhexlify|atob|fromCharCode|fromhex|rot13|chr\(|\bhex\b|marshal|urlopen|fetch\(|requests\."
)
_EVALUATES = re.compile(r"\b(eval|exec|compile|Function|__import__)\s*\(")
_OPENS_A_SHELL = re.compile(r"socket.*(dup2|/bin/(ba)?sh|pty\.spawn)", re.DOTALL | re.IGNORECASE)
_STRING = re.compile(r""""((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`""", re.DOTALL)


def look_at_code(code: str, judge: Judging) -> Iterator[Finding]:
    """Findings for a program text in any language."""
    strings = [next(part for part in found if part) for found in _STRING.findall(code) if any(found)]
    if _DELETES.search(code):
        yield destructive(tr("code that deletes files"))
    if _OPENS_A_SHELL.search(code):
        yield destructive(tr("gives a shell to another computer"))
    if _STARTS.search(code):
        for text in [*strings, " ".join(strings)]:
            yield from judge.nested(Word(text))
    if (_STARTS.search(code) or _EVALUATES.search(code)) and _HIDES.search(code):
        yield destructive(tr("code that hides what it runs"))
    for text in strings:
        if is_credential(text) or judge.grounds.mentions_guarded(text):
            yield destructive(tr("code that touches credentials or the hub's files"))
