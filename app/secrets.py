"""Where the bot token comes from: environment, service credential, the system's keyring, or an agreed file.

Only keyring backends of the system are accepted: a plaintext backend that some package installed would be chosen
silently by the library otherwise (measured on keyring 25.7 with keyrings.alt). A locked keyring may open a prompt
and block, so callers run ``read``/``store`` in a thread with a time limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from agents.contract import HubError
from app.paths import Folders
from bridge.texts import tr

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "agent-hub"
TOKEN_NAME = "telegram-bot-token"  # noqa: S105 - the name of the entry, not its value
LOCK_NAME = "lock-secret"
RULES_NAME = "rules-secret"
TOKEN_VARIABLE = "AGENT_HUB_TOKEN"  # noqa: S105 - the name of the variable
LOCK_VARIABLE = "AGENT_HUB_LOCK_SECRET"
CREDENTIAL_NAME = "agent-hub-token"
TOKEN_SHAPE = re.compile(r"\d{3,20}:[A-Za-z0-9_-]{20,}")
ALLOWED_BACKENDS = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.Windows",
    "keyring.backends.macOS",
)
KEYRING_SECONDS = 30.0
"""How long a keyring may show its own prompt before its caller goes on without it."""


class SecretSource(StrEnum):
    """Where a token was found; the plaintext file is named as such for ever."""

    ENVIRONMENT = "environment"
    CREDENTIAL = "service credential"
    KEYRING = "keyring"
    FILE = "plaintext file"


def source_text(source: SecretSource) -> str:
    """Where a token was found, for a person."""
    return {
        SecretSource.ENVIRONMENT: tr("from the environment"),
        SecretSource.CREDENTIAL: tr("from the service's credential"),
        SecretSource.KEYRING: tr("from the keyring"),
        SecretSource.FILE: tr("from a plaintext file"),
    }[source]


def kept_text(source: SecretSource) -> str:
    """Where ``store`` put a token, for a person."""
    if source is SecretSource.KEYRING:
        return tr("The token is kept in the keyring.")
    return tr("The token is kept in a plaintext file that only you can read.")


class SecretError(HubError):
    """No token could be read or stored."""


class NoTokenError(SecretError):
    """None was set up yet."""


class KeyringUnavailableError(SecretError):
    """There is no keyring of the system, or it is locked: may pass, ask again later."""


@dataclass(frozen=True, slots=True)
class Token:
    """The token and where it came from; its value is in no repr."""

    value: str
    source: SecretSource

    def __repr__(self) -> str:
        return f"Token(<hidden>, {self.source.value})"


def checked(value: str) -> str:
    """A token without the blanks and line ends of a paste; raises SecretError when it can't be one."""
    token = value.strip().strip("\"'").strip()
    if not TOKEN_SHAPE.fullmatch(token):
        raise SecretError(
            tr("That does not look like a bot token."),
            hint=tr("Copy the whole line that BotFather gave you: digits, a colon, letters."),
        )
    return token


def read(folders: Folders) -> Token:
    """The token, by the order above. Raises SecretError; KeyringUnavailableError when a keyring may come later."""
    if value := os.environ.get(TOKEN_VARIABLE):
        return Token(checked(value), SecretSource.ENVIRONMENT)
    if (folder := os.environ.get("CREDENTIALS_DIRECTORY")) and (file := Path(folder) / CREDENTIAL_NAME).is_file():
        return Token(checked(_text_of(file)), SecretSource.CREDENTIAL)
    plain = plaintext_file(folders)
    if plain.is_file():
        return Token(checked(_text_of(plain)), SecretSource.FILE)
    value = _keyring_get(_token_name(folders))
    if value is None:
        raise NoTokenError(tr("No bot token is set."), hint=tr("Press Set up in the window, or run: agent-hub setup"))
    return Token(checked(value), SecretSource.KEYRING)


def store(value: str, folders: Folders, *, allow_plaintext: bool = False) -> SecretSource:
    """Keep the token in the keyring; in a 0600 file only when the person agreed to plaintext."""
    token = checked(value)
    try:
        _keyring_set(_token_name(folders), token)
    except KeyringUnavailableError:
        if not allow_plaintext:
            raise
        _write_private(plaintext_file(folders), token)
        return SecretSource.FILE
    plaintext_file(folders).unlink(missing_ok=True)
    return SecretSource.KEYRING


def forget(folders: Folders) -> None:
    """Delete the token wherever it was stored; a missing one is fine."""
    plaintext_file(folders).unlink(missing_ok=True)
    import keyring.errors

    with suppress(keyring.errors.PasswordDeleteError, KeyringUnavailableError):
        _backend().delete_password(SERVICE, _token_name(folders))


