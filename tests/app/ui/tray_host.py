"""A tray host on the session bus: the watcher that icons register with, and a reader of their menus (jeepney only)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
    new_method_return,
)
from jeepney.io.blocking import open_dbus_connection

NAME = "org.kde.StatusNotifierWatcher"
WAIT = 60.0


class TrayHost:
    """Owns the watcher's name while the block runs; ``items`` are the icons that registered."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self._stopping = threading.Event()
        self._watch = open_dbus_connection("SESSION")
        self._look = open_dbus_connection("SESSION")
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._watch.send_and_get_reply(message_bus.RequestName(NAME, 0))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(5)
        self._watch.close()
        self._look.close()

    def _serve(self) -> None:
        while not self._stopping.is_set():
            try:
                message = self._watch.receive(timeout=0.2)
            except TimeoutError:
                continue
            if message.header.message_type is MessageType.method_call:
                self._answer(message)

    def _answer(self, message: Any) -> None:
        fields = message.header.fields
        member, sender = fields.get(HeaderFields.member), fields.get(HeaderFields.sender)
        facts = {
            "IsStatusNotifierHostRegistered": ("b", True),
            "ProtocolVersion": ("i", 0),
            "RegisteredStatusNotifierItems": ("as", self.items),
        }
        if member == "RegisterStatusNotifierItem":
            told = message.body[0]
            self.items.append(sender if told.startswith("/") else told)
            reply = new_method_return(message)
        elif member == "Get":
            reply = new_method_return(message, "v", (facts[message.body[1]],))
        elif member == "GetAll":
            reply = new_method_return(message, "a{sv}", (facts,))
        else:
            reply = new_method_return(message)
        self._watch.send(reply)

    # --- what a person would see

    def wait_for_icon(self) -> str:
        """The bus name of the first icon."""
        return wait_until(lambda: self.items[0] if self.items else "", "no icon registered")

    def property(self, icon: str, name: str) -> Any:
        address = DBusAddress("/StatusNotifierItem", icon, "org.kde.StatusNotifierItem")
        return self._look.send_and_get_reply(Properties(address).get(name), timeout=20).body[0][1]

    def menu(self, icon: str) -> dict[str, int]:
        """The menu's entries by their text; separators are left out."""
        address = DBusAddress("/MenuBar", icon, "com.canonical.dbusmenu")
        call = new_method_call(address, "GetLayout", "iias", (0, -1, []))
        _revision, (_root, _facts, children) = self._look.send_and_get_reply(call, timeout=20).body
        entries = {}
        for _type, (number, facts, _below) in children:
            if "label" in facts:
                entries[str(facts["label"][1]).replace("_", "")] = int(number)
        return entries

    def click(self, icon: str, text: str) -> None:
        """Choose a menu entry."""
        address = DBusAddress("/MenuBar", icon, "com.canonical.dbusmenu")
        call = new_method_call(address, "Event", "isvu", (self.menu(icon)[text], "clicked", ("s", ""), 0))
        self._look.send_and_get_reply(call, timeout=20)


def wait_until(look: Callable[[], Any], why: str) -> Any:
    """The first true value of ``look``; fails with ``why``."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(why)
