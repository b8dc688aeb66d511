"""``agent-hub demo --check``: plays the person against simulator, hub and agent, and says of each step whether it held.

Every step looks only at what a person would see: messages, buttons, toasts, files. A step that fails stops none of
the later ones that can still run, so one report shows all that is wrong.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bridge.simulator.human import Human, Message

STEP_SECONDS = 60.0
MARKS = ("☑", "✓", "✅", "🔘", "●", "◉")
"""How a chosen option of several begins on its button."""


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt, and a word its final answer must hold."""

    prompt: str
    answer: str


@dataclass(frozen=True, slots=True)
class Script:
    """What the person writes in each step. The agent (or its scripted model) must know these prompts."""

    greet: Task
    allow: Task
    deny: Task
    ask: Task
    choose: str
    send_file: Task
    file_name: str
    slow: Task
    go_on: Task
    recall: Task


DEMO_SCRIPT = Script(
    greet=Task("hello", "demo agent"),
    allow=Task("run `echo agent-hub`", "exit code 0"),
    deny=Task("run `echo never`", "not now, the disk is full"),
    ask=Task("ask me", "SQLite"),
    choose="SQLite",
    send_file=Task("file please", ""),
    file_name="demo-report",
    slow=Task("slow", ""),
    go_on=Task("hello again", "demo agent"),
    recall=Task("what did I say before?", "hello again"),
)
"""For the demo agent; its wording is ``agents.demo.wording``."""

MODEL_SCRIPT = Script(
    greet=Task("Reply with one word only: ready", "ready"),
    allow=Task("Write the word ok into a new file hub-allowed.txt in this folder, then reply: done", "done"),
    deny=Task("Write the word no into a new file hub-denied.txt in this folder", "not now, the disk is full"),
    ask=Task("Ask me with your question tool: Which colour? Green or Red. Then reply with my choice.", "Green"),
    choose="Green",
    send_file=Task("Write hub-report.txt with one line, then send it to me with the send_file tool.", ""),
    file_name="hub-report",
    slow=Task("Count from 1 to 400 in words, one number a line.", ""),
    go_on=Task("Reply with one word only: onward", "onward"),
    recall=Task("Which single word did I ask you for in my first message?", "ready"),
)
"""For agents with a model behind them; any model that follows instructions can play it."""


@dataclass(frozen=True, slots=True)
class Step:
    """How one step went; ``why`` is "" when it held. ``ms`` is real time."""

    name: str
    is_ok: bool
    ms: int
    why: str = ""


class StepFailedError(Exception):
    """What a person would miss."""


