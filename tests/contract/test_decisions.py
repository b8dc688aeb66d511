"""Every state of a permission request over every kind of agent: what the person reads, and what the agent gets.

The whole hub with a real registry and database, the agent's own adapter, and an exchange recorded from the real
program. The person decides otherwise than in the recording where a state needs it: then the answer's bytes are looked
at, and the recording goes on as if they were its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from agents.contract import AgentGoneError
from agents.processes import LinePipe
from bridge.hub import Hub
from bridge.pending.records import AskState
from tests.bridge.pending.stage import Shown
from tests.bridge.topics.stage import Stage, stage
from tests.contract.exchange import Entry, PlayedPipe, Trim
from tests.contract.kinds import KINDS
from tests.contract.rig import FIXTURES, Kind, Place, PlayedRig

Json = dict[str, Any]
WAIT = 10.0


class Wire(StrEnum):
    """What becomes of the answer between hub and agent."""

    TAKEN = "taken"
    STUCK = "stuck"
    BROKEN = "broken"


def answered(message: Json) -> Any:
    """The id of the request that a line of the hub answers, None for any other line."""
    if message.get("type") == "control_response":
        return message["response"]["request_id"]
    return message["id"] if "method" not in message and "id" in message else None


class DecisionPipe(PlayedPipe):
    """Plays an exchange; keeps every answer of the hub as it was written, and what was recorded in its place."""

    def __init__(self, entries: list[Entry], trim: Trim, person: Person) -> None:
        super().__init__(entries, trim)
        self._trim_line = trim
        self._person = person

    async def send(self, line: bytes) -> None:
        message = json.loads(line)
        self._person.wrote.append(message)
        if message.get("method") == "turn/steer":
            line = self._as_recorded(line, lambda one: (one.get("id"), one.get("method")), message)
        number = answered(message)
        if number is None or not is_verdict(message):
            await super().send(line)
            return
        if self._person.wire is Wire.STUCK:
            await self._person.is_over.wait()
        if self._person.wire is Wire.BROKEN:
            raise AgentGoneError("The program has ended.")
        await super().send(self._as_recorded(line, answered, message))
        self._person.got.append(message)  # a program that has ended gets nothing, whatever was written to it

    def _as_recorded(self, line: bytes, key: Callable[[Json], Any], message: Json) -> bytes:
        """The recorded line in the place of this one: it may say something else there."""
        recorded = next((one for one in self._expected if key(one) == key(message)), None)
        return line if recorded is None else json.dumps(recorded).encode()


def is_verdict(message: Json) -> bool:
    """Whether an answer is one to a permission request."""
    body = json.dumps(message)
    return any(word in body for word in ('"behavior"', '"decision"', '"outcome"'))


@dataclass
class Person:
    """The person in a topic whose agent is played; ``got`` is what the agent was answered, line by line."""

    kind: Kind
    wire: Wire = Wire.TAKEN
    got: list[Json] = field(default_factory=list)
    wrote: list[Json] = field(default_factory=list)
    """Every line of the hub."""
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    """Lets go of what is stuck, so that the end of a test does not wait for it."""
    lost: list[Hub] = field(default_factory=list)
    """Former lives of the hub, which a test must still tidy away."""
    hub: Stage = field(init=False)
    rig: PlayedRig = field(init=False)

    @property
    def card(self) -> Shown:
        return next(shown for key, shown in self.hub.delivery.shown.items() if key.startswith("card:"))

    async def look(self, holds: Callable[[], bool]) -> None:
        await self.hub.until(holds)

    async def sees(self, words: str) -> None:
        await self.hub.until(lambda: words in self.card.part.text)

    def state(self) -> AskState:
        row = self.hub.database.row("SELECT state FROM asks")
        assert row is not None
        return AskState(row["state"])


class DecisionRig(PlayedRig):
    """A rig whose pipes let the person decide otherwise."""

    def __init__(self, kind: Kind, place: Place, file: Path, person: Person) -> None:
        super().__init__(kind, place, file)
        self._person = person

    async def _spawn(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> LinePipe:
        pipe = DecisionPipe(self._processes.pop(0), self.kind.trim, self._person)
        self._pipes.append((None, pipe))  # type: ignore[arg-type]
        return pipe


@asynccontextmanager
async def asking(kind: Kind, exchange: str, tmp_path: Path, wire: Wire = Wire.TAKEN) -> AsyncIterator[Person]:
    """A topic in which the agent has just asked to run ``touch made.txt``."""
    person = Person(kind, wire)
    home = tmp_path / "home"
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # A recording that was left ends in no way that the adapter knows; it need not wait for one.
        patch.setattr("agents.claude.session.END_TIMEOUT", 0.1)
        async with played(kind, exchange, tmp_path, person, home) as one:
            yield one


@asynccontextmanager
async def played(kind: Kind, exchange: str, tmp_path: Path, person: Person, home: Path) -> AsyncIterator[Person]:
    """The stage with the agent of the recording."""
    async with stage(tmp_path) as hub:
        file = FIXTURES / kind.name / f"{exchange}.jsonl"
        person.hub, person.rig = hub, DecisionRig(kind, Place(hub.root, home), file, person)
        backend = person.rig._backend()
        hub.hub.context.backends["claude"] = backend  # type: ignore[index]
        await hub.say("play:run go")
        await hub.until(lambda: any(key.startswith("card:") for key in hub.delivery.shown))
        try:
            yield person
        finally:
            person.wire = Wire.BROKEN
            person.is_over.set()
            await backend.close()
            for lost in person.lost:
                await lost.stop()


# --- the ways to a state ---------------------------------------------------------------------------------------------


async def wait(person: Person) -> None:
    await person.hub.settle()


async def allow(person: Person) -> None:
    """The one exchange with a dangerous command (Hermes asks about no other) needs the second step."""
    toast = await person.hub.press("Allow")
    if "Really run" in person.card.part.text:
        assert person.got == [], toast
        await person.hub.press("Really run")


async def deny(person: Person) -> None:
    await person.hub.press("Deny")


async def start_to_allow(person: Person) -> None:
    """The answer is written and not taken: the press is answered all the same, after a while."""
    press = asyncio.create_task(allow(person))
    await person.look(lambda: person.state() is AskState.DECIDED)
    await person.hub.pass_time(20)
    await press
    assert "The agent has not taken it yet" in person.hub.messenger.answers[-1][1]
    await person.sees("Telling the agent")


async def allow_and_lose_the_hub(person: Person) -> None:
    """The hub is gone between the answer and the agent's taking it; its next life looks at what was left."""
    await start_to_allow(person)
    person.lost.append(person.hub.hub)
    await person.hub.begin()


