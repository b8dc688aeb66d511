"""Which libraries of the system Qt misses on Linux, and the Debian and Ubuntu packages that bring them.

Qt's own message names one library at most, and not always the right one (measured: it named xcb-cursor where two
others were missing). So the loader is asked about every file that the window needs. Nothing of Qt is imported.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PACKAGES = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
FILES = ("plugins/platforms/libqxcb.so", "lib/libQt6Gui.so.6", "lib/libQt6Widgets.so.6", "lib/libQt6DBus.so.6")
MISSING = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
LDD_SECONDS = 10


def qt_files() -> Sequence[Path]:
    """The files of this installation's Qt that the window loads; none when it is not installed."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        return ()
    folder = Path(spec.origin).parent / "Qt"
    return [folder / name for name in FILES if (folder / name).is_file()]


def missing_libraries(files: Sequence[Path]) -> Sequence[str]:
    """Names of the libraries that the system's loader does not find, each once; none without ``ldd``."""
    ldd = shutil.which("ldd")
    if ldd is None or not files:
        return ()
    try:
        ran = subprocess.run(
            [ldd, *map(str, files)],
            capture_output=True,
            text=True,
            timeout=LDD_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(dict.fromkeys(MISSING.findall(ran.stdout)))


def packages_for(libraries: Sequence[str]) -> Sequence[str]:
    """What to install for them; a library that nobody knows stands for itself."""
    return tuple(dict.fromkeys(PACKAGES.get(name, name) for name in libraries))


def needed_packages() -> str:
    """The words after ``apt install``: exactly what is missing, or everything when that can't be found out."""
    exact = packages_for(missing_libraries(qt_files()))
    return " ".join(exact or dict.fromkeys(PACKAGES.values()))
