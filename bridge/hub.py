"""The hub: takes each update to the one who must have it, and owns the topics. Policies live elsewhere.

``handle`` never waits for the network or an agent, so that a press is never late. Event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agents.contract import HubError
from bridge.bindings import Binding, TopicState
from bridge.commands.approvals import approval_specs
from bridge.commands.parsing import parse_command
from bridge.commands.table import Call, CommandSpec, CommandTable, Where
from bridge.commands.topic import SPECS, greet
from bridge.config import BridgeConfig, Role
from bridge.context import HubContext
from bridge.crew import Crew
from bridge.forwarding import Forwarding
from bridge.general import General, nameless_text
from bridge.inbound import (
    BotMembership,
    ButtonPress,
    ChatMoved,
    Inbound,
    IncomingMessage,
    Place,
    ReactionChange,
    TopicChange,
    TopicEvent,
)
from bridge.leftovers import sweep
from bridge.lock import HubLock
from bridge.menus import set_menus
from bridge.news import Bell, HubStatus, hub_status
from bridge.presses import Presses
from bridge.recovery import GATHER, Pending, Recovery
from bridge.router import Gate, Refusal, Refused
from bridge.store import StoreError
from bridge.texts import tr
from bridge.topics.actor import TopicActor
from bridge.topics.inbox import (
    Called,
    Edited,
    Explained,
    HandOver,
    Hibernate,
    Interrupted,
    Item,
    Quit,
    Release,
    Reset,
    Resumed,
    Said,
    TopicGone,
    TopicNamed,
    TopicShut,
)
from bridge.topics.topic import STORE_RETRY, Topic

log = logging.getLogger(__name__)

STOP_TIMEOUT = 30.0
OPEN_LIMIT = 24
"""Sessions open at the same time; beyond it the one that rested longest is closed, and resumed when it is needed."""
EXPLAIN_EVERY = 600.0
"""Seconds between two explanations to anonymous administrators of one chat."""


class Hub:
    """One hub. ``start`` before the first ``handle``; ``stop`` ends everything it started."""

    def __init__(self, context: HubContext, *, bell: Bell = lambda: None, lock: HubLock | None = None) -> None:
        self.context = context
        self.gate = Gate(context.config, context.clock.now)
        self.commands = CommandTable((*SPECS, *approval_specs(context.desk, lock, context.delivery)))
        self.lock = lock
        self._bell = bell
        self._crew = Crew("hub")
        self._actors: dict[Place, TopicActor] = {}
        self._tasks: dict[Place, asyncio.Task[None]] = {}
        self._recovery = Recovery(context, self._actor)
        self._general = General(context, self)
        self._presses = Presses(context, self.tell)
        self._explained: dict[int, float] = {}
        self._forwarding = Forwarding(context.bindings.moved_chats(), context.journal.moved())
        self._is_offering = False
        context.busy_topics = self._busy_count
        context.changed = bell
        context.desk.note, context.desk.follow = self.note, self.follow
        context.desk.speak = lambda words: self.tell(words.place, Explained(words))
        context.session_opened, context.topics, context.hand_over = self._limit_open, self.topics, self.hand_over
        context.commands_changed = self._refresh_menus

    # --- life

    async def start(self, unfinished: Sequence[Pending] = ()) -> None:
        """Report and offer what a former life left, then take what it had not begun. Before the poller starts."""
        context = self.context
        for old_chat_id, new_chat_id in context.bindings.moved_chats().items():
            self.gate.follow_move(old_chat_id, new_chat_id)
        unfinished = [replace(pending, update=self._forwarding.now(pending.update)) for pending in unfinished]
        await context.desk.recover()
        context.turns.prune()
        context.buttons.prune()
        for binding in context.bindings.all():
            if binding.state is not TopicState.LOST and binding.place.topic_id is not None:
                self._actor(binding.place)
        self._recovery.begin(unfinished)
        for update in self._recovery.received(unfinished):
            await self.handle(update)
        self._recovery.offer()
        self._crew.start(self._recovery.keep_alive(), "signs of life")
        if self.lock is not None:
            self.lock.on_change = self._lock_changed
            self._crew.start(self.lock.run(), "lock")
        self._refresh_menus()
        self._crew.start(asyncio.to_thread(sweep, context.data, context.clock.now()), "sweep")

    async def stop(self) -> None:
        """End every session; running turns are offered with Continue at the next start."""
        self.context.is_paused = True
        await self.context.desk.shut_down()
        for actor in self._actors.values():
            actor.put(Quit())
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=STOP_TIMEOUT)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._crew.close()
        self._actors.clear()
        self._tasks.clear()

    def pause(self) -> None:
        """No new turns start; running ones and prompts go on."""
        self.context.is_paused = True
        self._bell()

    def resume(self) -> None:
        """Waiting texts go on."""
        self.context.is_paused = False
        self.unlocked()

    def unlocked(self) -> None:
        """The hub was unlocked: what waits may go on."""
        for actor in self._actors.values():
            actor.put(Resumed())
        self._bell()

    def _lock_changed(self) -> None:
        """Open cards say so; once it is open, waiting texts go on."""
        self.context.desk.lock_changed()
        for actor in self._actors.values():
            actor.put(Resumed())
        self._bell()

    def was_away(self, seconds: float) -> None:
        """The poller was silent for ``seconds`` by the wall clock (the hub was off, asleep or offline)."""
        self._recovery.was_away(seconds)

    def reconfigure(self, config: BridgeConfig) -> None:
        """Use changed settings from now on."""
        former, self.context.config = self.context.config, config
        self.gate.reconfigure(config)
        if former.language != config.language:
            self._refresh_menus()
        if former.lock != config.lock:
            self._lock_changed()

    def topic_lost(self, place: Place, *, is_closed: bool = False) -> None:
        """The outbox can't write there. Closed: the session rests. Gone: it is parked and General hears of it once."""
        if place.topic_id is None:
            log.warning("General of chat %s can't be written to", place.chat_id)
            return
        if is_closed:
            self.tell(place, TopicShut(is_closed=True))
            return
        binding = self.context.bindings.get(place)
        if binding is None or binding.state is TopicState.LOST:
            return
        self._actor(place).put(TopicGone())
        title = binding.title or f"#{place.topic_id}"
        text = tr(
            "The topic “{title}” is gone. Nothing is lost: send /parked in another topic to go on there.", title=title
        )
        self.context.say(Place(place.chat_id), text, rings=True)
        self._bell()

    def chat_moved(self, old_chat_id: int, new_chat_id: int) -> None:
        """The group has a new id: bindings and topics follow, once."""
        self.gate.follow_move(old_chat_id, new_chat_id)
        self._forwarding.chat_moved(old_chat_id, new_chat_id)
        self.context.delivery.move_chat(old_chat_id, new_chat_id)
        if not self.context.bindings.move_chat(old_chat_id, new_chat_id):
            return
        self.context.desk.move_chat(old_chat_id, new_chat_id)
        for place in [place for place in self._actors if place.chat_id == old_chat_id]:
            actor = self._actors.pop(place)
            actor.topic.follow_move(new_chat_id)
            self._actors[actor.topic.place] = actor
            self._tasks[actor.topic.place] = self._tasks.pop(place)
        log.info("chat %s is now %s", old_chat_id, new_chat_id)

    # --- updates

    async def handle(self, update: Inbound) -> None:
        """Take one journalled update; only hands it on. Never raises: a failure is logged, the update done with."""
        try:
            self._handle(self._forwarding.now(update))
        except StoreError as error:
            log.warning("update %s waits for the database: %s %s", update.update_id, error.title, error.detail)
            self._crew.start(self._handle_later(update), "an update that waits for the database")
        except HubError as error:
            log.warning("update %s: %s %s", update.update_id, error.title, error.detail)
            self._give_up(update, error)
        except Exception:
            log.exception("update %s could not be handled", update.update_id)
            self._give_up(update, HubError(tr("Something went wrong inside the hub."), tr("The log says more.")))
        self._bell()

    async def _handle_later(self, update: Inbound) -> None:
        await self.context.clock.sleep(STORE_RETRY)
        await self.handle(update)

    def _give_up(self, update: Inbound, error: HubError) -> None:
        """A person who wrote is told; nothing more will come of it."""
        if isinstance(update, IncomingMessage):
            self.context.say_error(update.place, error, reply_to=update.message_id)
        self.context.finish((update.update_id,))

    def _handle(self, update: Inbound) -> None:
        if isinstance(update, TopicEvent) and update.sender.is_bot:
            self.context.finish((update.update_id,))  # our own doing, told back to us
            return
        refused = self.gate.judge(update)
        if refused is not None:
            self._refuse(update, refused)
            self.context.finish((update.update_id,))
            return
        if isinstance(update, IncomingMessage | ButtonPress | ReactionChange):
            self.context.desk.touch()
        if isinstance(update, IncomingMessage):
            self._message(update)
            return
        match update:
            case ButtonPress():
                self._crew.start(self._presses.take(update), "press")
                return
            case ReactionChange():
                self._crew.start(self._react(update), "reaction")
                return
            case TopicEvent():
                self._topic_event(update)
            case ChatMoved():
                self.chat_moved(update.old_chat_id, update.new_chat_id)
            case BotMembership():
                self._membership(update)
        self.context.finish((update.update_id,))

    def _message(self, message: IncomingMessage) -> None:
        if message.is_edit:
            self._edited(message)
            return
        if message.place.topic_id is None:
            self.context.delivery.resume(message.place)  # nobody tells when General is open again
        command = None if message.files else parse_command(message.text)
        ours = self.context.bot_name.lower()
        if command is not None and ours and command.bot not in ("", ours):
            log.info("ignored update %s: a command for another bot", message.update_id)
            self._done(message)
            return
        spec = self.commands.find(command.name) if command is not None else None
        if command is not None and spec is not None:
            role = self.gate.role_of(message.sender) or Role.OPERATOR
            self._command(spec, Call(command, message, role))
            return
        if message.place.topic_id is None:
            self._general.text(message)
            self._done(message)
            return
        is_old = self._recovery.is_old(message)
        self._actor(message.place).put(Said(message, is_old=is_old))
        if is_old and not self._is_offering:
            self._is_offering = True
            self._crew.start(self._offer_soon(), "offer")

    async def _offer_soon(self) -> None:
        """One notice per topic, not one per message."""
        await self.context.clock.sleep(GATHER)
        self._is_offering = False
        self._recovery.offer()

    def _command(self, spec: CommandSpec, call: Call) -> None:
        """Run it, hand it to the topic, or say where it works."""
        message, context = call.message, self.context
        if self._recovery.is_old(message):
            context.say(message.place, tr("/{name} came while I was off; it was not run.", name=spec.name))
            self._done(message)
            return
        if spec.needs_owner and call.role is not Role.OWNER:
            context.say(message.place, tr("Only an owner may use /{name}.", name=spec.name))
            self._done(message)
            return
        if context.desk.is_locked and not spec.works_locked:
            context.say(message.place, tr("🔒 The hub is locked. Send /unlock and your code first."))
            self._done(message)
            return
        in_general = message.place.topic_id is None
        if not spec.where & (Where.GENERAL if in_general else Where.TOPIC):
            where = tr("inside a topic") if in_general else tr("in General")
            context.say(message.place, tr("/{name} works {where}.", name=spec.name, where=where))
            self._done(message)
        elif spec.run is not None:
            self._crew.start(self._run_direct(spec, call), spec.name)
        elif in_general:
            self._crew.start(self._general.run(call), spec.name)
        else:
            self._actor(message.place).put(Called(call))

    async def _run_direct(self, spec: CommandSpec, call: Call) -> None:
        if spec.run is not None:
            try:
                await spec.run(call)
            except HubError as error:
                self.context.say_error(call.place, error)
        self._done(call.message)

    def _edited(self, message: IncomingMessage) -> None:
        if message.place.topic_id is None or message.place not in self._actors:
            self._general.edited(message)
            self._done(message)
            return
        self._actors[message.place].put(Edited(message))

    def _done(self, message: IncomingMessage) -> None:
        self.context.finish((message.update_id,))

    # --- what else comes in

    async def _react(self, change: ReactionChange) -> None:
        try:
            await self.context.desk.react(change)
        finally:
            self.context.finish((change.update_id,))

    def _refuse(self, update: Inbound, refused: Refused) -> None:
        """Strangers learn nothing but a toast; an anonymous administrator is told why."""
        if isinstance(update, ButtonPress):
            self._crew.start(self._presses.refuse(update, refused), "refuse a press")
            return
        if refused.reason is not Refusal.ANONYMOUS or not isinstance(update, IncomingMessage):
            return
        now = self.context.clock.monotonic()
        if now - self._explained.get(refused.chat_id, float("-inf")) >= EXPLAIN_EVERY:
            self._explained[refused.chat_id] = now
            self.context.say(update.place, nameless_text())

    def _refresh_menus(self) -> None:
        self._crew.start(set_menus(self.context, self.commands), "command menus")

    # --- topics

    def _topic_event(self, event: TopicEvent) -> None:
        if event.place.topic_id is None:
            return
        match event.change:
            case TopicChange.CREATED:
                if self.context.bindings.get(event.place) is None:
                    self.open_topic(event.place, name=event.name, is_named_by_hand=True)
            case TopicChange.RENAMED:
                if event.name:
                    self._actor(event.place).put(TopicNamed(event.name))
            case TopicChange.CLOSED | TopicChange.REOPENED:
                self._actor(event.place).put(TopicShut(event.change is TopicChange.CLOSED))

    def open_topic(
        self,
        place: Place,
        *,
        name: str,
        is_named_by_hand: bool,
        agent: str | None = None,
        cwd: Path | None = None,
    ) -> None:
        """A fresh topic with its first card."""
        binding = self._default_binding(place).afresh(agent=agent, cwd=cwd)
        self.context.bindings.put(replace(binding, title=name, is_named_by_hand=is_named_by_hand))
        greet(self._actor(place).topic)

    def _default_binding(self, place: Place) -> Binding:
        config = self.context.config
        folder = config.roots[0] if config.roots else self.context.data
        return self.context.bindings.make(place, config.default_agent, folder)

    def _actor(self, place: Place) -> TopicActor:
        actor = self._actors.get(place)
        if actor is None:
            binding = self.context.bindings.get(place) or self._default_binding(place)
            actor = self._actors[place] = TopicActor(Topic(self.context, binding), self.commands)
            self._tasks[place] = self._crew.start(actor.run(), f"topic {place.topic_id}")
        return actor

    def _membership(self, change: BotMembership) -> None:
        if change.is_member and not change.can_manage_topics:
            log.warning("the bot may not manage topics in chat %s", change.chat_id)
        elif not change.is_member:
            log.warning("the bot was removed from chat %s", change.chat_id)
            return
        self.context.delivery.resume_chat(change.chat_id)

    # --- looking

    def topics(self) -> list[Topic]:
        """Every topic that somebody works in, and the lost ones in which something waits."""
        return [actor.topic for actor in self._actors.values()]

    def tell(self, place: Place, item: Item) -> None:
        """Put something into a topic's line of work."""
        self._actor(place).put(item)

    def stop_topic(self, place: Place) -> None:
        """As /stop in the topic: from the window."""
        self.tell(place, Interrupted())

    def reset_topic(self, place: Place) -> None:
        """As /reset: the session is forgotten, unless a turn runs."""
        self.tell(place, Reset())

    def hibernate_topic(self, place: Place) -> None:
        """Close the idle session's process; the next text resumes it."""
        self.tell(place, Hibernate())

    async def desk_command(self, place: Place) -> tuple[tuple[str, ...], str]:
        """Let the session go and say how a person goes on with it in a terminal: command and folder.

        Raises HubError while a turn runs, or when there is nothing to go on with.
        """
        answer: asyncio.Future[tuple[tuple[str, ...], str]] = asyncio.get_running_loop().create_future()
        self.tell(place, Release(answer))
        async with asyncio.timeout(STOP_TIMEOUT):
            return await answer

    async def hand_over(self, place: Place, take: Callable[[Topic], None], *, is_sure: bool) -> None:
        """Give ``take`` all of a lost topic, which ends with that step. Raises HubError; nothing has moved then."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def taken(topic: Topic) -> None:
            if done.done():  # nobody waits for it any more
                return
            take(topic)
            self._actors.pop(place)
            self._tasks.pop(place)
            done.set_result(None)

        def failed(error: HubError) -> None:
            if not done.done():
                done.set_exception(error)

        self.tell(place, HandOver(taken, failed, is_sure))
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await done
        except TimeoutError as error:
            raise HubError(tr("The session did not let go in time."), tr("Press again in a moment.")) from error

    def follow(self, place: Place) -> bool:
        """A card was decided: the running turn puts its status below it, in the same edit. False: nobody does."""
        actor = self._actors.get(place)
        return actor is not None and actor.topic.turn is not None and actor.topic.turn.display.card_decided()

    def note(self, place: Place, line: str) -> None:
        """A line for the running turn's status and log: decisions made without a person."""
        actor = self._actors.get(place)
        if actor is not None and actor.topic.turn is not None:
            actor.topic.turn.display.note(line)

    def _limit_open(self) -> None:
        """A hundred topics must not be a hundred processes."""
        opened = [topic for topic in self.topics() if topic.live.is_open]
        resting = sorted(
            (topic for topic in opened if topic.may_rest and not topic.line.open), key=lambda topic: topic.active_at
        )
        for topic in resting[: max(0, len(opened) - OPEN_LIMIT)]:
            topic.inbox.put(Hibernate())

    def _busy_count(self) -> int:
        return max(1, sum(actor.topic.turn is not None for actor in self._actors.values()))

    def status(self) -> HubStatus:
        """The hub as it is now."""
        return hub_status(self.context, self.topics(), self.gate)
