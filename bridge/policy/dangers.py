"""Looks at single programs whose arguments decide how bad they are: rm, chmod, kill, docker, SQL clients... Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bridge.policy import keepers
from bridge.policy.classes import Finding, RiskClass, names
from bridge.policy.commands import Command, Word
from bridge.policy.launchers import (
    TOLD,
    makes,
    renames_cmdlets,
    runs_of_git,
    shells_of_databases,
    told_among_words,
)
from bridge.policy.looking import Judging, Look, destructive, executes, read, touched
from bridge.policy.paths import is_home_or_root
from bridge.policy.runners import evaluates, finds, finds_fast, opens_with_commands, runs_cmd, sources
from bridge.policy.versioning import look_at_git
from bridge.texts import tr

GLOB = re.compile(r"[*?\[{]")
DROPS = re.compile(
    r"\b(drop\s+(table|database|schema|index|view|user|role|column|collection|keyspace)|truncate\b|delete\s+from"
    r"|flushall|flushdb|alter\s+table.*\bdrop\b|update\s+\S+\s+set\b(?!.*\bwhere\b))|dropDatabase|\.drop\(|deleteMany"
    r"|\.remove\(",
    re.IGNORECASE | re.DOTALL,
)
OPEN_RIGHTS = re.compile(r"0?[0246]?777|[ugoa]*\+[rwx]*s[rwx]*|[246][0-7]{3}|[ao]*[+=]rwx|[ao]\+\w*w\w*")
REACHES_OUT = ("--privileged", "--pid=host", "--net=host", "--network=host", "--cap-add")
ROOT_MOUNT = re.compile(r"(^|=|,|src=|source=)(/|~|/etc|/root|/home|/var/run/docker\.sock)(:|,|$)")


def removes(command: Command, judge: Judging) -> Iterator[Finding]:
    """``rm`` and its cousins of other shells."""
    texts = [text.lower() for text in command.texts]
    switches = (
        {text for text in texts if re.fullmatch(r"/[a-z](:\S*)?", text)}
        if command.program in ("del", "erase")
        else set()
    )
    targets = [word for word in command.args if not word.text.startswith("-") and word.text.lower() not in switches]
    shortened = any(text.startswith(("-rec", "-fo")) for text in texts)
    if command.has("-r", "-R", "--recursive", "-d", "--dir") or shortened or "/s" in texts:
        yield destructive(tr("deletes folders with all in them"))
    elif any(GLOB.search(word.text) for word in targets):
        yield destructive(tr("deletes whatever fits a pattern"))
    elif not all(word.is_literal for word in targets) or (command.feeders and not targets):
        yield destructive(tr("deletes something that is not written here"))
    elif any(is_home_or_root(word.text, judge.grounds) or not judge.grounds.is_inside(word.text) for word in targets):
        yield destructive(tr("deletes outside the session's folder"))
    else:
        yield executes(tr("deletes files"))
    yield from (found for found in touched(judge, targets, RiskClass.EDIT) if found.risk is RiskClass.DESTRUCTIVE)


def removes_empty(command: Command, judge: Judging) -> Iterator[Finding]:
    """``rmdir`` removes empty folders only; under Windows ``/s`` means all in them."""
    if any(text.lower() in ("/s", "/q") for text in command.texts):
        yield destructive(tr("deletes folders with all in them"))
    else:
        yield from touched(judge, command.args, RiskClass.EDIT)


def changes_rights(command: Command, judge: Judging) -> Iterator[Finding]:
    """``chmod``, ``chown``, ``attrib``."""
    if command.has("-R", "--recursive"):
        yield destructive(tr("changes rights of whole folders"))
    if any(OPEN_RIGHTS.fullmatch(text) for text in command.texts):
        yield destructive(tr("opens files to everybody"))
    plain = [word for word in command.args if not word.text.startswith(("-", "+"))]
    yield from touched(judge, plain if command.program == "attrib" else plain[1:], RiskClass.EDIT)


def ends_programs(command: Command, _judge: Judging) -> Iterator[Finding]:
    """``kill`` and the like; the hub itself and "everything" are no targets."""
    texts = [text.lower() for text in command.texts]
    names = " ".join(texts)
    if command.program == "kill" and (texts[-1:] in (["1"], ["0"]) or texts[1:][-1:] == ["-1"]):
        yield destructive(tr("ends all programs"))
    # The hub is a Python program: ending every one of them ends it, too.
    if "agent-hub" in names or "agent_hub" in names or re.search(r"\bpython", names):
        yield destructive(tr("ends the hub"))
    if texts[:1] in (["-l"], ["-0"]):
        yield read()
    else:
        yield executes(tr("ends running programs"))


SERVICE_LOOKS = names(
    """

    status list is-active is-enabled show cat list-units list-unit-files query list-timers --status-all
    """
)


def handles_services(command: Command, _judge: Judging) -> Iterator[Finding]:
    """``systemctl``, ``service``, ``sc``."""
    plain = [text.lower() for text in command.plain()]
    if not plain or SERVICE_LOOKS & set(plain[:2]):
        yield read()
    elif "--user" in command.texts:
        yield executes(tr("changes services"))
    else:
        yield destructive(tr("changes services of the system"))


CONTAINER_GROUPS = names("compose container image volume system network builder pod context")
CONTAINER_LOOKS = frozenset(
    ["ps", "images", "logs", "inspect", "version", "info", "stats", "top", "port", "ls", "events", "config", "list"]
)


def handles_containers(command: Command, judge: Judging) -> Iterator[Finding]:
    """``docker``, ``podman``, ``docker-compose``."""
    plain = [text.lower() for text in command.plain()]
    group = plain[0] if plain and plain[0] in CONTAINER_GROUPS else ""
    verb = next(iter(plain[1:] if group else plain), "")
    if verb in ("prune", "rmi", "leave") or (verb == "rm" and group != "network"):
        yield destructive(tr("deletes containers, images or volumes"))
    if verb == "down" and command.has("-v", "--volumes", "--rmi"):
        yield destructive(tr("deletes volumes with their data"))
    if any(ROOT_MOUNT.search(text) or text.startswith(REACHES_OUT) for text in command.texts):
        yield destructive(tr("a container that reaches into the computer"))
    if verb == "push":
        yield destructive(tr("publishes for everybody"))
    if verb in CONTAINER_LOOKS:
        yield executes()
        return
    yield executes(tr("downloads") if verb == "pull" else "")
    yield from runs_inside(command, judge, verb)


ENDS_THE_SEARCH = frozenset(("sh", "bash", "zsh", "ash", "rm", "find"))
RUN_INSIDE = ENDS_THE_SEARCH | names(
    "dd shred dropdb dropuser psql mysql mariadb redis-cli mongosh mongo rails rake bundle php python python3 node"
    " flask alembic npx mix"
)
"""Programs whose arguments are worth a look inside a container. An image may have such a name as well."""


def runs_inside(command: Command, judge: Judging, verb: str) -> Iterator[Finding]:
    """The command of ``docker exec`` and of ``docker run image``."""
    if verb not in ("exec", "run"):
        return
    start = command.texts.index(verb) + 2 if verb in command.texts else len(command.args)
    for index, word in enumerate(command.args[start:], start):
        if word.text.rsplit("/", 1)[-1] in RUN_INSIDE:
            yield from judge.words(word, command.args[index + 1 :], command)
            if word.text in ENDS_THE_SEARCH:
                return


def queries(command: Command, judge: Judging) -> Iterator[Finding]:
    """Clients of databases: what the statement says."""
    texts = [*command.texts, command.document.text if command.document else ""]
    texts += [text for feeder in command.feeders for text in feeder.texts]
    if DROPS.search(" ".join(texts)):
        yield destructive(tr("deletes or overwrites data in a database"))
    yield from shells_of_databases(texts, judge)
    yield executes(tr("works on a database"))


def writes_disk(_command: Command, _judge: Judging) -> Iterator[Finding]:
    """``dd`` overwrites its output, a file or a whole disk."""
    yield destructive(tr("overwrites files or whole disks"))


def looks_or_changes(*looking: str) -> Look:
    """A system tool that is harmless with some words ("" = with none) and changes the system with others."""

    def look(command: Command, _judge: Judging) -> Iterator[Finding]:
        texts = [text.lower() for text in command.texts]
        is_looking = "" in looking if not texts else bool(set(looking) & set(texts))
        others = [text for text in texts if text.startswith("-") and text not in looking]
        if is_looking and not others and not {"add", "del", "set", "delete", "flush", "replace"} & set(texts):
            yield read()
        else:
            yield destructive(tr("changes the system"))

    return look


STREAM_RUNS = re.compile(r"s(?P<d>[^\\\n])(?:(?!(?P=d)).)*(?P=d)(?P<made>(?:(?!(?P=d)).)*)(?P=d)[gpIiMm\d]*e")
STREAM_RUNS_LINE = re.compile(r"(?:^|[;{}$\d/])\s*e(?:\s+(?P<made>[^;}]+)|\s*$)")
"""GNU sed's flag and command ``e`` run what the line has become."""
STREAM_WRITES = re.compile(r"(^|[;}/|,#@\d$])\s*[gpIiM\d]*[ewWrR](\s|$)")


