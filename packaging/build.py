"""Builds what people install, for the system it runs on: a folder with PyInstaller, then that system's packages.

    python packaging/build.py [--out dist] [--skip-bundle]

Linux: .tar.gz and .deb (dpkg-deb). Windows: the folder and, where Inno Setup is installed, an installer.
macOS: the .app and a .dmg (hdiutil); signing and notarising follow docs/releasing.md when the certificates are there.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPENDS = (
    "libc6, libgl1, libegl1, libfontconfig1, libxkbcommon0, libdbus-1-3, libglib2.0-0 | libglib2.0-0t64,"
    " libxcb-cursor0, libwayland-client0, libwayland-cursor0, libwayland-egl1"
)
"""What is left out of the folder; packaging/linux/try_deb.py holds the list to a bare system."""
RECOMMENDS = "gnome-keyring | kwalletmanager"
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}


def version() -> str:
    """The one place is pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as handle:
        return str(tomllib.load(handle)["project"]["version"])


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run(*command: str, **extra: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **extra})


def icons(folder: Path) -> None:
    """Bitmaps of the SVG at every size a desktop asks for; .ico and .icns where the tools of Qt can write them."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.path.insert(0, str(ROOT))
    from PySide6.QtGui import QGuiApplication

    from app.ui.icons import app_icon

    application = QGuiApplication.instance() or QGuiApplication([])
    folder.mkdir(parents=True, exist_ok=True)
    drawn = app_icon()
    for size in (16, 32, 48, 64, 128, 256):
        drawn.pixmap(size, size).save(str(folder / f"agent-hub-{size}.png"))
    drawn.pixmap(256, 256).save(str(folder / "agent-hub.ico"))
    if sys.platform == "darwin":
        drawn.pixmap(256, 256).save(str(folder / "agent-hub.icns"))
    del application


def bundle(work: Path) -> Path:
    """The folder that PyInstaller makes."""
    began = time.monotonic()
    icons(work / "icons")
    places = [f"--distpath={work / 'bundle'}", f"--workpath={work / 'pyinstaller'}"]
    spec = str(ROOT / "packaging" / "agent-hub.spec")
    run(
        *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level=ERROR", *places, spec),
        AGENT_HUB_ICONS=str(work / "icons"),
    )
    folder = work / "bundle" / "agent-hub"
    if sys.platform == "linux" and shutil.which("strip"):
        run("strip", "--strip-unneeded", *map(str, strippable(folder / "_internal")))
    say(f"bundle: {megabytes(folder):.0f} MB in {time.monotonic() - began:.0f} s")
    return folder


def strippable(inside: Path) -> list[Path]:
    """The interpreter and extension modules. Not Qt: its libraries are stripped and were rewritten since."""
    modules = [file for kind in ("*.cpython-*.so", "*.abi3.so") for file in inside.rglob(kind)]
    foreign = {inside / "PySide6", inside / "shiboken6"}
    return [*inside.glob("libpython3*.so*"), *(file for file in modules if foreign.isdisjoint(file.parents))]


def megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
    return sum(file.stat().st_size for file in files) / 2**20


def tar_gz(folder: Path, out: Path) -> Path:
    """Unpack anywhere and start ``agent-hub/agent-hub``."""
    file = out / f"agent-hub-{version()}-linux-{platform.machine()}.tar.gz"
    with tarfile.open(file, "w:gz", compresslevel=9) as archive:
        archive.add(folder, arcname="agent-hub")
    return file


def deb(folder: Path, out: Path, work: Path) -> Path:
    """Installs to /opt/agent-hub with a command, a menu entry, an icon and a user unit."""
    root = work / "deb"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(folder, root / "opt" / "agent-hub", symlinks=True)
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "agent-hub").symlink_to("/opt/agent-hub/agent-hub")
    place(ROOT / "packaging" / "linux" / "agent-hub.desktop", root / "usr" / "share" / "applications")
    place(ROOT / "packaging" / "linux" / "agent-hub.service", root / "usr" / "lib" / "systemd" / "user")
    place(
        ROOT / "resources" / "icons" / "agent-hub.svg",
        root / "usr" / "share" / "icons" / "hicolor" / "scalable" / "apps",
    )
    place(ROOT / "LICENSE", root / "usr" / "share" / "doc" / "agent-hub", "copyright")
    control = root / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text(
        f"Package: agent-hub\nVersion: {version()}\nSection: net\nPriority: optional\n"
        f"Architecture: {DEBIAN_NAMES.get(platform.machine(), platform.machine())}\n"
        f"Maintainer: the agent-hub authors <agent-hub@localhost>\nInstalled-Size: {int(megabytes(root) * 1024)}\n"
        f"Depends: {DEPENDS}\nRecommends: {RECOMMENDS}\n"
        "Description: Work with coding agents from your phone\n"
        " Each topic of your Telegram group is one session of Claude Code, Codex,\n"
        " Qwen Code, Hermes or any agent that speaks ACP, on this computer.\n",
        encoding="utf-8",
    )
    file = out / f"agent-hub_{version()}_{DEBIAN_NAMES.get(platform.machine(), platform.machine())}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z9", "--build", str(root), str(file))
    return file


def place(source: Path, folder: Path, name: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder / (name or source.name))


def windows(folder: Path, out: Path) -> list[Path]:
    """A .zip, and an installer where Inno Setup's compiler is found. Not run by us."""
    name = out / f"agent-hub-{version()}-windows-{platform.machine().lower()}"
    made = [Path(shutil.make_archive(str(name), "zip", folder.parent, folder.name))]
    if compiler := shutil.which("iscc"):
        script = ROOT / "packaging" / "windows" / "agent-hub.iss"
        run(compiler, f"/DVersion={version()}", f"/DSource={folder}", f"/O{out}", str(script))
        made += sorted(out.glob("agent-hub-setup-*.exe"))
    return made


def macos(folder: Path, out: Path) -> list[Path]:
    """A .dmg of the .app. Not run by us."""
    app = folder.with_name("agent-hub.app")
    file = out / f"agent-hub-{version()}-macos.dmg"
    run("bash", str(ROOT / "packaging" / "macos" / "make_dmg.sh"), str(app), str(file))
    return [file]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--skip-bundle", action="store_true", help="use the folder of the last build")
    args = parser.parse_args()
    out, work = args.out.resolve(), ROOT / "build" / "packaging"
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    folder = work / "bundle" / "agent-hub" if args.skip_bundle else bundle(work)
    if sys.platform == "win32":
        made = windows(folder, out)
    elif sys.platform == "darwin":
        made = macos(folder, out)
    else:
        made = [tar_gz(folder, out), deb(folder, out, work)]
    sums = []
    for file in made:
        sums.append(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
        say(f"{file.name}: {megabytes(file):.1f} MB")
    (out / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
