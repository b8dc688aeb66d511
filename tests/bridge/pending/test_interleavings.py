"""Everything that can happen to a request at the same instant, in random order: at most one decision, every card true.

The desk, the store and the outbox are the real ones; time is virtual. A run has up to three requests of one topic and
ends when all is quiet; then what the phone shows is held against what the agents heard.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from agents.contract import Decision, PermissionRequest, Verdict
from bridge.audit import AuditEvent, audit_lines
from bridge.inbound import ButtonPress, IncomingMessage, Person, ReactionChange
from bridge.outbox import Outbox
from bridge.pending import AskDesk, PressReply
from bridge.pending.registry import token_of
from bridge.store import Database, StoreUnusableError
from tests.bridge.clocks import VirtualClock, VirtualLoop
from tests.bridge.messengers import FakeMessenger
from tests.bridge.pending.stage import ANNA, CHAT, OLEG, STRANGER, TOPIC, command, configuration, origin

RUNS = 10_000 if os.environ.get("AGENT_HUB_CI") == "1" else 300
LIMIT = 30.0
"""Seconds a request waits here; short, because every second of virtual time costs some real one."""
COMMANDS = ("npm test", "rm -rf build")
PEOPLE = st.sampled_from([ANNA, ANNA, OLEG, STRANGER])
INCIDENTS = (
    "the_time_runs_out",
    "the_computer_sleeps_eight_hours",
    "the_agent_withdraws",
    "the_agents_die",
    "the_presses_may_be_lost_so_cards_come_again",
    "the_hub_dies_and_starts_again",
)
PAUSES = st.integers(0, 4)

T = TypeVar("T")


class Mortal:
    """The store as one run of the hub sees it: after its death nothing is read or written any more.

    ``durably`` commits in this thread after some turns of the loop, and answers some turns later, so that everything
    can happen before, between and after.
    """

    def __init__(self, database: Database, random: Random) -> None:
        self._database = database
        self._random = random
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        if self.is_dead:
            raise StoreUnusableError("this run of the hub is over")
        return getattr(self._database, name)

    async def durably(self, work: Callable[[Any], T]) -> T:
        await self._turns()
        if self.is_dead:
            raise StoreUnusableError("this run of the hub is over")
        # In the store's own thread, which also makes its checkpoints; waiting for it keeps the run repeatable.
        result = self._database._worker.submit(self._database._durable, work).result(10)
        await self._turns()
        return result

    async def _turns(self) -> None:
        for _ in range(self._random.randint(0, 3)):
            await asyncio.sleep(0)


@dataclass
class Agent:
    """One request from the agent's side. ``took`` is what its process has really taken."""

    ask: PermissionRequest
    task: asyncio.Task[None] | None = None
    hears: asyncio.Event = field(default_factory=asyncio.Event)
    is_gone: bool = False
    token: str = ""
    took: list[Decision] = field(default_factory=list)
    is_withdrawn: bool = False


