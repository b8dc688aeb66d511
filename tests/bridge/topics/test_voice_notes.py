"""Voice notes: understood by a program or a service, shown, and run only by a person's word."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from bridge.config import VoiceSettings
from bridge.inbound import FileKind, IncomingFile
from bridge.voice import VoiceError, environment, transcribe
from tests.bridge.topics.stage import TOPIC, Stage, stage

NOTE = (IncomingFile(FileKind.VOICE, "voice1", media_type="audio/ogg", size=5),)


def program(code: str) -> VoiceSettings:
    """A program that is called as a person would set it."""
    return VoiceSettings(command=f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} {{file}}")


READS_THE_FILE = program("import sys; print('run the ' + open(sys.argv[1]).read())")


async def spoken(hub: Stage, sound: bytes = b"tests") -> None:
    hub.messenger.files["voice1"] = sound
    await hub.say(files=NOTE)


@pytest.mark.asyncio
async def test_what_was_understood_is_shown_and_runs_only_after_run(tmp_path: Path) -> None:
    async with stage(tmp_path, voice=READS_THE_FILE) as hub:
        await spoken(hub)
        await hub.until(lambda: "run the tests" in hub.last())
        assert hub.claude.sessions == []
        await hub.press("Run")
        await hub.until(lambda: bool(hub.claude.sessions) and bool(hub.session.prompts))
        assert hub.session.prompts[0].text == "run the tests"
        assert hub.session.prompts[0].files == ()
        assert hub.buttons() == []


@pytest.mark.asyncio
async def test_a_reply_with_the_right_text_runs_that_text(tmp_path: Path) -> None:
    async with stage(tmp_path, voice=READS_THE_FILE) as hub:
        await spoken(hub)
        await hub.until(lambda: "run the tests" in hub.last())
        card = next(shown for shown in hub.delivery.shown.values() if "run the tests" in shown.part.text)
        await hub.say("run the quick tests", reply_to=card.id)
        await hub.until(lambda: bool(hub.claude.sessions) and bool(hub.session.prompts))
        assert [prompt.text for prompt in hub.session.prompts] == ["run the quick tests"]


@pytest.mark.asyncio
async def test_a_dropped_voice_note_never_reaches_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path, voice=READS_THE_FILE) as hub:
        await spoken(hub)
        await hub.until(lambda: "run the tests" in hub.last())
        await hub.press("Drop")
        assert "Dropped" in hub.last()
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_without_a_program_it_is_said_what_to_set(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await spoken(hub)
        assert "[voice]" in hub.last()
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_the_sound_is_not_kept(tmp_path: Path) -> None:
    async with stage(tmp_path, voice=READS_THE_FILE) as hub:
        await spoken(hub)
        await hub.until(lambda: "run the tests" in hub.last())
        await hub.until(lambda: not any((hub.data / "voice").iterdir()))
        assert [path for path in hub.root.rglob("*") if path.is_file()] == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (program("import sys; sys.exit(3)"), "failed (3)"),
        (program("pass"), "Nothing was understood"),
        (VoiceSettings(command="/no/such/program {file}"), "could not be started"),
        (VoiceSettings(command='"unclosed'), "can't be read"),
        (VoiceSettings(url="http://127.0.0.1:9/v1"), "can't be reached"),
        (VoiceSettings(url="http://127.0.0.1:9/v1", key_variable="NO_SUCH_KEY"), "NO_SUCH_KEY"),
    ],
)
async def test_every_failure_is_said_and_nothing_runs(settings: VoiceSettings, words: str, tmp_path: Path) -> None:
    async with stage(tmp_path, voice=settings) as hub:
        await spoken(hub)
        await hub.until(lambda: words in hub.last())
        assert "Nothing was given to the agent." in hub.last()
        assert hub.claude.sessions == []
        assert hub.hub.topics()[0].voice_notes == {}


@pytest.mark.asyncio
async def test_a_hostile_file_name_is_one_argument_and_no_shell_runs(tmp_path: Path) -> None:
    sound = tmp_path / "a; touch evil $(touch evil).ogg"
    sound.write_bytes(b"tests")
    assert await transcribe(sound, READS_THE_FILE) == "run the tests"
    assert not (tmp_path / "evil").exists()


@pytest.mark.asyncio
async def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.TIME_LIMIT", 1.0)
    sound = tmp_path / "a.ogg"
    sound.write_bytes(b"tests")
    with pytest.raises(VoiceError, match="too long"):
        await transcribe(sound, program("import time; time.sleep(600)"))


def test_the_program_sees_no_token_and_no_key() -> None:
    seen = environment({"PATH": "/bin", "AGENT_HUB_TOKEN": "1:a", "ANTHROPIC_API_KEY": "k", "HOME": "/home/anna"})
    assert seen == {"PATH": "/bin", "HOME": "/home/anna"}


@contextmanager
def service(answer: bytes, status: int = 200) -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    heard: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append((self.headers.get("Authorization", ""), body))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/audio/transcriptions", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.asyncio
async def test_a_service_gets_sound_model_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_KEY", "key-of-the-voice-service")
    sound = tmp_path / "a.ogg"
    sound.write_bytes(b"the sound")
    with service(json.dumps({"text": " mend the door "}).encode()) as (url, heard):
        settings = VoiceSettings(url=url, model="whisper-large", language="ru", key_variable="VOICE_KEY")
        assert await transcribe(sound, settings) == "mend the door"
    ((key, body),) = heard
    assert key == "Bearer key-of-the-voice-service"
    assert b"the sound" in body
    assert b"whisper-large" in body
    assert b'name="language"' in body


@pytest.mark.asyncio
@pytest.mark.parametrize(("answer", "status"), [(b'{"error": 1}', 200), (b"[]", 200), (b"busy", 503)])
async def test_a_service_that_answers_otherwise_is_an_error(answer: bytes, status: int, tmp_path: Path) -> None:
    sound = tmp_path / "a.ogg"
    sound.write_bytes(b"the sound")
    with service(answer, status) as (url, _), pytest.raises(VoiceError):
        await transcribe(sound, VoiceSettings(url=url))


@pytest.mark.asyncio
async def test_a_reply_to_another_message_is_an_ordinary_text(tmp_path: Path) -> None:
    async with stage(tmp_path, voice=READS_THE_FILE) as hub:
        await spoken(hub)
        await hub.until(lambda: "run the tests" in hub.last())
        await hub.say("something else", reply_to=4242, place=TOPIC)
        assert [prompt.text for prompt in hub.session.prompts] == ["something else"]
        assert "Run" in hub.buttons()
