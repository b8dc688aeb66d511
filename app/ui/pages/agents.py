"""Agents: what was found on this computer, and the command that brings what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication

from agents.contract import AgentHealth
from app.agents_report import command_for, login_text
from app.facade import HubSnapshot
from app.ui.label import wrapped
from app.ui.pages.page import OrEmpty, Page
from app.ui.rows_table import Column, RowsTable
from bridge.texts import told, tr


def state_text(health: AgentHealth) -> str:
    if health.problem:
        return told(health.problem)
    return tr("ready") if health.is_usable else tr("not found")


class AgentsPage(Page):
    """``look_again_wanted`` asks for a new probe; ``terminal_wanted`` carries a command to run at the desk."""

    look_again_wanted = Signal()
    terminal_wanted = Signal(str)

    def __init__(self) -> None:
        self.title = tr("Agents")
        super().__init__()
        columns = [
            Column(tr("Agent"), lambda row: row.title),
            Column(tr("Version"), lambda row: row.version),
            Column(tr("Login"), lambda row: login_text(row.login) if row.program else ""),
            Column(tr("State"), state_text, stretches=True),
            Column(tr("Program"), lambda row: str(row.program or ""), stretches=True),
        ]
        self.table = RowsTable(columns, lambda row: row.kind, tr("Agents"))
        self._or_empty = OrEmpty(self.table, tr("Looking for agents…"))
        self._or_empty.show_content(False)
        self.content.addWidget(self._or_empty)
        self.hint = wrapped()
        self.content.addWidget(self.hint)
        self._copy = self.add_button(tr("Copy the command"), self._copy_command)
        self._run = self.add_button(tr("Run it in a terminal"), self._run_command)
        self._again = self.add_button(tr("Look again"), self._look_again)
        self.end_buttons()
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_hint())
        self._show_hint()

    def _look_again(self) -> None:
        """Programs are started to be asked; that takes seconds, and once is enough."""
        self.show_looking()
        self.look_again_wanted.emit()

    def show_looking(self) -> None:
        self._again.setEnabled(False)
        self._again.setText(tr("Looking for agents…"))

    def show_not_found_out(self) -> None:
        """The look failed; the reason is told elsewhere."""
        self._again.setEnabled(True)
        self._again.setText(tr("Look again"))

    def show_agents(self, found: Sequence[AgentHealth]) -> None:
        self.show_not_found_out()
        self.table.set_rows(tuple(found))
        self._or_empty.show_content(bool(found))
        self._show_hint()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        """Agents are looked for on demand, not with every snapshot."""

    def command(self) -> str:
        row = self.table.selected()
        return command_for(row) if row else ""

    def _show_hint(self) -> None:
        row = self.table.selected()
        self.hint.setText(told(row.hint) if row else "")
        self.hint.setVisible(bool(row and row.hint))
        for button in (self._copy, self._run):
            button.setEnabled(bool(self.command()))

    def _copy_command(self) -> None:
        QGuiApplication.clipboard().setText(self.command())

    def _run_command(self) -> None:
        if command := self.command():
            self.terminal_wanted.emit(command)