async def let_it_expire(person: Person) -> None:
    await person.hub.pass_time(601, step=60)


async def stop(person: Person) -> None:
    await person.hub.say("/stop")


async def kill(person: Person) -> None:
    await person.rig.kill(None)  # type: ignore[arg-type]


# --- the table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """``reads`` must stand on the card; ``answer`` is the key of the bytes the agent gets, "" = nothing at all."""

    state: AskState
    exchange: str
    come_there: Callable[[Person], Awaitable[None]]
    reads: str
    answer: str
    wire: Wire = Wire.TAKEN
    has_buttons: bool = False


CASES = {
    "open": Case(AskState.OPEN, "allows_once", wait, "touch made.txt", "", has_buttons=True),
    "decided": Case(AskState.DECIDED, "allows_once", start_to_allow, "⏳ Anna chose “Allow” at", "", wire=Wire.STUCK),
    "delivered, allowed": Case(AskState.DELIVERED, "allows_once", allow, "✅ Allowed by Anna · ", "allow"),
    "delivered, denied": Case(AskState.DELIVERED, "denies", deny, "⛔ Denied by Anna · ", "deny"),
    "undelivered": Case(
        AskState.UNDELIVERED, "allows_once", allow, "⚠️ Not delivered: Anna chose “Allow” at", "", wire=Wire.BROKEN
    ),
    "unknown": Case(
        AskState.UNKNOWN,
        "allows_once",
        allow_and_lose_the_hub,
        "Whether the agent heard it is not known.",
        "",
        wire=Wire.STUCK,
    ),
    "expired": Case(
        AskState.EXPIRED, "denies", let_it_expire, "⌛ Nobody answered in 10 minutes: denied · delivered", "deny"
    ),
    "withdrawn": Case(
        AskState.WITHDRAWN, "stops_while_asking", stop, "↩️ The agent withdrew this. Nothing was decided", "withdraw"
    ),
    "void": Case(AskState.VOID, "forgets_requests_of_the_dead", kill, "⚪ No longer open. Nothing was allowed", ""),
}