def read_lock_secret(folders: Folders) -> str:
    """The secret of /unlock, "" when none is set up. Raises SecretError when a keyring does not answer."""
    if value := os.environ.get(LOCK_VARIABLE):
        return value.strip()
    if (folder := os.environ.get("CREDENTIALS_DIRECTORY")) and (file := Path(folder) / LOCK_NAME).is_file():
        return _text_of(file).strip()
    return _keyring_get(_entry_name(LOCK_NAME, folders)) or ""


def store_lock_secret(value: str, folders: Folders) -> None:
    """Keep the secret of /unlock; only in the keyring. Raises SecretError."""
    if os.environ.get(LOCK_VARIABLE):
        raise SecretError(
            tr("The secret of the lock comes from the environment."),
            hint=tr("Change {name} there.", name=LOCK_VARIABLE),
        )
    _keyring_set(_entry_name(LOCK_NAME, folders), value)


def read_rule_secret(folders: Folders) -> str:
    """What project rules are sealed with, "" when there is none yet. Raises SecretError when a keyring is locked."""
    if (folder := os.environ.get("CREDENTIALS_DIRECTORY")) and (file := Path(folder) / RULES_NAME).is_file():
        return _text_of(file).strip()
    if _has_keyring():
        # Never the file then: an agent could lay its own secret there, and a rule under it.
        return _keyring_get(_entry_name(RULES_NAME, folders)) or ""
    file = rule_secret_file(folders)
    return _text_of(file).strip() if file.is_file() else ""


def make_rule_secret(folders: Folders) -> str:
    """The secret of the project rules, a fresh one when there is none: in the keyring, else in a 0600 file.

    Raises SecretError.
    """
    if known := read_rule_secret(folders):
        return known
    value = token_urlsafe(32)
    if _has_keyring():
        _keyring_set(_entry_name(RULES_NAME, folders), value)
    else:
        _write_private(rule_secret_file(folders), value)
    return value


def rule_secret_file(folders: Folders) -> Path:
    """Only for computers without a keyring: beside the token, and as open to an agent's shell."""
    return folders.config / RULES_NAME


def plaintext_file(folders: Folders) -> Path:
    return folders.config / "token"


def backend_name() -> str:
    """The accepted keyring backend's name; raises KeyringUnavailableError."""
    return type(_backend()).__module__


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SecretError(
            tr("{file} can't be read.", file=file), hint=tr("Check its rights."), detail=type(error).__name__
        ) from error


def _write_private(file: Path, text: str) -> None:
    """A file that only this user can read. Raises SecretError."""
    try:
        _write_file(file, text)
    except OSError as error:
        raise SecretError(
            tr("{file} can't be written: {problem}.", file=file, problem=error.strerror),
            hint=tr("Check the folder's rights and the free space."),
        ) from error


def _write_file(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        if os.name == "posix":
            os.fchmod(descriptor, 0o600)  # a file that was there keeps its rights otherwise
        handle.write(text)


def _token_name(folders: Folders) -> str:
    """One entry per instance, so that two hubs on one computer keep two tokens."""
    return _entry_name(TOKEN_NAME, folders)


def _entry_name(name: str, folders: Folders) -> str:
    return f"{name}@{folders.instance}" if folders.instance else name


def _is_trusted(backend: KeyringBackend) -> bool:
    return type(backend).__module__.startswith(ALLOWED_BACKENDS)


def _has_keyring() -> bool:
    """Whether there is a trusted keyring at all, be it locked or not."""
    try:
        _backend()
    except KeyringUnavailableError:
        return False
    return True


def _backend() -> KeyringBackend:
    import keyring  # slow at import, and not needed where the environment gives the token
    from keyring.backends.chainer import ChainerBackend

    backend = keyring.get_keyring()
    if isinstance(backend, ChainerBackend):
        # It asks every backend that is there, a plaintext one as well: only a trusted one of them is used.
        backend = next((one for one in backend.backends if _is_trusted(one)), backend)
    if not _is_trusted(backend):
        raise KeyringUnavailableError(
            tr("This computer has no keyring that the hub trusts."),
            hint=tr("Unlock or install one (GNOME Keyring, KWallet), or set AGENT_HUB_TOKEN."),
            detail=f"keyring offered {type(backend).__module__}",
        )
    return backend


def _keyring_get(name: str) -> str | None:
    with _keyring_errors():
        return _backend().get_password(SERVICE, name)


def _keyring_set(name: str, value: str) -> None:
    with _keyring_errors():
        _backend().set_password(SERVICE, name, value)


@contextmanager
def _keyring_errors() -> Iterator[None]:
    import keyring.errors

    try:
        yield
    except keyring.errors.KeyringError as error:
        raise KeyringUnavailableError(
            tr("The keyring is locked or does not answer."),
            hint=tr("Log in to the desktop or unlock the keyring; the hub tries again."),
            detail=type(error).__name__,
        ) from error
