"""Programs that run others: wrappers, shells, interpreters, ``find``. What they run is judged like any script. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence

from bridge.policy import programs
from bridge.policy.classes import Finding, RiskClass
from bridge.policy.code import look_at_code
from bridge.policy.commands import Command, Dialect, Word
from bridge.policy.looking import Judging, destructive, executes, read, touched
from bridge.policy.variables import look_at_variable
from bridge.texts import tr


def wraps(command: Command, judge: Judging) -> Iterator[Finding]:
    """``env``, ``xargs``, ``timeout``...: what follows their own options runs."""
    if command.program == "wsl" and command.has("--unregister"):
        yield destructive(tr("deletes a machine, a volume or a backup"))
    rest, own = list(command.args), programs.WRAPPERS[command.program]
    marks = ("-", "/") if command.program == "start" else ("-",)
    while rest and (rest[0].text.startswith(marks) or is_assignment(rest[0].text)):
        takes_value = rest[0].text in VALUE_OPTIONS.get(command.program, ())
        rest = rest[2 if takes_value else 1 :]
    rest = rest[own:]
    if rest and rest[0].text.isdecimal() and len(rest) < len(command.args):  # the value of some option
        rest = rest[1:]
    if not rest:
        yield executes() if command.program not in ("not", "if", "else", "do", "then", "time") else read()
        return
    found = list(judge.words(rest[0], rest[1:], command))
    yield from found
    if command.program in ("xargs", "parallel", "foreach-object", "%"):
        yield executes()
        if deletes(rest[0].text) or rest[0].text.lower() == "delete":
            yield destructive(tr("deletes what another program finds"))
    for word in command.args:
        if is_assignment(word.text):
            name, _, value = word.text.partition("=")
            yield from look_at_variable(name, Word(value, word.is_literal), judge)


VALUE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "xargs": ("-n", "-P", "-I", "-L", "-d", "-s", "-a", "-E"),
    "nice": ("-n",),
    "ionice": ("-c", "-n"),
    "timeout": ("-k", "-s"),
    "env": ("-u", "-C"),
    "nsenter": ("-t", "-S", "-G"),
    "flock": ("-w", "-E"),
    "watch": ("-n",),
    "stdbuf": ("-i", "-o", "-e"),
    "parallel": ("-j",),
    "strace": ("-e", "-o", "-p"),
}


def is_assignment(text: str) -> bool:
    """``NAME=value`` before a command."""
    return bool(re.match(r"[A-Za-z_]\w*=", text))


def deletes(name: str) -> bool:
    """Whether a program's business is deleting."""
    return name.rsplit("/", 1)[-1].lower() in (
        "rm",
        "del",
        "erase",
        "remove-item",
        "ri",
        "unlink",
        "shred",
        "rmdir",
        "rd",
    )


def runs_shell(command: Command, judge: Judging) -> Iterator[Finding]:
    """``bash -c TEXT``, ``bash FILE``, ``... | bash``."""
    yield executes()
    for index, word in enumerate(command.args):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word.text) or word.text in ("--command", "-command"):
            if index + 1 < len(command.args):
                yield from judge.nested(command.args[index + 1])
            return
    yield from runs_given(command, judge)


def runs_given(command: Command, judge: Judging) -> Iterator[Finding]:
    """A shell or interpreter that gets its script from a file, a here-document or a pipe."""
    files = [word for word in command.args if not word.text.startswith("-")]
    is_piped = bool(files) and files[0].text.startswith(("/dev/stdin", "/dev/fd", "/proc/self/fd"))
    if files and not is_piped:
        yield from runs_file(files[0], judge)
        return
    if command.document is not None:
        yield from judge.nested(command.document)
    elif command.feeders:
        text = put_out(command.feeders[-1])
        if text is None:
            yield destructive(tr("runs what another program puts out"))
        else:
            yield from judge.nested(text)


def runs_file(file: Word, judge: Judging) -> Iterator[Finding]:
    """A script in a file that the same request has made, or that only exists while it runs."""
    yield from judge.made_here(file)
    if file.text.startswith(("<(", "$(", "`", "http://", "https://")):
        yield destructive(tr("runs what another program puts out"))


def put_out(feeder: Command) -> Word | None:
    """What a command surely writes; None when that can't be told."""
    if feeder.program in ("echo", "printf", "write-output") and not feeder.feeders:
        words = [word for word in feeder.args if not re.fullmatch(r"-[neE]+", word.text)]
        if all(word.is_literal for word in words) and not any("\\" in word.text or "%" in word.text for word in words):
            return Word(" ".join(word.text for word in words))
    if feeder.program == "cat" and feeder.document is not None and feeder.document.is_literal and not feeder.args:
        return feeder.document
    return None


def evaluates(command: Command, judge: Judging) -> Iterator[Finding]:
    """``eval`` and ``Invoke-Expression``."""
    yield executes()
    if not command.args:
        if command.feeders or command.program == "invoke-expression":  # which nobody calls with nothing
            yield destructive(tr("runs what another program puts out"))
        return
    dialect = Dialect.POWERSHELL if command.program == "invoke-expression" else Dialect.BASH
    text = " ".join(word.text for word in command.args if word.text.lower() != "-command")
    yield from judge.nested(Word(text, all(word.is_literal for word in command.args)), dialect)


def sources(command: Command, judge: Judging) -> Iterator[Finding]:
    """``source FILE``."""
    yield executes()
    yield from runs_given(command, judge)


