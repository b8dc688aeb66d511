"""The menu behind the "/" button of each chat: the hub's commands, then those of its agents. A mere comfort."""

from __future__ import annotations

import logging
from functools import partial

from bridge.commands.table import CommandTable
from bridge.context import HubContext
from bridge.messenger import MessengerError

log = logging.getLogger(__name__)


async def set_menus(context: HubContext, commands: CommandTable) -> None:
    """Tell Telegram the commands of every chat, as the budget allows."""
    menu = commands.whole_menu(context.all_agent_commands())
    for chat_id in sorted(context.config.chats):
        try:
            await context.delivery.paced(chat_id, partial(context.messenger.set_commands, chat_id, menu))
        except MessengerError as error:
            log.info("the command menu of chat %s could not be set: %s", chat_id, error.title)
