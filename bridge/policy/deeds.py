"""What one program call does: the tables of ``programs`` plus what the arguments say. Pure.

Each look is a generator of findings; a program without a look of its own that stands in no table is EXECUTE.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.policy import programs
from bridge.policy.classes import Finding, RiskClass, names
from bridge.policy.commands import Command, Word
from bridge.policy.dangers import LOOKS
from bridge.policy.keepers import drops_database
from bridge.policy.launchers import runs_by_option
from bridge.policy.looking import Judging, destructive, executes, outside_reason, read, touched
from bridge.policy.paths import is_path_like, look_at
from bridge.policy.runners import interprets, put_out, runs_powershell, runs_shell, wraps
from bridge.policy.variables import look_at_variable
from bridge.texts import tr

NETWORK_DEVICE = re.compile(r"^/dev/(tcp|udp)/", re.IGNORECASE)
NOWHERE = frozenset(("/dev/null", "nul", "$null", "/dev/stderr", "/dev/stdout"))


def look_at_program(command: Command, judge: Judging) -> Iterator[Finding]:
    """Everything about one call: the program, its arguments as paths, its redirections, commands hidden in it."""
    program = command.program
    for name, value in command.variables:
        yield from look_at_variable(name, value, judge)
    look = LOOKS.get(program)
    reason = programs.DESTRUCTIVE.get(program)
    if look is not None:
        yield from look(command, judge)
    elif reason is not None:
        yield destructive(reason())
    elif program.startswith("mkfs."):
        yield destructive(tr("works on whole disks"))
    else:
        yield from by_table(program, command, judge)
    yield from runs_by_option(command, judge)
    yield from drops_database(command)
    yield from look_at_arguments(command, judge)
    yield from look_at_redirects(command, judge)


def by_table(program: str, command: Command, judge: Judging) -> Iterator[Finding]:
    """A program without a look of its own."""
    if program in programs.READERS:
        yield from reads(command, judge)
    elif program in programs.EDITORS:
        yield from edits(command, judge)
    elif program in programs.NETWORK:
        yield from connects(command, judge)
    elif program in programs.SHELLS:
        yield from runs_shell(command, judge)
    elif program in programs.POWERSHELLS:
        yield from runs_powershell(command, judge)
    elif program in programs.INTERPRETERS:
        yield from interprets(command, judge)
    elif program in programs.CLOUDS:
        yield from commands_cloud(command)
    elif program in programs.PACKAGE_TOOLS:
        yield from handles_packages(command, judge)
    elif program in programs.WRAPPERS:
        yield from wraps(command, judge)
    else:
        yield executes()


# --- paths ---------------------------------------------------------------------------------------------------------


def path_of(text: str) -> str:
    """The part of an argument that may be a path: ``--file=x``, ``-fx`` and ``of=x`` hold one."""
    if text.startswith("-"):
        return text.partition("=")[2] if "=" in text else (text[2:] if is_path_like(text[2:]) else "")
    before, sign, after = text.partition("=")
    return after if sign and before.isalnum() else text


def look_at_arguments(command: Command, judge: Judging) -> Iterator[Finding]:
    """Credentials and the hub's own files are destructive whatever program touches them."""
    for text in command.texts[:200]:
        path = path_of(text).partition("@")[2] if text.startswith(("@", "file=@")) else path_of(text)
        if not path or len(path) > 400 or "\n" in path or path.startswith(("http://", "https://")):
            continue
        if is_path_like(path) or "." in path or "/" in path:
            found = look_at(path, judge.grounds, is_write=False)
            if found is not None:
                yield found


def look_at_redirects(command: Command, judge: Judging) -> Iterator[Finding]:
    """Where output goes."""
    for redirect in command.redirects:
        target = redirect.target.text
        if NETWORK_DEVICE.match(target):
            yield destructive(tr("opens a connection as a file"))
            continue
        found = look_at(target, judge.grounds, is_write=redirect.is_write)
        if found is not None:
            yield found
        if target.lower() in NOWHERE or target.startswith("/dev/fd"):
            continue
        outside = not redirect.target.is_literal or not judge.grounds.is_inside(target)
        yield Finding(
            RiskClass.EDIT if redirect.is_write else RiskClass.READ, outside_reason(target, outside=outside), outside
        )


