"""The host through several lives: what the file alone may change, and what becomes of a start that fails."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agents.contract import HubError
from app import host as hosts
from app import running as running_module
from app.engine import Engine
from app.engine_facade import EngineFacade
from app.health import HubView
from app.host import Host
from app.paths import folders
from app.settings import Settings
from bridge.clock import SystemClock
from bridge.store import Database

TOKEN = "123456789:" + "A" * 35
BASE = "[telegram]\nchats = [-1005]\nusers = [7]\n"


class QuietEngine:
    """Stands where the engine does; remembers each life and what it was told."""

    lives: list[QuietEngine]
    troubles: list[HubError]

    def __init__(
        self, settings: Settings, *_: object, on_failure: Callable[[], None] = lambda: None, **__: object
    ) -> None:
        self.settings = settings
        self.fail = on_failure
        self.lock_secret = ""

    async def start(self) -> None:
        if self.troubles:
            raise self.troubles.pop()
        self.lives.append(self)

    async def stop(self) -> None:
        self.lives.remove(self)

    def reconfigure(self, settings: Settings) -> None:
        self.settings = settings

    def make_view(self) -> HubView:
        return HubView()


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not is_so():  # noqa: ASYNC110 - the host has no event for it
            await asyncio.sleep(0.01)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_HUB_TOKEN", TOKEN)
    monkeypatch.setattr(hosts, "Engine", QuietEngine)
    monkeypatch.setattr(QuietEngine, "lives", [], raising=False)
    monkeypatch.setattr(QuietEngine, "troubles", [], raising=False)
    place = folders(tmp_path)
    place.make()
    place.settings_file.write_text(BASE, encoding="utf-8")
    return place.settings_file


@contextlib.asynccontextmanager
async def running(tmp_path: Path, file: Path | None = None) -> AsyncIterator[Host]:
    host = Host(folders(tmp_path), file)
    task = asyncio.create_task(host.run(lambda _view: None))
    await until(lambda: host.is_up)
    try:
        yield host
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def new_life(host: Host) -> None:
    former = host.engine
    host.restart()
    await until(lambda: host.engine not in (None, former))


@pytest.mark.asyncio
async def test_a_new_life_does_not_put_in_force_what_waits_for_a_yes(tmp_path: Path, file: Path) -> None:
    async with running(tmp_path) as host:
        file.write_text(BASE.replace("[7]", "[7, 666]") + "[hub]\nlanguage = 'ru'\n", encoding="utf-8")
        await new_life(host)
        assert host.settings.telegram.users.keys() == {7}
        assert host.settings.hub.language == "ru"
        assert [change.name for change in host.pending] == ["telegram.users"]


@pytest.mark.asyncio
async def test_a_file_broken_or_deleted_between_two_lives_leaves_the_settings_in_force(
    tmp_path: Path, file: Path
) -> None:
    async with running(tmp_path) as host:
        file.write_text("[telegram", encoding="utf-8")
        await new_life(host)
        assert host.settings.telegram.users.keys() == {7}
        file.unlink()
        await new_life(host)
        assert host.settings.telegram.users.keys() == {7}


@pytest.mark.asyncio
async def test_saving_in_the_window_accepts_nothing_that_somebody_else_wrote(tmp_path: Path, file: Path) -> None:
    async with running(tmp_path) as host:
        file.write_text(BASE.replace("[7]", "[7, 666]"), encoding="utf-8")
        assert host.engine is not None
        facade = EngineFacade(host.engine, host)
        await facade.apply_settings({"hub.ask_timeout": 60, "policy.edit": "deny"})
        assert host.settings.telegram.users.keys() == {7}
        assert host.settings.hub.ask_timeout == 60
        assert host.settings.policy.edit == "deny"
        assert [change.name for change in host.pending] == ["telegram.users"]


@pytest.mark.asyncio
async def test_a_yes_counts_only_for_the_changes_that_were_shown(tmp_path: Path, file: Path) -> None:
    async with running(tmp_path) as host:
        file.write_text(BASE.replace("[7]", "[7, 8]"), encoding="utf-8")
        await new_life(host)
        file.write_text(BASE.replace("[7]", "[7, 666]"), encoding="utf-8")
        with pytest.raises(HubError):
            await host.accept_pending()
        assert host.settings.telegram.users.keys() == {7}
        await host.accept_pending()
        assert host.settings.telegram.users.keys() == {7, 666}
        assert host.pending == ()


@pytest.mark.asyncio
async def test_a_yes_to_another_agent_program_does_not_count_for_a_third(tmp_path: Path, file: Path) -> None:
    async with running(tmp_path) as host:
        file.write_text(BASE + "[agents.claude]\ncommand = 'one'\n", encoding="utf-8")
        await new_life(host)
        file.write_text(BASE + "[agents.claude]\ncommand = 'two'\n", encoding="utf-8")
        with pytest.raises(HubError):
            await host.accept_pending()
        assert dict(host.settings.agents.entries) == {}


@pytest.mark.asyncio
async def test_switching_the_lock_on_gives_the_running_engine_its_secret(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_HUB_LOCK_SECRET", "JBSWY3DPEHPK3PXP")
    async with running(tmp_path) as host:
        former = host.engine
        assert former is not None
        await EngineFacade(former, host).apply_settings({"lock.enabled": True})
        await until(lambda: former.lock_secret == "JBSWY3DPEHPK3PXP")
        assert host.engine is former, "running turns must not be interrupted for it"
        assert former.settings.lock.enabled


@pytest.mark.asyncio
async def test_a_start_that_fails_is_shown_and_tried_again(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "RETRY_SECONDS", 0.05)
    QuietEngine.troubles.append(HubError("held by another program"))
    async with running(tmp_path) as host:
        assert host.settings.telegram.users.keys() == {7}
        assert len(QuietEngine.lives) == 1


@pytest.mark.asyncio
async def test_an_engine_that_breaks_again_and_again_does_not_start_without_a_pause(tmp_path: Path, file: Path) -> None:
    async with running(tmp_path) as host:
        QuietEngine.lives[0].fail()
        await until(lambda: not host.is_up)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.15):
                await until(lambda: host.is_up)
        host.restart()
        await until(lambda: host.is_up)


@pytest.mark.asyncio
async def test_a_start_that_fails_after_the_database_was_opened_leaves_it_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(Settings(), TOKEN, folders(tmp_path), backends={})

    def broken() -> list[object]:
        raise HubError("the journal can't be read")

    monkeypatch.setattr(engine, "_unfinished", broken)
    with pytest.raises(HubError, match="journal"):
        await engine.start()
    await asyncio.to_thread(lambda: Database.open(engine.folders.database_file, SystemClock()).close())
    with pytest.raises(RuntimeError):
        await engine.database.durably(lambda _connection: None)


@pytest.mark.asyncio
async def test_a_settings_file_of_ones_own_is_guarded_like_the_hubs_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_HUB_TOKEN", TOKEN)
    file = tmp_path / "mine.toml"
    file.write_text("[telegram]\nbase_url = 'http://127.0.0.1:9/bot'\n", encoding="utf-8")
    async with running(tmp_path / "hub", file) as host:
        assert host.engine is not None
        assert file in host.engine.hub.context.config.policy.guarded


@pytest.mark.asyncio
async def test_a_headless_hub_that_breaks_does_not_end_as_if_it_was_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(folders(tmp_path))

    async def broken(_on_view: object) -> None:
        raise RuntimeError("a part broke")

    monkeypatch.setattr(host, "run", broken)
    with pytest.raises(RuntimeError, match="a part broke"):
        await running_module._serve(host)
