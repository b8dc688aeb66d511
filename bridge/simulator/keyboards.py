"""Reads inline keyboards as the Bot API server does, with its refusals. Pure."""

from __future__ import annotations

from typing import Any

from bridge.simulator.chats import Key, Keyboard
from bridge.simulator.errors import (
    BUTTON_DATA_INVALID,
    BUTTON_EMPTY,
    BUTTON_TEXT_ONLY,
    KEYBOARD_SHAPE,
    MARKUP_TOO_LONG,
    bad_request,
)

DATA_LIMIT = 64
"""Bytes of callback_data."""

BUTTON_LIMIT = 100
"""Buttons of a message; undocumented, from python-telegram-bot's constants."""

ROW_LIMIT = 8


def read_keyboard(markup: Any) -> Keyboard:
    """Rows of buttons; () for none. Other kinds of markup are taken and show nothing."""
    if not isinstance(markup, dict) or "inline_keyboard" not in markup:
        return ()
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request(KEYBOARD_SHAPE)
    keyboard = tuple(tuple(_key(item) for item in row) for row in rows if row)
    if sum(len(row) for row in keyboard) > BUTTON_LIMIT or any(len(row) > ROW_LIMIT for row in keyboard):
        raise bad_request(MARKUP_TOO_LONG)
    return keyboard


def _key(item: Any) -> Key:
    if not isinstance(item, dict) or not str(item.get("text", "")).strip():
        raise bad_request(BUTTON_EMPTY)
    label, style = str(item["text"]), str(item.get("style", ""))
    if item.get("url"):
        return Key(label, url=str(item["url"]), style=style)
    if isinstance(item.get("copy_text"), dict):
        return Key(label, copy=str(item["copy_text"].get("text", "")), style=style)
    if "callback_data" not in item:
        raise bad_request(BUTTON_TEXT_ONLY)
    data = str(item["callback_data"])
    if not 1 <= len(data.encode()) <= DATA_LIMIT:
        raise bad_request(BUTTON_DATA_INVALID)
    return Key(label, data=data, style=style)
