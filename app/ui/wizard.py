"""The first-run wizard: language, bot, group, people, folders, agents, test. Each step can be left and taken up again.

The steps themselves are ``app.setup_steps``; a page only shows them. While it is open no hub polls the bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPushButton,
    QRadioButton,
    QWizard,
)

from agents.contract import AgentHealth, HubError
from app.agents_report import command_for, line, probe_all
from app.secrets import KeyringUnavailableError, NoTokenError
from app.setup_steps import SetUp
from app.terminals import line_command, open_terminal
from app.ui.calls import Calls
from app.ui.group_step import GroupStep
from app.ui.icons import app_icon
from app.ui.label import wrapped
from app.ui.qt_texts import speak
from app.ui.wizard_step import Step
from bridge.telegram.client import BotAccount
from bridge.texts import set_language, tr


class LanguageStep(Step):
    """Says both languages; changes every later page."""

    chosen = Signal(str)

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__(set_up, calls)
        self.setTitle("Language · Язык")
        self.group = QButtonGroup(self)
        current = set_up.current().hub.language
        for code, name in (("en", "English"), ("ru", "Русский")):
            button = QRadioButton(name)
            button.setChecked(code == current)
            button.toggled.connect(lambda on, code=code: on and self._choose(code))
            self.group.addButton(button)
            self.box.addWidget(button)
        self.box.addSpacing(12)
        self.box.addWidget(
            wrapped(
                tr(
                    "You will give tasks to coding agents from your phone: one topic of a Telegram group, one session. "
                    "Setting it up takes about three minutes; every step can be left and changed later."
                )
            )
        )
        self.demo = QPushButton(tr("Try without Telegram"))
        self.box.addSpacing(12)
        self.box.addWidget(self.demo, 0, Qt.AlignmentFlag.AlignLeft)
        self.close_box()
        self.done()

    def _choose(self, code: str) -> None:
        self.set_up.keep_language(code)
        set_language(code)
        speak(code)
        self.chosen.emit(code)


class TokenStep(Step):
    """The bot's token, checked with Telegram before it is kept."""

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__(set_up, calls)
        self.setTitle(tr("Your bot"))
        self.box.addWidget(
            wrapped(
                tr("In Telegram, write to @BotFather: /newbot. Choose a name; it answers with a token. Paste it here.")
            )
        )
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText(tr("Bot token"))
        self.token.setAccessibleName(tr("Bot token"))
        self.check = QPushButton(tr("Check"))
        self.check.clicked.connect(lambda _checked=False: self.try_token())
        self.token.returnPressed.connect(self.try_token)
        row = QHBoxLayout()
        row.addWidget(self.token, 1)
        row.addWidget(self.check)
        self.box.addLayout(row)
        self.plaintext = QCheckBox(tr("There is no keyring: keep the token in a file that only I can read"))
        self.plaintext.hide()
        self.box.addWidget(self.plaintext)
        self.close_box()
        self.first = self.token
        self._stored: Future[BotAccount] | None = None

    def initializePage(self) -> None:
        if not self.isComplete():
            self.say(tr("Looking for a token that is kept already…"))
            self._stored = self.calls.go(self.set_up.connect_stored(), self._connected, self._not_stored)

    def _not_stored(self, error: HubError) -> None:
        if isinstance(error, NoTokenError):
            self.say("")
        else:
            self.complain(error)

    def try_token(self) -> None:
        token = self.token.text()
        if not self.check.isEnabled():
            return
        if not token.strip():
            self.say(tr("Paste the token first."))
            self.token.setFocus()
            return
        if self._stored is not None:
            self._stored.cancel()
        self.done(False)
        self.check.setEnabled(False)
        self.say(tr("Asking Telegram…"))
        self.calls.go(self.set_up.connect(token), lambda _account: self._keep(token), self._refused)

    def _refused(self, error: HubError) -> None:
        self.check.setEnabled(True)
        self.complain(error)
        self.token.selectAll()
        self.token.setFocus()

    def _keep(self, token: str) -> None:
        """The very text that Telegram accepted: the field may hold another one by now."""
        self.say(tr("Keeping it in the keyring…"))
        work = self.set_up.keep_token(token, allow_plaintext=self.plaintext.isChecked())
        self.calls.go(work, lambda _source: self._kept(), self._not_kept)

    def _kept(self) -> None:
        self.check.setEnabled(True)
        self.plaintext.hide()
        self.token.clear()
        if self.set_up.account is not None:
            self._connected(self.set_up.account)

    def _connected(self, account: BotAccount) -> None:
        self.say("✓ " + tr("Connected as @{bot}.", bot=account.username))
        self.done()
        self.offer_next()

    def _not_kept(self, error: HubError) -> None:
        self.check.setEnabled(True)
        self.plaintext.setVisible(isinstance(error, KeyringUnavailableError))
        self.complain(error)


