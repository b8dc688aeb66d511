"""What people send besides text: albums as one prompt, files under safe names, and files from the agent."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agents.contract import OutgoingFile
from bridge.file_copies import looks_secret
from bridge.inbound import FileKind, IncomingFile
from bridge.uploads import safe_name, unique_names
from tests.bridge.topics.stage import TOPIC, Stage, stage


def photo(file_id: str) -> IncomingFile:
    return IncomingFile(FileKind.PHOTO, file_id, size=9)


async def album(hub: Stage) -> None:
    for file_id, caption in (("F51", ""), ("F52", "compare these three"), ("F53", "")):
        await hub.say(caption, files=(photo(file_id),), album="g1")
        hub.clock.move(0.3)
    await hub.pass_time(1.5, step=0.5)


@pytest.mark.asyncio
async def test_an_album_is_one_prompt_with_its_pictures_in_order_and_the_caption_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files.update(F51=b"one", F52=b"two", F53=b"three")
        await album(hub)
        await hub.until(lambda: hub.claude.sessions and hub.session.prompts)
        (prompt,) = hub.session.prompts
        assert prompt.text == "compare these three"
        assert [image.data for image in prompt.images] == [b"one", b"two", b"three"]


@pytest.mark.asyncio
async def test_a_picture_that_can_not_be_fetched_is_named_and_the_others_are_used(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files.update(F51=b"one", F52=b"two")
        await album(hub)
        await hub.until(lambda: hub.claude.sessions and hub.session.prompts)
        (prompt,) = hub.session.prompts
        assert [image.data for image in prompt.images] == [b"one", b"two"]
        assert any("was left out" in text for text in hub.texts())


@pytest.mark.asyncio
async def test_a_document_lies_in_the_upload_folder_which_git_ignores(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files["D1"] = b"a,b\n"
        await hub.say("sum it", files=(IncomingFile(FileKind.DOCUMENT, "D1", "../../data.csv", "text/csv", 4),))
        await hub.until(lambda: hub.claude.sessions and hub.session.prompts)
        (file,) = hub.session.prompts[0].files
        assert file.path.parent == hub.root / ".agent-hub" / "uploads"
        assert file.path.read_bytes() == b"a,b\n"
        assert (hub.root / ".agent-hub" / ".gitignore").read_text() == "*\n"


@pytest.mark.asyncio
async def test_a_file_over_the_limit_is_refused_before_it_is_fetched(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("", files=(IncomingFile(FileKind.DOCUMENT, "D1", "film.mkv", size=30_000_000),))
        await hub.until(lambda: any("larger than 20 MB" in text for text in hub.texts()))
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_an_upload_folder_that_leads_out_of_the_session_is_not_used(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files["D1"] = b"x"
        (tmp_path / "elsewhere").mkdir()
        (hub.root / ".agent-hub").symlink_to(tmp_path / "elsewhere")
        await hub.say("look", files=(IncomingFile(FileKind.DOCUMENT, "D1", "a.txt", size=1),))
        await hub.until(lambda: any("could not be kept" in text for text in hub.texts()))
        assert list((tmp_path / "elsewhere").rglob("a.txt")) == []


@pytest.mark.asyncio
async def test_a_text_behind_an_album_keeps_its_place(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files["F51"] = b"one"
        await hub.say("look", files=(photo("F51"),), album="g1")
        await hub.say("and tell me")
        await hub.pass_time(1.5, step=0.5)
        await hub.until(lambda: hub.claude.sessions and hub.session.prompts)
        assert hub.session.prompts[0].text == "look\n\nand tell me"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "_.._etc_passwd"),
        ("C:\\Windows\\x.dll", "C__Windows_x.dll"),
        ("CON", "file_CON"),
        ("nul.txt", "file_nul.txt"),
        ("...", "file"),
        ("", "file"),
        ("a\nb\0c.txt", "a_b_c.txt"),
        ("report.", "report"),
        ("~", "~"),
        ("A\u030a.txt", "\u00c5.txt"),
    ],
)
def test_a_name_becomes_one_plain_file(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_name_of_300_letters_keeps_its_ending() -> None:
    name = safe_name("Ж" * 300 + ".tar")
    assert name.endswith(".tar")
    assert len(os.fsencode(name)) <= 120


def test_equal_names_do_not_overwrite_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    files = [IncomingFile(FileKind.DOCUMENT, "1", "a.txt"), IncomingFile(FileKind.DOCUMENT, "2", "a.txt")]
    assert unique_names(files, tmp_path) == ["a-2.txt", "a-3.txt"]


# --- from the agent


@pytest.mark.asyncio
async def test_a_file_of_the_session_is_sent_and_the_agent_hears_the_truth(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await asyncio.to_thread((hub.root / "report.pdf").write_bytes, b"%PDF")
        answer = await session.channel.send_file(OutgoingFile(Path("report.pdf"), "Here"))
        assert answer.is_delivered
        shown = next(shown for shown in hub.delivery.shown.values() if shown.message.files)
        assert shown.message.files[0].name == "report.pdf"
        assert shown.part.text == "Here"


@pytest.mark.asyncio
@pytest.mark.parametrize("case", ["outside", "link", "missing", "folder", "empty", "absolute"])
async def test_a_file_that_may_not_or_can_not_be_sent_is_refused_with_the_reason(tmp_path: Path, case: str) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        secret = tmp_path / "secret.txt"
        secret.write_text("secret")
        (hub.root / "link.txt").symlink_to(secret)
        (hub.root / "folder").mkdir()
        (hub.root / "empty").touch()
        paths = {"outside": "../secret.txt", "link": "link.txt", "absolute": str(secret)}
        answer = await session.channel.send_file(OutgoingFile(Path(paths.get(case, case))))
        assert not answer.is_delivered
        assert answer.detail
        assert not any(shown.message.files for shown in hub.delivery.shown.values())


@pytest.mark.asyncio
@pytest.mark.parametrize(("answer", "is_sent"), [("Allow", True), ("Deny", False)])
async def test_a_file_that_looks_like_a_secret_goes_out_only_with_a_persons_word(
    tmp_path: Path, answer: str, is_sent: bool
) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        (hub.root / ".env").write_text("KEY=dummy")
        sending = asyncio.create_task(session.channel.send_file(OutgoingFile(Path(".env"))))
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.press(answer)
        if any("Really" in label for label in hub.buttons()):
            await hub.press("Really")
        told = await sending
        assert told.is_delivered is is_sent
        assert any(shown.message.files for shown in hub.delivery.shown.values()) is is_sent


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        (".env", True),
        (".env.local", True),
        ("server.pem", True),
        ("id_ed25519", True),
        (".netrc", True),
        ("aws_credentials.json", True),
        (".aws/config", True),
        ("report.pdf", False),
        ("environment.md", False),
        ("keyboard.png", False),
    ],
)
def test_secrets_are_told_by_their_names(name: str, is_secret: bool) -> None:
    assert looks_secret(Path("/work") / name) is is_secret


@pytest.mark.asyncio
async def test_get_sends_a_file_of_the_folder_and_nothing_from_outside(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "notes.md").write_text("hello")
        (tmp_path / "private.md").write_text("no")
        await hub.say("/get notes.md")
        await hub.until(lambda: any(shown.message.files for shown in hub.delivery.shown.values()))
        await hub.say("/get ../private.md")
        await hub.until(lambda: "outside" in hub.last())
        assert sum(bool(shown.message.files) for shown in hub.delivery.shown.values()) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(("answer", "is_sent"), [("Send it", True), ("Don't send", False)])
async def test_get_asks_before_it_sends_what_looks_like_a_secret(tmp_path: Path, answer: str, is_sent: bool) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / ".env").write_text("KEY=dummy")
        await hub.say("/get .env")
        await hub.until(lambda: any("may hold a secret" in text for text in hub.texts()))
        assert not any(shown.message.files for shown in hub.delivery.shown.values())
        await hub.press(answer)
        await hub.settle()
        if is_sent:
            await hub.until(lambda: any(shown.message.files for shown in hub.delivery.shown.values()))
        assert any(shown.message.files for shown in hub.delivery.shown.values()) is is_sent


@pytest.mark.asyncio
async def test_a_link_named_like_a_note_does_not_hide_a_secret_from_the_question(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "id_ed25519").write_text("dummy")
        (hub.root / "notes.md").symlink_to(hub.root / "id_ed25519")
        await hub.say("/get notes.md")
        await hub.until(lambda: any("may hold a secret" in text for text in hub.texts()))
        assert not any(shown.message.files for shown in hub.delivery.shown.values())
