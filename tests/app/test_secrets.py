"""Where the token comes from, and that nothing but a trusted keyring is used silently."""

from __future__ import annotations

import os
from pathlib import Path

import keyring
import keyring.errors
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.backends.chainer import ChainerBackend

from app import secrets
from app.paths import folders

TOKEN = "1234567:" + "A" * 30
OTHER = "7654321:" + "B" * 30


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(secrets.TOKEN_VARIABLE, raising=False)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(secrets.TOKEN_VARIABLE, TOKEN)
    token = secrets.read(folders(tmp_path))
    assert (token.value, token.source) == (TOKEN, secrets.SecretSource.ENVIRONMENT)


def test_a_service_credential_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / secrets.CREDENTIAL_NAME).write_text(TOKEN + "\r\n", encoding="utf-8")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert secrets.read(folders(tmp_path / "hub")).value == TOKEN


def test_no_token_anywhere_names_the_missing_keyring(tmp_path: Path) -> None:
    with pytest.raises(secrets.KeyringUnavailableError) as caught:
        secrets.read(folders(tmp_path))
    assert "AGENT_HUB_TOKEN" in caught.value.hint


def test_a_plaintext_keyring_of_another_package_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class PlaintextKeyring(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str:
            return TOKEN

        def set_password(self, service: str, username: str, password: str) -> None:
            raise AssertionError("must not be used")

        def delete_password(self, service: str, username: str) -> None:
            raise AssertionError("must not be used")

    monkeypatch.setattr(keyring, "get_keyring", PlaintextKeyring)
    with pytest.raises(secrets.KeyringUnavailableError):
        secrets.read(folders(tmp_path))


def test_plaintext_is_written_only_with_consent_and_for_the_user_alone(tmp_path: Path) -> None:
    place = folders(tmp_path)
    with pytest.raises(secrets.KeyringUnavailableError):
        secrets.store(TOKEN, place)
    assert not secrets.plaintext_file(place).exists()
    assert secrets.store(TOKEN, place, allow_plaintext=True) is secrets.SecretSource.FILE
    assert secrets.plaintext_file(place).stat().st_mode & 0o077 == 0
    assert secrets.read(place).source is secrets.SecretSource.FILE


def test_a_forgotten_token_is_gone(tmp_path: Path) -> None:
    place = folders(tmp_path)
    secrets.store(TOKEN, place, allow_plaintext=True)
    secrets.forget(place)
    with pytest.raises(secrets.SecretError):
        secrets.read(place)


@pytest.mark.parametrize("paste", [f"  {TOKEN}\r\n", f'"{TOKEN}"', TOKEN])
def test_a_paste_with_blanks_and_quotes_is_a_token(paste: str) -> None:
    assert secrets.checked(paste) == TOKEN


@pytest.mark.parametrize("paste", ["", "hello", "123:short", "bot" + TOKEN])
def test_what_is_no_token_is_refused_without_repeating_it(paste: str) -> None:
    with pytest.raises(secrets.SecretError) as caught:
        secrets.checked(paste)
    assert not paste or paste not in caught.value.title + caught.value.hint


def test_a_token_does_not_show_in_its_repr() -> None:
    assert TOKEN not in repr(secrets.Token(TOKEN, secrets.SecretSource.KEYRING))


class OpenFile(KeyringBackend):
    """Keeps what it gets in the open, as keyrings.alt does."""

    priority = 1
    kept = ""

    def get_password(self, service: str, username: str) -> str:
        return TOKEN

    def set_password(self, service: str, username: str, password: str) -> None:
        OpenFile.kept = password

    def delete_password(self, service: str, username: str) -> None:
        OpenFile.kept = ""


class Trusted(OpenFile):
    """Passes for a keyring of the system."""

    priority = 1
    kept = ""

    def get_password(self, service: str, username: str) -> str:
        return Trusted.kept

    def set_password(self, service: str, username: str, password: str) -> None:
        Trusted.kept = password


Trusted.__module__ = "keyring.backends.SecretService"


def chain(*backends: KeyringBackend) -> ChainerBackend:
    made = ChainerBackend()
    made.__class__ = type("Chain", (ChainerBackend,), {"backends": backends, "__module__": ChainerBackend.__module__})
    return made


def test_a_chain_of_nothing_but_plaintext_keyrings_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain(OpenFile(), OpenFile()))
    with pytest.raises(secrets.KeyringUnavailableError):
        secrets.store(TOKEN, folders(tmp_path))
    assert OpenFile.kept == ""


def test_of_a_chain_only_the_trusted_keyring_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain(OpenFile(), Trusted()))
    assert secrets.store(OTHER, folders(tmp_path)) is secrets.SecretSource.KEYRING
    assert (Trusted.kept, OpenFile.kept) == (OTHER, "")
    assert secrets.read(folders(tmp_path)).value == OTHER


@pytest.mark.skipif(os.name != "posix", reason="rights of files as POSIX has them")
def test_a_token_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    place = folders(tmp_path)
    secrets.plaintext_file(place).touch(mode=0o644)
    secrets.plaintext_file(place).chmod(0o644)
    secrets.store(TOKEN, place, allow_plaintext=True)
    assert secrets.plaintext_file(place).stat().st_mode & 0o077 == 0


class MemoryKeyring(KeyringBackend):
    """A trusted keyring: the hub looks at the module's name."""

    priority = 1

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.is_locked:
            raise keyring.errors.KeyringLocked
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    backend = MemoryKeyring()
    monkeypatch.setattr(MemoryKeyring, "__module__", "keyring.backends.SecretService")
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    return backend


def test_the_secret_of_the_rules_is_made_once_and_lives_in_the_keyring(trusted: MemoryKeyring, tmp_path: Path) -> None:
    place = folders(tmp_path)
    assert secrets.read_rule_secret(place) == ""
    made = secrets.make_rule_secret(place)
    assert len(made) > 30
    assert secrets.make_rule_secret(place) == secrets.read_rule_secret(place) == made
    assert made in trusted.entries.values()
    assert not secrets.rule_secret_file(place).exists()


@pytest.mark.usefixtures("trusted")
def test_a_file_with_a_secret_counts_for_nothing_where_there_is_a_keyring(tmp_path: Path) -> None:
    place = folders(tmp_path)
    secrets.rule_secret_file(place).parent.mkdir(parents=True, exist_ok=True)
    secrets.rule_secret_file(place).write_text("laid there by an agent", encoding="utf-8")
    assert secrets.read_rule_secret(place) == ""


def test_a_locked_keyring_is_not_replaced_by_a_file(trusted: MemoryKeyring, tmp_path: Path) -> None:
    place = folders(tmp_path)
    trusted.is_locked = True
    with pytest.raises(secrets.KeyringUnavailableError):
        secrets.make_rule_secret(place)
    assert not secrets.rule_secret_file(place).exists()


def test_without_a_keyring_the_secret_of_the_rules_is_a_private_file_beside_the_token(tmp_path: Path) -> None:
    place = folders(tmp_path)
    made = secrets.make_rule_secret(place)
    assert secrets.read_rule_secret(place) == made
    assert secrets.rule_secret_file(place).parent == secrets.plaintext_file(place).parent
    assert secrets.rule_secret_file(place).stat().st_mode & 0o077 == 0


def test_a_service_may_be_given_the_secret_of_the_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / secrets.RULES_NAME).write_text("from the service\n", encoding="utf-8")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert secrets.make_rule_secret(folders(tmp_path / "hub")) == "from the service"
