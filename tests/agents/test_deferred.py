"""Adapters are made when they are first asked for, once each, from whatever thread."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from agents.contract import AgentBackend
from agents.deferred import DeferredBackends


class Workshop:
    def __init__(self) -> None:
        self.made: list[str] = []

    def make(self, kind: str) -> AgentBackend:
        self.made.append(kind)
        return cast("Any", f"adapter of {kind}")


def test_nothing_is_made_before_somebody_asks() -> None:
    shop = Workshop()
    backends = DeferredBackends(("claude", "codex"), shop.make)
    assert "claude" in backends
    assert sorted(backends) == ["claude", "codex"]
    assert (shop.made, backends.made) == ([], ())


def test_the_same_adapter_comes_each_time() -> None:
    shop = Workshop()
    backends = DeferredBackends(("claude", "codex"), shop.make)
    assert backends["claude"] is backends.get("claude")
    assert (shop.made, backends.made) == (["claude"], ("adapter of claude",))


def test_an_unknown_kind_is_unknown() -> None:
    backends = DeferredBackends(("claude",), Workshop().make)
    assert backends.get("gemini") is None
    with pytest.raises(KeyError):
        backends["gemini"]


def test_warming_in_another_thread_makes_each_once() -> None:
    shop = Workshop()
    backends = DeferredBackends(("claude", "codex", "qwen"), shop.make)
    threads = [threading.Thread(target=backends.warm) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert shop.made == ["claude", "codex", "qwen"]
