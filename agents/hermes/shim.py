"""Starts Hermes' ACP server with three faults of 0.19.0 healed. Run by path with Hermes' OWN Python, not imported.

It changes nothing on disk. Each change is made only where Hermes looks as it was measured, and told in the answer to
``initialize`` (``_meta.agentHub``); without it the hub shows the 60 s limit and starts a wedged session anew.

* ``wait``: a permission waits a week instead of 60 s, a limit that no setting of Hermes' changes.
* ``interrupt``: an interrupted turn without a final text answers "cancelled" instead of wedging the session, tells the
  output of the command it was in, and drops a steering text that came too late (the hub has it still).
* ``manual``: a dangerous command is always shown to the person; by default a model may approve it first.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

WAIT = 7 * 24 * 3600.0
"""Seconds; the hub itself denies far earlier."""


DONE: list[str] = []
"""Which changes are in force."""


def raise_wait() -> None:
    """The two makers of permission callbacks have ``timeout=60.0`` as a default argument."""
    for module, maker in (
        ("permissions", "make_approval_callback"),
        ("edit_approval", "make_acp_edit_approval_requester"),
    ):
        function = getattr(importlib.import_module(f"acp_adapter.{module}"), maker)
        parameters = inspect.signature(function).parameters.values()
        names = [one.name for one in parameters if one.default is not inspect.Parameter.empty]
        if "timeout" not in names:
            raise AttributeError(maker)
        function.__defaults__ = tuple(
            WAIT if name == "timeout" else value for name, value in zip(names, function.__defaults__, strict=True)
        )
    DONE.append("wait")


def heal_interrupt() -> None:
    """The adapter calls ``startswith`` on the final text of a turn, which is None when there is none."""
    agent = importlib.import_module("run_agent").AIAgent
    original: Callable[..., Any] = agent.run_conversation

    def run_conversation(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if isinstance(result, dict):
            if result.get("interrupted"):
                tell_last_tools(self, result.get("messages"))
            if result.get("final_response") is None:
                result["final_response"] = ""
            drain = getattr(self, "_drain_pending_steer", None)
            if drain is not None:
                drain()
        return result

    agent.run_conversation = run_conversation
    DONE.append("interrupt")


def tell_last_tools(agent: Any, messages: Any) -> None:
    """Report the results of the last round of tools, which Hermes only does when another round follows."""
    step = getattr(agent, "step_callback", None)
    if step is None or not isinstance(messages, list):
        return
    results: dict[Any, Any] = {}
    for message in reversed(messages):
        if message.get("role") == "tool":
            results[message.get("tool_call_id")] = message.get("content", "")
        elif message.get("role") == "assistant" and message.get("tool_calls"):
            calls = [call for call in message["tool_calls"] if isinstance(call, dict)]
            step(
                0,
                [
                    {
                        "name": call["function"]["name"],
                        "result": results.get(call.get("id")),
                        "arguments": call["function"].get("arguments"),
                    }
                    for call in calls
                ],
            )
            return


def ask_always() -> None:
    """Only the mode "manual" never lets a model decide."""
    approval = importlib.import_module("tools.approval")
    inspect.signature(approval._get_approval_mode)  # gone or another thing: leave it alone
    approval._get_approval_mode = lambda: "manual"  # type: ignore[attr-defined]
    DONE.append("manual")


def tell() -> None:
    """Put the names of the changes into the answer to ``initialize``."""
    server = importlib.import_module("acp_adapter.server").HermesACPAgent
    original: Callable[..., Any] = server.initialize

    async def initialize(self: Any, *args: Any, **kwargs: Any) -> Any:
        response = await original(self, *args, **kwargs)
        response.field_meta = {**(response.field_meta or {}), "agentHub": DONE}
        return response

    server.initialize = initialize


def main() -> None:
    """Change what can be changed, then be ``hermes-acp``."""
    for change in (raise_wait, heal_interrupt, ask_always, tell):
        try:
            change()
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            sys.stderr.write(f"agent-hub-shim: {change.__name__} left out: {error!r}\n")
    importlib.import_module("acp_adapter.entry").main()


if __name__ == "__main__":
    main()
