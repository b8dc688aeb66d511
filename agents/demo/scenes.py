"""The scenes of the demo agent: what it plays for which prompt. ``wording.SCENES`` chooses; /about and /forget, too."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from agents.demo.script import ScriptError, play_script, scene_in
from agents.demo.stage import Stage, read_text
from agents.demo.wording import PICTURE, QUESTION, QUESTIONS, STEPS, TOUR, quoted, scene_of

VERSION = "1.0"
FLOOD = 20_000
"""Pieces of the flood."""
HUGE = 3 * 1024 * 1024
"""Bytes of the huge line."""


async def tour(stage: Stage) -> None:
    await stage.say(TOUR[stage.russian])


async def picture(stage: Stage) -> None:
    await stage.say(PICTURE[stage.russian])


async def run(stage: Stage) -> None:
    await stage.tell("about_to_run")
    await stage.run(quoted(stage.prompt) or default_command())


def default_command() -> str:
    """Something harmless that every system of its kind has."""
    return "ver & dir /b" if sys.platform == "win32" else "uname -s && pwd && ls"


async def two(stage: Stage) -> None:
    await stage.run("echo one")
    await stage.run("echo two")


async def edit(stage: Stage) -> None:
    path = Path(stage.actor.cwd) / "demo-notes.md"
    await stage.tell("about_to_edit", name=path.name)
    old = await asyncio.to_thread(read_text, path) or stage.words("note_head")
    new = old + stage.words("note_line", count=old.count("\n- ") + 1)
    is_done = await stage.write(path, new)
    await stage.tell("edited" if is_done else "not_edited", name=path.name)


async def ask(stage: Stage) -> None:
    await put(stage, "asking_one", QUESTION[stage.russian])


async def form(stage: Stage) -> None:
    await put(stage, "asking", QUESTIONS[stage.russian])


async def put(stage: Stage, opening: str, questions: list[dict[str, object]]) -> None:
    """Ask through the client's tool, as an agent without questions of its own does."""
    if not stage.actor.tools.has_tools:
        await stage.tell("no_tools")
        return
    await stage.tell(opening)
    text, _ = await stage.use("ask_user", {"questions": questions})
    await stage.tell("answered")
    await stage.say("\n\n" + as_list(text))


def as_list(text: str) -> str:
    """The tool's "question, arrow, answer" lines as a Markdown list."""
    return "\n".join(f"  **{one[3:]}**" if one.startswith("-> ") else f"- {one}" for one in text.splitlines())


async def send(stage: Stage) -> None:
    if not stage.actor.tools.has_tools:
        await stage.tell("no_tools")
        return
    await stage.tell("about_to_write")
    path = Path(stage.actor.cwd) / "demo-report.md"
    await stage.write(path, PICTURE[stage.russian] + "\n", is_own=True)
    detail, is_error = await stage.use("send_file", {"path": path.name, "caption": path.name})
    await stage.tell("not_sent" if is_error else "sent", detail=detail)


async def plan(stage: Stage) -> None:
    await stage.tell("planning")
    steps = STEPS[stage.russian]
    for current in range(len(steps) + 1):
        await stage.plan(steps, current)
    await stage.tell("planned")


async def think(stage: Stage) -> None:
    await stage.think(stage.words("thought"))
    await stage.tell("thought_done")


async def memory(stage: Stage) -> None:
    said = [said.text for said in stage.history.read(stage.actor.id) if said.role == "user"][:-1]
    if not said:
        await stage.tell("nothing_before")
        return
    await stage.tell("before")
    await stage.say("\n\n" + "\n".join(f"- {text.splitlines()[0][:200]}" for text in said[-20:] if text.strip()))


async def slow(stage: Stage) -> None:
    await stage.tell("slow_start")
    await stage.say("\n\n")
    for number in range(1, 121):
        await stage.say(f"{number} ", pace=0.5)


async def silence(stage: Stage) -> None:
    await stage.tell("silence")
    await asyncio.sleep(3600)


async def crash(stage: Stage) -> None:
    await stage.tell("crash")
    await stage.remember()
    os._exit(9)


async def flood(stage: Stage) -> None:
    for number in range(FLOOD):
        await stage.say(f"line {number}\n", pace=0)
    await stage.tell("after_trouble")


async def garbage(stage: Stage) -> None:
    for noise in (b"Warning: this is not JSON\n", b"\x1b[2J\x07{broken json}\n", b"[1, 2, 3]\n", b"\xff\xfe\x00\n"):
        sys.stdout.buffer.write(noise)
        sys.stdout.buffer.flush()
    await stage.tell("after_trouble")


async def huge(stage: Stage) -> None:
    await stage.say("x" * HUGE, piece=HUGE)
    await stage.tell("after_trouble")


async def unknown(stage: Stage) -> None:
    await stage.update("hologram", depth=3)
    await stage.update("agent_message_chunk", content={"type": "smell", "data": "roses"})
    await stage.peer.notify("demo/notice", {"sessionId": stage.actor.id})
    await stage.tell("after_trouble")


async def failure(stage: Stage) -> None:
    raise ScriptError("Internal error", detail=stage.words("failure"))


async def background(stage: Stage) -> None:
    await stage.tell("background")

    async def later() -> None:
        await asyncio.sleep(1.0)
        await stage.say(stage.words("background_done"))

    task = asyncio.create_task(later())
    stage.actor.later.add(task)
    task.add_done_callback(stage.actor.later.discard)


async def echo(stage: Stage) -> None:
    await stage.say(stage.prompt)


PLAYED: Mapping[str, Callable[[Stage], Awaitable[None]]] = {
    one.__name__: one
    for one in (
        tour,
        picture,
        run,
        two,
        edit,
        ask,
        form,
        send,
        plan,
        think,
        memory,
        slow,
        silence,
        crash,
        flood,
        garbage,
        huge,
        unknown,
        failure,
        background,
        echo,
    )
}
COMMANDS = (
    ("tour", "What the demo agent can show"),
    ("about", "Version of the demo agent"),
    ("forget", "Forget what was said in this session"),
)


async def play(stage: Stage) -> None:
    """Do what the prompt asks for."""
    if own := scene_in(stage.prompt):
        await play_script(stage, own)
        return
    if stage.prompt.startswith("/"):
        await _obey(stage)
        return
    scene = scene_of(stage.prompt)
    was_denied, stage.actor.was_denied = stage.actor.was_denied, False
    if scene == "tour" and was_denied:
        await stage.tell("noted", reason=stage.prompt.strip())
        return
    await PLAYED[scene](stage)


async def _obey(stage: Stage) -> None:
    name = stage.prompt[1:].split()[0] if stage.prompt[1:].split() else ""
    if name == "tour":
        await tour(stage)
    elif name == "about":
        await stage.tell("about", version=VERSION)
    elif name == "forget":
        stage.history.forget(stage.actor.id)
        await stage.tell("forgotten")
    else:
        await stage.tell("unknown_command", name=f"/{name}")