# --- tables --------------------------------------------------------------------------------------------------------


TEXT_ONLY = names("echo printf write-output write-host test [ [[ true false : seq sleep exit return break")
"""Their arguments are no files."""
WRITING_OPTIONS = {
    "sort": ("-o", "--output"),
    "tree": ("-o",),
    "yq": ("-i", "--inplace"),
    "xxd": ("-r",),
    "rg": ("--pre",),
    "date": ("-s", "--set"),
    "hostname": ("-F", "-b"),
}


def reads(command: Command, judge: Judging) -> Iterator[Finding]:
    """A program that only looks; options that write are few."""
    program = command.program
    writes = command.has(*WRITING_OPTIONS.get(program, ()))
    if writes or (program == "uniq" and len(command.plain()) > 1) or (program == "hostname" and command.plain()):
        yield executes()
    elif program in TEXT_ONLY:
        yield read()
    else:
        yield from touched(judge, command.args, RiskClass.READ)


def edits(command: Command, judge: Judging) -> Iterator[Finding]:
    """A program that makes or changes files."""
    program, plain = command.program, [word for word in command.args if not word.text.startswith("-")]
    if program == "tar" and command.has("--to-command", "--checkpoint-action", "-I", "--use-compress-program"):
        yield destructive(tr("runs another program for each file"))
    if program in ("robocopy", "xcopy") and any(text.lower() in ("/mir", "/purge", "/move") for text in command.texts):
        yield destructive(tr("deletes what is not in the source"))
    if program in ("cp", "ln", "install", "copy", "copy-item", "cpi", "xcopy", "robocopy") and len(plain) > 1:
        yield from touched(judge, plain[:-1], RiskClass.READ)
        plain = plain[-1:]
    if program in ("cp", "install") and command.has("-t", "--target-directory"):
        yield executes()
    yield from touched(judge, plain, RiskClass.EDIT)


UPLOADS = re.compile(r"(^|=)@|^--upload-file|^-T$|^--post-file|^--body-file")
DELETERS = frozenset(("curl", "http", "https", "httpie", "xh", "wget"))
WANTS_DELETED = re.compile(r"(^|\s)(-X|--request|--method)?[ =]?(DELETE|delete)\b")
LISTED_ENVIRONMENT = re.compile(r"(\$\(|`)\s*(env|printenv|set|export)\b")
ENVIRONMENT_LISTS = frozenset(("env", "printenv", "set", "export", "declare"))
SHELL_GIVERS = ("exec:", "system:")


def connects(command: Command, judge: Judging) -> Iterator[Finding]:
    """A program that talks to other computers."""
    program, texts = command.program, command.texts
    yield Finding(RiskClass.NETWORK, tr("talks to another computer"))
    gives_shell = command.has("-e", "-c", "--exec", "--sh-exec") or any(
        text.lower().startswith(SHELL_GIVERS) for text in texts
    )
    if program in ("nc", "ncat", "netcat", "socat") and gives_shell:
        yield destructive(tr("gives a shell to another computer"))
    if program == "rsync" and any(text.startswith(("--delete", "--remove-source")) for text in texts):
        yield destructive(tr("deletes what is not in the source"))
    if program in DELETERS and WANTS_DELETED.search(" ".join(texts)):
        yield destructive(tr("deletes something on a server"))
    is_fed = any(feeder.program in ENVIRONMENT_LISTS for feeder in command.feeders)
    if is_fed or any(LISTED_ENVIRONMENT.search(text) for text in texts):
        yield destructive(tr("sends the environment, where keys may lie, to another computer"))
    if any(UPLOADS.search(text) for text in texts) or program in ("scp", "sftp", "rsync", "ftp"):
        yield executes(tr("sends or fetches files"))
    if program == "ssh" and len(command.plain()) > 1:
        yield executes(tr("runs a command on another computer"))
        yield from hidden(command)
    if program == "ssh":
        yield from hidden_in(fed_to(command))
    yield from touched(judge, downloads_to(command), RiskClass.EDIT) if downloads_to(command) else ()


