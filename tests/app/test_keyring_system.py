"""The real keyring daemon of the desktop keeps, gives and forgets the token."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app import secrets
from app.paths import folders
from tests.parts import missing, require_session_bus

pytestmark = pytest.mark.system

TOKEN = "1234567:" + "K" * 35


def require_keyring() -> None:
    require_session_bus()
    try:
        secrets.backend_name()
    except secrets.KeyringUnavailableError as error:
        missing(f"needs a keyring daemon: {error.title}")


def test_the_token_lives_in_the_keyring_and_can_be_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_keyring()
    monkeypatch.delenv(secrets.TOKEN_VARIABLE, raising=False)
    place = folders(tmp_path)
    assert secrets.store(TOKEN, place) is secrets.SecretSource.KEYRING
    token = secrets.read(place)
    assert (token.value, token.source) == (TOKEN, secrets.SecretSource.KEYRING)
    assert not secrets.plaintext_file(place).exists()
    secrets.forget(place)
    with pytest.raises(secrets.SecretError):
        secrets.read(place)


def test_two_instances_keep_two_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_keyring()
    monkeypatch.delenv(secrets.TOKEN_VARIABLE, raising=False)
    one, two = folders(tmp_path / "a"), folders(tmp_path / "b")
    secrets.store(TOKEN, one)
    try:
        with pytest.raises(secrets.SecretError):
            secrets.read(two)
    finally:
        secrets.forget(one)
    assert os.environ.get(secrets.TOKEN_VARIABLE) is None
