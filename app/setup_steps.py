"""The first set-up as plain steps: what the wizard's pages and ``agent-hub setup`` do, without any window.

Runs while no hub polls the bot. Ids are never typed: group and person are taken from a live message. Each step can
be done again later; nothing is written before its check succeeded.
"""

from __future__ import annotations

import secrets as random_source
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agents.contract import AgentHealth, HubError
from app import secrets, settings
from app.daemon_thread import in_daemon_thread
from app.paths import Folders, at_home
from app.settings_fields import put
from bridge.inbound import ButtonPress, IncomingMessage, Person, Place, TopicEvent
from bridge.markdown.part import Part
from bridge.messenger import Button, UnauthorizedError
from bridge.telegram.api import ApiAddress
from bridge.telegram.client import BotAccount, ChatFacts, TelegramClient
from bridge.telegram.updates import parse_update
from bridge.texts import tr

POLL_SECONDS = 20
TEST_DATA = "setup:ok:"


@dataclass(frozen=True, slots=True)
class RightCheck:
    """One thing the group needs; ``hint`` says how to get it when ``is_fine`` is False."""

    name: str
    is_fine: bool
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A live message in a group: the group and the person are offered by a click."""

    chat_id: int
    person: Person


@dataclass(frozen=True, slots=True)
class Progress:
    """What the settings say of the set-up. The token is not looked at: a locked keyring would hold up the start.

    A token that is missing is said by the hub itself, in the tray and the window.
    """

    has_group: bool
    has_people: bool
    has_roots: bool

    @property
    def is_complete(self) -> bool:
        return self.has_group and self.has_people and self.has_roots


def progress(current: settings.Settings) -> Progress:
    return Progress(bool(current.telegram.chats), bool(current.telegram.users), bool(current.workspace.roots))


def group_checks(facts: ChatFacts, account: BotAccount) -> Sequence[RightCheck]:
    """What the group must have, each with the tap that mends it."""
    sees_all = facts.is_administrator or account.reads_all
    return (
        RightCheck(
            tr("The bot is in the group"), facts.is_member, tr("Add @{bot} to the group.", bot=account.username)
        ),
        RightCheck(
            tr("Topics are on"), facts.is_forum, tr("Group settings → Topics → on. This makes it a supergroup.")
        ),
        RightCheck(
            tr("The bot is an administrator"),
            facts.is_administrator,
            tr("Group settings → Administrators → add @{bot}.", bot=account.username),
        ),
        RightCheck(
            tr("The bot may manage topics"),
            facts.can_manage_topics,
            tr("Administrators → @{bot} → switch on Manage topics.", bot=account.username),
        ),
        RightCheck(
            tr("The bot sees all messages"),
            sees_all,
            tr("Make it an administrator, or switch privacy mode off at @BotFather and add the bot again."),
        ),
    )


class SetUp:
    """One set-up. Use as an async context manager in any event loop; closes its connection at the end."""

    def __init__(self, folders: Folders, settings_file: Path | None = None) -> None:
        self._folders = folders
        self._file = settings_file or folders.settings_file
        self._client: TelegramClient | None = None
        self._offset: int | None = None
        self.account: BotAccount | None = None

    async def __aenter__(self) -> SetUp:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    def current(self) -> settings.Settings:
        return settings.load(self._file)

    def _edit(self, changes: dict[str, object]) -> settings.Settings:
        return settings.edit(self._file, lambda document: put(document, changes))

    # --- token

    async def connect(self, token: str) -> BotAccount:
        """Ask Telegram whose token it is; raises SecretError or MessengerError, each with what to do."""
        value = secrets.checked(token)
        telegram = self.current().telegram
        client = TelegramClient(
            value, ApiAddress(telegram.base_url, telegram.base_file_url, telegram.proxy, uses_environment=True)
        )
        await client.__aenter__()
        try:
            account = await client.me()
        except UnauthorizedError as error:
            await client.close()
            raise secrets.SecretError(
                tr("Telegram does not know this token."),
                hint=tr("Copy it again from @BotFather (/mybots → API Token)."),
            ) from error
        except BaseException:
            await client.close()
            raise
        await self.close()
        self._client, self.account = client, account
        return account

    async def keep_token(self, token: str, *, allow_plaintext: bool = False) -> secrets.SecretSource:
        """Store a token that ``connect`` accepted. The keyring may ask the person, so it runs in a thread."""
        store = partial(secrets.store, token, self._folders, allow_plaintext=allow_plaintext)
        return await in_daemon_thread(store)

    async def connect_stored(self) -> BotAccount:
        """Go on with the token of an earlier step; raises NoTokenError when there is none."""
        return await self.connect((await in_daemon_thread(secrets.read, self._folders)).value)

    # --- group and people

    async def next_sighting(self) -> Sighting:
        """Wait for a message in a group (not the bot's own); each call gives the next one."""
        client = self._connected()
        while True:
            for raw in await client.updates(self._offset, POLL_SECONDS):
                update = parse_update(raw)
                self._offset = update.update_id + 1
                if isinstance(update, IncomingMessage | TopicEvent) and not update.sender.is_bot:
                    chat = update.place.chat_id
                    if chat < 0 and not update.sender.is_anonymous:
                        return Sighting(chat, update.sender)

    async def check_group(self, chat_id: int) -> tuple[ChatFacts, Sequence[RightCheck]]:
        """What the group is and what is missing there."""
        client = self._connected()
        account = self.account
        if account is None:
            raise HubError("connect first")
        facts = await client.chat_facts(chat_id, account.id)
        return facts, group_checks(facts, account)

    def keep_group(self, chat_id: int) -> None:
        chats = [*self.current().telegram.chats]
        if chat_id not in chats:
            self._edit({"telegram.chats": [*chats, chat_id]})

    def keep_person(self, person_id: int, role: str = "owner") -> None:
        users = {str(user): known.value for user, known in self.current().telegram.users.items()}
        self._edit({"telegram.users": {**users, str(person_id): role}})

    # --- folders and language

    def keep_roots(self, roots: Sequence[Path]) -> None:
        """Replace the folders agents may work in; each must be a readable folder."""
        chosen = [at_home(root).absolute() for root in roots]
        for root in chosen:
            if not root.is_dir():
                raise HubError(tr("{path} is no folder.", path=root), hint=tr("Choose a folder that exists."))
        self._edit({"workspace.roots": [str(root) for root in chosen]})

    def keep_language(self, code: str) -> None:
        self._edit({"hub.language": code})

    def keep_default_agent(self, kind: str) -> None:
        self._edit({"agents.default": kind})

    def choose_agent(self, found: Sequence[AgentHealth]) -> str:
        """The agent of new topics: the one that is set, else the first that can be used; "" when none can."""
        usable = [health.kind for health in found if health.is_usable]
        if usable and self.current().agents.default not in usable:
            self.keep_default_agent(usable[0])
        return self.current().agents.default if usable else ""

    # --- test

    async def test_topic(self, chat_id: int, on_step: Callable[[str], None]) -> Person:
        """Make a topic with a greeting and wait until its button is pressed; returns who pressed it."""
        client = self._connected()
        topic_id = await client.create_topic(chat_id, tr("agent-hub test"))
        token = random_source.token_hex(8)
        text = tr("Hello! This is agent-hub. Press the button to finish the set-up.")
        place = Place(chat_id, topic_id)
        message = await client.send_text(
            place, Part(text, text), keyboard=((Button(tr("It works"), data=TEST_DATA + token),),), is_silent=False
        )
        on_step(tr("A topic was made. Press its button on your phone."))
        press = await self._press(TEST_DATA + token)
        await client.answer_press(press.press_id, tr("All set"))
        done = tr("All set. Make a topic of your own and write the first task there.")
        await client.edit_text(chat_id, message, Part(done, done))
        return replace(press.sender)

    async def _press(self, data: str) -> ButtonPress:
        client = self._connected()
        while True:
            for raw in await client.updates(self._offset, POLL_SECONDS):
                update = parse_update(raw)
                self._offset = update.update_id + 1
                if isinstance(update, ButtonPress) and update.data == data:
                    return update

    def _connected(self) -> TelegramClient:
        if self._client is None:
            raise HubError(tr("The bot is not connected yet."), hint=tr("Enter the bot token first."))
        return self._client
