"""What people can do in the simulated Telegram, with the rules of its apps. Used by the phone page and the script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.simulator.chats import Account, Chat, Media, Post
from bridge.simulator.entities import CAPTION_LIMIT, TEXT_LIMIT
from bridge.simulator.errors import TOPIC_CLOSED, bad_request
from bridge.simulator.texts import commands_in
from bridge.simulator.wire import OTHER
from bridge.simulator.world import World


@dataclass(slots=True)
class Draft:
    """What a person is about to send."""

    text: str = ""
    reply_to: int | None = None
    media: Media | None = None
    album_id: str = ""
    other: str = ""


def pieces_of(text: str) -> list[str]:
    """A long text as the apps split it: 4096 characters each, at a line or blank where one is near."""
    pieces = []
    text = text.strip()
    while len(text) > TEXT_LIMIT:
        cut = max(text.rfind("\n", TEXT_LIMIT // 2, TEXT_LIMIT), text.rfind(" ", TEXT_LIMIT // 2, TEXT_LIMIT))
        cut = TEXT_LIMIT if cut < 0 else cut
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text] if text else pieces


class People:
    """Everything a person does with a phone."""

    def __init__(self, world: World) -> None:
        self._world = world

    def start_private(self, account: Account) -> Chat:
        """Open the private chat with the bot and press Start there."""
        chat = self._world.private_chat(account)
        if not chat.is_started:
            chat.is_started = True
            self.write(chat, account, "/start", None, None)
        return chat

    def write(
        self,
        chat: Chat,
        who: Account,
        text: str,
        topic_id: int | None,
        reply_to: int | None,
        *,
        anonymous: bool = False,
    ) -> list[Post]:
        """Send a text, in pieces when it is long; raises 400 for an empty one or a closed topic."""
        pieces = pieces_of(text)
        if not pieces:
            raise bad_request("message text is empty")
        return [
            self._send(chat, who, topic_id, Draft(piece, reply_to if at == 0 else None), anonymous=anonymous)
            for at, piece in enumerate(pieces)
        ]

    def send_files(
        self,
        chat: Chat,
        who: Account,
        files: Sequence[tuple[str, str, bytes]],
        topic_id: int | None,
        caption: str = "",
        *,
        anonymous: bool = False,
    ) -> list[Post]:
        """Send (kind, name, bytes) files; several make an album, each a message of its own."""
        world = self._world
        kept = [world.files.keep(kind, name, "", data, by_bot=False) for kind, name, data in files]
        album_id = str(world.random.getrandbits(40)) if len(kept) > 1 else ""
        captions = [caption.strip()[:CAPTION_LIMIT], *[""] * (len(kept) - 1)]
        drafts = [Draft(text, None, media, album_id) for text, media in zip(captions, kept, strict=True)]
        return [self._send(chat, who, topic_id, draft, anonymous=anonymous) for draft in drafts]

    def send_other(self, chat: Chat, who: Account, what: str, topic_id: int | None) -> Post:
        """Send a location, contact or dice."""
        return self._send(chat, who, topic_id, Draft(other=what if what in OTHER else "location"))

    def edit(self, post: Post, text: str) -> Post:
        """Change one's own text."""
        post.text = text.strip()
        post.entities = commands_in(post.text)
        self._world.edit_post(post)
        return post

    def _send(self, chat: Chat, who: Account, topic_id: int | None, draft: Draft, *, anonymous: bool = False) -> Post:
        topic = chat.topics.get(topic_id) if topic_id is not None else None
        is_closed = topic.is_closed if topic else chat.is_general_closed and topic_id is None
        is_closed = is_closed and who.id not in chat.admins and not (topic and topic.creator_id == who.id)
        if is_closed or (topic_id is not None and (topic is None or topic.is_deleted)):
            raise bad_request(TOPIC_CLOSED)
        post = self._world.new_post(chat, who, topic_id)
        post.text, post.entities, post.reply_to = draft.text, commands_in(draft.text), draft.reply_to
        post.media, post.album_id, post.other, post.is_anonymous = draft.media, draft.album_id, draft.other, anonymous
        return self._world.add_post(post)
