"""Installs the .deb on a bare Debian system and uses it from there: version, demo, tray, removal.

    python packaging/linux/try_deb.py dist/agent-hub_VERSION_amd64.deb [--root DIR]    as root; mmdebstrap makes it
    python packaging/linux/try_deb.py dist/agent-hub_VERSION_amd64.deb --here          in a fresh container

Only what the package's Depends name is installed before the first trials: a library they forget is missed here. Prints
one JSON object with sizes and times; the exit code is 0 when everything held. Standard library only: it runs anywhere.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INSIDE = (Path(__file__).with_name("try_tray.py"), ROOT / "tests" / "app" / "ui" / "tray_host.py")
USER = "ann"
FOLDER = "/srv/trial"
"""Inside; goes to no package."""
SUITE = "bookworm"
TRAY_NEEDS = ("xvfb", "xauth", "dbus", "python3", "python3-jeepney", "fonts-dejavu-core")
BIGGEST_MB, SLOWEST_S = 50.0, 0.4
STARTS = 11
LIMIT = 900.0


@dataclass
class Trial:
    """Where commands run, and what was found. ``root`` is None on the machine itself."""

    root: Path | None
    facts: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def place(self, path: str) -> Path:
        return Path(path) if self.root is None else self.root / path.lstrip("/")

    def run(self, *command: str, user: str = "root", limit: float = LIMIT) -> subprocess.CompletedProcess[str]:
        """Its end, whatever it was; output is caught."""
        home = "/root" if user == "root" else f"/home/{user}"
        inner = list(command) if user == "root" else ["setpriv", *self.identity(user), "--", *command]
        outer = inner if self.root is None else ["chroot", str(self.root), *inner]
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": home,
            "USER": user,
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        environment |= {name: os.environ[name] for name in ("http_proxy", "https_proxy") if name in os.environ}
        return subprocess.run(
            outer, env=environment, cwd="/", text=True, capture_output=True, timeout=limit, check=False
        )

    def identity(self, user: str) -> list[str]:
        row = next(line for line in self.place("/etc/passwd").read_text().splitlines() if line.startswith(f"{user}:"))
        return [f"--reuid={row.split(':')[2]}", f"--regid={row.split(':')[3]}", "--clear-groups"]

    def must(self, *command: str, user: str = "root", limit: float = LIMIT) -> str:
        """Its output; ends the trial if it failed."""
        ran = self.run(*command, user=user, limit=limit)
        if ran.returncode:
            raise SystemExit(f"{' '.join(command)}: exit code {ran.returncode}\n{(ran.stdout + ran.stderr)[-3000:]}")
        return ran.stdout

    def expect(self, name: str, value: Any, *, holds: bool) -> None:
        self.facts[name] = value
        if not holds:
            self.wrong.append(name)
        say(f"{'ok ' if holds else 'NOT'} {name}: {value}")


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@contextlib.contextmanager
def bare_root(given: Path | None) -> Iterator[Path]:
    """A new Debian with nothing in it, or the one given; with the kernel's folders mounted meanwhile."""
    folder = given or Path(tempfile.mkdtemp(prefix="agent-hub-root-"))
    if not (folder / "etc" / "debian_version").exists():
        say(f"making a bare Debian in {folder}")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", SUITE, str(folder)], check=True, timeout=LIMIT)
    mounts = ("proc", "sys", "dev")
    mounted = []
    try:
        for name in mounts:
            subprocess.run(
                ["mount", "--rbind", "--make-rslave", f"/{name}", str(folder / name)], check=True, timeout=30
            )
            mounted.append(name)
        shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
        yield folder
    finally:
        for name in reversed(mounted):
            subprocess.run(["umount", "--lazy", "--recursive", str(folder / name)], check=False, timeout=30)
        still = [line for line in Path("/proc/mounts").read_text().splitlines() if f" {folder}/" in line]
        if given is None and not still:
            shutil.rmtree(folder)


