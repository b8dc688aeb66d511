"""Where an update belongs now: a group gets a new id, and texts that wait go with their session to another topic.

Pure look-ups. Presses and reactions stay as they are: they name a message, and the messages of an old group are void.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bridge.inbound import Inbound, IncomingMessage, Place, TopicEvent


class Forwarding:
    """``moved_updates`` are those of a former life whose text waits elsewhere now."""

    def __init__(self, moved_chats: Mapping[int, int], moved_updates: Mapping[int, Place]) -> None:
        self._chats = dict(moved_chats)
        self._updates = moved_updates

    def chat_moved(self, old_chat_id: int, new_chat_id: int) -> None:
        self._chats[old_chat_id] = new_chat_id

    def now(self, update: Inbound) -> Inbound:
        """The update as if it came from where it belongs."""
        if not isinstance(update, IncomingMessage | TopicEvent):
            return update
        place = self._updates.get(update.update_id, update.place)
        chat_id = self._chats.get(place.chat_id)
        if chat_id is None:
            return update if place == update.place else replace(update, place=place)
        place = replace(place, chat_id=chat_id)
        if isinstance(update, IncomingMessage):
            return replace(update, place=place, reply_to=None)
        return replace(update, place=place)