class Interleavings(RuleBasedStateMachine):
    """Rules are things that happen; each may leave the loop some turns, or none, before the next."""

    database: Database
    numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop(1000.0)
        asyncio.set_event_loop(None)
        self.clock = VirtualClock()
        self.random = Random(0)
        self.messenger = FakeMessenger(self.clock, latency=0.0)
        self.agents: list[Agent] = []
        self.doings: list[asyncio.Task[Any]] = []
        self.together: list[Coroutine[Any, Any, Any]] = []
        self.toasts: list[PressReply] = []
        self.updates = itertools.count(1)
        self.run(self._begin())

    # --- the house

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _begin(self) -> None:
        for table in ("asks", "audit", "rules", "outbox", "outbox_sent"):
            self.database.execute(f"DELETE FROM {table}")
        await self._start_hub()

    async def _start_hub(self) -> None:
        self.store = Mortal(self.database, self.random)
        self.outbox = Outbox(self.messenger, self.store, self.clock, random=self.random)  # type: ignore[arg-type]
        self.desk = AskDesk(
            config=lambda: configuration(allows_session_scope=True, ask_timeout=LIMIT),
            database=self.store,  # type: ignore[arg-type]
            delivery=self.outbox,
            clock=self.clock,
            new_id=lambda: f"id{next(self.numbers)}",
        )
        await self.desk.recover()
        self.sending = asyncio.ensure_future(self.outbox.run())
        await asyncio.sleep(0)

    def do(self, work: Coroutine[Any, Any, Any], pause: int) -> None:
        """Begin something and let the loop turn ``pause`` times; without a pause it begins with what comes next."""
        self.together.append(work)
        if pause:
            self.run(self._turn(pause))

    async def _turn(self, turns: int) -> None:
        self.doings += [asyncio.ensure_future(work) for work in self.together]
        self.together.clear()
        for _ in range(turns):
            await asyncio.sleep(0)

    def pick(self, number: int) -> Agent:
        return self.agents[number % len(self.agents)]

    # --- what happens

    @initialize(seed=st.integers(0, 2**32))
    def the_store_is_as_fast_as_it_likes(self, seed: int) -> None:
        self.random.seed(seed)

    @precondition(lambda self: len(self.agents) < 3)
    @rule(text=st.sampled_from(COMMANDS), is_slow=st.booleans())
    def an_agent_asks(self, text: str, is_slow: bool) -> None:
        agent = Agent(command(text, ask_id=f"rq{next(self.numbers)}"))
        if not is_slow:
            agent.hears.set()

        async def asks() -> None:
            desk = self.desk
            decision = await desk.request(origin(), agent.ask)
            await agent.hears.wait()
            if agent.is_gone or agent.is_withdrawn:
                return
            agent.took.append(decision)
            await desk.told(agent.ask.id, delivered=True)

        async def begun() -> None:
            await self._turn(0)
            agent.task = asyncio.ensure_future(asks())
            for _ in range(6):  # its card is on the phone before anybody can press
                await asyncio.sleep(0)
            mine = [ask.token for ask in self.desk.open_asks() if ask.id == agent.ask.id]
            agent.token = mine[0] if mine else ""  # a session scope answers without a card

        self.agents.append(agent)
        self.run(begun())

    @precondition(lambda self: self.agents)
    @rule(
        number=st.integers(0, 2),
        answer=st.sampled_from(["allow", "allow", "deny", "really", "back", "session"]),
        person=PEOPLE,
        pause=PAUSES,
        is_repeated=st.booleans(),
    )
    def somebody_presses(self, number: int, answer: str, person: Person, pause: int, is_repeated: bool) -> None:
        agent = self.pick(number)
        message_id, update = self.message_of(agent), next(self.updates)
        if message_id is None:
            return
        data = f"ask:{answer}:{agent.token}"

        async def press() -> None:
            reply = await self.desk.press(ButtonPress(update, TOPIC, message_id, person, f"p{update}", data))
            assert reply is not None
            self.toasts.append(reply)

        for _ in range(2 if is_repeated else 1):
            self.do(press(), pause)

    @precondition(lambda self: self.agents)
    @rule(number=st.integers(0, 2), answer=st.sampled_from(["allow", "deny", "really"]), pause=PAUSES)
    def anna_presses(self, number: int, answer: str, pause: int) -> None:
        self.somebody_presses(number, answer, ANNA, pause, is_repeated=False)

    @precondition(lambda self: self.agents)
    @rule(number=st.integers(0, 2), pause=PAUSES)
    def oleg_presses_through_both_steps(self, number: int, pause: int) -> None:
        for answer in ("allow", "really"):
            self.somebody_presses(number, answer, OLEG, pause, is_repeated=False)

    @precondition(lambda self: self.agents)
    @rule(number=st.integers(0, 2), emoji=st.sampled_from("👍👎"), person=PEOPLE, pause=PAUSES)
    def somebody_reacts(self, number: int, emoji: str, person: Person, pause: int) -> None:
        message_id = self.message_of(self.pick(number))
        if message_id is not None:
            self.do(self.desk.react(ReactionChange(next(self.updates), CHAT, message_id, person, (emoji,))), pause)

    @precondition(lambda self: self.agents)
    @rule(number=st.integers(0, 2), person=PEOPLE, pause=PAUSES)
    def somebody_replies(self, number: int, person: Person, pause: int) -> None:
        message_id = self.message_of(self.pick(number))
        if message_id is not None:
            update = next(self.updates)
            text = IncomingMessage(update, TOPIC, 9000 + update, person, 0.0, "not like this", message_id)
            self.do(self.desk.reply(text), pause)

    def the_time_runs_out(self, number: int, pause: int) -> None:
        async def later() -> None:
            await self._turn(0)
            await asyncio.sleep(LIMIT + 1)

        self.run(later())
        self.do(asyncio.sleep(0), pause)

    def the_computer_sleeps_eight_hours(self, number: int, pause: int) -> None:
        self.clock.wall_offset += 8 * 3600
        self.do(asyncio.sleep(0), pause)

    @precondition(lambda self: self.agents)
    @rule(number=st.integers(0, 2), pause=PAUSES)
    def the_agent_hears(self, number: int, pause: int) -> None:
        self.pick(number).hears.set()
        self.do(asyncio.sleep(0), pause)

    def the_agent_withdraws(self, number: int, pause: int) -> None:
        agent = self.pick(number)
        agent.is_withdrawn = agent.is_withdrawn or not agent.took
        self.do(self.desk.withdrawn(agent.ask.id, "changed its mind"), pause)

    def the_agents_die(self, number: int, pause: int) -> None:
        is_void_first = number == 1
        for agent in self.agents:
            agent.is_gone = True
        if is_void_first:
            self.do(self.desk.void(TOPIC, "the process ended"), pause)
        for agent in self.agents:
            if agent.task is not None:
                agent.task.cancel()
        if not is_void_first:
            self.do(asyncio.sleep(0), pause)
            self.do(self.desk.void(TOPIC, "the process ended"), pause)

    def the_presses_may_be_lost_so_cards_come_again(self, number: int, pause: int) -> None:
        async def again() -> None:
            self.desk.show_again()

        self.do(again(), pause)

    def the_hub_dies_and_starts_again(self, number: int, pause: int) -> None:
        self.store.is_dead = True
        for agent in self.agents:
            agent.is_gone = True

        async def anew() -> None:
            await self._turn(0)
            tasks = [agent.task for agent in self.agents if agent.task is not None]
            for task in (self.sending, *tasks, *self.doings):
                task.cancel()
            await asyncio.gather(self.sending, *tasks, *self.doings, return_exceptions=True)
            self.doings.clear()
            await self._start_hub()

        self.run(anew())

    @precondition(lambda self: self.agents)
    @rule(what=st.sampled_from(INCIDENTS), number=st.integers(0, 2), pause=PAUSES)
    def an_incident(self, what: str, number: int, pause: int) -> None:
        """One rule for all, so that decisions stay as likely as their disturbance."""
        getattr(self, what)(number, pause)

    # --- the end

    def message_of(self, agent: Agent) -> int | None:
        """The message on the phone that is the request's card."""
        found = [number for number in self.messenger.shown if self.token_at(number) == agent.token]
        return found[-1] if found else None

    def token_at(self, message_id: int) -> str | None:
        key = self.outbox.key_of(CHAT, message_id)
        return token_of(key) if key else None

    def teardown(self) -> None:
        try:
            self.run(self._quiet())
            self._check()
        finally:
            self.run(self._close())
            self.loop.close()

    async def _quiet(self) -> None:
        await self._turn(1)
        for agent in self.agents:
            agent.hears.set()
        await asyncio.sleep(2 * LIMIT)
        for _ in range(40):
            if not self.outbox.waiting:
                break
            await asyncio.sleep(60)
        for result in await asyncio.gather(*self.doings, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def _close(self) -> None:
        await self._turn(0)
        tasks = [agent.task for agent in self.agents if agent.task is not None]
        for task in (self.sending, *tasks, *self.doings):
            task.cancel()
        await asyncio.gather(self.sending, *tasks, *self.doings, return_exceptions=True)

    def _check(self) -> None:
        lines = audit_lines(self.database)
        decided = {AuditEvent.ALLOWED, AuditEvent.DENIED, AuditEvent.EXPIRED}
        assert self.desk.open_asks() == ()
        for agent in (each for each in self.agents if each.token):
            mine = [line for line in lines if line.token == agent.token and line.event in decided]
            assert len(mine) <= 1, "two decisions for one request"
            assert all(line.by_id != STRANGER.id for line in mine), "a stranger decided"
            assert len(agent.took) <= 1
            delivered = [line.delivered for line in mine if line.delivered is not None]
            assert not any(delivered) or agent.took, "the audit says delivered, and the agent took nothing"
            self._check_cards(agent, mine[0].event if mine else None)
        states = {row["state"] for row in self.database.rows("SELECT state FROM asks")}
        assert not states & {"open", "decided"}, "a row is left unsettled"
        told = [toast for toast in self.toasts if "was delivered to the agent" in toast.text]
        assert len(told) <= sum(len(agent.took) for agent in self.agents)

    def _check_cards(self, agent: Agent, event: AuditEvent | None) -> None:
        shown = [made for number, made in self.messenger.shown.items() if self.token_at(number) == agent.token]
        took = agent.took[0] if agent.took else None
        for made in shown:
            assert made.keyboard == (), f"a card still has buttons: {made.text}"
            first = made.text.replace("<b>", "").replace("</b>", "").splitlines()[0]
            if first.startswith("✅ Allowed"):
                assert took is not None
                assert took.verdict is Verdict.ALLOW
            elif first.startswith("⛔ Denied"):
                assert took is not None
                assert took.verdict is Verdict.DENY
            elif first.startswith("⌛"):
                assert event is AuditEvent.EXPIRED
                assert took is None or took.verdict is Verdict.DENY
            elif first[0] in "↩⚪":
                assert event is None, f"decided, and the card says: {first}"
                assert took is None or took.verdict is Verdict.DENY
            else:
                assert first[0] in "⚠❔", first
                assert event in (AuditEvent.ALLOWED, AuditEvent.DENIED), first
                assert took is None or first.startswith("❔"), first
            if took is not None and took.verdict is Verdict.ALLOW and not agent.is_gone:
                assert first.startswith("✅ Allowed"), f"the agent took a yes and the card says: {first}"


@pytest.fixture(scope="module")
def _quiet_log() -> Any:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("_quiet_log")
def test_at_most_one_decision_and_every_card_true_whatever_happens_at_once() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "hub.db", VirtualClock.__new__(StillClock))
        for connection in (database._near, database._far):  # order matters here, not the disk
            connection.execute("PRAGMA synchronous = OFF")
        Interleavings.database = database
        try:
            run_state_machine_as_test(
                Interleavings,
                settings=settings(
                    max_examples=RUNS,
                    stateful_step_count=8,
                    deadline=None,
                    derandomize=True,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            database.close()


class StillClock(VirtualClock):
    """For opening the database outside of a loop."""

    def now(self) -> float:
        return 1_800_000_000.0
