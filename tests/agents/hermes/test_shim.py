"""The shim changes only what looks as it was measured, tried on stand-ins for Hermes' modules in a real interpreter."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from agents.hermes import backend

SHIM = Path(backend.__file__).with_name("shim.py")
ENTRY = """
import asyncio, run_agent, acp_adapter.permissions, acp_adapter.edit_approval, acp_adapter.server, tools.approval
def main():
    agent = run_agent.AIAgent()
    print(repr(agent.run_conversation("x")))
    print(agent.told, agent.pending)
    edit = acp_adapter.edit_approval.make_acp_edit_approval_requester()
    print(acp_adapter.permissions.make_approval_callback(), edit)
    print(tools.approval.mode())
    print(asyncio.run(acp_adapter.server.talk()))
    print(asyncio.run(acp_adapter.server.HermesACPAgent().initialize()).field_meta)
"""
AGENT = """
class AIAgent:
    told, pending = None, "late"
    def step_callback(self, n, tools): self.told = tools
    def steer(self, text):
        self.pending = text.strip() if self.pending is None else self.pending + "\\n" + text.strip()
        return True
    def _drain_pending_steer(self): text, self.pending = self.pending, None; return text
    def run_conversation(self, text):
        if text == "steered": return self.work()
        call = {"id": "1", "function": {"name": "terminal", "arguments": "{}"}}
        result = {"role": "tool", "tool_call_id": "1", "content": "begin"}
        messages = [{"role": "assistant", "tool_calls": [call]}, result]
        return {"final_response": None, "interrupted": True, "messages": messages}
    def work(self):
        from agent import agent_runtime_helpers, prompt_builder
        self.is_working.set()
        self.go_on.wait(10)
        seen = [agent_runtime_helpers.format_steer_marker(self._drain_pending_steer())]
        self.has_shown.set()
        self.end.wait(10)
        self._drain_pending_steer()  # as its finalizer does
        return {"final_response": "done", "messages": seen}
"""
MARKER = """
def format_steer_marker(text): return f"<{text}>"
"""
SERVER = """
import asyncio, run_agent, threading
class Response:
    field_meta = {"own": 1}
class HermesACPAgent:
    async def initialize(self): return Response()
class Connection:
    told = []
    async def ext_notification(self, method, params): self.told.append((method, *params["ids"]))
class Sessions:
    def get_session(self, session_id): return self if session_id == "s1" else None
async def talk():
    server, agent = HermesACPAgent(), run_agent.AIAgent()
    server._conn, server.session_manager = Connection(), Sessions()
    server.session_manager.agent = agent
    agent.pending = None
    agent.is_working, agent.go_on, agent.has_shown, agent.end = (threading.Event() for _ in range(4))
    async def give(key, text, session_id="s1"):
        answer = await server.ext_method("agentHub/steer", {"sessionId": session_id, "id": key, "text": text})
        return answer["taken"]
    taken = [await give("early", "ok")]
    turn = asyncio.ensure_future(asyncio.to_thread(agent.run_conversation, "steered"))
    await asyncio.to_thread(agent.is_working.wait, 10)
    taken += [await give("1", "ok"), await give("2", "two\\nlines "), await give("x", "other", "s2")]
    agent.go_on.set()
    await asyncio.to_thread(agent.has_shown.wait, 10)
    taken += [await give("3", "ok")]
    agent.end.set()
    seen = (await turn)["messages"]
    return taken + [await give("late", "x")], seen, server._conn.told, agent.pending
"""
APPROVAL = """
def _get_approval_mode(): return "smart"
def mode(): return _get_approval_mode()
"""


def run(folder: Path, permissions: str) -> subprocess.CompletedProcess[str]:
    files = {
        "acp_adapter/__init__.py": "",
        "acp_adapter/entry.py": ENTRY,
        "acp_adapter/permissions.py": permissions,
        "acp_adapter/edit_approval.py": "def make_acp_edit_approval_requester(a=1, *, timeout=60.0): return timeout"
        if "*" in permissions
        else "def make_acp_edit_approval_requester(a=1, timeout=60.0): return timeout",
        "acp_adapter/server.py": SERVER,
        "agent/__init__.py": "",
        "agent/prompt_builder.py": MARKER,
        "agent/agent_runtime_helpers.py": "from agent.prompt_builder import format_steer_marker",
        "tools/__init__.py": "",
        "tools/approval.py": APPROVAL,
        "run_agent.py": AGENT,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    boot = "import sys, runpy; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-I", "-c", boot, str(folder), str(SHIM)],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )


def test_the_wait_is_raised_the_interrupt_healed_and_the_person_always_asked(tmp_path: Path) -> None:
    ran = run(tmp_path, "def make_approval_callback(a=1, timeout=60.0): return timeout")
    conversation, told, waits, mode, _, about = ran.stdout.splitlines()
    assert "'final_response': ''" in conversation
    assert told == "[{'name': 'terminal', 'result': 'begin', 'arguments': '{}'}] None"
    assert waits == "604800.0 604800.0"
    assert mode == "manual"
    assert about == "{'own': 1, 'agentHub': ['wait', 'interrupt', 'steer', 'manual']}"


def test_a_text_is_taken_only_while_a_turn_runs_and_told_only_when_the_model_sees_it(tmp_path: Path) -> None:
    ran = run(tmp_path, "def make_approval_callback(a=1, timeout=60.0): return timeout")
    taken, seen, told, pending = ast.literal_eval(ran.stdout.splitlines()[4])
    assert taken == [False, True, True, False, True, False]
    assert seen == ["<ok\ntwo\nlines>"]
    assert told == [("agentHub/steered", "1"), ("agentHub/steered", "2")]
    assert pending is None


def test_what_looks_otherwise_is_left_alone_and_told(tmp_path: Path) -> None:
    ran = run(tmp_path, "def make_approval_callback(*, limit=60.0): return limit")
    assert "60.0 60.0" in ran.stdout
    assert "'agentHub': ['interrupt', 'steer', 'manual']" in ran.stdout
    assert "raise_wait left out" in ran.stderr
