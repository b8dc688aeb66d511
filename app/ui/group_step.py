"""The wizard's page that finds group and owner in a live message and names every right that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QListWidget, QPushButton

from agents.contract import HubError
from app.setup_steps import RightCheck, SetUp, Sighting
from app.ui.calls import Calls
from app.ui.label import wrapped
from app.ui.wizard_step import Step
from bridge.telegram.client import ChatFacts
from bridge.texts import tr

GroupFacts = tuple[ChatFacts, Sequence[RightCheck]]
CHECK_AGAIN_MS = 3000
"""How often the rights in the group are looked at while one is missing."""


class GroupStep(Step):
    """Group and person, taken from a live message; every right that is missing is named.

    Listens while it is on the screen. Anybody may write meanwhile, in any group that the bot was added to: what was
    seen first stays chosen, the others can be chosen from a list, and the button takes what the page shows.
    """

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
        self.seen = QComboBox()
        self.seen.setAccessibleName(tr("Who wrote, and in which group"))
        self.seen.hide()
        self.seen.currentIndexChanged.connect(lambda _place: self._check())
        self.box.addWidget(self.seen)
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
        self.shown: Sighting | None = None
        """The one whose checks are on the page."""
        self._sightings: list[Sighting] = []
        self._watch: Future[Sighting] | None = None
        self._checking: Future[GroupFacts] | None = None
        self._again = QTimer(self, interval=CHECK_AGAIN_MS, timeout=self._check)
        self._retry = QTimer(self, interval=CHECK_AGAIN_MS, singleShot=True, timeout=self._look)

    def initializePage(self) -> None:
        known = self.set_up.current().telegram
        if known.chats and known.users:
            self.say("✓ " + tr("A group is set. Write in another one to add it."))
            self.done()
        else:
            self.say(tr("Waiting for a message in the group…"))

    def showEvent(self, event: QShowEvent) -> None:
        """Also on the way back from a later page, which is no new beginning for Qt."""
        super().showEvent(event)
        if not event.spontaneous():
            self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        """The test page listens to the same bot; a minimized window goes on listening."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._stop()

    def _look(self) -> None:
        if self._watch is None:
            self._watch = self.calls.go(self.set_up.next_sighting(), self._seen, self._lost)

    def _stop(self) -> None:
        self._again.stop()
        self._retry.stop()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _lost(self, error: HubError) -> None:
        """The network fails now and then: say so and listen again."""
        self._watch = None
        self.complain(error)
        if self.isVisible():
            self._retry.start()

    def _seen(self, sighting: Sighting) -> None:
        self._watch = None
        key = (sighting.chat_id, sighting.person.id)
        if key not in [(known.chat_id, known.person.id) for known in self._sightings]:
            self.calls.go(
                self.set_up.check_group(sighting.chat_id),
                lambda outcome: self._offer(sighting, outcome),
                self.complain,
            )
        if self.isVisible():
            self._look()

    def _offer(self, sighting: Sighting, outcome: GroupFacts) -> None:
        self._sightings.append(sighting)
        self.seen.addItem(tr("{name} in the group {group}", name=sighting.person.name, group=outcome[0].title))
        self.seen.setVisible(len(self._sightings) > 1)

    def _check(self) -> None:
        """Look at the chosen group again; one look at a time."""
        place = self.seen.currentIndex()
        if not 0 <= place < len(self._sightings):
            return
        chosen = self._sightings[place]
        if chosen is not self.shown:
            self.use.setEnabled(False)
        elif self._checking is not None and not self._checking.done():
            return
        self._checking = self.calls.go(
            self.set_up.check_group(chosen.chat_id), lambda outcome: self._checked(chosen, outcome), self._not_checked
        )

    def _not_checked(self, error: HubError) -> None:
        self.complain(error)
        if self.isVisible():
            self._again.start()

    def _checked(self, sighting: Sighting, outcome: GroupFacts) -> None:
        if sighting is not self._sightings[self.seen.currentIndex()]:
            return  # another one was chosen meanwhile
        self.shown = sighting
        facts, checks = outcome
        self.found.setText(tr("Group {group}, message from {name}", group=facts.title, name=sighting.person.name))
        rows = [f"✓ {check.name}" if check.is_fine else f"✗ {check.name}\n    {check.hint}" for check in checks]
        if rows != [self.checks.item(row).text() for row in range(self.checks.count())]:
            self.checks.clear()
            self.checks.addItems(rows)
        was_ready = self.use.isEnabled()
        self.use.setEnabled(all(check.is_fine for check in checks))
        if not self.use.isEnabled():
            self.say(tr("Mend what is marked; it is checked again every few seconds."))
            if self.isVisible():
                self._again.start()
        else:
            self._again.stop()
            if not was_ready:
                self.say(tr("Everything is there. Press the button."))
                if not self.isComplete():
                    self.use.setFocus()

    def _use(self) -> None:
        if self.shown is None:
            return
        try:
            self.set_up.keep_group(self.shown.chat_id)
            self.set_up.keep_person(self.shown.person.id)
        except HubError as error:
            self.complain(error)
            return
        self.say("✓ " + tr("{name} is the owner. Others can be added later.", name=self.shown.person.name))
        self.done()
        self.offer_next()
