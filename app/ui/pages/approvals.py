"""Approvals: what waits for a decision, the project's rules, and what was decided. The same door as the phone's."""

from __future__ import annotations

import time
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QSplitter, QTabWidget, QVBoxLayout, QWidget

from app.facade import AskRow, HubSnapshot
from app.ui import wording
from app.ui.pages.page import OrEmpty, Page
from app.ui.rows_table import Column, RowsTable
from bridge.texts import tr


def moment(seconds: float) -> str:
    """A wall-clock stamp in the person's own time zone."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def ask_text(row: AskRow) -> str:
    """All that a decision needs, for the reading pane."""
    lines = [row.title]
    if row.risk:
        lines.append(tr("Risk: {why}", why=row.risk))
    lines += ["", row.subject]
    if row.details:
        lines += ["", row.details]
    for question in row.questions:
        lines += ["", question.text, *(f"· {choice.label}" for choice in question.choices)]
    return "\n".join(lines)


class ApprovalsPage(Page):
    """``decision_wanted`` carries request id, allow, and the reason typed; the window confirms destructive ones."""

    decision_wanted = Signal(str, bool, str)
    answer_wanted = Signal(str)
    rule_wanted = Signal(str)
    undo_wanted = Signal(str)

    def __init__(self) -> None:
        self.title = tr("Approvals")
        super().__init__()
        self.tabs = QTabWidget()
        self.content.addWidget(self.tabs)
        self.tabs.addTab(self._make_open(), tr("Open"))
        self.tabs.addTab(self._make_rules(), tr("Project rules"))
        self.tabs.addTab(self._make_audit(), tr("Decided"))
        self.asks.selectionModel().selectionChanged.connect(lambda *_: self._show_selected())
        self.rules.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self.tabs.currentChanged.connect(lambda _place: self._enable())
        self._allow = self.add_button(tr("Allow once"), lambda: self._decide(allow=True))
        self._answer = self.add_button(tr("Answer…"), self._answer_questions)
        self._deny = self.add_button(tr("Deny"), lambda: self._decide(allow=False))
        self._rule = self.add_button(tr("Always allow in this project…"), self._make_rule)
        self._undo = self.add_button(tr("Undo rule"), self._undo_rule)
        self.end_buttons()
        self._read = ""
        """Id of the request in the reading pane."""
        self.show_snapshot(HubSnapshot())

    def _make_open(self) -> QWidget:
        columns = [
            Column(tr("Topic"), lambda row: row.topic),
            Column(tr("Agent"), lambda row: row.agent),
            Column(tr("Wants"), lambda row: row.title, stretches=True),
            Column(tr("Risk"), lambda row: row.risk),
            Column(tr("Since"), lambda row: wording.age(time.time() - row.asked_at), sort=lambda row: row.asked_at),
        ]
        self.asks = RowsTable(columns, lambda row: row.id, tr("Open requests"))
        self.reading = QPlainTextEdit()
        self.reading.setReadOnly(True)
        self.reading.setAccessibleName(tr("The selected request"))
        self.reading.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.reason = QLineEdit()
        self.reason.setPlaceholderText(tr("Reason for a denial (the agent reads it)"))
        self.reason.setAccessibleName(tr("Reason for a denial"))
        lower = QWidget()
        layout = QVBoxLayout(lower)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.reading)
        layout.addWidget(self.reason)
        split = QSplitter()
        split.setOrientation(split.orientation().Vertical)
        split.addWidget(self.asks)
        split.addWidget(lower)
        self._asks_or_empty = OrEmpty(split, tr("Nothing waits for you."))
        return self._asks_or_empty

    def _make_rules(self) -> QWidget:
        columns = [
            Column(tr("Folder"), lambda row: row.folder, stretches=True),
            Column(tr("Tool"), lambda row: row.tool),
            Column(tr("Allows"), lambda row: row.pattern, stretches=True),
            Column(tr("Made"), lambda row: moment(row.made_at), sort=lambda row: row.made_at),
        ]
        self.rules = RowsTable(columns, lambda row: row.id, tr("Project rules"))
        self._rules_or_empty = OrEmpty(
            self.rules, tr("No rules. A rule lets an agent do one thing in one project without asking.")
        )
        return self._rules_or_empty

    def _make_audit(self) -> QWidget:
        columns = [
            Column(tr("When"), lambda row: moment(row.at), sort=lambda row: -row.at),
            Column(tr("Who"), lambda row: row.who),
            Column(tr("By"), lambda row: row.way),
            Column(tr("What"), lambda row: row.what, stretches=True),
            Column(tr("Decision"), lambda row: row.verdict),
            Column(tr("Delivered"), lambda row: row.delivered),
        ]
        self.audit = RowsTable(columns, lambda row: row.id, tr("Decisions"))
        self._audit_or_empty = OrEmpty(self.audit, tr("Nothing was decided yet."))
        return self._audit_or_empty

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        """Only the first request is selected by itself.

        When the selected one is decided elsewhere no other takes its place: a click already on its way would allow it.
        """
        was_empty = not self.asks.rows
        self.asks.set_rows(snapshot.asks)
        self.rules.set_rows(snapshot.rules)
        self.audit.set_rows(snapshot.audit)
        self._asks_or_empty.show_content(bool(snapshot.asks))
        self._rules_or_empty.show_content(bool(snapshot.rules))
        self._audit_or_empty.show_content(bool(snapshot.audit))
        if was_empty and snapshot.asks:
            self.asks.selectRow(0)
        self._show_selected()

    def show_ask(self, ask_id: str) -> None:
        """Turn to the open requests and select this one when it is there."""
        self.tabs.setCurrentIndex(0)
        if ask_id:
            self.asks.select(ask_id)

    def _show_selected(self) -> None:
        row = self.asks.selected()
        read = row.id if row else ""
        if read != self._read:
            self._read = read
            self.reason.clear()  # it was meant for the other request
        text = ask_text(row) if row else tr("Choose a request above.")
        if self.reading.toPlainText() != text:
            self.reading.setPlainText(text)
        self._enable()

    def _enable(self) -> None:
        place = self.tabs.currentIndex()
        row = self.asks.selected()
        asks = row is not None and bool(row.questions)
        for button in (self._deny, self._rule):
            button.setVisible(place == 0)
        self._allow.setVisible(place == 0 and not asks)
        self._answer.setVisible(place == 0 and asks)
        self._undo.setVisible(place == 1)
        self._allow.setEnabled(row is not None and row.is_permission)
        self._deny.setEnabled(row is not None)
        self._rule.setEnabled(row is not None and row.is_permission and not row.is_destructive)
        self._undo.setEnabled(self.rules.selected() is not None)

    def _decide(self, *, allow: bool) -> None:
        row = self.asks.selected()
        if row is not None:
            self.decision_wanted.emit(row.id, allow, self.reason.text().strip())
            self.reason.clear()

    def _answer_questions(self) -> None:
        row = self.asks.selected()
        if row is not None:
            self.answer_wanted.emit(row.id)

    def _make_rule(self) -> None:
        row = self.asks.selected()
        if row is not None:
            self.rule_wanted.emit(row.id)

    def _undo_rule(self) -> None:
        row = self.rules.selected()
        if row is not None:
            self.undo_wanted.emit(row.id)
