"""Files from the phone: every name made harmless, nothing outside the folder touched, nothing lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.inbound import FileKind, IncomingFile
from bridge.messenger import RefusedError
from bridge.uploads import DOWNLOAD_LIMIT, FOLDER, Uploads, safe_name

HOSTILE = [
    "../../etc/passwd", "..\\..\\windows\\system32", "/absolute/path", "C:\\boot.ini", "a/b/c.txt", "..", ".", "",
    "   ", "\x00name", "line\nbreak.txt", "con", "CON.txt", "nul.tar.gz", "COM1", "lpt9.log", ".bashrc", "...hidden",
    "trailing. ", "what?.txt", "a*b|c<d>e.txt", 'quo"te.txt', "x" * 300 + ".txt", "ж" * 300 + ".txt", "😀" * 100,
    "\u202egpj.exe", "name\ud800.txt", "-rf", "~root", "$(reboot).sh", "a:b", "аux", "file.", "e\u0301.txt",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_becomes_one_component_inside_the_folder(name: str, tmp_path: Path) -> None:
    safe = safe_name(name)
    path = tmp_path / safe
    path.write_text("x", encoding="utf-8")
    assert path.resolve().parent == tmp_path.resolve()
    assert not safe.startswith(".")
    assert len(safe.encode()) <= 255
    assert safe.split(".")[0].casefold() not in {"con", "nul", "com1", "lpt9", "aux"}


def test_an_ordinary_name_stays_as_it_is() -> None:
    assert safe_name("Отчёт за май.pdf") == "Отчёт за май.pdf"


@pytest.mark.asyncio
async def test_two_files_of_one_name_are_both_kept(tmp_path: Path) -> None:
    files = (document("1", "a.txt"), document("2", "A.txt"))
    taken = await Uploads(Downloads()).fetch(files, tmp_path)  # type: ignore[arg-type]
    assert [path.name for path, _ in taken.files] == ["a.txt", "A-2.txt"]


class Downloads:
    """A messenger of which only ``download`` is used."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails

    async def download(self, file_id: str, to: Path) -> None:
        if file_id == self.fails:
            raise RefusedError("file is gone")
        to.write_bytes(file_id.encode())


def document(file_id: str, name: str, size: int = 10) -> IncomingFile:
    return IncomingFile(FileKind.DOCUMENT, file_id, name, "text/plain", size)


@pytest.mark.asyncio
async def test_files_land_below_the_session_and_stay_out_of_git(tmp_path: Path) -> None:
    taken = await Uploads(Downloads()).fetch((document("1", "a.txt"),), tmp_path)  # type: ignore[arg-type]
    assert taken.files == ((tmp_path / FOLDER / "a.txt", "text/plain"),)
    assert (tmp_path / ".agent-hub" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.asyncio
async def test_a_file_over_the_limit_is_named_before_it_is_fetched(tmp_path: Path) -> None:
    files = (document("1", "big.bin", DOWNLOAD_LIMIT + 1), document("2", "b.txt"))
    taken = await Uploads(Downloads()).fetch(files, tmp_path)  # type: ignore[arg-type]
    assert len(taken.files) == 1
    assert "big.bin" in taken.left_out[0]


@pytest.mark.asyncio
async def test_one_file_that_fails_leaves_the_others(tmp_path: Path) -> None:
    files = (document("1", "a.txt"), document("2", "b.txt"), document("3", "c.txt"))
    taken = await Uploads(Downloads(fails="2")).fetch(files, tmp_path)  # type: ignore[arg-type]
    assert [path.name for path, _ in taken.files] == ["a.txt", "c.txt"]
    assert "b.txt" in taken.left_out[0]


@pytest.mark.asyncio
async def test_an_uploads_folder_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    outside, cwd = tmp_path / "outside", tmp_path / "cwd"
    outside.mkdir()
    cwd.mkdir()
    (cwd / ".agent-hub").symlink_to(outside, target_is_directory=True)
    taken = await Uploads(Downloads()).fetch((document("1", "a.txt"),), cwd)  # type: ignore[arg-type]
    assert taken.files == ()
    assert not list(outside.iterdir())


@pytest.mark.asyncio
async def test_a_photo_without_a_name_gets_one_with_its_kind(tmp_path: Path) -> None:
    photo = IncomingFile(FileKind.PHOTO, "1", "", "image/jpeg", 10)
    taken = await Uploads(Downloads()).fetch((photo,), tmp_path)  # type: ignore[arg-type]
    assert taken.files[0][0].name == "photo-1.jpg"
