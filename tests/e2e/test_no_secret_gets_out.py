"""After a whole demo: the token, a key and what people wrote stand nowhere where they do not belong."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from app import crash
from app.demo import DemoOptions, demo_in
from bridge.simulator.human import Human

pytestmark = pytest.mark.asyncio

PROMPT = "slow purple-elephant-prompt"
KEY = "sk-ant-dummy-foreign-key-0123456789"


def texts_in(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


async def test_a_whole_demo_writes_no_token_key_or_prompt_where_it_does_not_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("AGENT_HUB_TOKEN", "1234567:" + "T" * 35)
    async with demo_in(DemoOptions(data_dir=tmp_path)) as demo:
        token = demo.simulator.token
        human = Human(demo.simulator, patience=30)
        topic = human.create_topic("Scan")
        sent = human.write(PROMPT, topic)
        await human.wait_for(lambda message: "1 2" in message.text, topic=topic, after=sent.id)
        children = psutil.Process().children(recursive=True)
        assert children, "no agent runs"
        for child in children:
            told = " ".join(child.cmdline()) + " ".join(f"{name}={value}" for name, value in child.environ().items())
            assert [secret for secret in (token, KEY, "T" * 35, "purple-elephant") if secret in told] == []
        human.write("/stop", topic)
        await human.wait_for(lambda message: "Stopped" in message.text, topic=topic, after=sent.id)
        said = " ".join(message.text for message in human.all_messages() if message.is_bot)
        assert token not in said
        assert KEY not in said
        try:
            raise RuntimeError(f"no answer from bot{token}/getMe with ANTHROPIC_API_KEY={KEY}")
        except RuntimeError as error:
            file = crash.report(demo.folders.logs, type(error), error, error.__traceback__)
        await asyncio.sleep(0)
    written = texts_in(tmp_path)
    assert file.read_text(encoding="utf-8").count("RuntimeError") >= 1
    assert [name for name, data in written.items() if token.encode() in data or KEY.encode() in data] == []
    logs = {name: data for name, data in written.items() if name.endswith((".log", ".txt"))}
    assert logs
    assert [name for name, data in logs.items() if b"purple-elephant" in data] == []
