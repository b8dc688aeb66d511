"""One topic: its session, its running turn and its waiting texts, and the moves between them.

A message never kills a running turn. Moves are made by the topic's own actor only, one at a time; calls to the agent
have a time limit. Event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from agents.contract import (
    AgentGoneError,
    AgentTraits,
    FailureKind,
    HubError,
    InputId,
    Prompt,
    Quota,
    ReasonPath,
    SessionId,
    SessionSpec,
    SessionStarted,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    Usage,
    UserChannel,
)
from bridge.bindings import Binding
from bridge.config import Verbosity
from bridge.context import HubContext
from bridge.crew import Crew
from bridge.delivery import MessageClass
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import Keyboard
from bridge.pending import AskOrigin
from bridge.presentation import TurnDisplay
from bridge.store import StoreError
from bridge.texts import tr
from bridge.topics import limits, notices, parking
from bridge.topics.background import Background
from bridge.topics.channel import TopicChannel
from bridge.topics.inbox import Choosing, Inbox, OpenFailed
from bridge.topics.joining import Joiner
from bridge.topics.queue import Waiting, WaitingLine, WaitState, joined
from bridge.topics.session import CALL_TIMEOUT, AgentTimeoutError, LiveSession, check_place, in_time
from bridge.topics.turn import AGAIN, CONTINUE, NOT_BEGUN, Changes, RunningTurn, begin_turn, end_turn
from bridge.topics.voice import VoiceNote

log = logging.getLogger(__name__)

GIVEN_GRACE = 10.0
"""Seconds after a turn in which the agent may still begin a turn of its own with texts it was given."""
STORE_RETRY = 10.0
"""Seconds between two tries to write what the database could not take."""


class Topic:
    """State and moves of one topic. ``binding`` is stored at once when it changes."""

    def __init__(self, context: HubContext, binding: Binding) -> None:
        self.context = context
        self._binding = binding
        self.inbox = Inbox(context.clock)
        self.live = LiveSession(self.inbox.put, self._channel, context.new_id)
        self.crew = Crew(f"topic {binding.topic_key}")
        self.joiner = Joiner()
        self.line = WaitingLine()
        self.turn: RunningTurn | None = None
        self.background = Background()
        self.quota: Quota | None = None
        self.usage: Usage | None = None
        self.changes = Changes()
        self.started: SessionStarted | None = None
        self.channel: TopicChannel | None = None
        self.is_leaving = False
        """The topic is to let its session go as soon as the turn has ended (closed or deleted in Telegram)."""
        self._has_begun_anew = False
        self.is_stopped = False
        """The person said stop: what comes back or waits is held until they say more."""
        self.active_at = context.clock.monotonic()
        self.given_until = 0.0
        self.after_start: list[tuple[str, str]] = []
        """Choices (what, value) that need to know what the agent offers; they are made once it has said so."""
        self.offered: tuple[str, ...] = ()
        """Ids of the held texts that the last notice shows."""
        self.retry_at: float | None = None
        """When to try again what the database could not take, in monotonic seconds."""
        self._unsaved: list[Callable[[], None]] = []
        self.recent_texts: dict[int, str] = {}
        self.last_prompts: dict[str, Prompt] = {}
        self.voice_notes: dict[str, VoiceNote] = {}
        self.listened_teams: set[str] = set()

    # --- what it is

    @property
    def place(self) -> Place:
        return self._binding.place

    @property
    def binding(self) -> Binding:
        return self._binding

    def rebind(self, binding: Binding) -> None:
        """Store a changed binding; undone together with the caller's transaction."""
        self.context.database.after_rollback(partial(setattr, self, "_binding", self._binding))
        self._binding = self.context.bindings.put(binding)

    def follow_move(self, new_chat_id: int) -> None:
        """The group has a new id; the tables were rewritten already."""
        self._binding = replace(self._binding, place=Place(new_chat_id, self.place.topic_id))
        if self.channel is not None:
            self.channel.follow_move(new_chat_id)

    @property
    def traits(self) -> AgentTraits:
        return self.context.backend(self._binding.agent).traits

    @property
    def title(self) -> str:
        backend = self.context.backends.get(self._binding.agent)
        return backend.traits.title if backend else self._binding.agent

    @property
    def verbosity(self) -> Verbosity:
        return self._binding.verbosity or self.context.config.verbosity

    @property
    def offers(self) -> SessionStarted | None:
        """What the topic's agent last said it can be set to and which commands it has; None: not known yet."""
        return self.started or self.context.offers.get(self._binding.agent)

    @property
    def is_busy(self) -> bool:
        return self.turn is not None or self.live.is_opening

    @property
    def is_quiet(self) -> bool:
        """The session has nothing to do, except perhaps in the background."""
        is_idle = self.turn is None and self.live.is_open and not self.line.given
        return is_idle and not self.waits_for_person

    @property
    def awake_until(self) -> float:
        """Until when background tasks keep the session awake; those that outlast their limit end with it."""
        return self.background.awake_until(self.context.config.background_limit)

    @property
    def may_rest(self) -> bool:
        """Whether the session's process may be ended: nothing is lost but what had its time."""
        return self.is_quiet and self.awake_until <= self.context.clock.monotonic()

    @property
    def waits_for_person(self) -> bool:
        return bool(self.channel and self.channel.open_asks) or self.context.desk.has_open_permission(self.place)

    def show_menu(self, part: Part, keyboard: Keyboard, menu: str = "") -> None:
        """A message with buttons: a new one, or the one with the key ``menu`` in a new shape."""
        if menu:
            self.context.delivery.revise(menu, part, keyboard=keyboard, klass=MessageClass.REPLY)
        else:
            self.context.say(self.place, part, keyboard=keyboard)

    # --- the session

    def _channel(self, epoch: str) -> UserChannel:
        follows = self.traits.reason_path is ReasonPath.FOLLOW_UP
        origin = AskOrigin(self.place, self._binding.agent, self.title, epoch, self._binding.cwd, words_follow=follows)
        self.channel = TopicChannel(self.context, origin, self.inbox.put)
        return self.channel

    def open_session(self) -> bool:
        """Begin to open or resume; False (and said) when it can't even be tried."""
        if self.live.is_open or self.live.is_opening:
            return True
        try:
            backend = self.context.backend(self._binding.agent)
            check_place(self.context, self._binding.cwd)
        except HubError as error:
            self.hold_all()
            self.context.say_error(self.place, error, keyboard=notices.retry_keyboard(self.context, self.place))
            return False
        binding = self._binding
        self.live.open(
            backend,
            SessionSpec(
                cwd=binding.cwd,
                topic_key=binding.topic_key,
                resume=binding.session_id,
                model=binding.model,
                mode=binding.mode or self.context.config.agent_modes.get(binding.agent),
                effort=binding.effort,
            ),
        )
        return True

    async def close_session(self, why: str) -> None:
        """Let the session go; it is resumed by the next text. Nothing it asked stays open."""
        await self.live.close()
        notices.say_ended_with_session(self, self.background.forget())
        await self.context.desk.void(self.place, why)

    async def start_afresh(self, binding: Binding) -> None:
        """Forget the session and go on with ``binding``, without a past."""
        await self.close_session(tr("A new session was started."))
        self.started, self.usage, self.changes = None, None, Changes()
        self.rebind(replace(binding, session_id=None))

    def session_known(self, started: SessionStarted) -> None:
        """The agent told its session; offers may have changed."""
        self.started = started
        self.context.learn_offers(self._binding.agent, started)
        if self.turn is not None or self._binding.session_id is not None:
            self._remember_session()
        choices, self.after_start = self.after_start, []
        for what, value in choices:
            self.inbox.put(Choosing(what, value))

    def _remember_session(self) -> None:
        """Store the session that is to be resumed. One in which nothing was ever said is none: agents forget it.

        Claude Code 2.1.332 writes a session down with its first prompt, and refuses to resume it before.
        """
        if self.started is not None and self.started.session_id != self._binding.session_id:
            self.rebind(replace(self._binding, session_id=SessionId(self.started.session_id)))

    def opening_failed(self, failed: OpenFailed) -> None:
        """Say why; the texts stay and go on by a button."""
        if failed.epoch != self.live.epoch:
            return
        self.live.forget()
        self.after_start = []
        self.hold_all()
        notices.say_opening_failed(self, failed.error)

    async def call(self, work: Awaitable[object]) -> None:
        """One call to the session with its time limit. Raises HubError."""
        await in_time(work, self.title)

    # --- texts

    def add_text(self, entry: Waiting) -> None:
        """A text joins the line; ``advance`` decides what happens to it. A former life may have shown it already."""
        if (key := notices.card_of(self, entry)) and self.context.delivery.is_known(key):
            entry.card = key
        self.line.add(entry)
        self.is_stopped = False
        self.active_at = self.context.clock.monotonic()

    async def advance(self) -> None:
        """Let waiting texts go on as far as they may: into the running turn, or into a new one."""
        if self.turn is not None:
            await self._feed_turn()
            self._show_waiting()
            return
        if self.live.is_opening or self._is_agent_about_to_begin():
            return
        entries = self.line.next_turn()
        if not entries:
            return
        if not self.context.may_start_turns:
            self._show_waiting()
            return
        if limits.refuses_turn(self):
            return
        if not self.live.is_open:
            self.open_session()
            return
        await self.begin(entries)

    def _is_agent_about_to_begin(self) -> bool:
        return bool(self.line.given) and self.context.clock.monotonic() < self.given_until

    async def _feed_turn(self) -> None:
        """Steer in order; the first text that has to wait makes the rest wait too."""
        for entry in list(self.line.open):
            if entry.state is not WaitState.READY or entry.is_command or entry.is_after_turn:
                return
            if not self.traits.can_steer or self.context.desk.has_open_permission(self.place):
                return
            if not await self.steer(entry):
                return

    async def steer(self, entry: Waiting) -> bool:
        """Give a waiting text to the running turn; False when that is not possible now."""
        session, turn = self.live.session, self.turn
        if session is None or turn is None or turn.is_stopping or self.context.desk.is_locked:
            return False
        self.context.journal.hand(entry.update_ids)
        try:
            async with asyncio.timeout(CALL_TIMEOUT):
                input_id = await session.steer(entry.prompt)
        except TimeoutError:
            log.warning("steering took too long in topic %s", self._binding.topic_key)
            entry.state = WaitState.HELD
            notices.offer_held(self, reason=tr("The agent may not have seen this. Send it again?"))
            return False
        except HubError as error:
            log.info("steering failed in topic %s: %s", self._binding.topic_key, error.title)
            input_id = None
        if input_id is None:
            self.take_back(entry)
            return False
        self._mark_given(entry, input_id, turn)
        return True

    def take_back(self, entry: Waiting) -> None:
        """The agent did not get this text: it waits again, for the end of the turn."""
        self.context.journal.take_back(entry.update_ids)
        entry.input_id, entry.is_after_turn = None, True

    def _mark_given(self, entry: Waiting, input_id: InputId, turn: RunningTurn) -> None:
        entry.state, entry.input_id = WaitState.GIVEN, input_id
        turn.display.added(input_id, entry.prompt.text)
        self._remember(entry)
        if entry.card:
            self.context.delivery.revise(entry.card, notices.given_part())
            entry.card = ""

    def _show_waiting(self) -> None:
        """Each text that has to wait says so, with its buttons."""
        for entry in self.line.open:
            if not entry.card and entry.state is WaitState.READY:
                entry.card = notices.post_waiting(self, entry)

    def hold_all(self) -> None:
        """What waits goes on only by a person's word."""
        for entry in self.line.open:
            entry.hold()

    def release_held(self, entries: Sequence[Waiting] = ()) -> int:
        """Let held texts wait for the agent again; returns how many."""
        self.is_stopped = False
        held = [entry for entry in self.line.held if not entries or entry in entries]
        for entry in held:
            entry.state = WaitState.READY
        return len(held)

    def drop(self, entry: Waiting) -> None:
        """A person does not want this text to run."""
        self.line.remove(entry)
        self.context.finish(entry.update_ids)
        self.context.desk.words_given(entry.words_of)
        parking.settle(self, entry.resumes)
        if entry.card:
            self.context.delivery.revise(entry.card, notices.dropped_part())

    # --- the turn

    async def begin(self, entries: list[Waiting]) -> None:
        """Give the agent its task."""
        session = self.live.session
        assert session is not None  # noqa: S101 - advance looked
        prompt = joined(entries)
        turn = self.new_turn(prompt, entries)
        for entry in entries:
            self.line.remove(entry)
            if entry.card:
                self.context.delivery.revise(entry.card, notices.started_part())
        try:
            await self.call(session.prompt(prompt))
        except AgentTimeoutError as error:
            await self.session_died(error)
        except AgentGoneError as error:
            await self._begin_anew(turn, entries, error)
        except HubError as error:
            await self.session_died(error)
        else:
            self._has_begun_anew = False
            turn.display.refresh()

    async def _begin_anew(self, turn: RunningTurn, entries: list[Waiting], error: HubError) -> None:
        """The process was dead before it took the bytes: wake the session once and give the same texts again."""
        if self._has_begun_anew:
            self._has_begun_anew = False
            await self.session_died(error)
            return
        self._has_begun_anew = True
        self.turn = None
        self.context.turns.end(turn.id, NOT_BEGUN)
        self.context.desk.words_taken_back(turn.words_of)
        await self.close_session(error.title)
        for entry in reversed(entries):
            self.line.put_first(entry)
        await self.advance()

    def new_turn(self, prompt: Prompt, entries: list[Waiting], *, is_unsolicited: bool = False) -> RunningTurn:
        """A turn runs from now on; written down before the agent hears of it."""
        display = TurnDisplay(
            self.context, self.place, self.context.new_id(), self.verbosity, folder=str(self._binding.cwd)
        )
        with self.context.database.transaction():
            turn = begin_turn(self.context, self.place, self._binding.agent, prompt, display, entries)
            parking.settle(self, *(entry.resumes for entry in entries))
        turn.is_unsolicited = is_unsolicited
        self.turn = turn
        self._remember_session()
        self.changes.turn.clear()
        self.last_prompts = {turn.id: prompt}
        for entry in entries:
            self._remember(entry)
        return turn

    def _remember(self, entry: Waiting) -> None:
        """Texts the agent has, to tell a real edit from one that changed nothing."""
        for message in entry.said.messages if entry.said else ():
            self.recent_texts[message.message_id] = message.text
        while len(self.recent_texts) > 50:
            self.recent_texts.pop(next(iter(self.recent_texts)))

    async def end(self, outcome: TurnFinished | TurnFailed, *, offers: tuple[str, ...] = (), note: str = "") -> None:
        """The turn is over: its end is posted and recorded, then what waits goes on."""
        turn = self.turn
        if turn is None:
            return
        limits.ended(self, outcome)
        self.turn = None
        if isinstance(outcome, TurnFinished):
            self.usage = outcome.usage or self.usage
        now = self.context.clock.monotonic()
        self.active_at, self.given_until = now, now + GIVEN_GRACE
        self._save_end(
            partial(end_turn, self.context, turn, outcome, background=len(self.background), offers=offers, note=note)
        )
        self.context.desk.turn_ended(self.place)
        was_stopped = turn.is_stopping or (
            isinstance(outcome, TurnFinished) and outcome.outcome is TurnOutcome.INTERRUPTED
        )
        if was_stopped:
            self.hold_all()
        notices.offer_held(self)
        await self.advance()

    def _save_end(self, save: Callable[[], None]) -> None:
        """The end of a turn is not lost when the disk is full: it is posted once the database takes it."""
        self._unsaved.append(save)
        self._save_ends()

    def _save_ends(self) -> None:
        while self._unsaved:
            try:
                self._unsaved[0]()
            except StoreError as error:
                log.warning("the end of a turn can't be saved yet: %s %s", error.title, error.detail)
                self.retry_at = self.context.clock.monotonic() + STORE_RETRY
                return
            self._unsaved.pop(0)

    async def retry(self) -> None:
        """Try again what the database could not take."""
        self.retry_at = None
        self._save_ends()
        await self.advance()

    async def session_died(self, error: HubError, *, detail: str = "") -> None:
        """The agent's process is gone in the middle of things: say so, show what was done, offer to go on."""
        await self.close_session(error.title)
        for entry in self.line.given:
            entry.state, entry.input_id, entry.is_after_turn = WaitState.HELD, None, False
        if self.turn is None:
            notices.offer_held(self)
            return
        has_begun = bool(self.turn.display.view.tools or self.turn.display.view.texts)
        self.hold_all()
        failed = TurnFailed(FailureKind.OTHER, error.title, error.hint, detail or error.detail)
        await self.end(failed, offers=(CONTINUE if has_begun else AGAIN,))

    async def interrupt(self) -> None:
        """Stop the running turn, or the opening of its session."""
        self.is_stopped = True
        if self.turn is None:
            if self.live.is_opening:
                self.live.forget()
                self.hold_all()
                notices.offer_held(self)
            return
        self.turn.is_stopping = True
        self.turn.display.note(tr("Stopping…"))
        if self.live.session is not None:
            await self.call(self.live.session.interrupt())

    async def stop_hard(self) -> bool:
        """End what belongs to this session: background work, and a turn that did not stop. False: there is nothing."""
        session = self.live.session
        if session is None or (self.turn is None and not self.background):
            return False
        try:
            await self.call(session.stop_background())
        except HubError as error:
            log.info("background work did not end by asking: %s", error.title)
        self.background.forget()
        if self.turn is not None:
            await self.session_died(HubError(tr("The session was ended."), tr("The next text resumes it.")))
        return True
