"""A use of every command of /help in a demo, and what is to be read then: for the test and for the pictures.

Every command stands here by name, in each place in which it works; a test holds the table to the hub's own.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from unittest import mock

from agents.contract import AgentLaunch
from app.demo import Demo, DemoOptions, demo_in
from bridge.budget import GROUP
from bridge.simulator import UNLIMITED, Simulator
from bridge.simulator.human import Human, Message
from bridge.texts import mark, tr

PATIENCE = 30.0
LOOK_EVERY = 0.05
DELIVERED = mark("“{choice}” was delivered to the agent.")


@dataclass(frozen=True, slots=True)
class Player:
    """A person in the topic of a demo."""

    demo: Demo
    human: Human
    topic: int

    async def turn(self, text: str) -> None:
        """A task and its end."""
        sent = self.human.write(text, self.topic)
        await self.human.wait_for(is_end, topic=self.topic, after=sent.id)

    async def card(self, text: str) -> Message:
        """A task that asks; the card stays open."""
        sent = self.human.write(text, self.topic)
        return await self.human.wait_button(tr("Allow"), self.topic, after=sent.id)

    async def running(self) -> None:
        """A turn that runs until it is stopped."""
        await self.look(is_busy=False)
        self.human.write("slow", self.topic)
        await self.look(is_busy=True)

    async def look(self, *, is_busy: bool) -> None:
        """Wait until some turn runs, or none."""
        for _ in range(round(PATIENCE / LOOK_EVERY)):
            if self.demo.engine is not None and bool(self.demo.engine.make_view().running) is is_busy:
                return
            await asyncio.sleep(LOOK_EVERY)
        raise TimeoutError(f"no turn {'began' if is_busy else 'ended'}")

    async def reply_to(self, use: Use) -> Message:
        """Do what comes before, write the command, and wait for what is to be read."""
        if use.before is not None:
            await use.before(self)
        sent = self.human.write(use.text, None if use.is_general else self.topic)
        pattern = use.pattern()

        def is_it(message: Message) -> bool:
            return pattern.search(message.text) is not None and (message.topic is None) == use.is_general

        return await self.human.wait_for(is_it, after=sent.id)


Before = Callable[[Player], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Use:
    """``says`` is a sentence of the hub's catalogue, so that it is found in either language; "": any answer is."""

    text: str
    says: str
    before: Before | None = None
    is_general: bool = False

    @property
    def name(self) -> str:
        return self.text[1:].split()[0]

    def pattern(self) -> re.Pattern[str]:
        """The sentence in the hub's language, anything in its places."""
        pieces = re.split(r"\{\w+\}", tr(self.says) if self.says else "")
        return re.compile(".+".join(re.escape(piece.strip()) for piece in pieces if piece.strip()), re.DOTALL)


def is_end(message: Message) -> bool:
    return not message.is_silent and not message.rows


async def an_edit(player: Player) -> None:
    """The demo's note is written with a person's word."""
    card = await player.card("edit")
    await player.human.press(card, 0)
    await player.human.wait_for(is_end, topic=player.topic, after=card.id)


async def a_queued_text(player: Player) -> None:
    """Something waits behind a running turn."""
    await player.running()
    sent = player.human.write("after that", player.topic)
    await player.human.wait_for(lambda message: message.reply_to == sent.id, topic=player.topic)


async def a_dropped_queue(player: Player) -> None:
    """The turn ends and nothing waits any more."""
    stop = player.human.write("/stop", player.topic)
    held = await player.human.wait_button(tr("Drop"), player.topic, after=stop.id)
    await player.human.wait_for(lambda message: tr("Stopped.") in message.text, topic=player.topic, after=stop.id)
    await player.human.press(held, tr("Drop"))


async def a_deleted_topic(player: Player) -> None:
    """A session whose topic is gone; the hub notices when it writes there."""
    human = player.human
    gone = human.create_topic("Old ideas")
    human.write("slow", gone)
    await player.look(is_busy=True)
    human.delete_topic(gone)
    stop = human.write("/stopall")
    await human.wait_for(lambda message: message.topic is None and "/parked" in message.text, after=stop.id)


def asking(text: str) -> Before:
    async def before(player: Player) -> None:
        await player.card(text)

    return before


def turn(text: str) -> Before:
    return lambda player: player.turn(text)


async def running(player: Player) -> None:
    await player.running()