def runs_powershell(command: Command, judge: Judging) -> Iterator[Finding]:
    """``powershell -Command TEXT`` and its hidden forms."""
    yield executes()
    for index, word in enumerate(command.args):
        option = word.text.lower().lstrip("-/")
        rest = command.args[index + 1 :]
        if word.text[:1] in "-/" and option and "encodedcommand".startswith(option) and option != "ex" and rest:
            yield destructive(tr("an encoded command"))
            script = decoded_powershell(rest[0].text)
            if script is not None:
                yield from judge.nested(Word(script), Dialect.POWERSHELL)
            return
        if word.text[:1] in "-/" and option and ("command".startswith(option)):
            yield from judge.nested(whole(rest), Dialect.POWERSHELL)
            return
        if word.text[:1] in "-/" and option and "file".startswith(option):
            return
        if word.text[:1] not in "-/" and not is_option_value(command.args, index):
            yield from judge.nested(whole(command.args[index:]), Dialect.POWERSHELL)
            return
    if command.feeders or command.document:
        yield destructive(tr("runs what another program puts out"))


def is_option_value(args: Sequence[Word], index: int) -> bool:
    """Whether a word belongs to the option before it (``-ExecutionPolicy Bypass``)."""
    before = args[index - 1].text.lower().lstrip("-/") if index else ""
    return bool(before) and any(
        name.startswith(before)
        for name in ("executionpolicy", "version", "windowstyle", "inputformat", "outputformat", "ep")
    )


def runs_cmd(command: Command, judge: Judging) -> Iterator[Finding]:
    """``cmd /c TEXT``."""
    yield executes()
    for index, word in enumerate(command.args):
        if word.text.lower()[:2] in ("/c", "/k", "/r") or word.text.lower() == "//c":
            first = [Word(word.text[2:], word.is_literal)] if len(word.text) > 2 and word.text[:2] != "//" else []
            yield from judge.nested(whole([*first, *command.args[index + 1 :]]), Dialect.CMD)
            return
    if command.feeders or command.document:
        yield destructive(tr("runs what another program puts out"))


def whole(words: Sequence[Word]) -> Word:
    """Words as the one text they make."""
    return Word(" ".join(word.text for word in words), all(word.is_literal for word in words))


def interprets(command: Command, judge: Judging) -> Iterator[Finding]:
    """``python -c CODE``, ``node -e CODE``, code from a pipe."""
    yield executes()
    for index, word in enumerate(command.args):
        if re.fullmatch(r"-[a-zA-Z]*[cerEpn]|--eval|--print|eval", word.text) and index + 1 < len(command.args):
            code = command.args[index + 1]
            yield from look_at_code(code.text, judge)
            if not code.is_literal and re.match(r"\s*(\$\(|`)", code.text):
                yield destructive(tr("runs a command that is not written here"))
    files = [word for word in command.args if not word.text.startswith("-") and word.text != "run"]  # deno run FILE
    for file in files[:1]:
        yield from runs_file(file, judge)
    if command.document is not None:
        yield from look_at_code(command.document.text, judge)
    elif command.feeders and not [word for word in command.args if not word.text.startswith("-")]:
        text = put_out(command.feeders[-1])
        yield from look_at_code(text.text, judge) if text else [destructive(tr("runs what another program puts out"))]


INNER_COMMAND = re.compile(r"(?:^|[:+'\"\s])!!?\s*(.+)|\b(?:shell|system)\b[\s(\"']*(.+)", re.DOTALL)
"""How editors, pagers and debuggers are told to run a shell command: ``:!rm x``, ``shell rm x``, ``system("rm x")``."""


PAGERS = frozenset(("less", "more", "most", "man", "view"))
"""They only look, unless their arguments hold a command."""


def opens_with_commands(command: Command, judge: Judging) -> Iterator[Finding]:
    """``vim -c ':!rm x'``, ``less +!rm``, ``gdb -ex 'shell rm x'``: commands for the program, some for a shell."""
    is_told = False
    for word in command.args:
        found = INNER_COMMAND.search(word.text)
        if found is not None:
            is_told = True
            yield from judge.nested(Word((found[1] or found[2]).strip("\"')"), word.is_literal))
    if command.program in PAGERS and not is_told:
        yield from touched(judge, command.args, RiskClass.READ)
    else:
        yield executes()


def finds(command: Command, judge: Judging) -> Iterator[Finding]:
    """``find``: looks, unless it deletes or runs something."""
    texts = command.texts
    yield from touched(judge, starting_points(command.args), RiskClass.READ)
    if "-delete" in texts:
        yield destructive(tr("deletes what it finds"))
    if any(text.startswith(("-fprint", "-fls")) for text in texts):
        yield executes()
    for index, text in enumerate(texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir") and index + 1 < len(texts):
            end = next((at for at in range(index, len(texts)) if texts[at] in (";", "+", "\\;")), len(texts))
            inner = command.args[index + 1 : end]
            yield executes()
            yield from judge.words(inner[0], inner[1:], command)
            if deletes(inner[0].text):
                yield destructive(tr("deletes what it finds"))


def starting_points(args: Sequence[Word]) -> Sequence[Word]:
    """Folders before the first test."""
    for index, word in enumerate(args):
        if word.text.startswith(("-", "(", "!")) and word.text not in ("-L", "-H", "-P"):
            return args[:index]
    return args


def finds_fast(command: Command, judge: Judging) -> Iterator[Finding]:
    """``fd`` runs commands with -x."""
    yield from touched(judge, command.args, RiskClass.READ)
    for index, word in enumerate(command.args):
        if word.text in ("-x", "-X", "--exec", "--exec-batch") and index + 1 < len(command.args):
            inner = command.args[index + 1 :]
            yield executes()
            yield from judge.words(inner[0], inner[1:], command)
            if deletes(inner[0].text):
                yield destructive(tr("deletes what it finds"))


def decoded_powershell(text: str) -> str | None:
    """The script in ``-EncodedCommand``; None when it is not one."""
    try:
        return base64.b64decode(text, validate=True).decode("utf-16-le")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
