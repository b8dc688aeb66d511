"""The demo agent plays a script of one's own: a JSON file of named scenes, for shows and for tests.

``DEMO_AGENT_SCRIPT`` names the file; a prompt with ``play:NAME`` plays the scene NAME, a list of steps:
``{"say": TEXT, "pieces": 4, "delay": 0.05}``, ``{"think": TEXT}``, ``{"run": COMMAND, "background": false}``,
``{"write": PATH, "text": TEXT}``, ``{"edit": PATH, "old": TEXT, "new": TEXT}``, ``{"ask": [QUESTION...]}``,
``{"send": PATH, "caption": TEXT}``, ``{"plan": [STEP...]}``, ``{"fail": REASON}``, ``{"wait": SECONDS}``.
Commands and edits are asked for as always.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from agents.contract import AgentError
from agents.demo.stage import Stage, read_text

FILE = "DEMO_AGENT_SCRIPT"
_MARK = re.compile(r"play:([a-z0-9_-]+)")

Step = Mapping[str, Any]


class ScriptError(AgentError):
    """The turn ends with an error answer, as the script says."""


def scene_in(prompt: str) -> str:
    """The scene a prompt names, empty when there is no script or no name."""
    found = _MARK.findall(prompt) if os.environ.get(FILE) else []
    return found[-1] if found else ""


async def play_script(stage: Stage, scene: str) -> None:
    """Play a scene; a scene nobody wrote is answered with the prompt."""
    text = await asyncio.to_thread(read_text, Path(os.environ[FILE]))
    steps = json.loads(text or "{}").get(scene)
    for step in [{"say": f"echo: {stage.prompt}"}] if steps is None else steps:
        verb = next((verb for verb in _VERBS if verb in step), "")
        if verb:
            await _VERBS[verb](stage, step)


async def _say(stage: Stage, step: Step) -> None:
    text = str(step["say"])
    size = max(1, -(-len(text) // max(1, int(step.get("pieces", 1)))))
    await stage.say(text, pace=float(step.get("delay", 0)), piece=size)


async def _think(stage: Stage, step: Step) -> None:
    await stage.think(str(step["think"]))


async def _run(stage: Stage, step: Step) -> None:
    await stage.run(str(step["run"]), is_quiet=True, in_background=bool(step.get("background")))


async def _write(stage: Stage, step: Step) -> None:
    await stage.write(Path(stage.actor.cwd) / str(step["write"]), str(step.get("text", "")))


async def _edit(stage: Stage, step: Step) -> None:
    path = Path(stage.actor.cwd) / str(step["edit"])
    old = await asyncio.to_thread(read_text, path) or ""
    await stage.write(path, old.replace(str(step["old"]), str(step["new"])))


async def _ask(stage: Stage, step: Step) -> None:
    await stage.use("ask_user", {"questions": step["ask"]})


async def _send(stage: Stage, step: Step) -> None:
    await stage.use("send_file", {"path": step["send"], "caption": step.get("caption", "")})


async def _plan(stage: Stage, step: Step) -> None:
    await stage.plan([str(one) for one in step["plan"]], len(step["plan"]))


async def _fail(_: Stage, step: Step) -> None:
    raise ScriptError("Internal error", detail=str(step["fail"]))


async def _wait(_: Stage, step: Step) -> None:
    await asyncio.sleep(float(step["wait"]))


_VERBS: Mapping[str, Callable[[Stage, Step], Awaitable[None]]] = {
    "say": _say,
    "think": _think,
    "run": _run,
    "write": _write,
    "edit": _edit,
    "ask": _ask,
    "send": _send,
    "plan": _plan,
    "fail": _fail,
    "wait": _wait,
}
