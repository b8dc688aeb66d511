"""What Qt misses is found by asking the loader, and named by the package that brings it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app import qt_libraries
from app.qt_libraries import missing_libraries, needed_packages, packages_for, qt_files


def test_a_library_that_the_loader_does_not_find_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ldd = tmp_path / "ldd"
    ldd.write_text(
        "#!/bin/sh\nprintf '\\tlibxcb-icccm.so.4 => not found\\n\\tlibc.so.6 => /lib/libc.so.6 (0x1)\\n"
        "\\tlibxcb-icccm.so.4 => not found\\n\\tlibodd.so.9 => not found\\n'\n",
        encoding="utf-8",
    )
    ldd.chmod(0o755)
    monkeypatch.setattr(qt_libraries.shutil, "which", lambda _name: str(ldd))
    missing = missing_libraries([tmp_path / "libqxcb.so"])
    assert missing == ("libxcb-icccm.so.4", "libodd.so.9")
    assert packages_for(missing) == ("libxcb-icccm4", "libodd.so.9")


@pytest.mark.skipif(sys.platform != "linux", reason="Qt's files lie elsewhere")
def test_the_real_loader_finds_everything_where_the_window_runs() -> None:
    assert next(file.name for file in qt_files()) == "libqxcb.so"
    assert missing_libraries([Path(sys.executable)]) == ()


def test_where_it_can_not_be_found_out_everything_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qt_libraries.shutil, "which", lambda _name: None)
    assert {"libgl1", "libxcb-cursor0", "libxkbcommon-x11-0"} <= set(needed_packages().split())
