"""Sessions: every topic with what it does, and what can be done with it."""

from __future__ import annotations

import time

from PySide6.QtCore import Signal

from app.facade import HubSnapshot, SessionRow, SessionState
from app.ui import wording
from app.ui.pages.page import OrEmpty, Page
from app.ui.rows_table import Column, RowsTable
from bridge.texts import tr


def state_text(state: SessionState) -> str:
    return {
        SessionState.WORKING: tr("working"),
        SessionState.WAITING: tr("waits for you"),
        SessionState.IDLE: tr("idle"),
        SessionState.ASLEEP: tr("asleep"),
        SessionState.PARKED: tr("parked"),
    }[state]


class SessionsPage(Page):
    """Signals carry the session's key."""

    stop_wanted = Signal(str)
    reset_wanted = Signal(str)
    hibernate_wanted = Signal(str)
    terminal_wanted = Signal(str)
    folder_wanted = Signal(str)
    topic_wanted = Signal(str)

    def __init__(self) -> None:
        self.title = tr("Sessions")
        super().__init__()
        columns = [
            Column(tr("Topic"), lambda row: row.topic, stretches=True),
            Column(tr("Agent"), lambda row: row.agent),
            Column(tr("Folder"), lambda row: row.folder, stretches=True),
            Column(
                tr("State"), lambda row: state_text(row.state), sort=lambda row: list(SessionState).index(row.state)
            ),
            Column(tr("Since"), lambda row: wording.age(time.time() - row.since), sort=lambda row: -row.since),
            Column(tr("Cost"), lambda row: wording.cost(row.cost_usd), sort=lambda row: row.cost_usd or 0.0),
            Column(tr("Memory"), lambda row: wording.memory(row.memory), sort=lambda row: row.memory),
        ]
        self.table = RowsTable(columns, lambda row: row.key, tr("Sessions"))
        self._or_empty = OrEmpty(self.table, "")
        self.say_set_up(is_complete=True)
        self.content.addWidget(self._or_empty)
        wanted = [
            (tr("Stop"), self.stop_wanted),
            (tr("Reset"), self.reset_wanted),
            (tr("Put to sleep"), self.hibernate_wanted),
            (tr("Open in terminal"), self.terminal_wanted),
            (tr("Open folder"), self.folder_wanted),
            (tr("Open topic"), self.topic_wanted),
        ]
        self._actions = [self.add_button(text, lambda signal=signal: self._emit(signal)) for text, signal in wanted]
        self.end_buttons()
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self._or_empty.show_content(False)
        self._enable()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        self.table.set_rows(snapshot.sessions)
        self._or_empty.show_content(bool(snapshot.sessions))
        self._enable()

    def say_set_up(self, *, is_complete: bool) -> None:
        """What to do while there is no session: nothing can be written to a hub that is half set up."""
        self._or_empty.sentence.setText(
            tr("No session yet. Write a task in a topic of your group.")
            if is_complete
            else tr("The set-up is not finished. Press Set up above: it goes on where you left it.")
        )

    def selected(self) -> SessionRow | None:
        return self.table.selected()

    def _emit(self, signal: Signal) -> None:
        row = self.selected()
        if row is not None:
            signal.emit(row.key)

    def _enable(self) -> None:
        row = self.selected()
        for button in self._actions:
            button.setEnabled(row is not None)
        if row is not None:
            self._actions[0].setEnabled(row.state in {SessionState.WORKING, SessionState.WAITING})
            self._actions[2].setEnabled(row.state is SessionState.IDLE)
            self._actions[5].setEnabled(bool(row.link))