USES = (
    Use("/help", mark("Any other text goes to the agent. //text sends a text that begins with a slash.")),
    Use("/status", mark("Sleeps until the next text")),
    Use("/new", mark("Write a task, or change what it runs with.")),
    Use("/agent", mark("Agent here: ")),
    Use("/agent demo", mark("{agent} works here already.")),
    Use("/cwd", mark("Folder here: ")),
    Use("/cwd +ideas", mark("A new session begins there.")),
    Use("/model", mark("Model"), turn("hello")),
    Use("/mode", mark("Mode")),
    Use("/effort", mark("Effort")),
    Use("/status", mark("Last word from the agent: {time} ago")),
    Use("/log", mark("The whole turn")),
    Use("/diff", mark("All changes"), an_edit),
    Use("/get demo-notes.md", ""),
    Use("/save Blue plan", mark("It holds what the agent remembers: no project files, no login.")),
    Use("/saves", mark("A press brings one here. This topic's own session stays in /sessions.")),
    Use("/restore Blue plan", mark("The next text goes on from there, in ")),
    Use("/sessions", mark("Sessions, newest first")),
    Use("/resume", mark("Sessions, newest first")),
    Use("/team", mark("/tell NAME text writes to a member. Its answers come here.")),
    Use("/tell anna look at the tests", mark("It lies in {name}'s inbox and is read when its turn ends.")),
    Use("/approvals", "echo one", asking("run `echo one`")),
    Use("/approve", DELIVERED),
    Use("/deny the disk is full", DELIVERED, asking("run `echo two`")),
    Use("/rules", mark("There are no standing rules: everything is asked, but for what the settings let pass.")),
    Use("/queue", mark("Waits until this turn is done."), a_queued_text),
    Use("/stop", mark("Nothing is running here."), a_dropped_queue),
    Use("/stop", mark("Stopped."), running),
    Use("/quiet", mark("From the next turn on only its end is shown.")),
    Use(
        "/full", mark("From the next turn on tool output and texts on the way are shown. What is too much is in /log.")
    ),
    Use("/normal", mark("From the next turn on a status message is shown.")),
    Use("/desk", mark("{agent} has no terminal of its own: the session goes on only here.")),
    Use("/lock", mark("The lock is switched off. Switch it on in the window, under Settings.")),
    Use("/unlock 123456", mark("The lock is switched off. There is nothing to unlock.")),
    Use("/reset", mark("Write a task, or change what it runs with.")),
    Use(
        "/parked",
        mark("Sessions of deleted topics"),
        a_deleted_topic,
    ),
    Use("/help", mark("Texts here reach no agent: write in a topic."), is_general=True),
    Use("/status", "Demo agent", is_general=True),
    Use("/inbox", mark("Nobody waits for you."), is_general=True),
    Use("/stopall", mark("Nothing is running."), is_general=True),
    Use("/approvals", mark("Nothing waits for you."), is_general=True),
    Use("/approve", mark("Nothing waits for you."), is_general=True),
    Use("/deny", mark("Nothing waits for you."), is_general=True),
    Use(
        "/rules",
        mark("There are no standing rules: everything is asked, but for what the settings let pass."),
        is_general=True,
    ),
    Use("/lock", mark("The lock is switched off. Switch it on in the window, under Settings."), is_general=True),
    Use("/unlock 123456", mark("The lock is switched off. There is nothing to unlock."), is_general=True),
    Use("/new", mark("Made the topic “{title}”. Write your task there."), is_general=True),
)


def teams_folder(home: Path) -> Path:
    """A team as Claude Code writes it down while it runs in a terminal; its lead is this process."""
    folder = home / "teams" / "shop"
    (folder / "inboxes").mkdir(parents=True)
    config = {
        "leadAgentId": "team-lead@shop",
        "leadSessionId": "12345678-941e-482b-a82e-7ff1151fe180",
        "leadProcess": {"pid": os.getpid()},
        "members": [
            {"name": "team-lead", "agentId": "team-lead@shop"},
            {"name": "anna", "model": "large", "cwd": str(home)},
            {"name": "boris", "cwd": str(home)},
        ],
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return home


@asynccontextmanager
async def quick_demo(root: Path, language: str = "en") -> AsyncIterator[Demo]:
    """A demo without Telegram's limits, with a team on the computer: the commands are what is looked at here."""
    hasty = replace(GROUP, ceilings=(100_000,) * len(GROUP.ceilings), burst=1_000, gap=0.001, calm_gap=0.0)
    launches = (("claude", AgentLaunch(env={"CLAUDE_CONFIG_DIR": str(teams_folder(root / "claude"))})),)
    with (
        mock.patch("bridge.dispatch.limits_of", return_value=hasty),
        mock.patch("app.demo.Simulator", partial(Simulator, limits=UNLIMITED)),
    ):
        async with demo_in(DemoOptions(language=language, data_dir=root / "demo", launches=launches)) as demo:
            yield demo
