"""The Bot API's refusals, word for word as its server writes them. Clients decide by these texts."""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """An answer with ``ok`` false; ``parameters`` as in the Bot API's ResponseParameters."""

    def __init__(self, code: int, description: str, parameters: Mapping[str, int] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = dict(parameters or {})


def bad_request(text: str) -> ApiError:
    """400 with the usual opening."""
    return ApiError(400, f"Bad Request: {text}")


def forbidden(text: str) -> ApiError:
    """403 with the usual opening."""
    return ApiError(403, f"Forbidden: {text}")


def too_many_requests(seconds: int) -> ApiError:
    """429; ``seconds`` is the last wait the server asked for."""
    return ApiError(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})


def migrated(new_chat_id: int) -> ApiError:
    """The group became a supergroup with another id."""
    return ApiError(
        400, "Bad Request: group chat was upgraded to a supergroup chat", {"migrate_to_chat_id": new_chat_id}
    )


MALFORMED_TOKEN = "Unauthorized: invalid token specified"  # noqa: S105 - a text, no secret
UNKNOWN_TOKEN = "Unauthorized"  # noqa: S105 - a text, no secret
METHOD_NOT_FOUND = "Not Found: method not found"
NOT_FOUND = "Not Found"
TOO_LARGE = "Request Entity Too Large"
OTHER_POLLER = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

CHAT_NOT_FOUND = "chat not found"
THREAD_NOT_FOUND = "message thread not found"
TOPIC_CLOSED = "TOPIC_CLOSED"
TOPIC_DELETED = "TOPIC_DELETED"
TOPIC_NOT_MODIFIED = "TOPIC_NOT_MODIFIED"
NOT_FORUM = "the chat is not a forum"
TOPIC_NAME_EMPTY = "name must be non-empty"
TOPIC_ICON_COLOR = "invalid icon color specified"
MAY_NOT_CREATE_TOPIC = "not enough rights to create a topic"
MAY_NOT_EDIT_TOPIC = "not enough rights to edit the topic"
MAY_NOT_CLOSE_TOPIC = "not enough rights to close or open the topic"
MAY_NOT_DELETE_TOPIC = "not enough rights to delete the topic"
MAY_NOT_SEND_TEXT = "not enough rights to send text messages to the chat"
MAY_NOT_SEND_DOCUMENT = "not enough rights to send documents to the chat"
MAY_NOT_SEND_PHOTO = "not enough rights to send photos to the chat"

TEXT_EMPTY = "message text is empty"
TEXT_INVISIBLE = "text must be non-empty"
SOURCE_TOO_LONG = "text is too long"
MESSAGE_TOO_LONG = "message is too long"
CAPTION_TOO_LONG = "message caption is too long"
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current "
    "content and reply markup of the message"
)
EDIT_NOT_FOUND = "message to edit not found"
EDIT_FORBIDDEN = "message can't be edited"
EDIT_NO_TEXT = "there is no text in the message to edit"
EDIT_NO_CAPTION = "there is no caption in the message to edit"
DELETE_NOT_FOUND = "message to delete not found"
DELETE_FORBIDDEN = "message can't be deleted"
REPLY_NOT_FOUND = "message to be replied not found"
REACT_NOT_FOUND = "message to react not found"
PIN_NOT_FOUND = "message to pin not found"
QUERY_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
BUTTON_DATA_INVALID = "BUTTON_DATA_INVALID"
BUTTON_EMPTY = "inline keyboard button text must be non-empty"
BUTTON_TEXT_ONLY = "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
KEYBOARD_SHAPE = 'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays'
MARKUP_TOO_LONG = "reply markup is too long"
FILE_TOO_BIG = "file is too big"
FILE_ID_BAD = "wrong file_id or the file is temporarily unavailable"

KICKED = "bot was kicked from the supergroup chat"
NOT_MEMBER = "bot is not a member of the supergroup chat"
BLOCKED = "bot was blocked by the user"
CANNOT_INITIATE = "bot can't initiate conversation with a user"
