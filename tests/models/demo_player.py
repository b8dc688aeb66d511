"""The scripted model as the other side of ``agent-hub demo --check``: it knows the prompts the check writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.demo_check import MODEL_SCRIPT
from tests.models.script import Answer, Ask, Role, Run, Said, Say, Script, ScriptedModel, SendFile, Write

_PLAYS: Mapping[str, str] = {
    MODEL_SCRIPT.greet.prompt: "greet",
    MODEL_SCRIPT.allow.prompt: "allow",
    MODEL_SCRIPT.deny.prompt: "deny",
    MODEL_SCRIPT.ask.prompt: "ask",
    MODEL_SCRIPT.send_file.prompt: "send",
    MODEL_SCRIPT.slow.prompt: "slow",
    MODEL_SCRIPT.go_on.prompt: "onward",
    MODEL_SCRIPT.recall.prompt: "recall",
}
_SCRIPTS: Mapping[str, Script] = {
    "greet": ((Say("ready"),),),
    "allow": ((Write("hub-allowed.txt", "ok\n"),), (Say("done"),)),
    "deny": ((Write("hub-denied.txt", "no\n"),), (Say("I leave it."),)),
    "ask": ((Ask("Which colour?", ("Green", "Red")),), (Say("Green it is."),)),
    "send": (
        (Run("echo one line > hub-report.txt"),),
        (SendFile("hub-report.txt", "The report"),),
        (Say("sent"),),
    ),
    "slow": ((Say("one two three " * 200, chunks=200, delay=0.05),),),
    "onward": ((Say("onward"),),),
    "recall": ((Say("ready"),),),
}


class DemoPlayer(ScriptedModel):
    """Marks the prompts it knows, so that the script is chosen from the request alone."""

    def __init__(self) -> None:
        super().__init__(_SCRIPTS)

    def answer(self, conversation: Sequence[Said], body: str) -> Answer:
        return super().answer([_marked(said) for said in conversation], body)


def _marked(said: Said) -> Said:
    if said.role is not Role.USER:
        return said
    play = next((play for prompt, play in _PLAYS.items() if prompt in said.text), None)
    return said if play is None else replace(said, text=f"{said.text} play:{play}")