def downloads_to(command: Command) -> list[Word]:
    """Files that ``curl -o`` and ``wget -O`` write."""
    args, found = command.args, list[Word]()
    if command.program not in programs.NETWORK:
        return found
    if names_itself(command):
        urls = [word for word in args if not word.text.startswith("-") and ("/" in word.text or "." in word.text)]
        found += [Word(url.text.partition("?")[0].rstrip("/").rsplit("/", 1)[-1], url.is_literal) for url in urls]
    if command.program == "certutil":
        found += args[-1:]
    for index, word in enumerate(args):
        if word.text in ("-o", "-O", "--output", "--output-document", "-OutFile", "-outfile") and index + 1 < len(args):
            target = args[index + 1]
            if target.text != "-" and not target.text.startswith("http"):
                found.append(target)
    return found


def names_itself(command: Command) -> bool:
    """Whether a download gets its name from its address."""
    if command.program == "wget":
        return not command.has("-O", "--output-document")
    return command.program == "curl" and command.has("-O", "--remote-name", "--remote-name-all")


DANGEROUS_ELSEWHERE = re.compile(r"(?<![\w./-])(rm|dd|mkfs\S*|shred|shutdown|reboot|dropdb|sudo)\s")


def hidden(command: Command) -> Iterator[Finding]:
    """Dangerous words among the arguments of a program that runs its arguments elsewhere."""
    yield from hidden_in(" ".join(command.texts[1:]))


def hidden_in(text: str) -> Iterator[Finding]:
    """Dangerous words of a script that runs elsewhere."""
    if DANGEROUS_ELSEWHERE.search(f"{text} "):
        yield destructive(tr("runs a dangerous command elsewhere"))


def fed_to(command: Command) -> str:
    """What a command reads, as far as it is written here."""
    text = command.document or (put_out(command.feeders[-1]) if command.feeders else None)
    return text.text if text else ""


CLOUD_OPTIONS = ("--force-delete", "--prune", "-destroy", "--auto-approve", "--delete", "-purge")


def commands_cloud(command: Command) -> Iterator[Finding]:
    """A tool that commands other people's computers."""
    plain = [text.lower() for text in command.plain()]
    words = {word for text in plain for word in (text, text.partition("-")[0], *text.split(":"))}
    if words & programs.CLOUD_DANGERS or command.has(*CLOUD_OPTIONS):
        yield destructive(tr("changes or deletes things on a server"))
        return
    is_run = bool({"exec", "run", "ssh"} & set(plain))
    yield executes(tr("runs a command on another computer") if is_run else tr("talks to a server"))
    yield from hidden(command)


def handles_packages(command: Command, judge: Judging) -> Iterator[Finding]:
    """Package tools install, publish, or run other commands."""
    plain = command.plain()
    verbs = {verb.lower() for verb in plain[:2]}
    yield executes(
        tr("installs packages") if verbs & {"install", "add", "i", "ci", "update", "upgrade", "sync"} else ""
    )
    if verbs & programs.PUBLISHERS or verbs & {"deploy", "hex.publish"}:
        yield destructive(tr("publishes for everybody"))
    if command.program in programs.SYSTEM_PACKAGES and verbs & {"remove", "purge", "autoremove", "uninstall", "erase"}:
        yield destructive(tr("removes programs of the system"))
    texts = list(command.texts)
    starts = [texts.index(word) + 1 for word in ("run", "exec", "x", "dlx", "--") if word in texts]
    if command.program in ("npx", "bunx", "uvx", "pnpx"):
        starts.append(0)
    for start in starts:
        rest = command.args[start:]
        while rest and rest[0].text.startswith("-"):
            rest = rest[1:]
        if rest:
            yield from judge.words(rest[0], rest[1:], command)
