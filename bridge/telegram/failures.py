"""What an answer of the Bot API other than "ok" means, as the errors of the seam. Pure.

The texts are matched without regard to case, because servers and libraries spell them in several ways
("TOPIC_CLOSED", "Topic_closed"). Sources of the texts: telegram-bot-api 10.0 and TDLib 1.8.66.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bridge.messenger import (
    ChatMovedError,
    FloodWaitError,
    ForbiddenError,
    MarkupRefusedError,
    MessageGoneError,
    MessengerError,
    NotModifiedError,
    OtherPollerError,
    OutcomeUnknownError,
    PressExpiredError,
    RefusedError,
    TooLongError,
    TopicClosedError,
    TopicGoneError,
    UnauthorizedError,
)
from bridge.redaction import redact
from bridge.texts import tr

WAIT_WHEN_UNTOLD = 30.0
"""Seconds to leave the chat alone after a 429 that names no time."""


class NoTextError(RefusedError):
    """400 there is no text in the message to edit: it is a file, whose caption can be edited."""


class FileTooBigError(RefusedError):
    """The file is over the limit of the Bot API (20 MiB down, 50 MB up)."""


def _forbidden(description: str) -> ForbiddenError:
    return ForbiddenError(
        tr("Telegram does not let the bot do this in the chat."),
        tr("Check that the bot is a member of the group and has the rights it needs."),
        description,
    )


def _forbidden_here(description: str) -> ForbiddenError:
    error = _forbidden(description)
    error.is_for_chat = False
    return error


def _simple(kind: type[MessengerError], title: str) -> Callable[[str], MessengerError]:
    return lambda description: kind(title, detail=description)


_BY_TEXT: tuple[tuple[tuple[str, ...], Callable[[str], MessengerError]], ...] = (
    (("can't parse entities",), _simple(MarkupRefusedError, "Telegram refused the markup")),
    (
        ("message is too long", "text is too long", "caption is too long", "message_too_long", "caption_too_long"),
        _simple(TooLongError, "The text is too long for one message"),
    ),
    (("not modified", "not_modified"), _simple(NotModifiedError, "Nothing changed")),
    (("no text in the message to edit",), _simple(NoTextError, "The message has no text")),
    (
        (
            "message to edit not found",
            "message can't be edited",
            "message to be replied not found",
            "message to delete not found",
            "message can't be deleted",
            "message to react not found",
            "message_id_invalid",
        ),
        _simple(MessageGoneError, "The message is gone"),
    ),
    (
        ("message thread not found", "topic_deleted", "topic_id_invalid", "not a forum", "not a supergroup forum"),
        _simple(TopicGoneError, "The topic is gone"),
    ),
    (("topic_closed",), _simple(TopicClosedError, "The topic is closed")),
    (("query is too old", "query_id_invalid"), _simple(PressExpiredError, "The press is too old")),
    (("file is too big", "entity too large"), _simple(FileTooBigError, "The file is too big for Telegram")),
    (("not enough rights to send text", "chat_write_forbidden", "chat not found", "no rights to send"), _forbidden),
    (("not enough rights", "chat_admin_required", "administrator rights"), _forbidden_here),
)


def failure_of(code: int, description: str, parameters: Mapping[str, object]) -> MessengerError:
    """The error for an answer with this HTTP code; ``parameters`` as in the answer's envelope."""
    description = redact(description)
    moved, wait = parameters.get("migrate_to_chat_id"), parameters.get("retry_after")
    if isinstance(moved, int):
        return ChatMovedError(moved)
    if code == 429 or isinstance(wait, int | float):
        return FloodWaitError(float(wait) if isinstance(wait, int | float) else WAIT_WHEN_UNTOLD)
    if code in {401, 404}:
        return _unauthorized(code, description)
    make = _BY_CODE.get(code, _simple(OutcomeUnknownError, "The server gave no proper answer"))
    return make(description)


def _unauthorized(code: int, description: str) -> MessengerError:
    if "method not found" in description.lower():
        return RefusedError(tr("The Bot API server does not know this call."), detail=description)
    return UnauthorizedError(
        tr("Telegram does not accept the bot's token."),
        tr("Get the token from @BotFather again and enter it in the settings."),
        f"{code} {description}",
    )


def _refused(description: str) -> MessengerError:
    text = description.lower()
    for marks, make in _BY_TEXT:
        if any(mark in text for mark in marks):
            return make(description)
    return RefusedError("Telegram refused the call", detail=description)


def _conflict(description: str) -> OtherPollerError:
    if "webhook" in description.lower():
        return OtherPollerError(
            tr("A webhook is set for this bot, so its messages go to another server."),
            tr("Remove the webhook, or use a bot of its own for the hub."),
            description,
        )
    return OtherPollerError(
        tr("Another program polls this bot."),
        tr("Stop the other program, or use a bot of its own for the hub."),
        description,
    )


_BY_CODE: Mapping[int, Callable[[str], MessengerError]] = {
    400: _refused,
    403: _forbidden,
    409: _conflict,
    413: _refused,
}
