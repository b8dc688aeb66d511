"""What git does: which of its commands only look, which talk to a server, which can't be undone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bridge.policy.classes import Finding, RiskClass, names
from bridge.policy.commands import matches
from bridge.texts import tr

LOOKING = names(
    """

    status log diff show rev-parse ls-files ls-tree blame annotate describe shortlog grep cat-file rev-list
    name-rev merge-base show-ref for-each-ref var help version count-objects check-ignore check-attr cherry
    range-diff whatchanged fsck verify-commit verify-tag ls-remote
    """
)
LISTING = {
    "branch": {"-a", "-r", "-v", "-vv", "--list", "--all", "--show-current", "--contains", "--merged", "--no-merged"},
    "tag": {"-l", "--list", "-n", "--contains", "--merged"},
}
NETWORK = frozenset(("fetch", "pull", "clone", "push", "ls-remote"))
TAKES_VALUE = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"))


def look_at_git(texts: Sequence[str]) -> Iterator[Finding]:
    """Findings for the arguments of one git call."""
    verb, args, configured = split_verb(texts)
    if configured:
        runs = any(word in configured.lower() for word in RUNS_PROGRAMS)
        risk = RiskClass.DESTRUCTIVE if runs else RiskClass.EXECUTE
        yield Finding(risk, tr("changes how git works for this call"))
    danger = danger_of(verb, args)
    if danger:
        yield Finding(RiskClass.DESTRUCTIVE, danger)
    elif verb in NETWORK:
        yield Finding(RiskClass.NETWORK, tr("talks to a git server"))
    elif not is_looking(verb, args):
        yield Finding(RiskClass.EXECUTE)


def split_verb(texts: Sequence[str]) -> tuple[str, Sequence[str], str]:
    """The command, its arguments, and what of git's own settings is changed before it."""
    index, configured = 0, ""
    while index < len(texts) and texts[index].startswith("-"):
        option = texts[index]
        step = 2 if option in TAKES_VALUE else 1
        if option.startswith(("-c", "--exec-path", "--config-env")):
            configured += " ".join(texts[index : index + step]) + " "
        index += step
    if index >= len(texts):
        return "", (), configured
    return texts[index], texts[index + 1 :], configured


def has(args: Sequence[str], *options: str) -> bool:
    return any(matches(arg, option) for arg in args for option in options)


def first(args: Sequence[str]) -> str:
    return args[0] if args else ""


def is_looking(verb: str, args: Sequence[str]) -> bool:
    """Whether a call changes nothing, here or elsewhere."""
    if has(args, "--output", "-O", "--open-files-in-pager", "--ext-diff", "--textconv", "--upload-pack"):
        return False
    plain = [arg for arg in args if not arg.startswith("-")]
    if verb in LISTING:
        return not plain and all(arg in LISTING[verb] or arg.startswith(("--format", "--sort")) for arg in args)
    if verb in ("stash", "remote", "worktree", "reflog", "submodule", "notes", "bisect"):
        return plain[0] in ("list", "show", "status", "get-url", "log") if plain else verb in ("remote", "reflog")
    if verb == "config":
        return has(args, "--get", "--list", "-l", "--get-all", "--get-regexp")
    return verb in LOOKING or verb in ("", "--version")


def danger_of(verb: str, args: Sequence[str]) -> str:
    """Why a call can't be undone, "" when it can."""
    check = DANGERS.get(verb)
    return check(args) if check else ""


def _push(args: Sequence[str]) -> str:
    if has(args, "--force", "-f", "--force-with-lease", "--force-if-includes", "--mirror", "--prune"):
        return tr("force push: overwrites history on the server")
    if has(args, "--delete", "-d") or any(arg.startswith((":", "+")) for arg in args):
        return tr("deletes or overwrites a branch on the server")
    return ""


def _lost_changes(args: Sequence[str]) -> str:
    if has(args, "--staged", "-S") and not has(args, "--worktree", "-W"):
        return ""
    return tr("throws away changes that are not committed")


def _checkout(args: Sequence[str]) -> str:
    if "--" in args or has(args, "--force", "-f", "-p", "--ours", "--theirs") or "." in args:
        return tr("throws away changes that are not committed")
    if has(args, "-B"):
        return tr("resets a branch")
    is_new = has(args, "-b", "-t", "--track", "--orphan", "--detach")
    takes_files = len([arg for arg in args if not arg.startswith("-")]) > 1 and not is_new
    return _lost_changes(()) if takes_files else ""


def _reset(args: Sequence[str]) -> str:
    return _lost_changes(()) if has(args, "--hard", "--merge", "--keep") else ""


def _clean(args: Sequence[str]) -> str:
    return "" if has(args, "-n", "--dry-run") else tr("deletes files that git does not know")


def _switch(args: Sequence[str]) -> str:
    return _lost_changes(()) if has(args, "-f", "--force", "--discard-changes", "-C") else ""


def _branch(args: Sequence[str]) -> str:
    return tr("deletes or overwrites a branch") if has(args, "-D", "-d", "--delete", "-M", "-f", "--force") else ""


def _tag(args: Sequence[str]) -> str:
    return tr("deletes or moves a tag") if has(args, "-d", "--delete", "-f", "--force") else ""


def _stash(args: Sequence[str]) -> str:
    return tr("deletes stashed changes") if first(args) in ("drop", "clear") else ""


def _history(_args: Sequence[str]) -> str:
    return tr("rewrites or deletes history")


def _reflog(args: Sequence[str]) -> str:
    return tr("deletes the way back to old commits") if first(args) in ("expire", "delete") else ""


def _collect(args: Sequence[str]) -> str:
    return tr("deletes the way back to old commits") if any(arg.startswith("--prune=") for arg in args) else ""


def _reference(args: Sequence[str]) -> str:
    return tr("deletes a reference") if has(args, "-d", "--delete") else ""


def _worktree(args: Sequence[str]) -> str:
    return _lost_changes(()) if first(args) == "remove" and has(args, "-f", "--force") else ""


def _submodule(args: Sequence[str]) -> str:
    return _lost_changes(()) if first(args) == "deinit" else ""


def _read_tree(args: Sequence[str]) -> str:
    return _lost_changes(()) if has(args, "--reset", "-u") else ""


def _checkout_index(args: Sequence[str]) -> str:
    return _lost_changes(()) if has(args, "-f", "--force") else ""


def _large_files(args: Sequence[str]) -> str:
    return tr("deletes the way back to old commits") if first(args) == "prune" else ""


def _remove(args: Sequence[str]) -> str:
    return tr("deletes folders with all in them") if has(args, "-r") and not has(args, "--cached", "-n") else ""


def _config(args: Sequence[str]) -> str:
    if any(word in arg.lower() for arg in args for word in RUNS_PROGRAMS):
        return tr("makes git run a program")
    return ""


Check = Callable[[Sequence[str]], str]
RUNS_PROGRAMS = (
    "hookspath",
    "fsmonitor",
    "sshcommand",
    "editor",
    "pager",
    "alias.",
    "credential",
    "textconv",
    "insteadof",
)
DANGERS: Mapping[str, Check] = {
    "push": _push,
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _lost_changes,
    "branch": _branch,
    "tag": _tag,
    "stash": _stash,
    "filter-branch": _history,
    "filter-repo": _history,
    "replace": _history,
    "reflog": _reflog,
    "gc": _collect,
    "prune": _history,
    "update-ref": _reference,
    "worktree": _worktree,
    "submodule": _submodule,
    "read-tree": _read_tree,
    "checkout-index": _checkout_index,
    "lfs": _large_files,
    "clone": _config,
    "rm": _remove,
    "config": _config,
}
