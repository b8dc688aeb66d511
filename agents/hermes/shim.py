"""Starts Hermes' ACP server with four faults of 0.19.0 healed. Run by path with Hermes' OWN Python, not imported.

It changes nothing on disk. Each change is made only where Hermes looks as it was measured, and told in the answer to
``initialize`` (``_meta.agentHub``); without it the hub shows the 60 s limit and starts a wedged session anew.

* ``wait``: a permission waits a week instead of 60 s, a limit that no setting of Hermes' changes.
* ``interrupt``: an interrupted turn without a final text answers "cancelled" instead of wedging the session, tells the
  output of the command it was in, and drops a steering text that came too late (the hub has it still).
* ``steer``: a text for the running turn is taken only while it can still be shown to the model, and it is told when it
  was shown. Hermes' own ``/steer`` takes one also after the last step, where it is lost, and runs it as a task of its
  own when the turn has just ended.
* ``manual``: a dangerous command is always shown to the person; by default a model may approve it first.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import threading
from collections.abc import Callable
from typing import Any

WAIT = 7 * 24 * 3600.0
"""Seconds; the hub itself denies far earlier."""


STEER = "agentHub/steer"
"""The hub's request: ``{sessionId, id, text}``, answered with ``{"taken": bool}``."""
STEERED = "agentHub/steered"
"""What the hub is told: ``{sessionId, ids}`` of the texts that stand in front of the model now."""

DONE: list[str] = []
"""Which changes are in force."""
RUNNING = threading.local()
"""The ``Steering`` of the turn that runs in this thread."""


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


class Steering:
    """The texts given to one agent's running turn. Used by the agent's thread and the server's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False
        self._given: list[tuple[str, str, Callable[[str], None]]] = []

    def begin(self) -> None:
        """A turn begins: texts may come."""
        with self._lock:
            self._given, self._is_open = [], True

    def end(self) -> None:
        """The model sees nothing more of this turn. What was not told as shown was not shown."""
        with self._lock:
            self._given, self._is_open = [], False

    def offer(self, agent: Any, key: str, text: str, tell_shown: Callable[[str], None]) -> bool:
        """Give a text to the turn; False: it is too late for that."""
        with self._lock:
            if not self._is_open or not agent.steer(text):
                return False
            self._given.append((key, text.strip(), tell_shown))
            return True

    def shown(self, joined: str) -> None:
        """These words, one or more texts with a line break between them, were put in front of the model."""
        with self._lock:
            rest, left = f"\n{joined}\n", []
            for one in self._given:
                before, mark, after = rest.partition(f"\n{one[1]}\n")
                if mark:
                    rest = f"{before}\n{after}"
                    one[2](one[0])
                else:
                    left.append(one)
            self._given = left


def steering_of(agent: Any) -> Steering:
    """The one of this agent; its first turn makes it."""
    found = getattr(agent, "_hub_steering", None)
    if found is None:
        found = agent._hub_steering = Steering()
    return found


def watch_steering() -> None:
    """Hermes makes the marker around a steering text in the moment it hangs it on a tool's result."""
    agent = importlib.import_module("run_agent").AIAgent
    inspect.signature(agent.steer).bind(None, "text")
    places = [importlib.import_module(name) for name in ("agent.prompt_builder", "agent.agent_runtime_helpers")]
    makers = {place.format_steer_marker for place in places}
    if len(makers) != 1:
        raise AttributeError("format_steer_marker")
    make, run = makers.pop(), agent.run_conversation
    inspect.signature(make).bind("text")
    serve_steering()

    def format_steer_marker(text: str) -> Any:
        steering = getattr(RUNNING, "steering", None)
        if steering is not None:
            steering.shown(text)
        return make(text)

    def run_conversation(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer, steering = getattr(RUNNING, "steering", None), steering_of(self)
        RUNNING.steering = steering
        steering.begin()
        try:
            return run(self, *args, **kwargs)
        finally:
            steering.end()
            self._drain_pending_steer()
            RUNNING.steering = outer

    for place in places:
        place.format_steer_marker = format_steer_marker  # type: ignore[attr-defined]
    agent.run_conversation = run_conversation
    DONE.append("steer")


def serve_steering() -> None:
    """The server's answer to the hub's own request."""
    server = importlib.import_module("acp_adapter.server").HermesACPAgent
    original = getattr(server, "ext_method", None)

    async def ext_method(self: Any, method: str, params: dict[str, Any]) -> Any:
        if method != STEER:
            return {} if original is None else await original(self, method, params)
        session_id, loop, connection = params["sessionId"], asyncio.get_running_loop(), self._conn

        def tell_shown(key: str) -> None:
            told = connection.ext_notification(STEERED, {"sessionId": session_id, "ids": [key]})
            asyncio.run_coroutine_threadsafe(told, loop)

        agent = getattr(self.session_manager.get_session(session_id), "agent", None)
        if agent is None:
            return {"taken": False}
        return {"taken": steering_of(agent).offer(agent, params["id"], params["text"], tell_shown)}

    server.ext_method = ext_method


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
    for change in (raise_wait, heal_interrupt, watch_steering, ask_always, tell):
        try:
            change()
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            sys.stderr.write(f"agent-hub-shim: {change.__name__} left out: {error!r}\n")
    importlib.import_module("acp_adapter.entry").main()


if __name__ == "__main__":
    main()