class FoldersStep(Step):
    """Where agents may work."""

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__(set_up, calls)
        self.setTitle(tr("Folders"))
        self.box.addWidget(wrapped(tr("Agents start only in these folders and below. They run with your own rights.")))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Folders"))
        self.box.addWidget(self.list, 1)
        self.add = QPushButton(tr("Add folder…"))
        self.add.clicked.connect(lambda _checked=False: self._choose())
        self.remove = QPushButton(tr("Remove"))
        self.remove.clicked.connect(lambda _checked=False: self._remove())
        self.list.currentRowChanged.connect(lambda row: self.remove.setEnabled(row >= 0))
        row = QHBoxLayout()
        row.addWidget(self.add)
        row.addWidget(self.remove)
        row.addStretch(1)
        self.box.addLayout(row)
        self.box.addWidget(self.note)
        self.first = self.add
        self._show()

    def _choose(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, tr("Folder agents may work in"), str(Path.home()))
        if chosen:
            self.add_folder(Path(chosen))

    def add_folder(self, folder: Path) -> None:
        roots = [*self.set_up.current().workspace.roots]
        if self._keep([*roots, folder] if folder not in roots else roots):
            self.offer_next()

    def _keep(self, roots: Sequence[Path]) -> bool:
        """Write them down; what is wrong with one of them is said."""
        try:
            self.set_up.keep_roots(roots)
        except HubError as error:
            self._show()
            self.complain(error)
            return False
        self._show()
        return True

    def _remove(self) -> None:
        row = self.list.currentRow()
        roots = [*self.set_up.current().workspace.roots]
        if 0 <= row < len(roots):
            del roots[row]
            self._keep(roots)

    def _show(self) -> None:
        roots = self.set_up.current().workspace.roots
        self.list.clear()
        self.list.addItems([str(root) for root in roots])
        self.remove.setEnabled(self.list.currentRow() >= 0)
        self.say("" if roots else tr("Choose at least one folder, for example the one that holds your projects."))
        self.done(bool(roots))


class AgentsStep(Step):
    """What is installed, and the command that brings what is missing."""

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__(set_up, calls)
        self.setTitle(tr("Agents"))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Agents"))
        self.list.setWordWrap(True)
        self.box.addWidget(self.list, 1)
        self.copy = QPushButton(tr("Copy the command"))
        self.copy.clicked.connect(lambda _checked=False: self._copy())
        self.run = QPushButton(tr("Run it in a terminal"))
        self.run.clicked.connect(lambda _checked=False: self._run())
        self.again = QPushButton(tr("Look again"))
        self.again.clicked.connect(lambda _checked=False: self.initializePage())
        row = QHBoxLayout()
        for button in (self.copy, self.run, self.again):
            row.addWidget(button)
        row.addStretch(1)
        self.box.addLayout(row)
        self.box.addWidget(self.note)
        self.found: Sequence[AgentHealth] = ()
        self.list.currentRowChanged.connect(lambda _row: self._enable())
        self._enable()
        self.done()

    def initializePage(self) -> None:
        self.say(tr("Looking for agents…"))
        self.calls.go(probe_all(self.set_up.current()), self._show, self.complain)

    def _show(self, found: Sequence[AgentHealth]) -> None:
        self.found = found
        self.list.clear()
        self.list.addItems([line(health) for health in found])
        self.list.setCurrentRow(next((row for row, health in enumerate(found) if command_for(health)), -1))
        self._enable()
        chosen = self.set_up.choose_agent(found)
        titles = {health.kind: health.title for health in found}
        self.say(
            tr("New topics start with {agent}.", agent=titles.get(chosen, chosen))
            if chosen
            else tr("Install one, then look again.")
        )

    def command(self) -> str:
        row = self.list.currentRow()
        return command_for(self.found[row]) if 0 <= row < len(self.found) else ""

    def _enable(self) -> None:
        for button in (self.copy, self.run):
            button.setEnabled(bool(self.command()))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.command())

    def _run(self) -> None:
        try:
            open_terminal(line_command(self.command()), Path.home())
        except HubError as error:
            self.complain(error)


