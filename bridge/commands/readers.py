"""Who else can read along: a group may have members who are not on the hub's list of users."""

from __future__ import annotations

import asyncio
import logging

from bridge.context import HubContext
from bridge.messenger import MessengerError
from bridge.texts import trn

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that /status waits for the count."""


async def count_readers(context: HubContext, chat_id: int) -> None:
    """Ask how many members the group has; without an answer the last one stands."""
    try:
        async with asyncio.timeout(PATIENCE):
            counting = context.delivery.paced(chat_id, lambda: context.messenger.count_members(chat_id))
            context.members[chat_id] = await counting
    except (TimeoutError, MessengerError) as error:
        log.info("the members of chat %s could not be counted: %s", chat_id, type(error).__name__)


def readers_line(context: HubContext, chat_id: int) -> str:
    """A warning when more people are in the group than the settings name (the bot is one of the members)."""
    others = context.members.get(chat_id, 0) - len(context.config.users) - 1
    if others <= 0 or chat_id > 0:
        return ""
    return "👀 " + trn(
        "At least {count} member of this group is not on the list and can read along.",
        "At least {count} members of this group are not on the list and can read along.",
        others,
    )