def edits_stream(command: Command, judge: Judging) -> Iterator[Finding]:
    """``sed``: looks, unless it edits in place or its script writes or runs."""
    plain = [word for word in command.args if not word.text.startswith("-")]
    for found in (pattern.search(word.text) for word in plain[:1] for pattern in (STREAM_RUNS, STREAM_RUNS_LINE)):
        if found is not None:
            yield executes()
            yield from judge.nested(Word(found["made"] or "", is_literal=False))
    if any(re.match(r"--in-place|-[nErsz]*i", text) for text in command.texts):
        yield from touched(judge, plain[1:], RiskClass.EDIT)
    elif command.has("-f", "--file") or any(STREAM_WRITES.search(word.text) for word in plain[:1]):
        yield executes()
    else:
        yield from touched(judge, plain[1:], RiskClass.READ)


def edits_table(command: Command, judge: Judging) -> Iterator[Finding]:
    """``awk``: looks, unless its program runs commands or writes."""
    plain = [word for word in command.args if not word.text.startswith("-")]
    text = plain[0].text if plain else ""
    if not plain or command.has("-f", "-i", "--file", "--include") or re.search(r"system\s*\(|getline|[|>]", text):
        yield executes()
        if re.search(r"system\s*\(|\|", text):
            for inner in re.findall(r'"((?:\\.|[^"\\])*)"', text):
                yield from judge.nested(Word(inner.replace('\\"', '"')))
        yield from touched(judge, [Word(target) for target in re.findall(r'>\s*"([^"]+)"', text)], RiskClass.EDIT)
        return
    yield from touched(judge, plain[1:], RiskClass.READ)