EXCHANGES = {("expired", "codex"): "denies_with_reason"}
"""Where a kind takes another way: the hub says why nobody answered, and Codex hears words only beside its answer."""


def acp(allowed: str, denied: str) -> dict[str, Json]:
    """The answers of one ACP agent: the ids of its own options for once; a stop cancels."""
    return {
        "allow": {"outcome": {"outcome": "selected", "optionId": allowed}},
        "deny": {"outcome": {"outcome": "selected", "optionId": denied}},
        "withdraw": {"outcome": {"outcome": "cancelled"}},
    }


ANSWERS: dict[str, dict[str, Json]] = {
    "claude": {"allow": {"behavior": "allow"}, "deny": {"behavior": "deny"}},
    "codex": {"allow": {"decision": "accept"}, "deny": {"decision": "decline"}},
    "qwen": acp("proceed_once", "cancel"),
    "hermes": acp("allow_once", "deny"),
    "demo": acp("once", "no"),
    "opencode": acp("once", "reject"),
}
"""Kind -> what each verdict is in its protocol. A withdrawal without an entry is not answered at all: Claude Code and
Codex end the request themselves when the turn is stopped, and say so."""


def test_every_state_of_the_registry_is_reached() -> None:
    assert {case.state for case in CASES.values()} == set(AskState)


def test_every_kind_of_agent_has_its_answers() -> None:
    assert set(ANSWERS) == set(KINDS)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("what", CASES)
async def test_a_request_ends_in_its_state_with_a_true_card_and_the_right_bytes(
    what: str, name: str, tmp_path: Path
) -> None:
    case = CASES[what]
    async with asking(KINDS[name], EXCHANGES.get((what, name), case.exchange), tmp_path, case.wire) as person:
        await case.come_there(person)
        await person.sees(case.reads)
        await person.look(lambda: person.state() is case.state)
        assert bool(person.card.keyboard) is case.has_buttons
        assert "touch made.txt" in person.card.part.text
        wanted = ANSWERS[name].get(case.answer)
        if wanted is None:
            assert person.got == []
            return
        await person.look(lambda: bool(person.got))
        (got,) = person.got
        body = body_of(name, got)
        assert {key: value for key, value in body.items() if key in wanted} == wanted
        assert set(body) <= {*wanted, "message", "updatedInput", "toolUseID", "interrupt"}, (
            "never an agent's own always"
        )


def body_of(name: str, got: Json) -> Json:
    body: Json = got["response"]["response"] if name == "claude" else got["result"]
    return body


WORDS = "not before the backup is done"
BESIDE = {"claude": "denies_with_reason", "codex": "denies_with_reason"}
"""Kinds whose recording holds a place for words: in the answer, or as a text given to the turn before it. The others
read them as the next text."""


@pytest.mark.asyncio
@pytest.mark.parametrize("name", KINDS)
async def test_a_persons_words_with_a_denial_reach_the_agent(name: str, tmp_path: Path) -> None:
    async with asking(KINDS[name], BESIDE.get(name, "denies"), tmp_path) as person:
        await person.hub.say(WORDS, reply_to=person.card.id)
        await person.sees("⛔ Denied by Anna · ")
        await person.sees(WORDS)
        await person.look(lambda: person.state() is AskState.DELIVERED)
        (got,) = person.got
        wanted = ANSWERS[name]["deny"]
        assert {key: value for key, value in body_of(name, got).items() if key in wanted} == wanted
        await person.look(lambda: any(WORDS in json.dumps(line) for line in person.wrote))


@pytest.mark.asyncio
@pytest.mark.parametrize("name", sorted(BESIDE))
async def test_an_agent_that_can_be_told_hears_why_nobody_answered(name: str, tmp_path: Path) -> None:
    async with asking(KINDS[name], BESIDE[name], tmp_path) as person:
        await let_it_expire(person)
        await person.sees("⌛ Nobody answered in 10 minutes: denied · delivered")
        assert any("Nobody answered within 600 seconds" in json.dumps(line) for line in person.wrote)
