"""The shim changes only what looks as it was measured, tried on stand-ins for Hermes' modules in a real interpreter."""

from __future__ import annotations

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
    print(asyncio.run(acp_adapter.server.HermesACPAgent().initialize()).field_meta)
"""
AGENT = """
class AIAgent:
    told, pending = None, "late"
    def step_callback(self, n, tools): self.told = tools
    def _drain_pending_steer(self): self.pending = None
    def run_conversation(self, text):
        call = {"id": "1", "function": {"name": "terminal", "arguments": "{}"}}
        result = {"role": "tool", "tool_call_id": "1", "content": "begin"}
        messages = [{"role": "assistant", "tool_calls": [call]}, result]
        return {"final_response": None, "interrupted": True, "messages": messages}
"""
SERVER = """
class Response:
    field_meta = {"own": 1}
class HermesACPAgent:
    async def initialize(self): return Response()
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
    conversation, told, waits, mode, about = ran.stdout.splitlines()
    assert "'final_response': ''" in conversation
    assert told == "[{'name': 'terminal', 'result': 'begin', 'arguments': '{}'}] None"
    assert waits == "604800.0 604800.0"
    assert mode == "manual"
    assert about == "{'own': 1, 'agentHub': ['wait', 'interrupt', 'manual']}"


def test_what_looks_otherwise_is_left_alone_and_told(tmp_path: Path) -> None:
    ran = run(tmp_path, "def make_approval_callback(*, limit=60.0): return limit")
    assert "60.0 60.0" in ran.stdout
    assert "'agentHub': ['interrupt', 'manual']" in ran.stdout
    assert "raise_wait left out" in ran.stderr
