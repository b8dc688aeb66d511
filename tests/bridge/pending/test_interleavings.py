"""Everything that can happen to a request at the same instant, in random order: at most one decision, every card true.

The desk, the store and the outbox are the real ones; time is virtual. A run has up to three requests of one topic and
ends when all is quiet; then what the phone shows is held against what the agents heard.

Every step draws the same choices, whatever it is about, and nothing is filtered: with a rule for each happening more
than half of what hypothesis tried was thrown away half done. All steps of a run are drawn in one go, because hypothesis
takes as long for a rule of its own as the hub takes for what happens. Some runs leave some happenings out (swarm
testing).
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import StopTest
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

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

RUNS = int(os.environ.get("AGENT_HUB_INTERLEAVINGS") or (10_000 if os.environ.get("AGENT_HUB_CI") == "1" else 300))
IS_RANDOM = "AGENT_HUB_INTERLEAVINGS" in os.environ
"""``AGENT_HUB_INTERLEAVINGS=1500 pytest --hypothesis-seed=N`` searches elsewhere; else each run is the same."""
PARTS = range(4)
"""Each with its own seed and its share of the runs, so that several workers can take them."""
LIMIT = 30.0
"""Seconds a request waits here; short, because every second of virtual time costs some real one."""
CONFIG = configuration(allows_session_scope=True, ask_timeout=LIMIT)
MOST_REQUESTS = 3
STEPS_OF_A_RUN = 7
IN_MEMORY = Path("/dev/shm")
COMMANDS = ("npm test", "rm -rf build")
BEGINNINGS = tuple(itertools.chain.from_iterable(itertools.product(COMMANDS, repeat=n) for n in (1, 2)))
ANSWERS = ("allow", "allow", "deny", "really", "back", "session")
PEOPLE = (ANNA, ANNA, OLEG, STRANGER)
DECISIONS = (
    "an_agent_asks",
    "somebody_presses",
    "anna_presses",
    "oleg_presses_through_both_steps",
    "somebody_reacts",
    "somebody_replies",
    "the_agent_hears",
)
INCIDENTS = (
    "the_time_runs_out",
    "the_computer_sleeps_eight_hours",
    "the_agent_withdraws",
    "the_agents_die",
    "the_presses_may_be_lost_so_cards_come_again",
    "the_hub_dies_and_starts_again",
)
HAPPENINGS = DECISIONS + INCIDENTS
NOTHING = "nothing"
"""What steps that do not matter become when hypothesis makes a failing run simple."""

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


@dataclass(frozen=True)
class Step:
    """One thing that happens and how; each kind takes what it can use. ``is_odd``: the less usual of two ways."""

    kind: str
    number: int = 0
    answer: str = "allow"
    text: str = COMMANDS[0]
    person: Person = ANNA
    pause: int = 0
    is_odd: bool = False


STEPS = (
    Step(NOTHING),
    *(
        Step(kind, number, answer, COMMANDS[number % 2], person, pause, is_odd)
        for kind in (*DECISIONS * 6, *INCIDENTS)  # decisions must stay far likelier than what disturbs them
        for number, answer, person, pause, is_odd in itertools.product(
            range(MOST_REQUESTS), ANSWERS, PEOPLE, range(5), (False, True)
        )
    ),
)


class Interleavings(RuleBasedStateMachine):
    """What happens may leave the loop some turns, or none, before the next."""

    database: Database
    numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop(1000.0)
        asyncio.set_event_loop(None)
        self.clock = VirtualClock()
        self.random = Random(0)
        self.messenger = FakeMessenger(self.clock, latency=0.0)
        self.kinds = HAPPENINGS
        self.agents: list[Agent] = []
        self.tokens: dict[int, str | None] = {}
        self.doings: list[asyncio.Task[Any]] = []
        self.together: list[Coroutine[Any, Any, Any]] = []
        self.toasts: list[PressReply] = []
        self.updates = itertools.count(1)
        self.run(self._begin())

    # --- the house

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _begin(self) -> None:
        with self.database.transaction():
            for table in ("asks", "audit", "rules", "outbox", "outbox_sent"):
                self.database.execute(f"DELETE FROM {table}")
        await self._start_hub()

    async def _start_hub(self) -> None:
        self.store = Mortal(self.database, self.random)
        self.outbox = Outbox(self.messenger, self.store, self.clock, random=self.random)  # type: ignore[arg-type]
        self.desk = AskDesk(
            config=lambda: CONFIG,
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

    def pick(self, how: Step) -> Agent:
        return self.agents[how.number % len(self.agents)]

    # --- what happens

    @initialize(
        seed=st.integers(0, 2**32),
        left_out=st.integers(0, 2 ** len(HAPPENINGS) - 1),
        first=st.sampled_from(BEGINNINGS),
        is_odd=st.booleans(),
    )
    def begins(self, seed: int, left_out: int, first: tuple[str, ...], is_odd: bool) -> None:
        """``seed``: how fast store and outbox are; bits of ``left_out``: what does not happen in this run."""
        self.random.seed(seed)
        kinds = tuple(kind for place, kind in enumerate(HAPPENINGS) if not left_out >> place & 1)
        self.kinds = kinds if seed % 2 and kinds else HAPPENINGS
        for text in first:
            self.an_agent_asks(Step("an_agent_asks", text=text, is_odd=is_odd))

    @rule(steps=st.tuples(*[st.sampled_from(STEPS)] * STEPS_OF_A_RUN))
    def happen(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if step.kind != NOTHING:
                self.happens(step)

    def happens(self, step: Step) -> None:
        kind = step.kind
        if kind not in self.kinds:
            kind = self.kinds[HAPPENINGS.index(kind) % len(self.kinds)]
        if kind == "an_agent_asks" and len(self.agents) == MOST_REQUESTS:
            kind = "somebody_presses"
        getattr(self, kind)(step)

    def an_agent_asks(self, how: Step) -> None:
        agent = Agent(command(how.text, ask_id=f"rq{next(self.numbers)}"))
        if not how.is_odd:
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

    def somebody_presses(self, how: Step) -> None:
        agent = self.pick(how)
        message_id, update = self.message_of(agent), next(self.updates)
        if message_id is None:
            return
        data = f"ask:{how.answer}:{agent.token}"

        async def press() -> None:
            reply = await self.desk.press(ButtonPress(update, TOPIC, message_id, how.person, f"p{update}", data))
            assert reply is not None
            self.toasts.append(reply)

        for _ in range(2 if how.is_odd else 1):
            self.do(press(), how.pause)

    def anna_presses(self, how: Step) -> None:
        answer = "allow" if how.answer in ("back", "session") else how.answer
        self.somebody_presses(replace(how, answer=answer, person=ANNA, is_odd=False))

    def oleg_presses_through_both_steps(self, how: Step) -> None:
        for answer in ("allow", "really"):
            self.somebody_presses(replace(how, answer=answer, person=OLEG, is_odd=False))

    def somebody_reacts(self, how: Step) -> None:
        message_id = self.message_of(self.pick(how))
        if message_id is not None:
            change = ReactionChange(next(self.updates), CHAT, message_id, how.person, ("👍👎"[how.is_odd],))
            self.do(self.desk.react(change), how.pause)

    def somebody_replies(self, how: Step) -> None:
        message_id = self.message_of(self.pick(how))
        if message_id is not None:
            update = next(self.updates)
            text = IncomingMessage(update, TOPIC, 9000 + update, how.person, 0.0, "not like this", message_id)
            self.do(self.desk.reply(text), how.pause)

    def the_agent_hears(self, how: Step) -> None:
        self.pick(how).hears.set()
        self.do(asyncio.sleep(0), how.pause)

    def the_time_runs_out(self, how: Step) -> None:
        async def later() -> None:
            await self._turn(0)
            await asyncio.sleep(LIMIT + 1)

        self.run(later())
        self.do(asyncio.sleep(0), how.pause)

    def the_computer_sleeps_eight_hours(self, how: Step) -> None:
        self.clock.wall_offset += 8 * 3600
        self.do(asyncio.sleep(0), how.pause)

    def the_agent_withdraws(self, how: Step) -> None:
        agent = self.pick(how)
        agent.is_withdrawn = agent.is_withdrawn or not agent.took
        self.do(self.desk.withdrawn(agent.ask.id, "changed its mind"), how.pause)

    def the_agents_die(self, how: Step) -> None:
        for agent in self.agents:
            agent.is_gone = True
        if how.is_odd:
            self.do(self.desk.void(TOPIC, "the process ended"), how.pause)
        for agent in self.agents:
            if agent.task is not None:
                agent.task.cancel()
        if not how.is_odd:
            self.do(asyncio.sleep(0), how.pause)
            self.do(self.desk.void(TOPIC, "the process ended"), how.pause)

    def the_presses_may_be_lost_so_cards_come_again(self, how: Step) -> None:
        async def again() -> None:
            self.desk.show_again()

        self.do(again(), how.pause)

    def the_hub_dies_and_starts_again(self, how: Step) -> None:
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
        self.do(asyncio.sleep(0), how.pause)

    # --- the end

    def message_of(self, agent: Agent) -> int | None:
        """The message on the phone that is the request's card."""
        found = [number for number in self.messenger.shown if self.token_at(number) == agent.token]
        return found[-1] if found else None

    def token_at(self, message_id: int) -> str | None:
        if message_id not in self.tokens and (key := self.outbox.key_of(CHAT, message_id)):
            self.tokens[message_id] = token_of(key)
        return self.tokens.get(message_id)

    def teardown(self) -> None:
        try:
            if not isinstance(sys.exc_info()[1], StopTest):  # hypothesis gave it up; it counts for nothing
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


@pytest.fixture(scope="module")
def _few_collections() -> Iterator[None]:
    """Every run makes thousands of short-lived things; to look through all of Python for each took a tenth of it."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.usefixtures("_quiet_log", "_few_collections")
def test_at_most_one_decision_and_every_card_true_whatever_happens_at_once(
    part: int, pytestconfig: pytest.Config
) -> None:
    machine = type("Interleavings", (Interleavings,), {})
    asked = pytestconfig.getoption("--hypothesis-seed", None)
    if asked or not IS_RANDOM:
        seed(f"{asked} {part}")(machine)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        database = Database.open(Path(folder) / "hub.db", VirtualClock.__new__(StillClock))
        for connection in (database._near, database._far):  # order matters here, not the disk
            connection.execute("PRAGMA synchronous = OFF")
        machine.database = database
        try:
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=RUNS // len(PARTS),
                    stateful_step_count=2,
                    deadline=None,
                    derandomize=not IS_RANDOM,
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