def install(trial: Trial, package: Path) -> None:
    size = package.stat().st_size / 2**20
    trial.expect("deb_mb", round(size, 1), holds=size <= BIGGEST_MB)
    trial.must("apt-get", "update", "-qq")
    trial.place(FOLDER).mkdir(parents=True, exist_ok=True)
    shutil.copy(package, trial.place(f"{FOLDER}/agent-hub.deb"))
    trial.must("apt-get", "install", "-y", "-qq", "--no-install-recommends", f"{FOLDER}/agent-hub.deb")
    trial.expect("installed_mb", int(trial.must("du", "-sm", "/opt/agent-hub").split()[0]), holds=True)
    trial.must("sh", "-c", f"id {USER} >/dev/null 2>&1 || useradd --create-home {USER}")


def libraries(trial: Trial) -> None:
    """Every file of the bundle finds the libraries it names."""
    files = r"find /opt/agent-hub -type f \( -name '*.so*' -o -name agent-hub \) -exec"
    look = f"{files} env LD_LIBRARY_PATH=/opt/agent-hub/_internal ldd {{}} +"
    missing = sorted(set(re.findall(r"(\S+) => not found", trial.run("sh", "-c", look).stdout)))
    trial.expect("missing_libraries", missing, holds=not missing)


def terminal(trial: Trial) -> None:
    """What works without a display."""
    spent = []
    for _ in range(STARTS):
        began = time.monotonic()
        version = trial.must("agent-hub", "--version", user=USER, limit=60).strip()
        spent.append(time.monotonic() - began)
    trial.expect("version", version, holds=bool(re.search(r"\d+\.\d+\.\d+$", version)))
    trial.facts |= {"version_first_s": round(spent[0], 3), "version_median_s": round(statistics.median(spent), 3)}
    # The least disturbed of them: what else this machine does is not the program's.
    trial.expect("version_s", round(min(spent), 3), holds=min(spent) <= SLOWEST_S)
    checked = trial.run("agent-hub", "demo", "--check", "--json", user=USER, limit=300)
    trial.expect("demo_check", outcome(checked), holds=checked.returncode == 0)


def outcome(ran: subprocess.CompletedProcess[str]) -> str:
    """What to say of the check: how many steps, or what it printed."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        steps = json.loads(ran.stdout)["steps"]
        return f"{sum(bool(step['ok']) for step in steps)} of {len(steps)} steps"
    return (ran.stdout + ran.stderr)[-1500:]


def tray(trial: Trial) -> None:
    """Window and icon on an X display and a session bus, as a desktop has them."""
    trial.must("apt-get", "install", "-y", "-qq", "--no-install-recommends", *TRAY_NEEDS)
    for file in INSIDE:
        shutil.copy(file, trial.place(FOLDER) / file.name)
    trial.must("sh", "-c", "mkdir -p -m 1777 /tmp/.X11-unix")
    inner = ("dbus-run-session", "--", "/usr/bin/python3", f"{FOLDER}/try_tray.py")
    ran = trial.run("xvfb-run", "-a", *inner, user=USER, limit=180)
    lines = ran.stdout.strip().splitlines()
    told = lines[-1] if ran.returncode == 0 and lines else (ran.stdout + ran.stderr)[-1500:]
    trial.expect("tray", told, holds=ran.returncode == 0)


def removal(trial: Trial) -> None:
    """Nothing stays but what belongs to the person."""
    listed = [line for line in trial.must("dpkg", "-L", "agent-hub").splitlines() if "agent-hub" in line]
    trial.must("apt-get", "purge", "-y", "-qq", "agent-hub")
    theirs = " ".join(f"-not -path '{folder}/*'" for folder in (FOLDER, "/tmp", "/home", "/var/log"))  # noqa: S108
    find = f"find / -xdev -name '*agent-hub*' {theirs}"
    left = sorted({*trial.run("sh", "-c", find).stdout.split(), *(one for one in listed if trial.place(one).exists())})
    trial.expect("left_behind", left, holds=bool(listed) and not left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("--root", type=Path, help="a bare Debian that is there already, or a folder to make it in")
    parser.add_argument(
        "--here", action="store_true", help="this machine is the bare Debian; it gets packages installed"
    )
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("needs root: it installs packages")
    with contextlib.ExitStack() as stack:
        root = None if options.here else stack.enter_context(bare_root(options.root))
        trial = Trial(root)
        for step in (lambda one: install(one, options.package), libraries, terminal, tray, removal):
            step(trial)
    sys.stdout.write(json.dumps({"ok": not trial.wrong, "wrong": trial.wrong, **trial.facts}) + "\n")
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
