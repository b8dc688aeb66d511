"""The first-run wizard: language, bot, group, people, folders, agents, test. Each step can be left and taken up again.

The steps themselves are ``app.setup_steps``; a page only shows them. While it is open no hub polls the bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
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
    QVBoxLayout,
    QWizard,
    QWizardPage,
)

from agents.contract import AgentHealth, HubError
from app.agents_report import command_for, line, probe_all
from app.secrets import KeyringUnavailableError
from app.setup_steps import RightCheck, SetUp, Sighting
from app.terminals import line_command, open_terminal
from app.ui.calls import Calls
from app.ui.icons import app_icon
from app.ui.label import wrapped
from app.ui.qt_texts import speak
from bridge.telegram.client import BotAccount, ChatFacts
from bridge.texts import set_language, told, tr

CHECK_AGAIN_MS = 3000
"""How often the rights in the group are looked at while one is missing."""


class Step(QWizardPage):
    """A page that is complete when ``done`` was called; ``say`` shows what happens or went wrong."""

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__()
        self.set_up, self.calls = set_up, calls
        self._is_done = False
        self.box = QVBoxLayout(self)
        self.box.setSpacing(10)
        self.note = wrapped()
        self.note.setAccessibleName(tr("What happened"))

    def close_box(self) -> None:
        self.box.addWidget(self.note)
        self.box.addStretch(1)

    def say(self, text: str) -> None:
        self.note.setText(text)

    def complain(self, error: HubError) -> None:
        self.note.setText("✗ " + " ".join(told(part) for part in (error.title, error.hint) if part))

    def done(self, is_done: bool = True) -> None:
        self._is_done = is_done
        self.completeChanged.emit()

    def isComplete(self) -> bool:
        return self._is_done


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

    def initializePage(self) -> None:
        if not self.isComplete():
            self.calls.go(self.set_up.connect_stored(), self._connected, lambda _error: None)

    def try_token(self) -> None:
        self.done(False)
        self.say(tr("Asking Telegram…"))
        self.calls.go(self.set_up.connect(self.token.text()), lambda _account: self._keep(), self.complain)

    def _keep(self) -> None:
        work = self.set_up.keep_token(self.token.text(), allow_plaintext=self.plaintext.isChecked())
        self.calls.go(work, lambda _source: self._kept(), self._not_kept)

    def _kept(self) -> None:
        self.token.clear()
        if self.set_up.account is not None:
            self._connected(self.set_up.account)

    def _connected(self, account: BotAccount) -> None:
        self.say("✓ " + tr("Connected as @{bot}.", bot=account.username))
        self.done()

    def _not_kept(self, error: HubError) -> None:
        self.plaintext.setVisible(isinstance(error, KeyringUnavailableError))
        self.complain(error)


class GroupStep(Step):
    """Group and person, taken from a live message; every right that is missing is named."""

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__(set_up, calls)
        self.setTitle(tr("Your group"))
        self.box.addWidget(
            wrapped(
                tr(
                    "Make a Telegram group, switch Topics on, add the bot and make it an administrator. "
                    "Then write any message in the group: it appears here."
                )
            )
        )
        self.found = wrapped()
        self.box.addWidget(self.found)
        self.checks = QListWidget()
        self.checks.setAccessibleName(tr("What the group needs"))
        self.checks.setWordWrap(True)
        self.box.addWidget(self.checks, 1)
        self.use = QPushButton(tr("Use this group and person"))
        self.use.setEnabled(False)
        self.use.clicked.connect(lambda _checked=False: self._use())
        self.box.addWidget(self.use, 0, Qt.AlignmentFlag.AlignLeft)
        self.box.addWidget(self.note)
        self.sighting: Sighting | None = None
        self._watch = None
        self._again = QTimer(self, interval=CHECK_AGAIN_MS, timeout=self._check)

    def initializePage(self) -> None:
        known = self.set_up.current().telegram
        if known.chats and known.users:
            self.say("✓ " + tr("A group is set. Write in another one to add it."))
            self.done()
        else:
            self.say(tr("Waiting for a message in the group…"))
        self._look()

    def cleanupPage(self) -> None:
        self._stop()

    def validatePage(self) -> bool:
        self._stop()
        return True

    def _look(self) -> None:
        if self._watch is None:
            self._watch = self.calls.go(self.set_up.next_sighting(), self._seen, self.complain)

    def _stop(self) -> None:
        self._again.stop()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _seen(self, sighting: Sighting) -> None:
        self._watch = None
        self.sighting = sighting
        self._check()
        self._look()

    def _check(self) -> None:
        if self.sighting is not None:
            self.calls.go(self.set_up.check_group(self.sighting.chat_id), self._checked, self.complain)

    def _checked(self, outcome: tuple[ChatFacts, Sequence[RightCheck]]) -> None:
        facts, checks = outcome
        name = self.sighting.person.name if self.sighting else ""
        self.found.setText(tr("Group {group}, message from {name}", group=facts.title, name=name))
        self.checks.clear()
        for check in checks:
            self.checks.addItem(f"✓ {check.name}" if check.is_fine else f"✗ {check.name}\n    {check.hint}")
        was_ready = self.use.isEnabled()
        self.use.setEnabled(all(check.is_fine for check in checks))
        if not self.use.isEnabled():
            self.say(tr("Mend what is marked; it is checked again every few seconds."))
            self._again.start()
        else:
            self._again.stop()
            if not was_ready and not self.isComplete():
                self.say(tr("Everything is there. Press the button."))

    def _use(self) -> None:
        if self.sighting is None:
            return
        self.set_up.keep_group(self.sighting.chat_id)
        self.set_up.keep_person(self.sighting.person.id)
        self.say("✓ " + tr("{name} is the owner. Others can be added later.", name=self.sighting.person.name))
        self.done()


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
        self._show()

    def _choose(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, tr("Folder agents may work in"), str(Path.home()))
        if chosen:
            self.add_folder(Path(chosen))

    def add_folder(self, folder: Path) -> None:
        roots = [*self.set_up.current().workspace.roots]
        try:
            self.set_up.keep_roots([*roots, folder] if folder not in roots else roots)
        except HubError as error:
            self._show()
            self.complain(error)
            return
        self._show()

    def _remove(self) -> None:
        row = self.list.currentRow()
        roots = [*self.set_up.current().workspace.roots]
        if 0 <= row < len(roots):
            del roots[row]
            self.set_up.keep_roots(roots)
        self._show()

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
        self.done()

    def _make(self) -> None:
        chats = self.set_up.current().telegram.chats
        if not chats:
            self.say(tr("Choose a group first."))
            return
        self.make.setEnabled(False)
        work = self.set_up.test_topic(chats[0], self.progress.emit)
        self.calls.go(work, lambda person: self._pressed(person.name), self._failed)

    def _pressed(self, name: str) -> None:
        self.say("✓ " + tr("{name} pressed the button. Make a topic and write your first task.", name=name))
        self.make.setEnabled(True)

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
        for page_id in self.pageIds():
            self.removePage(page_id)
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
        self.fill()
        self.setWindowTitle(tr("Set up agent-hub"))
        self.restart()

    def done(self, result: int) -> None:
        self.calls.cancel_all()
        super().done(result)
