"""Tray, window, wizard and engine tied together: who hears whom. The main thread's outermost owner.

The engine lives in a LoopThread; its news arrive by one queued signal, so the window never waits for it and a busy
window never holds up the bot.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from agents.contract import HubError
from app.agents_report import probe_all
from app.autostart import for_this_platform, start_command
from app.daemon_thread import in_daemon_thread
from app.doctor import State, examine
from app.facade import Facade, HealthRow, HubSnapshot
from app.health import HubView
from app.host import ThreadedHost
from app.secrets import read_lock_secret
from app.settings import Settings
from app.setup_steps import progress
from app.terminals import line_command, open_terminal
from app.ui.answer_dialog import AnswerDialog
from app.ui.calls import Calls
from app.ui.lock_dialog import LockDialog
from app.ui.log_tail import LogTail
from app.ui.message_box import confirm, warn
from app.ui.notices import Notices
from app.ui.qt_texts import speak
from app.ui.tray import Tray
from app.ui.window import MainWindow
from bridge.texts import set_language, told, tr

REFRESH_MS = 1000
TRAY_CHECK_MS = 15_000
BOX_LETTERS = 800


def shortened(text: str) -> str:
    """What fits into a box; the whole of it stands on the Approvals page."""
    return text if len(text) <= BOX_LETTERS else text[:BOX_LETTERS] + "…"


class Desktop(QObject):
    """Owns tray and window for one running host. ``leave`` is called once, when everything has ended."""

    set_up_wanted = Signal()
    _view_came = Signal(object)
    _ended = Signal()

    def __init__(self, host: ThreadedHost, leave: Callable[[], None]) -> None:
        super().__init__()
        self.host = host
        self._leave = leave
        self._is_leaving = False
        self._last_told: tuple[object, ...] = ()
        self._looking: Future[Any] | None = None
        self._looks_again = False
        self._followed = host.settings
        """The settings that window and tray show."""
        self.calls = Calls(host.loop, self)
        self._place = QSettings(str(host.folders.config / "window.ini"), QSettings.Format.IniFormat)
        self.window = MainWindow(self._place)
        self.tray = Tray(self)
        self.log_tail = LogTail(self)
        self.notices = Notices(self.tray.notify, self)
        self.autostart = for_this_platform()
        self.tray.show_login(self.autostart.is_on())
        self._connect()
        self._refresh = QTimer(self, interval=REFRESH_MS, timeout=self.refresh)
        self._tray_check = QTimer(self, interval=TRAY_CHECK_MS, timeout=self._check_tray)

    def start(self, *, show_window: bool) -> None:
        """Show what this desktop can show, then start the engine."""
        self._check_tray()
        if show_window or not self.window.hides_on_close:
            self.window.bring_up()
        self._show_settings(self.host.settings)
        self._refresh.start()
        self._tray_check.start()
        self.host.start(self._view_came.emit)
        self._probe_agents()

    # --- wiring

    def _connect(self) -> None:
        queued = Qt.ConnectionType.QueuedConnection
        self._view_came.connect(self._show_view, queued)
        self._ended.connect(self._leave, queued)
        self.log_tail.lines_came.connect(self._append_log)
        self.tray.pause_wanted.connect(self._pause)
        self.tray.lock_wanted.connect(lambda: self._lock(True))
        self.tray.quit_wanted.connect(self.quit)
        self.tray.open_wanted.connect(self._bring_up)
        self.tray.approvals_wanted.connect(self._open_ask)
        self.tray.login_toggled.connect(self._toggle_login)
        self.tray.bubble_clicked.connect(self.notices.open_last)
        self.notices.ask_opened.connect(self._open_ask)
        self.notices.turn_opened.connect(self._open_session)
        self.notices.decided.connect(self._decide_from_notice)
        self._connect_window()

    def _connect_window(self) -> None:
        window = self.window
        window.pause_wanted.connect(self._pause)
        window.quit_wanted.connect(self.quit)
        window.setup_wanted.connect(self.set_up_wanted)
        window.lock_wanted.connect(self._lock)
        sessions, approvals = window.sessions, window.approvals
        sessions.stop_wanted.connect(lambda key: self._verb(lambda facade: facade.stop_session(key)))
        sessions.reset_wanted.connect(self._reset)
        sessions.hibernate_wanted.connect(lambda key: self._verb(lambda facade: facade.hibernate_session(key)))
        sessions.terminal_wanted.connect(self._open_terminal)
        sessions.folder_wanted.connect(self._open_folder)
        sessions.topic_wanted.connect(self._open_topic)
        approvals.decision_wanted.connect(self._decide)
        approvals.answer_wanted.connect(self._answer)
        approvals.rule_wanted.connect(self._make_rule)
        approvals.undo_wanted.connect(lambda rule: self._verb(lambda facade: facade.undo_rule(rule)))
        window.settings.apply_wanted.connect(self._save)
        window.settings.accept_wanted.connect(self._accept_pending)
        window.settings.lock_wanted.connect(self._set_up_lock)
        window.activity.allow_chat_wanted.connect(self._allow_chat)
        window.activity.allow_user_wanted.connect(self._allow_user)
        window.health.check_wanted.connect(self._examine)
        window.agents.look_again_wanted.connect(self._probe_agents)
        window.agents.terminal_wanted.connect(self._run_in_terminal)

    def _pause(self, is_paused: bool) -> None:
        self._verb(lambda facade: facade.pause(is_paused))

    def _lock(self, wants: bool) -> None:
        self._verb(lambda facade: facade.lock_now() if wants else facade.unlock())

    def _bring_up(self) -> None:
        self.window.bring_up()

    def _append_log(self, lines: list[str]) -> None:
        self.window.activity.append_log(lines)

    def _open_ask(self, ask_id: str = "") -> None:
        """The Approvals page with that request, once it is there."""
        self.window.show_page(self.window.approvals)
        self.window.approvals.show_ask(ask_id)

    def _open_session(self, key: str) -> None:
        self.window.show_page(self.window.sessions)
        self.window.sessions.table.select(key)

    def _verb(self, verb: Callable[[Facade], Any], then: Callable[[Any], None] | None = None) -> None:
        """Ask something of the running engine, then look again."""
        try:
            work = verb(self.host.facade())
        except HubError as error:
            self.complain(error)
            return
        self.calls.go(work, then or (lambda _result: self.refresh()), self.complain)

    def complain(self, error: HubError) -> None:
        """An error for the person, with what to do."""
        words = [told(part) for part in (error.title, error.hint) if part]
        warn(self.window, "\n\n".join(words))

    # --- showing

    def refresh(self) -> None:
        """Fetch a snapshot while somebody can see it; one at a time, so that none overtakes a newer one."""
        if not (self.window.isVisible() and self.host.is_up):
            return
        if self._looking is not None and not self._looking.done():
            self._looks_again = True
            return
        self._looking = self.calls.go(self.host.facade().snapshot(), self._show_snapshot, lambda _error: None)

    def _show_snapshot(self, snapshot: HubSnapshot) -> None:
        self._follow_settings()
        self.window.show_snapshot(snapshot)
        if self._looks_again:
            self._looks_again = False
            self.refresh()

    def _follow_settings(self) -> None:
        """They change in the window, in the file and by commands: the form and the language go along."""
        settings = self.host.settings
        if settings is self._followed or QApplication.activeModalWidget() is not None:
            return  # an open dialog would go with the window it belongs to
        before, self._followed = self._followed, settings
        if settings.hub.language != before.hub.language:
            self._rebuild_window()
        self._show_settings(settings)

    def _show_settings(self, settings: Settings) -> None:
        self.window.settings.follow(settings)
        self.window.sessions.say_set_up(is_complete=progress(settings).is_complete)

    def _show_view(self, view: HubView) -> None:
        self.tray.show_view(view)
        if not self.host.is_up:
            self.window.show_snapshot(HubSnapshot(view=view))
        told_of = (view.waiting, view.waits, view.running)
        if told_of != self._last_told and self.host.is_up:
            self.calls.go(self.host.facade().snapshot(), self._show_notices, lambda _error: None)
        self._last_told = told_of
        self.refresh()

    def _show_notices(self, snapshot: HubSnapshot) -> None:
        is_seen = self.window.isActiveWindow()
        self.notices.is_on = self.host.settings.hub.desktop_notices
        self.notices.show(snapshot.asks, is_seen=is_seen)
        self.notices.show_ended(snapshot.sessions, is_seen=is_seen)

    def _toggle_login(self, wants: bool) -> None:
        """Change it where the system keeps it, then show what is really there."""
        try:
            if wants:
                self.autostart.turn_on(start_command())
            else:
                self.autostart.turn_off()
        except OSError as error:
            self.complain(HubError(tr("Open at login could not be changed."), hint=str(error.strerror or error)))
        self.tray.show_login(self.autostart.is_on())

    def _check_tray(self) -> None:
        """A tray host may come later, or never: without one the window must not hide."""
        has_tray = QSystemTrayIcon.isSystemTrayAvailable()
        self.window.hides_on_close = has_tray
        if has_tray:
            self.tray.show()
        elif not self.window.isVisible() and not self._is_leaving:
            self.window.bring_up()

    def _probe_agents(self) -> None:
        self.window.agents.show_looking()

        def found(agents: Any) -> None:
            self.window.agents.show_agents(agents)

        def failed(error: HubError) -> None:
            self.window.agents.show_not_found_out()
            self.complain(error)

        self.calls.go(probe_all(self.host.settings), found, failed)

    def _examine(self) -> None:
        work = examine(self.host.settings_file, self.host.data_dir)

        def failed(error: HubError) -> None:
            self.window.health.show_not_checked()
            self.complain(error)

        self.calls.go(work, self._show_findings, failed)

    def _show_findings(self, findings: Any) -> None:
        fine = {State.OK: True, State.PROBLEM: False, State.WARNING: None}
        self.window.health.show_doctor(
            [HealthRow(tr(found.name), found.message, fine[found.state], found.hint) for found in findings]
        )

    # --- doing

    def _confirm(self, question: str) -> bool:
        return confirm(self.window, question)

    def _row(self, key: str) -> Any:
        return next((row for row in self.window.sessions.table.rows if row.key == key), None)

    def _reset(self, key: str) -> None:
        if self._confirm(tr("Forget this session's history and start afresh?")):
            self._verb(lambda facade: facade.reset_session(key))

    def _open_terminal(self, key: str) -> None:
        def opened(outcome: tuple[tuple[str, ...], str]) -> None:
            command, folder = outcome
            try:
                open_terminal(command, Path(folder))
            except HubError as error:
                self.complain(error)

        self._verb(lambda facade: facade.desk_command(key), opened)

    def _run_in_terminal(self, command: str) -> None:
        """What installs an agent or logs it in: the person sees it run and answers it there."""
        try:
            open_terminal(line_command(command), Path.home())
        except HubError as error:
            self.complain(error)

    def _open_folder(self, key: str) -> None:
        if row := self._row(key):
            QDesktopServices.openUrl(QUrl.fromLocalFile(row.folder))

    def _open_topic(self, key: str) -> None:
        if row := self._row(key):
            QDesktopServices.openUrl(QUrl(row.link))

    def _decide_from_notice(self, ask_id: str, allow: bool) -> None:
        self._verb(lambda facade: facade.decide(ask_id, allow=allow, confirmed=False, reason=""))

    def _decide(self, ask_id: str, allow: bool, reason: str) -> None:
        row = next((row for row in self.window.approvals.asks.rows if row.id == ask_id), None)
        is_risky = bool(row and row.is_destructive)
        if allow and is_risky and not self._confirm(tr("Really run it?\n\n{what}", what=shortened(row.subject))):
            return
        self._verb(lambda facade: facade.decide(ask_id, allow=allow, confirmed=is_risky, reason=reason))

    def _answer(self, ask_id: str) -> None:
        row = next((row for row in self.window.approvals.asks.rows if row.id == ask_id), None)
        if row is None:
            return
        dialog = AnswerDialog(row.title, row.questions, self.window)
        dialog.answered.connect(lambda answers: self._verb(lambda facade: facade.answer(ask_id, answers)))
        dialog.open()

    def _make_rule(self, ask_id: str) -> None:
        if self._confirm(tr("Allow this in the whole project from now on, without asking?")):
            self._verb(lambda facade: facade.make_rule(ask_id))

    def _save(self, changes: dict[str, Any]) -> None:
        """Settings of the form; a lock that nobody could open is set up before it is switched on."""
        if not changes.get("lock.enabled"):
            self._apply(changes)
            return

        def looked(secret: str) -> None:
            if secret:
                self._apply(changes)
            else:
                self._show_lock_dialog(is_set_up=False, changes=changes)

        self.calls.go(self._read_lock_secret(), looked, self.complain)

    def _apply(self, changes: dict[str, Any]) -> None:
        self._verb(lambda facade: facade.apply_settings(changes), lambda _result: self._settings_changed())

    def _settings_changed(self) -> None:
        self._follow_settings()
        self.window.settings.show_settings(self.host.settings)
        self.refresh()

    def _rebuild_window(self) -> None:
        """Another language: every text of window and tray is made anew, the log stays."""
        former, was_shown = self.window, self.window.isVisible()
        former.remember()
        lines = former.activity.lines_so_far()
        set_language(self.host.settings.hub.language)  # the engine may be about to do it
        speak(self.host.settings.hub.language)
        self.window = MainWindow(self._place)
        self.window.hides_on_close = former.hides_on_close
        self._connect_window()
        self.window.activity.append_log(lines)
        self.tray.show_view(self.host.view)
        if was_shown:
            self.window.bring_up()
        former.hide()
        former.deleteLater()
        self._probe_agents()

    async def _read_lock_secret(self) -> str:
        return await in_daemon_thread(read_lock_secret, self.host.folders)

    def _set_up_lock(self) -> None:
        self.calls.go(
            self._read_lock_secret(), lambda secret: self._show_lock_dialog(is_set_up=bool(secret)), self.complain
        )

    def _show_lock_dialog(self, *, is_set_up: bool, changes: dict[str, Any] | None = None) -> None:
        dialog = LockDialog(self.host.folders.instance or "hub", self.window, is_set_up=is_set_up)

        def kept(_result: Any) -> None:
            dialog.accept()
            if changes:
                self._apply(changes)
            else:
                self._settings_changed()

        def not_kept(error: HubError) -> None:
            dialog.failed(" ".join(part for part in (error.title, error.hint) if part))

        def proven(secret: str) -> None:
            try:
                work = self.host.facade().keep_lock_secret(secret)
            except HubError as error:
                not_kept(error)
                return
            self.calls.go(work, kept, not_kept)

        dialog.proven.connect(proven)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _accept_pending(self) -> None:
        def accepted(_result: Any) -> None:
            self._settings_changed()

        if self._confirm(tr("Put the changes of the settings file in force?")):
            self._verb(lambda facade: facade.accept_pending(), accepted)

    def _allow_chat(self, chat_id: int) -> None:
        if self._confirm(tr("Let the hub listen to the group {group}?", group=chat_id)):
            self._apply({"telegram.chats": [*self.host.settings.telegram.chats, chat_id]})

    def _allow_user(self, user_id: int) -> None:
        if self._confirm(tr("Let the person {person} give tasks and decide requests?", person=user_id)):
            users = {str(user): role.value for user, role in self.host.settings.telegram.users.items()}
            self._apply({"telegram.users": {**users, str(user_id): "operator"}})

    def quit(self, *, asks: bool = True) -> None:
        """Ask when turns run; then end everything and leave no process behind."""
        if self._is_leaving:
            return
        if asks and self.host.view.running and not self._confirm(tr("Turns are running. Quit and stop them?")):
            return
        self._is_leaving = True
        self._refresh.stop()
        self._tray_check.stop()
        self.tray.hide()
        self.window.hide()
        self.host.stop(self._left)

    def _left(self) -> None:
        """In the engine's thread: the engine has ended."""
        self._ended.emit()

    def close(self) -> None:
        """Let go of thread, window and log; after ``leave`` was called."""
        self.log_tail.close()
        self.notices.close()
        self.calls.cancel_all()
        self.host.loop.close()
        self.window.hides_on_close = True
        self.window.close()
        self.window.deleteLater()


def listen_to_signals(leave: Callable[[], None]) -> QTimer:
    """Let Ctrl-C and SIGTERM end the program; Python sees them only while a timer wakes it."""
    for name in ("SIGINT", "SIGTERM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: leave())
    timer = QTimer(interval=300, timeout=lambda: None)
    timer.start()
    return timer
