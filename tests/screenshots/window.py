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
from typing import TYPE_CHECKING

from agents.contract import AgentHealth, Choice, LoginState, Question, QuestionKind
from app.audit_words import event_text, refusal_text, way_text
from app.facade import AskRow, AuditRow, HealthRow, HubSnapshot, RejectedRow, RuleRow, SessionRow, SessionState
from app.health import HubView, Light
from bridge.audit import AuditEvent
from bridge.inbound import Person
from bridge.pending import DecisionWay
from bridge.router import Refusal
from bridge.telegram.client import BotAccount, ChatFacts
from bridge.texts import set_language, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon, QPixmap
    from PySide6.QtWidgets import QApplication

    from app.ui.window import MainWindow

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
               now - 20, now + 500, details=DIFF),
    )  # fmt: skip
    return HubSnapshot(
        view=HubView(is_connected=True, waiting=2, running=1, has_lock=True, waits=("Login bug: Run a command",)),
        sessions=sessions,
        asks=asks,
        rules=(RuleRow("r", "/home/ann/code/project-2", "Bash", "make test", now - 90_000),),
        audit=tuple(
            AuditRow(str(n), now - 1000 * n, "Ann", way_text(way), f"Bash: make {target}", event_text(event), tr("yes"))
            for n, (way, target, event) in enumerate(
                [
                    (DecisionWay.BUTTON, "test", AuditEvent.ALLOWED),
                    (DecisionWay.REACTION, "lint", AuditEvent.ALLOWED),
                    (DecisionWay.TIMEOUT, "deploy", AuditEvent.EXPIRED),
                ]
            )
        ),
        rejected=(RejectedRow("1", now - 60, refusal_text(Refusal.FOREIGN_USER), -1001234, 4711, "Mallory"),),
        health=(
            HealthRow(tr("Telegram"), tr("connected"), True),
            HealthRow(tr("Messages waiting to be sent"), "0"),
            HealthRow(tr("Database"), tr("{count} MB", count=1.2)),
            HealthRow(tr("disk"), tr("{size} GB free", size=0), False, tr("Free some space.")),
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

    from app.ui.icons import light_icon
    from app.ui.palette import dress
    from app.ui.program import make_application
    from app.ui.qt_texts import speak
    from app.ui.window import MainWindow

    set_language(language)
    application = make_application()
    speak(language)
    dress(application, dark=theme == "dark")
    tail = f"{theme}-{language}-{scale}x.png"
    window = MainWindow(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
    window.show_snapshot(snapshot(time.time()))
    window.agents.show_agents(agents())
    window.agents.table.selectRow(1)
    window.sessions.table.selectRow(0)
    window.activity.append_log([f"2026-11-30 12:00:{n:02} INFO bridge.hub: line {n}" for n in range(40)])
    window.show()
    yield from more_of_the_window(window, application, folder, tail)
    for number, page in enumerate(window.pages):
        window.names.setCurrentRow(number)
        application.processEvents()
        yield save(window.grab(), folder / f"window-{number}-{type(page).__name__}-{tail}")
    yield from steps_of_the_wizard(application, folder, tail)
    yield save(panels([light_icon(light) for light in Light]), folder / f"tray-{tail}")


def steps_of_the_wizard(application: QApplication, folder: Path, tail: str) -> Iterator[Path]:
    """Each step as it comes, then the group and the agents with what was found. Nothing is really looked for."""
    from app.loop_thread import LoopThread
    from app.paths import folders
    from app.setup_steps import SetUp, Sighting, group_checks
    from app.ui.calls import Calls
    from app.ui.wizard import SetUpWizard

    loop = LoopThread("set-up")
    wizard = SetUpWizard(SetUp(folders(folder / "hub")), Calls(loop))
    wizard.show()
    for number, page_id in enumerate(wizard.pageIds()):
        wizard.setCurrentId(page_id)
        wizard.calls.cancel_all()
        application.processEvents()
        yield save(wizard.grab(), folder / f"wizard-{number}-{tail}")
    wizard.setCurrentId(wizard.pageIds()[2])
    bot = BotAccount(id=1, username="ann_hub_bot", name="Ann's hub", reads_all=False)
    facts = ChatFacts(
        -1001234, "Ann's agents", "supergroup", is_forum=True, is_member=True, is_administrator=True,
        can_manage_topics=False, can_delete_messages=False, can_pin_messages=False,
    )  # fmt: skip
    for person in (Person(id=7, name="Ann"), Person(id=8, name="Bob")):
        wizard.group._offer(Sighting(-1001234, person), (facts, group_checks(facts, bot)))
    wizard.calls.cancel_all()
    wizard.group._checked(wizard.group._sightings[0], (facts, group_checks(facts, bot)))
    application.processEvents()
    yield save(wizard.grab(), folder / f"wizard-group-{tail}")
    wizard.setCurrentId(wizard.pageIds()[4])
    wizard.calls.cancel_all()
    wizard.agents._show(agents())
    application.processEvents()
    yield save(wizard.grab(), folder / f"wizard-agents-{tail}")
    wizard.close()
    loop.close()


def panels(icons: list[QIcon]) -> QPixmap:
    """Every sign of the tray at the sizes of panels, on a light and on a dark one."""
    from PySide6.QtGui import QColor, QPainter, QPixmap

    sizes = (16, 22, 32, 64)
    width, height = sum(sizes) + 8 * len(sizes) + 8, 72
    picture = QPixmap(width * len(icons), 2 * height)
    painter = QPainter(picture)
    for row, ground in enumerate(("#ececec", "#202020")):
        painter.fillRect(0, row * height, picture.width(), height, QColor(ground))
        for column, icon in enumerate(icons):
            left = column * width + 8
            for size in sizes:
                icon.paint(painter, left, row * height + (height - size) // 2, size, size)
                left += size + 8
    painter.end()
    return picture


def more_of_the_window(window: MainWindow, application: QApplication, folder: Path, tail: str) -> Iterator[Path]:
    """Tabs behind the first, the lock, the tray's menu, and a window with nothing in it."""
    from PySide6.QtCore import QSettings

    from app.ui.answer_dialog import AnswerDialog
    from app.ui.lock_dialog import LockDialog
    from app.ui.message_box import Icon, Standard, made
    from app.ui.tray import Tray
    from app.ui.window import MainWindow

    for page in (window.approvals, window.activity):
        window.show_page(page)
        for number in range(1, page.tabs.count()):
            page.tabs.setCurrentIndex(number)
            application.processEvents()
            yield save(window.grab(), folder / f"more-{type(page).__name__}-{number}-{tail}")
        page.tabs.setCurrentIndex(0)
    dialog = LockDialog("hub", window, secret="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", is_set_up=True)
    dialog.show()
    dialog._prove()
    application.processEvents()
    yield save(dialog.grab(), folder / f"more-lock-{tail}")
    dialog.close()
    choices = (Choice("Green & calm", "as in the logo"), Choice("A long one " * 9))
    colour = Question("c", "Which colour?", header="Design", choices=choices)
    answer = AnswerDialog("Login bug", (colour, Question("n", "How many?", kind=QuestionKind.NUMBER)), window)
    answer.sheets[1].typed.setText("x")
    really = tr("Really run it?\n\n{what}", what="rm -rf build && make all")
    for number, box in enumerate([answer, made(Icon.Question, really, Standard.Yes | Standard.No, window)]):
        box.show()
        application.processEvents()
        yield save(box.grab(), folder / f"more-box-{number}-{tail}")
        box.close()
    tray = Tray()
    tray.show_view(snapshot(time.time()).view)
    tray._menu.popup(window.pos())
    application.processEvents()
    yield save(tray._menu.grab(), folder / f"more-menu-{tail}")
    tray._menu.close()
    empty = MainWindow(QSettings(str(folder / "empty.ini"), QSettings.Format.IniFormat))
    empty.show_snapshot(HubSnapshot(view=HubView(problem=tr("No bot token is set."), hint=tr("Set it up first."))))
    empty.show()
    for number, page in enumerate(empty.pages):
        empty.names.setCurrentRow(number)
        application.processEvents()
        yield save(empty.grab(), folder / f"empty-{number}-{type(page).__name__}-{tail}")
    empty.close()


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
        os.environ["QT_SCALE_FACTOR"] = str(args.scale)
        for file in draw(args.folder, args.scale, args.language, args.theme):
            print(file)
        return 0
    failed = 0
    for scale in [args.scale] if args.scale else (1, 2):
        for language in [args.language] if args.language else ("en", "ru"):
            for theme in [args.theme] if args.theme else ("light", "dark"):
                own = ["--scale", str(scale), "--language", language, "--theme", theme]
                command = [sys.executable, "-m", "tests.screenshots.window", str(args.folder), *own]
                failed += subprocess.run(command, check=False, timeout=120).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