@dataclass
class Check:
    """One run. ``restart`` ends the hub as a crash would and starts it again on the same data."""

    human: Human
    stranger: Human
    script: Script
    restart: Callable[[], Awaitable[None]]
    report: Callable[[Step], None]
    steps: list[Step] = field(default_factory=list)
    topic: int = 0

    async def run(self) -> list[Step]:
        """All steps in order."""
        for name, work in (
            ("create a topic", self._create),
            ("give a task", self._greet),
            ("allow a request", self._allow),
            ("deny a request with a reason", self._deny),
            ("answer a question", self._answer),
            ("receive a file", self._file),
            ("interrupt a turn", self._interrupt),
            ("go on after the interrupt", self._go_on),
            ("restart the hub", self._restart),
            ("resume the session", self._resume),
            ("a stranger is ignored", self._stranger),
        ):
            await self._step(name, work)
        return self.steps

    async def _step(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        began = time.monotonic()
        why = ""
        try:
            async with asyncio.timeout(STEP_SECONDS):
                await work()
        except (StepFailedError, LookupError) as error:
            why = str(error)
        except TimeoutError as error:
            why = str(error) or f"nothing came within {STEP_SECONDS:.0f} s"
        step = Step(name, not why, round((time.monotonic() - began) * 1000), why)
        self.steps.append(step)
        self.report(step)

    # --- steps

    async def _create(self) -> None:
        self.topic = self.human.create_topic("Check")

    async def _greet(self) -> None:
        await self._final(self.script.greet, self._write(self.script.greet))

    async def _allow(self) -> None:
        sent = self._write(self.script.allow)
        card = await self.human.wait_button("Allow", self.topic, after=sent.id)
        require(not card.is_silent, "the permission card does not ring")
        toast = await self.human.press(card, "Allow")
        require(bool(toast), "the press was not answered")
        await self._verdict(card, "llowed")
        await self._allow_all(sent, self._is_answer(self.script.allow))

    async def _deny(self) -> None:
        sent = self._write(self.script.deny)
        card = await self.human.wait_button("Deny", self.topic, after=sent.id)
        self.human.reply(card, self.script.deny.answer)
        await self._verdict(card, "enied")
        await self._end_of_turn(sent)

    async def _answer(self) -> None:
        """Answer every question of the task: the wanted choice, else the first one, else a typed word."""
        sent = self._write(self.script.ask)
        handled: set[tuple[int, tuple[str, ...], str]] = set()
        while True:
            message = await self._next(sent, self._is_answer(self.script.ask), handled)
            if not message.rows:
                return
            handled.add(looks(message))
            choices = [label for label in message.labels if not label.startswith(("Skip", "Decline", "Done"))]
            is_marked = any(label.startswith(MARKS) for label in choices)
            if is_marked and "Done" in message.labels:
                await self.human.press(message, "Done")
            elif choices:
                wanted = [label for label in choices if self.script.choose in label]
                await self.human.press(message, (wanted or choices)[0])
            else:
                self.human.reply(message, "agent-hub")

    async def _file(self) -> None:
        """Allow what the agent needs to write the file, until the file is here."""
        name = self.script.file_name
        file = await self._allow_all(
            self._write(self.script.send_file), lambda seen: bool(seen.file and name in seen.file.name)
        )
        await self._end_of_turn(file)  # else the next text is steered into this turn

    async def _interrupt(self) -> None:
        sent = self._write(self.script.slow)
        await asyncio.sleep(1.0)
        self.human.write("/stop", self.topic)
        await self._seen(sent, lambda message: "top" in message.text, "no word that the turn was stopped")

    async def _go_on(self) -> None:
        await self._final(self.script.go_on, self._write(self.script.go_on))

    async def _restart(self) -> None:
        await self.restart()

    async def _resume(self) -> None:
        await self._final(self.script.recall, self._write(self.script.recall))

    async def _stranger(self) -> None:
        before = len(self.human.from_bot(self.topic))
        self.stranger.write("delete everything", self.topic)
        await asyncio.sleep(0.5)
        require(len(self.human.from_bot(self.topic)) == before, "the hub answered a stranger")

    # --- what a person would look for

    def _write(self, task: Task) -> Message:
        return self.human.write(task.prompt, self.topic)

    async def _final(self, task: Task, sent: Message) -> None:
        await self._seen(sent, self._is_answer(task), f"no answer with {task.answer!r} that rings")

    def _is_answer(self, task: Task) -> Callable[[Message], bool]:
        word = task.answer.casefold()
        return lambda message: word in message.text.casefold() and not message.is_silent and not message.rows

    async def _allow_all(self, sent: Message, is_end: Callable[[Message], bool]) -> Message:
        """Allow whatever the agent asks until the end is here: some ask twice for one step (OpenCode 1.18.33)."""
        handled: set[tuple[int, tuple[str, ...], str]] = set()
        while True:
            message = await self._next(sent, is_end, handled)
            if is_end(message):
                return message
            handled.add(looks(message))
            if any("Allow" in label for label in message.labels):
                await self.human.press(message, "Allow")

    async def _next(
        self, sent: Message, is_end: Callable[[Message], bool], handled: set[tuple[int, tuple[str, ...], str]]
    ) -> Message:
        """The end of the task, or a card with buttons that was not dealt with as it looks now."""
        return await self.human.wait_for(
            lambda message: is_end(message) or bool(message.rows and looks(message) not in handled),
            STEP_SECONDS - 5,
            topic=self.topic,
            after=sent.id,
        )

    async def _end_of_turn(self, sent: Message) -> None:
        await self._seen(sent, lambda message: not message.is_silent and not message.rows, "the turn did not end")

    async def _verdict(self, card: Message, word: str) -> None:
        await self.human.wait_for(
            lambda message: message.id == card.id and word in message.text, STEP_SECONDS - 5, topic=self.topic
        )

    async def _seen(self, sent: Message, fits: Callable[[Message], bool], why: str) -> None:
        try:
            await self.human.wait_for(fits, STEP_SECONDS - 5, topic=self.topic, after=sent.id)
        except TimeoutError as error:
            raise StepFailedError(f"{why}: {error}") from error


def looks(message: Message) -> tuple[int, tuple[str, ...], str]:
    """A message as it looks now, to tell a redrawn card from one already dealt with."""
    return message.id, message.labels, message.text


def require(holds: bool, why: str) -> None:
    if not holds:
        raise StepFailedError(why)
