"""Serves the phone page: its files, one stream of events, what its buttons do. Loopback only, secret in the path."""

from __future__ import annotations

import asyncio
import hmac
import json
import mimetypes
from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, quote

from agents.contract import HubError
from bridge.simulator import phone_wire
from bridge.simulator.calls import read_call
from bridge.simulator.chats import Account, Chat, Key, Post
from bridge.simulator.errors import (
    BUTTON_DATA_INVALID,
    EDIT_FORBIDDEN,
    FILE_TOO_BIG,
    MAY_NOT_EDIT_TOPIC,
    ApiError,
    bad_request,
)
from bridge.simulator.feed import Happening, Kind
from bridge.simulator.forum import clean_name
from bridge.simulator.http import Request, Response
from bridge.simulator.keyboards import DATA_LIMIT
from bridge.simulator.people import People
from bridge.simulator.stage import Stage
from bridge.simulator.world import GROUP_ID, OWNER, STRANGER, World
from bridge.texts import told

Json = dict[str, Any]
PAGE = 200
CALLS = 100
TOAST_PATIENCE = 15.0
HEARTBEAT = 1.0
POLICY = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
PAGE_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class Phone:
    """``secret`` is part of every address; requests under another name than loopback's are refused."""

    def __init__(self, world: World, secret: str) -> None:
        self._world = world
        self.secret = secret
        self.epoch = f"{world.random.getrandbits(48):x}"
        self.stage = Stage(world.feed)
        self.people = People(world)
        self._read: dict[tuple[int, int], int] = {}
        self._deeds: dict[str, Callable[[Account, Json], Awaitable[Json]]] = {
            "write": self._write,
            "press": self._press,
            "react": self._react,
            "edit": self._edit,
            "delete": self._delete,
            "read": self._mark_read,
            "topic": self._topic,
            "choose": self._choose_agent,
        }

    @property
    def chat(self) -> Chat:
        return self._world.chats[GROUP_ID]

    def is_mine(self, path: str) -> bool:
        return path.startswith("/phone/")

    async def handle(self, request: Request) -> Response:
        """Any request of the page."""
        _, _, rest = request.path.partition("/phone/")
        secret, _, name = rest.partition("/")
        host = request.headers.get("host", "").rpartition(":")[0]
        if not hmac.compare_digest(secret.encode(), self.secret.encode()) or host not in {"127.0.0.1", "localhost"}:
            return Response(404, b"Not Found", "text/plain")
        try:
            return await self._route(name, request)
        except ApiError as error:
            return answer({"error": error.description.partition(": ")[2] or error.description}, 400)
        except HubError as error:
            return answer({"error": "\n".join(filter(None, map(told, (error.title, error.hint))))}, 400)
        except (LookupError, TypeError, ValueError) as error:
            return answer({"error": f"bad request: {error}"}, 400)

    async def _route(self, name: str, request: Request) -> Response:
        query = {key: values[0] for key, values in parse_qs(request.query).items()}
        if request.method == "POST":
            if name == "upload":
                return answer(await self._upload(request, query))
            return answer(await self._act(json.loads(request.body)))
        if name == "events":
            return Response(200, b"", "text/event-stream", stream=self._events(request, query))
        if name in {"state", "messages"}:
            return answer(self._state(self._who(query)) if name == "state" else self._messages(query))
        if name.startswith("file/"):
            return self._file(name.removeprefix("file/"))
        return static(name or "index.html")

    # --- reading ---------------------------------------------------------------------------------------------------

    def _who(self, fields: Json) -> Account:
        """The owner, or the stranger, who enters the group with the first thing done."""
        if fields.get("as") != "stranger":
            return OWNER
        if STRANGER.id not in self.chat.members:
            self._world.join(self.chat, STRANGER)
        return STRANGER

    def _state(self, who: Account) -> Json:
        chat, world = self.chat, self._world
        topics = [phone_wire.general(chat), *(phone_wire.topic(topic) for topic in chat.live_topics())]
        commands: dict[str, Json] = {c["command"]: dict(c) for group in world.commands.values() for c in group}
        return {
            "epoch": self.epoch,
            "number": world.feed.number,
            "chat": {"title": chat.title, "members": len(chat.members) + 1},
            "me": phone_wire.person(who),
            "owner": phone_wire.person(OWNER),
            "bot": phone_wire.person(world.bot),
            "topics": [topic | self._tail(topic["id"], who) for topic in topics],
            "commands": list(commands.values()),
            "budget": phone_wire.budget(world, chat),
            "stage": self.stage.view(),
            "calls": [phone_wire.call(item.subject) for item in world.feed.latest(Kind.CALL, CALLS)],
        }

    def _tail(self, topic_id: int, who: Account) -> Json:
        posts = list(self.chat.posts_of(topic_id or None))
        read = self._read.get((who.id, topic_id), 0)
        unread = [post for post in posts if post.id > read and post.sender.id != who.id and not post.is_topic_creation]
        last = phone_wire.message(posts[-1], self.chat) if posts else None
        return {"last": last, "unread": len(unread), "read": read, "rings": any(not post.is_silent for post in unread)}

    def _messages(self, query: Json) -> Json:
        topic_id, before = int(query.get("topic", 0)), int(query.get("before", 1 << 60))
        posts = [post for post in self.chat.posts_of(topic_id or None) if post.id < before]
        page = posts[-int(query.get("limit", PAGE)) :]
        return {"messages": [phone_wire.message(post, self.chat) for post in page], "more": len(page) < len(posts)}

    def _file(self, file_id: str) -> Response:
        stored = self._world.files.find(file_id)
        is_picture = stored.media.kind == "photo" or stored.media.media_type in SHOWN_TYPES
        kind = mimetypes.guess_type(stored.path)[0] if is_picture else "application/octet-stream"
        way = "inline" if is_picture else "attachment"
        name = f"{way}; filename*=UTF-8''{quote(stored.media.name)}"
        headers = {**POLICY, "Content-Disposition": name, "Content-Security-Policy": "sandbox"}
        return Response(200, stored.data, kind or "image/png", headers)

    async def _events(self, request: Request, query: Json) -> AsyncGenerator[bytes, None]:
        """The stream: what was missed, what happens, and the budget whenever it changed."""
        last = request.headers.get("last-event-id", query.get("last", ""))
        epoch, _, number = last.partition(":")
        with self._world.feed.listen() as queue:
            missed = self._world.feed.since(int(number or 0)) if epoch == self.epoch and number.isdigit() else None
            if missed is None:
                yield self._event("hello", {"epoch": self.epoch}, self._world.feed.number)
            for happening in missed or ():
                if (piece := self._piece(happening)) is not None:
                    yield piece
            shown: Json = {}
            while not request.gone.is_set():
                budget = phone_wire.budget(self._world, self.chat)
                if budget != shown:
                    shown = budget
                    yield self._event("budget", budget)
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        piece = self._piece(await queue.get())
                except TimeoutError:
                    piece = b": \n\n"
                if piece is not None:
                    yield piece

    def _piece(self, happening: Happening) -> bytes | None:
        body = phone_wire.happening(self._world, self.chat, happening)
        return None if body is None else self._event(happening.kind, body, happening.number)

    def _event(self, kind: str, body: Json, number: int | None = None) -> bytes:
        name = f"id: {self.epoch}:{number}\n" if number is not None else ""
        return f"{name}event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()

    # --- doing -----------------------------------------------------------------------------------------------------

    async def _act(self, fields: Json) -> Json:
        deed = self._deeds.get(str(fields["do"]))
        if deed is None:
            raise bad_request("unknown deed")
        return await deed(self._who(fields), fields)

    def _post(self, fields: Json) -> Post:
        post = self.chat.post(int(fields["message"]))
        if post is None:
            raise bad_request("message not found")
        return post

    async def _write(self, who: Account, fields: Json) -> Json:
        topic, reply = int(fields["topic"]) or None, fields.get("reply")
        posts = self.people.write(self.chat, who, str(fields["text"]), topic, int(reply) if reply else None)
        return {"id": posts[-1].id}

    async def _press(self, who: Account, fields: Json) -> Json:
        """Press the button that the page shows: its data goes out, whatever the keyboard has become meanwhile."""
        data = str(fields["data"])
        if not 1 <= len(data.encode()) <= DATA_LIMIT:
            raise bad_request(BUTTON_DATA_INVALID)
        press = self._world.press(self.chat, self._post(fields), who, Key("", data))
        try:
            async with asyncio.timeout(TOAST_PATIENCE):
                text, is_alert = await asyncio.shield(press.answer)
        except TimeoutError:
            return {"answered": False}
        return {"answered": True, "toast": text, "alert": is_alert}

    async def _react(self, who: Account, fields: Json) -> Json:
        post, emoji = self._post(fields), str(fields["emoji"])
        mine = post.reactions.get(who.id, ())
        self._world.react(self.chat, post, who, () if emoji in mine else (emoji,))
        return {}

    def _own(self, who: Account, fields: Json) -> Post:
        post = self._post(fields)
        if post.sender.id != who.id:
            raise bad_request(EDIT_FORBIDDEN)
        return post

    async def _edit(self, who: Account, fields: Json) -> Json:
        self.people.edit(self._own(who, fields), str(fields["text"]))
        return {}

    async def _delete(self, who: Account, fields: Json) -> Json:
        self._world.delete_post(self._own(who, fields))
        return {}

    async def _mark_read(self, who: Account, fields: Json) -> Json:
        where = who.id, int(fields["topic"])
        if int(fields["message"]) > self._read.get(where, 0):
            self._read[where] = int(fields["message"])
            self._world.feed.publish(Kind.READ, self.chat.id, {"user": who.id, **self._unread(where)})
        return {}

    def _unread(self, where: tuple[int, int]) -> Json:
        account = self._world.accounts[where[0]]
        tail = self._tail(where[1], account)
        return {"topic": where[1], "read": tail["read"], "unread": tail["unread"]}

    async def _topic(self, who: Account, fields: Json) -> Json:
        """Create, rename, close, reopen or delete a topic."""
        world, what = self._world, str(fields["what"])
        if what == "create":
            return {"id": world.create_topic(self.chat, who, clean_name(str(fields["name"]))).id}
        topic = self.chat.topics[int(fields["topic"])]
        if who.id not in self.chat.admins and topic.creator_id != who.id:
            raise bad_request(MAY_NOT_EDIT_TOPIC)
        if what == "rename":
            world.edit_topic(self.chat, topic, who, clean_name(str(fields["name"])), None)
        elif what in {"close", "reopen"}:
            world.close_topic(self.chat, topic, who, is_closed=what == "close")
        elif what == "delete":
            world.delete_topic(self.chat, topic)
        return {"id": topic.id}

    async def _choose_agent(self, who: Account, fields: Json) -> Json:
        await self.stage.choose(str(fields["agent"]))
        return {}

    async def _upload(self, request: Request, query: Json) -> Json:
        """Files of a form, as one message or an album."""
        if request.is_oversize:
            raise bad_request(FILE_TOO_BIG)
        call = read_call("upload", request)
        kind = "photo" if query.get("kind") == "photo" else "document"
        if not call.files:
            raise bad_request("there is no file in the request")
        files = [(kind, upload.name, upload.data) for upload in call.files.values()]
        who, topic = self._who(query), int(query.get("topic", 0)) or None
        posts = self.people.send_files(self.chat, who, files, topic, query.get("caption", ""))
        return {"id": posts[-1].id}


def answer(body: Json, status: int = 200) -> Response:
    return Response(status, json.dumps(body, ensure_ascii=False).encode(), headers=POLICY)


def static(name: str) -> Response:
    """A file of the page."""
    folder = resources.files("resources") / "phone"
    kind = PAGE_TYPES.get(name.rpartition(".")[2])
    if kind is None or "/" in name or "\\" in name or name.startswith(".") or not (folder / name).is_file():
        return Response(404, b"Not Found", "text/plain")
    return Response(200, (folder / name).read_bytes(), f"{kind}; charset=utf-8", POLICY)
