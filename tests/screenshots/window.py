"""Pictures of every page of the window, step of the wizard and tray icon: light and dark, en and ru, 1x and 2x.

python -m tests.screenshots.window FOLDER [--scale 1] [--language en] [--theme light]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from agents.contract import AgentHealth, LoginState
from app.facade import AskRow, AuditRow, HealthRow, HubSnapshot, RejectedRow, RuleRow, SessionRow, SessionState
from app.health import HubView, Light
from bridge.texts import set_language

DIFF = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -10,3 +10,3 @@\n-    return total\n+    return round(total, 2)\n"


def snapshot(now: float) -> HubSnapshot:
    """A hub in the middle of a day."""
    states = [SessionState.WAITING, SessionState.WORKING, SessionState.IDLE, SessionState.ASLEEP, SessionState.PARKED]
    names = ["Login bug", "Тесты корзины", "Docs", "Release notes", "Old experiment"]
    agents = ["Claude Code", "Codex", "Qwen Code", "Hermes", "Demo agent"]
    sessions = tuple(
        SessionRow(
            str(n), names[n], -1001234, n + 2, agents[n], f"/home/ann/code/project-{n}", states[n], now - 400 * n, 0.4
        )
        for n in range(5)
    )
    asks = (
        AskRow("a", names[0], agents[0], "Run a command", "rm -rf build && make all", "deletes a folder",
               now - 70, now + 500, is_destructive=True),
        AskRow("b", names[1], agents[1], "Edit shop/cart.py", "/home/ann/code/project-1/shop/cart.py", "",
               now - 20, now + 500, diff=DIFF),
    )  # fmt: skip
    return HubSnapshot(
        view=HubView(is_connected=True, waiting=2, running=1),
        sessions=sessions,
        asks=asks,
        rules=(RuleRow("r", "/home/ann/code/project-2", "Bash", "make test", now - 90_000),),
        audit=tuple(
            AuditRow(str(n), now - 1000 * n, "Ann", way, f"Bash: make {target}", verdict, "yes")
            for n, (way, target, verdict) in enumerate(
                [("button", "test", "allowed"), ("reaction", "lint", "allowed"), ("time-out", "deploy", "expired")]
            )
        ),
        rejected=(RejectedRow("1", now - 60, "user is not on the list", -1001234, 4711, "Mallory"),),
        health=(
            HealthRow("Telegram", "connected", True),
            HealthRow("Messages waiting to be sent", "0"),
            HealthRow("Database", "1.2 MB"),
            HealthRow("Disk", "150 MB free", False, "Free some space."),
        ),
        pending=("telegram.users: {7: owner} → {7: owner, 9: owner}",),
    )


def agents() -> list[AgentHealth]:
    return [
        AgentHealth("claude", "Claude Code", Path("/usr/bin/claude"), "2.1.332", LoginState.LOGGED_IN, is_usable=True),
        AgentHealth("codex", "Codex", Path("/usr/bin/codex"), "0.171.0", LoginState.LOGGED_OUT,
                    "Codex is not logged in.", "Run in a terminal: codex login"),
        AgentHealth("qwen", "Qwen Code", problem="Qwen Code was not found.", hint="npm install @qwen-code/qwen-code"),
    ]  # fmt: skip


def draw(folder: Path, scale: int, language: str, theme: str) -> Iterator[Path]:
    """Make the pictures of one combination; runs in a process of its own, because Qt scales once."""
    from PySide6.QtCore import QSettings

    from app.loop_thread import LoopThread
    from app.paths import folders
    from app.setup_steps import SetUp
    from app.ui.calls import Calls
    from app.ui.icons import light_icon
    from app.ui.palette import dress
    from app.ui.program import make_application
    from app.ui.window import MainWindow
    from app.ui.wizard import SetUpWizard

    set_language(language)
    application = make_application()
    dress(application, dark=theme == "dark")
    tail = f"{theme}-{language}-{scale}x.png"
    window = MainWindow(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
    window.show_snapshot(snapshot(time.time()))
    window.agents.show_agents(agents())
    window.agents.table.selectRow(1)
    window.sessions.table.selectRow(0)
    window.activity.append_log([f"2026-11-30 12:00:{n:02} INFO bridge.hub: line {n}" for n in range(40)])
    window.show()
    for number, page in enumerate(window.pages):
        window.names.setCurrentRow(number)
        application.processEvents()
        yield save(window.grab(), folder / f"window-{number}-{type(page).__name__}-{tail}")
    loop = LoopThread("set-up")
    wizard = SetUpWizard(SetUp(folders(folder / "hub")), Calls(loop))
    wizard.show()
    for number, page_id in enumerate(wizard.pageIds()):
        wizard.setCurrentId(page_id)
        application.processEvents()
        yield save(wizard.grab(), folder / f"wizard-{number}-{tail}")
    wizard.calls.cancel_all()
    loop.close()
    for light in Light:
        yield save(light_icon(light).pixmap(64, 64), folder / f"tray-{light.value}-{tail}")


def save(picture: object, file: Path) -> Path:
    picture.save(str(file))  # type: ignore[attr-defined]
    return file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=int, choices=(1, 2))
    parser.add_argument("--language", choices=("en", "ru"))
    parser.add_argument("--theme", choices=("light", "dark"))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if not os.environ.get("DISPLAY"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if args.scale and args.language and args.theme:
        for file in draw(args.folder, args.scale, args.language, args.theme):
            print(file)
        return 0
    failed = 0
    for scale in [args.scale] if args.scale else (1, 2):
        for language in [args.language] if args.language else ("en", "ru"):
            for theme in [args.theme] if args.theme else ("light", "dark"):
                own = ["--scale", str(scale), "--language", language, "--theme", theme]
                environment = {**os.environ, "QT_SCALE_FACTOR": str(scale)}
                command = [sys.executable, "-m", "tests.screenshots.window", str(args.folder), *own]
                failed += subprocess.run(command, env=environment, check=False, timeout=120).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
