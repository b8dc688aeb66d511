"""The main window over frozen snapshots: what it shows, and what it says a person wants."""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, QPointF, QSettings, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agents.contract import AgentHealth, Choice, Question
from app.facade import AskRow, HubSnapshot, RejectedRow, SessionRow, SessionState
from app.health import HubView, Light
from app.settings import parse
from app.ui.icons import light_icon
from app.ui.notices import Notices, notice_of
from app.ui.tray import Tray
from app.ui.window import MainWindow

NOW = time.time()
SESSION = SessionRow("-100/5", "Login bug", -1001234, 5, "Claude Code", "/code/shop", SessionState.WORKING, NOW - 300)
ASK = AskRow("a1", "Login bug", "Claude Code", "Run a command", "rm -rf build", "deletes a folder", NOW, NOW + 600)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> MainWindow:
    made = MainWindow(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(made)
    made.show()
    return made


def test_emitting_signals_keeps_reference_counts(qtbot: QtBot) -> None:
    """PySide6 6.12.0 on Python < 3.12 loses one reference of True a call and aborts in the end."""

    class Sender(QObject):
        went = Signal(object)

    sender = Sender()
    sender.went.connect(lambda _value: None)
    gc.collect()
    before = sys.getrefcount(True), sys.getrefcount(None)
    for _ in range(1000):
        sender.went.emit(1)
    after = sys.getrefcount(True), sys.getrefcount(None)
    assert all(abs(late - early) < 500 for early, late in zip(before, after, strict=True))


def test_a_session_shows_its_topic_agent_folder_and_state(window: MainWindow) -> None:
    window.show_snapshot(HubSnapshot(sessions=(replace(SESSION, since=time.time() - 300),)))
    model = window.sessions.table.model()
    shown = [model.data(model.index(0, column)) for column in range(model.columnCount())]
    assert shown[:5] == ["Login bug", "Claude Code", "/code/shop", "working", "5 minutes"]


def test_stop_carries_the_selected_session(window: MainWindow, qtbot: QtBot) -> None:
    window.show_snapshot(HubSnapshot(sessions=(SESSION,)))
    window.sessions.table.selectRow(0)
    with qtbot.waitSignal(window.sessions.stop_wanted, timeout=10_000) as caught:
        window.sessions._actions[0].click()
    assert caught.args == ["-100/5"]


def test_what_can_not_be_done_is_greyed_out(window: MainWindow) -> None:
    window.show_snapshot(HubSnapshot())
    assert not any(button.isEnabled() for button in window.sessions._actions)


def test_the_selection_survives_a_new_snapshot(window: MainWindow) -> None:
    window.show_snapshot(HubSnapshot(sessions=(SESSION,)))
    window.sessions.table.selectRow(0)
    other = SessionRow("-100/6", "Other", -1001234, 6, "Codex", "/code", SessionState.IDLE, NOW)
    window.show_snapshot(HubSnapshot(sessions=(other, SESSION)))
    selected = window.sessions.selected()
    assert selected is not None
    assert selected.key == "-100/5"


def test_an_open_request_can_be_read_and_denied_with_a_reason(window: MainWindow, qtbot: QtBot) -> None:
    window.show_snapshot(HubSnapshot(asks=(ASK,)))
    assert "rm -rf build" in window.approvals.reading.toPlainText()
    window.approvals.reason.setText("use make clean")
    with qtbot.waitSignal(window.approvals.decision_wanted, timeout=10_000) as caught:
        window.approvals._deny.click()
    assert caught.args == ["a1", False, "use make clean"]


def test_a_decided_request_hands_its_place_and_its_reason_to_no_other(window: MainWindow, qtbot: QtBot) -> None:
    other = replace(ASK, id="b2", subject="curl example.org | sh")
    window.show_snapshot(HubSnapshot(asks=(ASK, other)))
    window.approvals.reason.setText("use make clean")
    window.show_snapshot(HubSnapshot(asks=(other,)))
    with qtbot.assertNotEmitted(window.approvals.decision_wanted):
        window.approvals._allow.click()
    assert "Choose a request" in window.approvals.reading.toPlainText()
    window.approvals.asks.selectRow(0)
    with qtbot.waitSignal(window.approvals.decision_wanted, timeout=10_000) as caught:
        window.approvals._deny.click()
    assert caught.args == ["b2", False, ""]


def test_the_age_of_a_waiting_request_is_painted_anew(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page(window.approvals)
    window.show_snapshot(HubSnapshot(asks=(ASK,)))
    with qtbot.waitExposed(window):
        window.activateWindow()
    painted: list[float] = []
    monkeypatch.setattr("app.ui.pages.approvals.wording.age", lambda seconds: painted.append(seconds) or "2 hours")
    QApplication.processEvents()
    painted.clear()
    window.show_snapshot(HubSnapshot(asks=(ASK,)))
    qtbot.waitUntil(lambda: bool(painted), timeout=10_000)


def test_no_rule_is_offered_for_a_destructive_request(window: MainWindow) -> None:
    risky = AskRow("a2", "T", "Codex", "Run", "rm -rf /", "deletes", NOW, NOW, is_destructive=True)
    window.show_snapshot(HubSnapshot(asks=(risky,)))
    assert not window.approvals._rule.isEnabled()


def test_the_page_list_counts_what_waits(window: MainWindow) -> None:
    window.show_snapshot(HubSnapshot(asks=(ASK,)))
    assert window.names.item(1).text() == "Approvals (1)"


def test_a_rejected_person_can_be_let_in(window: MainWindow, qtbot: QtBot) -> None:
    row = RejectedRow("9", NOW, "user is not on the list", -1001234, 77, "Bob")
    window.show_snapshot(HubSnapshot(rejected=(row,)))
    window.activity.tabs.setCurrentIndex(1)
    window.activity.rejected.selectRow(0)
    with qtbot.waitSignal(window.activity.allow_user_wanted, timeout=10_000) as caught:
        window.activity._user.click()
    assert caught.args == [77]


def test_the_log_can_be_searched_and_filtered(window: MainWindow) -> None:
    lines = ["t INFO hub: started", "t WARNING poller: offline", "t DEBUG x: noise"]
    window.activity.append_log(lines)
    assert window.activity.model.rowCount() == 2
    window.activity.level.setCurrentText("WARNING")
    assert window.activity.model.rowCount() == 1
    window.activity.search.setText("nothing like it")
    assert window.activity.model.rowCount() == 0


def test_a_wrong_setting_can_not_be_saved_and_says_why(window: MainWindow) -> None:
    editor = window.settings.editors["telegram.proxy"]
    editor.widget.setText("nonsense")
    assert not window.settings.save.isEnabled()
    assert "address" in editor.problem.text()


def test_only_changed_settings_are_saved(window: MainWindow, qtbot: QtBot) -> None:
    window.settings.show_settings(parse("[hub]\nlanguage = 'en'\n[telegram.users]\n7 = 'owner'"))
    language = window.settings.editors["hub.language"].widget
    language.setCurrentIndex(language.findData("ru"))
    with qtbot.waitSignal(window.settings.apply_wanted, timeout=10_000) as caught:
        window.settings.save.click()
    assert caught.args == [{"hub.language": "ru"}]


@pytest.mark.parametrize("light", list(Light))
def test_every_state_has_an_icon_of_its_own(light: Light, qtbot: QtBot) -> None:
    image = light_icon(light).pixmap(64, 64).toImage()
    others = [light_icon(other).pixmap(64, 64).toImage() for other in Light if other is not light]
    assert not image.isNull()
    assert all(image != other for other in others)


@pytest.mark.parametrize(
    ("view", "light"),
    [
        (HubView(is_connected=True), Light.CONNECTED),
        (HubView(), Light.CONNECTING),
        (HubView(is_connected=True, waiting=2), Light.WAITING),
        (HubView(is_connected=True, is_paused=True), Light.PAUSED),
        (HubView(is_connected=True, is_locked=True, waiting=1), Light.LOCKED),
        (HubView(is_connected=True, problem="broken", waiting=1), Light.ERROR),
    ],
)
def test_the_light_shows_what_is_most_urgent(view: HubView, light: Light) -> None:
    assert view.light is light


def test_the_tray_names_what_waits_and_a_click_opens_it(qtbot: QtBot) -> None:
    tray = Tray()
    tray.show_view(HubView(is_connected=True, waiting=1, waits=("Login bug: Run a command",)))
    assert tray.menu_texts()[:2] == ["1 request waits for you", "Login bug: Run a command"]
    with qtbot.waitSignal(tray.approvals_wanted, timeout=10_000):
        tray._waits[0].trigger()
    tray.show_view(HubView(is_connected=True))
    assert tray.menu_texts()[:2] == ["Connected", "Open agent-hub"]


def test_a_destructive_request_has_no_allow_on_its_notification() -> None:
    risky = AskRow("a2", "T", "Codex", "Run", "rm -rf /", "deletes", NOW, NOW, is_destructive=True)
    assert notice_of(risky).actions == ()
    assert [action for action, _label in notice_of(ASK).actions] == ["allow", "deny"]


def test_a_request_is_told_once_and_only_while_nobody_looks(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.ui.notices.connect", lambda _on_action: None)
    told: list[str] = []
    notices = Notices(lambda title, _text: told.append(title))
    notices.show((ASK,), is_seen=True)
    other = AskRow("a9", "Docs", "Codex", "Edit x", "x", "", NOW, NOW)
    notices.show((ASK, other), is_seen=False)
    notices.show((ASK, other), is_seen=False)
    assert told == ["Docs: Edit x"]


def test_an_ampersand_of_a_topic_is_shown_in_the_tray_as_it_is(qtbot: QtBot) -> None:
    tray = Tray()
    tray.show_view(HubView(is_connected=True, waiting=1, waits=("R&D: Run a command",)))
    before = tray._waits[0]
    assert before.text() == "R&&D: Run a command"
    tray.show_view(HubView(is_connected=True, waiting=1, waits=("R&D: Run a command",)))
    assert tray._waits[0] is before, "the open menu loses its entry with every look"


def test_an_agents_markup_is_text_in_a_tooltip(window: MainWindow) -> None:
    window.show_snapshot(HubSnapshot(asks=(replace(ASK, title="<b>harmless</b>"),)))
    model = window.approvals.asks.model()
    assert model.data(model.index(0, 2), Qt.ItemDataRole.ToolTipRole) == "<p>&lt;b&gt;harmless&lt;/b&gt;</p>"


def test_a_change_from_elsewhere_comes_into_the_form_and_leaves_what_is_edited(window: MainWindow) -> None:
    window.settings.show_settings(parse("[hub]\nask_timeout = 90"))
    window.settings.editors["telegram.proxy"].widget.setText("socks5://127.0.0.1:1080")
    window.settings.follow(parse("[hub]\nask_timeout = 120"))
    assert window.settings.editors["hub.ask_timeout"].value() == 120
    assert window.settings.changes() == {"telegram.proxy": "socks5://127.0.0.1:1080"}


def test_the_tray_locks_but_opens_only_the_window(qtbot: QtBot) -> None:
    tray = Tray()
    tray.show_view(HubView(is_connected=True))
    assert "Lock now" not in tray.menu_texts()
    tray.show_view(HubView(is_connected=True, has_lock=True))
    with qtbot.waitSignal(tray.lock_wanted, timeout=10_000):
        tray._lock.trigger()
    tray.show_view(HubView(is_connected=True, has_lock=True, is_locked=True))
    with qtbot.assertNotEmitted(tray.lock_wanted), qtbot.waitSignal(tray.open_wanted, timeout=10_000):
        tray._lock.trigger()


@pytest.mark.parametrize(
    ("name", "value"), [("limits.day_usd", 0.25), ("limits.day_tokens", 2_000_000), ("hub.ask_timeout", 90.5)]
)
def test_a_number_of_the_file_is_shown_as_it_is(window: MainWindow, name: str, value: float) -> None:
    section, field = name.split(".")
    window.settings.show_settings(parse(f"[{section}]\n{field} = {value}"))
    assert window.settings.editors[name].widget.text() == str(value)
    assert window.settings.changes() == {}


def test_a_setting_that_interrupts_turns_says_so_before_it_is_saved(window: MainWindow) -> None:
    window.settings.editors["telegram.proxy"].widget.setText("socks5://127.0.0.1:1080")
    assert "interrupted" in window.settings.note.text()


def test_the_command_for_an_agent_can_be_run_in_a_terminal(window: MainWindow, qtbot: QtBot) -> None:
    window.agents.show_agents([AgentHealth("codex", "Codex", problem="Codex was not found.", hint="Install it.")])
    window.agents.table.selectRow(0)
    with qtbot.waitSignal(window.agents.terminal_wanted, timeout=10_000) as caught:
        window.agents._run.click()
    assert caught.args == ["npm install -g @openai/codex"]


def test_a_long_problem_fits_into_a_tooltip() -> None:
    assert len(HubView(problem="x" * 500).sentence) < 128


@pytest.mark.parametrize("name", ["hub.language", "hub.ask_timeout"])
def test_the_wheel_scrolls_the_page_and_changes_no_setting(window: MainWindow, name: str, qtbot: QtBot) -> None:
    window.show_page(window.settings)
    window.settings.show_settings(parse(""))
    widget = window.settings.editors[name].widget
    widget.clearFocus()
    middle = QPointF(widget.rect().center())
    turn = QWheelEvent(
        middle, widget.mapToGlobal(middle), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, turn)
    assert window.settings.changes() == {}


def test_a_line_that_is_no_number_is_told_and_breaks_nothing(window: MainWindow) -> None:
    editor = window.settings.editors["telegram.chats"]
    editor.widget.setPlainText("--5")
    assert editor.value() == ["--5"]
    assert "number" in editor.problem.text()


def test_copying_no_line_leaves_the_clipboard_and_the_keys_copy_them_all(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page(window.activity)
    window.activity.append_log(["t INFO hub: one", "t INFO hub: two"])
    clipboard = QApplication.clipboard()
    clipboard.setText("mine")
    assert not window.activity._copy.isEnabled()
    window.activity._copy_lines()
    assert clipboard.text() == "mine"
    window.activity.lines.selectAll()
    window.activity._copy.click()
    assert clipboard.text() == "t INFO hub: one\nt INFO hub: two"


def test_the_window_hides_on_close_only_while_a_tray_holds_the_program(window: MainWindow, qtbot: QtBot) -> None:
    window.hides_on_close = False
    with qtbot.waitSignal(window.quit_wanted, timeout=10_000):
        window.close()


def test_the_window_remembers_its_page(qtbot: QtBot, tmp_path: Path) -> None:
    place = QSettings(str(tmp_path / "same.ini"), QSettings.Format.IniFormat)
    first = MainWindow(place)
    qtbot.addWidget(first)
    first.names.setCurrentRow(4)
    first.close()
    second = MainWindow(place)
    qtbot.addWidget(second)
    assert second.names.currentRow() == 4


@pytest.mark.parametrize("page", range(6))
def test_everything_a_person_can_use_has_an_accessible_name(window: MainWindow, page: int) -> None:
    from PySide6.QtWidgets import QComboBox, QLineEdit, QListView, QPlainTextEdit, QTableView

    window.names.setCurrentRow(page)
    nameless = [
        type(widget).__name__
        for kind in (QTableView, QListView, QLineEdit, QComboBox, QPlainTextEdit)
        for widget in window.pages[page].findChildren(kind)
        if not widget.accessibleName() and widget.objectName() != "qt_spinbox_lineedit" and widget.isVisible()
    ]
    assert nameless == []


def test_a_question_is_answered_and_never_just_allowed(window: MainWindow, qtbot: QtBot) -> None:
    colour = Question("c", "Which colour?", choices=(Choice("Green"), Choice("Red")))
    row = AskRow(
        "q1", "Login bug", "Claude Code", "Which colour?", "", "", NOW, NOW, is_permission=False, questions=(colour,)
    )
    window.show_snapshot(HubSnapshot(asks=(row,)))
    assert "· Green" in window.approvals.reading.toPlainText()
    assert window.approvals._allow.isHidden()
    with qtbot.waitSignal(window.approvals.answer_wanted, timeout=10_000) as caught:
        window.approvals._answer.click()
    assert caught.args == ["q1"]
