"""Real child processes: lines of any size, slow readers, and the end of the whole tree."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from agents.contract import AgentError, AgentGoneError, AgentNotFoundError
from agents.process_tree import ProcessRecord, descendants
from agents.processes import AgentProcess, LineTooLongError, spawn, sweep
from agents.reaper import Reaper, Watch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX process groups")
ROOT = Path(__file__).resolve().parents[2]
Start = Callable[..., Awaitable[AgentProcess]]
LEFT_BEHIND = "import os; os.system('setsid sleep 60 >/dev/null 2>&1 & echo $!');"
ORPHAN = "import subprocess,sys; p=subprocess.Popen(['sleep','60'],start_new_session=True); print(p.pid,flush=True);"
STUBBORN = (
    "import os,signal,time; os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "held = bytearray(os.urandom(1024)) * 300_000; print(os.getpid(), flush=True); time.sleep(60)"
)
"""Ignores the request to end; killed, it takes the system a while to take back its 300 MB."""


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    reaper = Reaper()
    yield reaper
    reaper.close()


@pytest_asyncio.fixture
async def start(tmp_path: Path, reaper: Reaper) -> AsyncIterator[Start]:
    started: list[AgentProcess] = []

    async def run(code: str, **options: int) -> AgentProcess:
        started.append(await spawn([sys.executable, "-c", code], tmp_path, reaper=reaper, **options))
        return started[-1]

    yield run
    for process in started:
        await process.stop(grace=1)


async def until(condition: Callable[[], bool], seconds: float = 8) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - other processes tell nobody
            await asyncio.sleep(0.05)


def is_alive(pid: int) -> bool:
    return ProcessRecord.of(pid) is not None


@pytest.mark.asyncio
async def test_a_four_megabyte_line_comes_through(start: Start) -> None:
    process = await start("print('x' * 4_000_000); print('end')")
    assert [len(line) async for line in process.lines] == [4_000_000, 3]
    assert await process.wait() == 0


@pytest.mark.asyncio
async def test_a_line_over_the_limit_ends_reading_with_a_clear_error(start: Start) -> None:
    process = await start("print('x' * 3_000_000); import time; time.sleep(60)", max_line=1024 * 1024)
    with pytest.raises(LineTooLongError):
        async for _ in process.lines:
            pass


@pytest.mark.asyncio
async def test_a_slow_reader_stops_the_writer_instead_of_filling_memory(start: Start) -> None:
    code = "import sys\nfor n in range(40):\n print('x'*1_000_000, flush=True); print(n, file=sys.stderr, flush=True)"
    process = await start(code)
    await until(lambda: len(process.stderr_tail.splitlines()) > 7)
    await asyncio.sleep(0.5)
    assert len(process.stderr_tail.splitlines()) < 14
    assert len([line async for line in process.lines]) == 40


@pytest.mark.asyncio
async def test_send_returns_only_when_the_pipe_has_the_bytes(start: Start) -> None:
    process = await start("import sys; sys.stdin.readline(); print('go', flush=True); print(len(sys.stdin.readline()))")
    await process.send(b"first")
    lines = process.lines
    assert await anext(lines) == b"go"
    await process.send(b"y" * 1_000_000)
    assert await anext(lines) == b"1000001"


@pytest.mark.asyncio
async def test_send_to_a_program_that_ended_says_that_it_is_gone(start: Start) -> None:
    process = await start("import sys; print('bad thing', file=sys.stderr); sys.exit(3)")
    assert await process.wait() == 3
    with pytest.raises(AgentGoneError) as caught:
        await process.send(b"hello")
    assert "bad thing" in caught.value.detail
    assert process.pid is None


@pytest.mark.asyncio
async def test_a_program_that_dies_while_it_is_written_to_says_that_it_is_gone(start: Start) -> None:
    process = await start("import time; time.sleep(0.2)")
    with pytest.raises(AgentGoneError):
        await process.send(b"z" * 5_000_000)


@pytest.mark.asyncio
async def test_a_missing_program_names_the_path_tried(tmp_path: Path, reaper: Reaper) -> None:
    with pytest.raises(AgentNotFoundError) as caught:
        await spawn([str(tmp_path / "nothing here"), "--help & del *"], tmp_path, reaper=reaper)
    assert "nothing here" in caught.value.detail


@pytest.mark.asyncio
async def test_a_missing_folder_is_not_mistaken_for_a_missing_program(tmp_path: Path, reaper: Reaper) -> None:
    with pytest.raises(AgentError) as caught:
        await spawn([sys.executable], tmp_path / "gone", reaper=reaper)
    assert not isinstance(caught.value, AgentNotFoundError)


@pytest.mark.asyncio
async def test_stop_ends_children_that_went_into_a_session_of_their_own(start: Start) -> None:
    process = await start(ORPHAN + "import time; time.sleep(60)")
    orphan = int(await anext(process.lines))
    await process.stop(grace=2)
    await until(lambda: not is_alive(orphan))


@pytest.mark.asyncio
async def test_stop_ends_what_a_shell_left_behind_with_an_ampersand(start: Start) -> None:
    process = await start(LEFT_BEHIND + "import time; time.sleep(60)")
    orphan = int(await anext(process.lines))
    await process.stop(grace=2)
    await until(lambda: not is_alive(orphan))


@pytest.mark.asyncio
async def test_what_stop_had_to_kill_is_gone_when_it_returns(start: Start) -> None:
    process = await start(f"import subprocess,sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]).wait()")
    stubborn = int(await anext(process.lines))
    await process.stop(grace=0.2)
    assert not is_alive(stubborn)


@pytest.mark.asyncio
async def test_stop_kills_a_program_that_ignores_the_request(start: Start) -> None:
    process = await start(
        "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    )
    await anext(process.lines)
    assert await process.stop(grace=0.2) == -signal.SIGKILL


@pytest.mark.asyncio
async def test_reading_ends_when_the_program_died_although_a_child_holds_its_stdout(start: Start) -> None:
    process = await start("import subprocess; print(subprocess.Popen(['sleep','20']).pid, flush=True)")
    async with asyncio.timeout(10):
        lines = [line async for line in process.lines]
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(lines[0]), signal.SIGKILL)
    assert len(lines) == 1


@pytest.mark.asyncio
async def test_what_a_killed_agent_left_behind_is_ended_while_the_hub_lives(start: Start) -> None:
    process = await start(ORPHAN + "import time; time.sleep(60)")
    orphan = int(await anext(process.lines))
    os.kill(process.pid or 0, signal.SIGKILL)
    await until(lambda: not is_alive(orphan))


@pytest.mark.parametrize("leaves", [ORPHAN, LEFT_BEHIND], ids=["a session of its own", "no parent"])
def test_a_killed_hub_takes_its_agents_and_their_orphans_along(tmp_path: Path, leaves: str) -> None:
    hub = f"""
