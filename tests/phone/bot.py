"""A small bot over HTTP: posts what a test tells it, or plays one scripted turn by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from bridge.markdown import Part
from bridge.simulator import Simulator

Buttons = Sequence[Sequence[tuple[str, str] | tuple[str, str, str]]]


def markup(buttons: Buttons) -> dict[str, Any]:
    """Rows of (label, data) or (label, data, style)."""
    rows = [
        [{"text": key[0], "callback_data": key[1], **({"style": key[2]} if len(key) == 3 else {})} for key in row]
        for row in buttons
    ]
    return {"inline_keyboard": rows}


class Bot:
    """Talks to the simulator as any bot does."""

    def __init__(self, simulator: Simulator) -> None:
        self.chat = simulator.group.id
        self._address = f"{simulator.base_url}{simulator.token}/"
        self._http = httpx.AsyncClient(trust_env=False, timeout=60)
        self.pressed: list[str] = []

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, method: str, **fields: Any) -> Any:
        answer = await self._http.post(self._address + method, json=fields)
        body = answer.json()
        assert body["ok"], body
        return body["result"]

    async def say(
        self, topic: int, part: Part | str, buttons: Buttons = (), *, rings: bool = False, reply: int = 0
    ) -> int:
        """Send HTML and return the message id."""
        fields: dict[str, Any] = {"reply_markup": markup(buttons)} if buttons else {}
        if reply:
            fields["reply_parameters"] = {"message_id": reply}
        if topic:
            fields["message_thread_id"] = topic
        html = part if isinstance(part, str) else part.html
        sent = await self.call(
            "sendMessage", chat_id=self.chat, text=html, parse_mode="HTML", disable_notification=not rings, **fields
        )
        return int(sent["message_id"])

    async def change(self, message: int, part: Part | str, buttons: Buttons = ()) -> None:
        html = part if isinstance(part, str) else part.html
        fields = {"reply_markup": markup(buttons)} if buttons else {}
        await self.call(
            "editMessageText", chat_id=self.chat, message_id=message, text=html, parse_mode="HTML", **fields
        )

    async def send(self, topic: int, name: str, data: bytes, caption: str = "", kind: str = "document") -> None:
        fields = {"chat_id": str(self.chat), "message_thread_id": str(topic), "caption": caption, "parse_mode": "HTML"}
        answer = await self._http.post(
            self._address + f"send{kind.capitalize()}", data=fields, files={kind: (name, data)}
        )
        assert answer.json()["ok"], answer.text

    async def album(self, topic: int, pictures: Sequence[bytes], caption: str = "") -> None:
        media = [{"type": "photo", "media": f"attach://p{at}"} for at in range(len(pictures))]
        media[0]["caption"] = caption
        fields = {"chat_id": str(self.chat), "message_thread_id": str(topic), "media": json.dumps(media)}
        files = {f"p{at}": (f"p{at}.png", data) for at, data in enumerate(pictures)}
        answer = await self._http.post(self._address + "sendMediaGroup", data=fields, files=files)
        assert answer.json()["ok"], answer.text

    async def typing(self, topic: int) -> None:
        await self.call("sendChatAction", chat_id=self.chat, message_thread_id=topic, action="typing")

    # --- the scripted turn -----------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Answer a person until cancelled: a task brings a permission card, then a question, then a file."""
        offset = 0
        while True:
            for update in await self.call("getUpdates", offset=offset, timeout=20):
                offset = update["update_id"] + 1
                await self._take(update)

    async def _take(self, update: Mapping[str, Any]) -> None:
        query, message = update.get("callback_query"), update.get("message")
        if query is not None:
            await self._press(query)
        elif message is not None and message["from"]["id"] == 1_001 and message.get("is_topic_message"):
            await self._task(message)

    async def _task(self, message: Mapping[str, Any]) -> None:
        topic, text = message["message_thread_id"], message.get("text", "")
        reply = message.get("reply_to_message", {})
        if "forum_topic_created" in message:
            return
        if "document" in message or "photo" in message:
            await self.say(topic, "Got the file.", rings=True)
        elif reply.get("reply_markup"):
            await self.change(reply["message_id"], f"<b>❌ Denied</b>: {text}")
        elif text == "/stop":
            await self.say(topic, "<b>⏹ Stopped.</b>", rings=True)
        else:
            await self.typing(topic)
            await self.say(topic, "⏳ <b>Working</b> · 3 s")
            card = '⚡ <b>Bash</b>\n<pre><code class="language-bash">make release</code></pre>'
            await self.say(topic, card, [[("✅ Allow", "allow", "success"), ("❌ Deny", "deny", "danger")]], rings=True)

    async def _press(self, query: Mapping[str, Any]) -> None:
        data, message = query["data"], query["message"]
        topic, message_id = message["message_thread_id"], message["message_id"]
        self.pressed.append(data)
        if query["from"]["id"] != 1_001:
            await self.call("answerCallbackQuery", callback_query_id=query["id"], text="This is not yours to decide")
            return
        await asyncio.sleep(0.1)
        await self.call("answerCallbackQuery", callback_query_id=query["id"], text=f"You chose {data}")
        if data in {"allow", "deny"}:
            verdict = "✅ Allowed once" if data == "allow" else "❌ Denied"
            await self.change(message_id, f"<b>{verdict}</b>\n⚡ <b>Bash</b>")
            buttons = [[("Red", "red"), ("Green", "green")], [("Done", "done", "primary")]]
            await self.say(topic, "❓ <b>Colours</b>\nWhich ones?", buttons, rings=True)
        elif data == "done":
            await self.change(message_id, "<b>Answered: Green</b>\n❓ <b>Colours</b>")
            await self.send(topic, "report.md", b"# Report\n", "The whole report")
            await self.say(topic, "All done. See <b>report.md</b>.", rings=True)
        else:
            buttons = [[("Red", "red"), (f"✅ {data.capitalize()}", data)], [("Done", "done", "primary")]]
            await self.change(message_id, "❓ <b>Colours</b>\nWhich ones?", buttons)