class TestStep(Step):
    """A topic made by a button, with a greeting and a button to press on the phone."""

    progress = Signal(str)

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__(set_up, calls)
        self.setTitle(tr("Try it"))
        self.box.addWidget(wrapped(tr("The bot makes a topic in your group and greets you there.")))
        self.make = QPushButton(tr("Make a test topic"))
        self.make.clicked.connect(lambda _checked=False: self._make())
        self.box.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)
        self.progress.connect(self.say, Qt.ConnectionType.QueuedConnection)
        self.close_box()
        self.first = self.make
        self.done()

    def _make(self) -> None:
        chats = self.set_up.current().telegram.chats
        if not chats:
            self.say(tr("Choose a group first."))
            return
        self.make.setEnabled(False)
        self.offer_next()
        work = self.set_up.test_topic(chats[-1], self.progress.emit)  # the one that was added last
        self.calls.go(work, lambda person: self._pressed(person.name), self._failed)

    def _pressed(self, name: str) -> None:
        self.say("✓ " + tr("{name} pressed the button. Make a topic and write your first task.", name=name))
        self.make.setEnabled(True)
        self.offer_next()

    def _failed(self, error: HubError) -> None:
        self.complain(error)
        self.make.setEnabled(True)


class SetUpWizard(QWizard):
    """``demo_wanted``: the person would rather try without Telegram."""

    demo_wanted = Signal()

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__()
        self.set_up, self.calls = set_up, calls
        self.setWindowTitle(tr("Set up agent-hub"))
        self.setWindowIcon(app_icon())
        self.setWizardStyle(QWizard.WizardStyle.ClassicStyle)
        self.setOption(QWizard.WizardOption.NoBackButtonOnStartPage)
        self.setMinimumSize(640, 480)
        self.fill()

    def fill(self) -> None:
        """Make the pages; again when the language changes."""
        for page_id in reversed(self.pageIds()):  # the page on the screen last: else each would be entered once
            former = self.page(page_id)
            self.removePage(page_id)
            former.deleteLater()
        parts = (self.set_up, self.calls)
        self.language, self.token, self.group = LanguageStep(*parts), TokenStep(*parts), GroupStep(*parts)
        self.folders, self.agents, self.test = FoldersStep(*parts), AgentsStep(*parts), TestStep(*parts)
        for page in (self.language, self.token, self.group, self.folders, self.agents, self.test):
            self.addPage(page)
        self.language.demo.clicked.connect(lambda _checked=False: self.demo_wanted.emit())
        self.language.chosen.connect(lambda _code: self._relabel(), Qt.ConnectionType.QueuedConnection)
        for button, text in (
            (QWizard.WizardButton.NextButton, tr("Next")),
            (QWizard.WizardButton.BackButton, tr("Back")),
            (QWizard.WizardButton.CancelButton, tr("Later")),
            (QWizard.WizardButton.FinishButton, tr("Start")),
        ):
            self.setButtonText(button, text)

    def _relabel(self) -> None:
        self.calls.cancel_all()  # nothing may come back to pages that are gone
        self.fill()
        self.setWindowTitle(tr("Set up agent-hub"))
        self.restart()

    def done(self, result: int) -> None:
        self.calls.cancel_all()
        super().done(result)