def empties(_command: Command, _judge: Judging) -> Iterator[Finding]:
    """``truncate``."""
    yield destructive(tr("empties files"))


HUB_LOOKS = frozenset({"--version", "--help", "-h", "doctor", "audit", "approvals", "status"})


def controls_hub(command: Command, _judge: Judging) -> Iterator[Finding]:
    """The hub's own command line."""
    if command.texts[:1] and command.texts[0] in HUB_LOOKS:
        yield executes()
    else:
        yield destructive(tr("controls the hub itself"))


def looks_at_versions(command: Command, judge: Judging) -> Iterator[Finding]:
    """``git``."""
    findings = [*look_at_git(command.texts), *runs_of_git(command.args, judge)]
    yield from findings
    if not findings:
        yield from touched(
            judge, [word for word in command.args if "/" in word.text or ".." in word.text], RiskClass.READ
        )


def looks_at_hosting(command: Command, _judge: Judging) -> Iterator[Finding]:
    """``gh`` and ``glab``."""
    plain = [text.lower() for text in command.plain()]
    is_delete = bool({"delete", "archive", "remove"} & set(plain[:3])) or bool(
        re.search(r"(-X|--method)[ =]?DELETE", " ".join(command.texts))
    )
    if is_delete or command.has("--delete-branch"):
        yield destructive(tr("deletes something on a server"))
    elif plain[:2] == ["auth", "token"] or plain[:1] in (["secret"], ["ssh-key"], ["gpg-key"]):
        yield destructive(tr("reads or changes credentials"))
    elif plain[:2] in (["release", "create"], ["pr", "merge"], ["repo", "create"]):
        yield executes(tr("changes something on a server"))
    else:
        yield Finding(RiskClass.NETWORK, tr("talks to a git server"))


def traps(command: Command, judge: Judging) -> Iterator[Finding]:
    """``trap TEXT SIGNAL``."""
    yield executes()
    if command.args:
        yield from judge.nested(command.args[0])


