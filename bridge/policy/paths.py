"""Which paths matter: credentials, the hub's own files, what runs later by itself, the system's folders. Pure.

Everything is compared as text with forward slashes and ``~`` for the home folder, so that Windows paths, ``$HOME`` and
``/home/anna`` meet in one form.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bridge.policy.classes import Finding, RiskClass
from bridge.texts import tr

_CREDENTIALS = re.compile(
    r"""(^|/)(
        \.ssh(/|$)(?!.*\.pub$|known_hosts|config$) | id_(rsa|dsa|ecdsa|ed25519)(_\w+)?$ | \.gnupg(/|$) | \.netrc$
      | _netrc$ | \.git-credentials$ | \.pgpass$ | \.my\.cnf$ | \.npmrc$ | \.pypirc$ | \.htpasswd$ | \.kube/config
      | \.docker/config\.json | \.aws(/|$) | \.azure/ | \.config/gcloud(/|$) | \.config/gh/hosts | \.cargo/credentials
      | \.terraform\.d/credentials
      | \.env(\.(?!example|sample|template|dist|test$)[\w.-]+)?$ | \.envrc$ | secrets?\.(ya?ml|json|toml|env)$
      | credentials(\.\w+)?$ | [\w.-]+\.(pem|p12|pfx|jks|keystore|kdbx|ppk)$
      | [\w.-]*(private|server|tls|ssl)[\w.-]*\.key$
      | (etc/)?(shadow|gshadow|sudoers)$ | \.password-store(/|$) | library/keychains(/|$) | login\.keychain
      | \.mozilla/firefox/ | (google/chrome|chromium|google-chrome|microsoft/edge)/.*(cookies|login\ data)
      | ntds\.dit$ | config/sam$ | microsoft/(credentials|protect)/ | proc/(\d+|self)/environ$
      | \.(claude|codex|qwen|hermes)/(\.credentials\.json|auth\.json|oauth_creds\.json|\.env)$ | \.claude\.json$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_RUNS_LATER = re.compile(
    r"""(^|/)(
        \.(bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|zlogin|inputrc|xprofile)$ | \.xsessionrc$
      | \.config/(fish/config\.fish|autostart(/|$)|systemd(/|$)) | library/launch(agents|daemons)(/|$) | crontab$
      | \.git/(hooks(/|$)|config$) | \.ssh/(authorized_keys|config)$ | \.gitconfig$ | cron\.\w+(/|$)
      | start\ menu/programs/startup(/|$) | microsoft\.powershell_profile\.ps1$ | profile\.ps1$ | \$profile(\.\w+)?$
      | \.(claude|codex|qwen|hermes)/(settings(\.local)?\.json|config\.(toml|ya?ml)|hooks(/|$))
      | \.husky/
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SYSTEM = re.compile(
    r"^(/(etc|usr|bin|sbin|lib|lib64|boot|sys|proc|dev|root|opt|var(?!/(tmp|folders)(/|$))|system|library|private/etc)(/|$)"
    r"|/$|[a-z]:/?$|[a-z]:/(windows|program\ files|programdata)|hk(lm|cu|cr|ey_\w+)[:/])",
    re.IGNORECASE,
)
_HARMLESS_DEVICES = re.compile(
    r"^(/dev/(null|stdout|stderr|stdin|tty|fd/\d+|zero|u?random)|nul|\$null|&?\d)$", re.IGNORECASE
)
_HOME = re.compile(r"^(\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE|\$env:HOME)(?=/|$)", re.IGNORECASE)
_ANY_HOME = re.compile(r"\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE", re.IGNORECASE)
_HOMES = re.compile(r"^(/home/[^/]+|/users/[^/]+|[a-z]:/users/[^/]+)(?=/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grounds:
    """Where a request acts: the session's folder, the folder it runs in, and what is guarded.

    ``resolve`` makes a path absolute and follows links; ``seen`` spares it the same path twice in one assessment.
    """

    folder: str
    cwd: str
    guarded: tuple[str, ...]
    guarded_names: tuple[str, ...]
    resolve: Callable[[str], str]
    seen: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, cwd: Path, guarded: Sequence[Path], resolve: Callable[[str], str]) -> Grounds:
        """Grounds with everything in comparable form."""
        real = tuple(uniform(resolve(str(path))) for path in guarded)
        names = tuple({homely(name) for name in (*real, *(uniform(str(path)) for path in guarded))})
        return cls(uniform(resolve(str(folder))), str(cwd), real, names, resolve)

    def anew(self, cwd: str | None = None) -> Grounds:
        """The same grounds with nothing seen, maybe in another folder."""
        return replace(self, cwd=self.cwd if cwd is None else cwd, seen={})

    def place(self, path: str) -> str:
        """The absolute form of a path a command names, links followed."""
        known = self.seen.get(path)
        if known is None:
            named = _HOME.sub("~", path.strip("\"'"))
            if named.startswith("~"):
                named = os.path.expanduser(named)  # noqa: PTH111 - Path would drop what is not a path
            try:
                known = uniform(self.resolve(os.path.join(self.cwd, named)))  # noqa: PTH118
            except (ValueError, OSError):  # no path at all: it lies nowhere inside
                known = "/"
            self.seen[path] = known
        return known

    def is_inside(self, path: str) -> bool:
        """Whether a path lies in the session's folder. What can't be told does not."""
        if "$" in path.replace("$HOME", "") or "%" in path or "`" in path:
            return False
        return within(self.place(path), self.folder)

    def is_guarded(self, path: str) -> bool:
        """Whether a path is, lies in, or holds one of the hub's own files."""
        if not self.guarded:
            return False
        place = self.place(path)
        return any(within(place, guarded) or within(guarded, place) for guarded in self.guarded)

    def mentions_guarded(self, text: str) -> bool:
        """Whether a text names a guarded path in any spelling of the home folder."""
        if not self.guarded_names:
            return False
        plain = homely(text.replace("\\", "/"))
        return any(name in plain for name in self.guarded_names)


def uniform(path: str) -> str:
    """Forward slashes, no trailing one."""
    path = path.replace("\\", "/")
    return path.rstrip("/") or "/"


def homely(text: str) -> str:
    """Home folders of every spelling as ``~``, lower case."""
    if "$" in text or "%" in text:
        text = _ANY_HOME.sub("~", text)
    home = uniform(os.path.expanduser("~"))  # noqa: PTH111
    return text.replace(home, "~").lower() if len(home) > 1 else text.lower()


def within(path: str, root: str) -> bool:
    """Whether ``path`` is ``root`` or lies in it; both uniform."""
    return path == root or path.startswith(root if root.endswith("/") else f"{root}/")


def is_credential(path: str) -> bool:
    """Whether a path usually holds keys or passwords."""
    return bool(_CREDENTIALS.search(uniform(path)))


def look_at(path: str, grounds: Grounds, *, is_write: bool) -> Finding | None:
    """What is wrong with touching a path; None = nothing special. Links are followed as well as names."""
    if _HARMLESS_DEVICES.match(path):
        return None
    forms = (uniform(_HOME.sub("~", path)), grounds.place(path))
    real = forms[1]
    reason = ""
    if any(map(is_credential, forms)):
        reason = tr("credentials: {path}", path=path)
    elif grounds.is_guarded(path) and (is_write or not within(grounds.folder, real)):
        reason = tr("the hub's own files: {path}", path=path)
    elif is_write and any(map(_RUNS_LATER.search, forms)):
        reason = tr("runs by itself later: {path}", path=path)
    elif is_write and any(map(_SYSTEM.match, forms)) and not within(real, grounds.folder):
        reason = tr("a system folder: {path}", path=path)
    return Finding(RiskClass.DESTRUCTIVE, reason) if reason else None


def is_path_like(word: str) -> bool:
    """Whether an argument may well name a path outside: absolute, home, or climbing."""
    return (
        word.startswith(("/", "~", "./", "../", "$HOME", "${HOME}", "%USERPROFILE%"))
        or ".." in word.split("/")
        or (len(word) > 2 and word[1] == ":" and word[2] in "\\/")
    )


def is_home_or_root(path: str, grounds: Grounds) -> bool:
    """Whether a path is a whole home folder, a disk, or the root."""
    real = grounds.place(path)
    return real == "/" or bool(re.fullmatch(r"[a-z]:/?", real, re.IGNORECASE)) or bool(_HOMES.fullmatch(real))
