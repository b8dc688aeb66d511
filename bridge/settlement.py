"""What becomes of a letter whose call failed: one rule for each error of the seam. No I/O of its own.

The rules speak to the outbox through ``Desk``. A send is never repeated blindly; a refused text always finds another
way to the person or is said to have failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from bridge.delivery import MessageClass
from bridge.letters import Letter, LetterState, plain_part, slices_of
from bridge.messenger import (
    ChatMovedError,
    FloodWaitError,
    ForbiddenError,
    MarkupRefusedError,
    MessageGoneError,
    MessengerError,
    NotModifiedError,
    OutcomeUnknownError,
    RefusedError,
    TooLongError,
    TopicClosedError,
    TopicGoneError,
    UnauthorizedError,
    UnreachableError,
)
from bridge.texts import tr

log = logging.getLogger(__name__)

REPEAT_WAIT = 5.0
"""Seconds before a send whose reply was lost is made once more; each further time three times as long."""
REPEAT_WAIT_OF_CARD = 15.0
"""The same for a message with buttons: who acts on it meanwhile shows that it is there, and no second one comes."""
MOST_REPEATS = 6
EDIT_WAIT = 2.0
"""Seconds before a lost edit is made again; an edit can be repeated freely. Doubles up to a minute."""
BLOCK_CHECK = 1800.0
"""Seconds until a chat that refused the bot is tried again, in case nobody told that it is back."""
TOKEN_CHECK = 60.0


class Desk(Protocol):
    """What a rule can do."""

    def again(self, letter: Letter, wait: float = 0.0) -> None:
        """Put the letter back, to be called after ``wait`` seconds."""

    def finish(self, letter: Letter) -> None:
        """The letter shows what it should."""

    def fail(self, letter: Letter, reason: str) -> None:
        """The letter will never arrive."""

    def flood(self, letter: Letter, seconds: float) -> None:
        """Leave its chat alone."""

    def line_down(self) -> None:
        """Telegram can't be reached."""

    def topic_lost(self, letter: Letter, *, is_closed: bool) -> None:
        """Park everything for its topic."""

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> None:
        """Rewrite the ids."""

    def chat_blocked(self, letter: Letter, reason: str, wait: float) -> None:
        """Its chat refuses the bot."""

    def right_missing(self, letter: Letter, reason: str) -> None:
        """This call lacks a right."""

    def token_refused(self, wait: float) -> None:
        """The bot's token is not accepted."""


def settle(letter: Letter, error: MessengerError, desk: Desk) -> None:
    """Apply the rule for the error."""
    _RULES.get(type(error), _refused)(letter, error, desk)


def _flood(letter: Letter, error: FloodWaitError, desk: Desk) -> None:
    desk.again(letter)
    desk.flood(letter, error.seconds)


def _unreachable(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    desk.again(letter)
    desk.line_down()


def _unknown(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    if letter.is_edit:
        letter.edit_failures += 1
        desk.again(letter, min(60.0, EDIT_WAIT * 2.0 ** min(letter.edit_failures, 6)))
        return
    letter.repeats += 1
    if letter.repeats > MOST_REPEATS:
        desk.fail(letter, tr("Telegram never confirmed this message; it may have arrived."))
        return
    letter.state = LetterState.UNKNOWN
    wait = REPEAT_WAIT_OF_CARD if letter.keyboard else REPEAT_WAIT
    desk.again(letter, wait * 3.0 ** (letter.repeats - 1))


def _markup_refused(letter: Letter, error: MessengerError, desk: Desk) -> None:
    if letter.is_plain:
        desk.fail(letter, tr("Telegram refused this text."))
        return
    log.error("markup refused for letter %s: %s", letter.id, error.detail)
    letter.is_plain = True
    desk.again(letter)


def _too_long(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    """A caption becomes a text of its own after the file; a text is cut; of an edit the first slice is shown."""
    if letter.files and letter.is_send:
        letter.rest, letter.part = (letter.part.text,), plain_part("")
        desk.again(letter)
        return
    slices = slices_of(letter.part.text)
    if len(slices) < 2:
        desk.fail(letter, tr("Telegram refused this text as too long."))
        return
    letter.part = plain_part(slices[0] if letter.is_send else f"{slices[0]}\n…")
    if letter.is_send:
        letter.rest = (*slices[1:], *letter.rest)
    desk.again(letter)


def _unchanged(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    desk.finish(letter)


def _message_gone(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    """The message to edit is gone: a new one takes its place. The one to reply to: send without reply."""
    if letter.is_edit:
        letter.is_edit, letter.message_id, letter.state = False, None, LetterState.QUEUED
        letter.klass = min(letter.klass, MessageClass.STATUS)
        letter.rings = False
        desk.again(letter)
    elif letter.reply_to is not None:
        letter.reply_to = None
        desk.again(letter)
    else:
        desk.fail(letter, tr("Telegram refused this message."))


def _topic_gone(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    _lose_topic(letter, desk, is_closed=False)


def _topic_closed(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    _lose_topic(letter, desk, is_closed=True)


def _lose_topic(letter: Letter, desk: Desk, *, is_closed: bool) -> None:
    if letter.is_edit:
        desk.finish(letter)
    desk.topic_lost(letter, is_closed=is_closed)


def _moved(letter: Letter, error: ChatMovedError, desk: Desk) -> None:
    desk.again(letter)
    desk.move_chat(letter.place.chat_id, error.new_chat_id)


def _forbidden(letter: Letter, error: ForbiddenError, desk: Desk) -> None:
    if error.is_for_chat:
        desk.again(letter)
        desk.chat_blocked(letter, error.title, BLOCK_CHECK)
        return
    desk.right_missing(letter, error.title)
    desk.fail(letter, error.title)


def _unauthorized(letter: Letter, _error: MessengerError, desk: Desk) -> None:
    desk.again(letter)
    desk.token_refused(TOKEN_CHECK)


def _refused(letter: Letter, error: MessengerError, desk: Desk) -> None:
    log.error("letter %s refused: %s %s", letter.id, error.title, error.detail)
    if letter.is_plain or letter.files:
        desk.fail(letter, error.title)
        return
    letter.is_plain = True
    desk.again(letter)


_RULES: dict[type[MessengerError], Callable[[Letter, Any, Desk], None]] = {
    FloodWaitError: _flood,
    UnreachableError: _unreachable,
    OutcomeUnknownError: _unknown,
    MarkupRefusedError: _markup_refused,
    TooLongError: _too_long,
    NotModifiedError: _unchanged,
    MessageGoneError: _message_gone,
    TopicGoneError: _topic_gone,
    TopicClosedError: _topic_closed,
    ChatMovedError: _moved,
    ForbiddenError: _forbidden,
    UnauthorizedError: _unauthorized,
    RefusedError: _refused,
}