def renames_commands(command: Command, judge: Judging) -> Iterator[Finding]:
    """``alias x='...'``."""
    yield executes()
    for word in command.args:
        _, sign, value = word.text.partition("=")
        if sign:
            yield from judge.nested(Word(value, word.is_literal))


def starts_as_administrator(command: Command, judge: Judging) -> Iterator[Finding]:
    """``sudo``: what it runs, and that it runs as administrator."""
    yield destructive(tr("runs as administrator"))
    rest: Sequence[Word] = command.args
    while rest and rest[0].text.startswith("-"):
        rest = rest[2 if rest[0].text in ("-u", "-g", "-h", "-p", "-C", "-T") else 1 :]
    if rest:
        yield from judge.words(rest[0], rest[1:], command)


def starts_process(command: Command, judge: Judging) -> Iterator[Finding]:
    """``Start-Process``."""
    yield executes()
    if "runas" in [text.lower() for text in command.texts]:
        yield destructive(tr("runs as administrator"))
    names = [word for word in command.args if not word.text.startswith("-")]
    if names:
        yield from judge.words(names[0], names[1:], command)


def reads_journal(command: Command, _judge: Judging) -> Iterator[Finding]:
    """``journalctl``."""
    if any(text.startswith(("--vacuum", "--rotate")) for text in command.texts):
        yield destructive(tr("deletes logs of the system"))
    else:
        yield read(outside=True)


LOOKS: Mapping[str, Look] = {
    **dict.fromkeys(("rm", "del", "erase", "remove-item", "ri", "unlink", "zf_rm"), removes),
    **dict.fromkeys(("rmdir", "rd"), removes_empty),
    **dict.fromkeys(("chmod", "chown", "chgrp", "attrib", "setfacl", "chattr", "xattr"), changes_rights),
    **dict.fromkeys(("kill", "pkill", "killall", "taskkill", "stop-process", "tskill"), ends_programs),
    **dict.fromkeys(("systemctl", "service", "sc", "rc-service"), handles_services),
    **dict.fromkeys(("docker", "podman", "docker-compose", "nerdctl"), handles_containers),
    **dict.fromkeys(
        names(
            """
    psql mysql mariadb sqlite3 sqlcmd mongo mongosh redis-cli clickhouse-client cqlsh bq duckdb mysqladmin
    influx
    """
        ),
        queries,
    ),
    **dict.fromkeys(("gh", "glab", "hub"), looks_at_hosting),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), edits_table),
    **dict.fromkeys(("sudo", "doas", "gsudo", "pkexec", "runas", "run0"), starts_as_administrator),
    **dict.fromkeys(("start-process", "saps"), starts_process),
    **dict.fromkeys(("agent-hub", "agent_hub"), controls_hub),
    **dict.fromkeys(("eval", "invoke-expression"), evaluates),
    **dict.fromkeys(names("vi vim nvim view ex ed emacs gdb lldb less more most man"), opens_with_commands),
    **dict.fromkeys(("source", "."), sources),
    **keepers.LOOKS,
    **dict.fromkeys(("set-alias", "new-alias", "sal", "nal"), renames_cmdlets),
    **dict.fromkeys(("make", "gmake"), makes),
    **dict.fromkeys(TOLD, told_among_words),
    "find": finds,
    "fd": finds_fast,
    "git": looks_at_versions,
    "sed": edits_stream,
    "gsed": edits_stream,
    "dd": writes_disk,
    "truncate": empties,
    "cmd": runs_cmd,
    "trap": traps,
    "alias": renames_commands,
    "defaults": looks_or_changes("read", "domains", "find"),
    "tmutil": looks_or_changes("listbackups", "status", "destinationinfo"),
    "journalctl": reads_journal,
    "crontab": looks_or_changes("-l"),
    "reg": looks_or_changes("query"),
    "launchctl": looks_or_changes("list", "print"),
    "sysctl": looks_or_changes("-a", "-n"),
    "mount": looks_or_changes("", "-l"),
    "diskutil": looks_or_changes("list", "info"),
    "ifconfig": looks_or_changes("", "-a"),
    "ip": looks_or_changes("a", "addr", "address", "route", "r", "link"),
    "schtasks": looks_or_changes("/query"),
    "fdisk": looks_or_changes("-l"),
    "parted": looks_or_changes("-l"),
    "net": looks_or_changes("view", "statistics"),
    "netsh": looks_or_changes("show"),
}