import asyncio, sys
from pathlib import Path
from agents.processes import spawn
async def main():
    process = await spawn([sys.executable, "-c", {leaves + "import time; time.sleep(60)"!r}], Path({str(tmp_path)!r}))
    print(process.pid, (await anext(process.lines)).decode(), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", hub], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert parent.stdout is not None
    agent, orphan = map(int, parent.stdout.readline().split())
    os.kill(agent, signal.SIGSTOP)  # even one that can't answer
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 8
    while (is_alive(agent) or is_alive(orphan)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(agent)
    assert not is_alive(orphan)


@pytest.mark.asyncio
async def test_an_orphan_without_a_mark_is_known_by_a_look_taken_before(start: Start) -> None:
    process = await start(ORPHAN.replace("['sleep'", "['env','-i','sleep'") + "import time; time.sleep(60)")
    orphan = int(await anext(process.lines))
    assert process.record is not None
    watch = Watch()
    watch.take(f"+{process.record.pid} {process.record.birth} ")
    watch.look()
    process.record.signal(signal.SIGKILL)
    await process.wait()
    await asyncio.to_thread(watch.take, f"-{process.record.pid}")
    assert watch.is_idle
    await until(lambda: not is_alive(orphan))


@pytest.mark.asyncio
async def test_a_sweep_ends_what_an_earlier_hub_left_and_nobody_else(start: Start) -> None:
    process = await start(ORPHAN + "import time; time.sleep(60)")
    orphan = int(await anext(process.lines))
    assert process.record is not None
    stranger = ProcessRecord(os.getpid(), "another birth")
    assert await sweep([process.record, stranger]) == 2
    assert not is_alive(orphan)


@pytest.mark.asyncio
async def test_a_sweep_finds_what_a_dead_agent_left_behind_when_its_reaper_died_too(tmp_path: Path) -> None:
    reaper = Reaper()
    process = await spawn([sys.executable, "-c", ORPHAN + "import time; time.sleep(60)"], tmp_path, reaper=reaper)
    orphan = int(await anext(process.lines))
    (kept,) = reaper.running
    assert reaper._child is not None
    reaper._child.kill()
    reaper._child.wait()
    kept.record.signal(signal.SIGKILL)
    await process.wait()
    assert is_alive(orphan), "nobody was left to end it"
    assert await sweep([kept.record], marks=[kept.mark]) == 1
    assert not is_alive(orphan)
    await process.stop(grace=1)
    reaper.close()


def test_descendants_are_found_over_several_generations() -> None:
    table = {1: (0, "a"), 2: (1, "b"), 3: (2, "c"), 4: (3, "d"), 9: (0, "z")}
    assert {record.pid for record in descendants([ProcessRecord(2, "b")], table)} == {3, 4}
    assert descendants([ProcessRecord(2, "older")], table) == set()
