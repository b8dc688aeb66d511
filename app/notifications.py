"""Desktop notifications with buttons, by the freedesktop interface (org.freedesktop.Notifications) over D-Bus.

Only Linux has this; elsewhere, and without a notification daemon, ``connect`` gives None and the tray's own bubble
is used. Two connections, each with a thread: one speaks, in order, so that a slow daemon never holds up a window; one
listens for pressed buttons. No Qt here.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

log = logging.getLogger(__name__)

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
OPEN = "default"
"""The action of a click on the notification itself (freedesktop specification)."""
LISTEN_SECONDS = 0.5
CALL_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Notice:
    """``actions`` are pairs of id and label; ``OPEN`` is added. The same ``key`` replaces what it showed before."""

    key: str
    title: str
    text: str
    actions: Sequence[tuple[str, str]] = ()
    is_urgent: bool = False


OnAction = Callable[[str, str], None]
"""Takes the notice's key and the action's id, in the listener's thread."""


class DesktopNotifier:
    """Speaks to one daemon. ``close`` ends the listening thread."""

    def __init__(self, on_action: OnAction) -> None:
        from jeepney import DBusAddress, MatchRule, message_bus
        from jeepney.io.blocking import open_dbus_connection

        self._address = DBusAddress(PATH, bus_name=NAME, interface=NAME)
        self._on_action = on_action
        self._numbers: dict[str, int] = {}
        self._keys: dict[int, str] = {}
        self._lock = threading.Lock()
        self._speaking = threading.Lock()
        self._to_say: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._reads_markup: bool | None = None
        self._stopping = threading.Event()
        self._speak = open_dbus_connection("SESSION")
        try:
            self._require_daemon()
        except BaseException:
            self._speak.close()
            raise
        self._hear = open_dbus_connection("SESSION")
        rule = MatchRule(type="signal", interface=NAME, path=PATH)
        self._hear.send_and_get_reply(message_bus.AddMatch(rule), timeout=CALL_SECONDS)
        self._threads = [
            threading.Thread(target=self._listen, name="notifications heard", daemon=True),
            threading.Thread(target=self._say_all, name="notifications said", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _require_daemon(self) -> None:
        """Raises KeyError when nobody shows notifications here and none can be started."""
        from jeepney import message_bus

        running = self._speak.send_and_get_reply(message_bus.NameHasOwner(NAME), timeout=CALL_SECONDS).body[0]
        startable = self._speak.send_and_get_reply(message_bus.ListActivatableNames(), timeout=CALL_SECONDS).body[0]
        if not running and NAME not in startable:
            raise KeyError(NAME)

    def show(self, notice: Notice) -> None:
        """Show or replace a notification, soon; a daemon that went away is logged, never raised."""
        self._to_say.put(partial(self._show, notice))

    def withdraw(self, key: str) -> None:
        """Take a notification away: it was dealt with elsewhere."""
        self._to_say.put(partial(self._withdraw, key))

    def _say_all(self) -> None:
        while (say := self._to_say.get()) is not None:
            say()

    def _show(self, notice: Notice) -> None:
        from jeepney import new_method_call

        text = escape(notice.text, quote=False) if self._has_markup() else notice.text
        actions = [word for pair in ((OPEN, ""), *notice.actions) for word in pair]
        hints: Mapping[str, tuple[str, object]] = {"urgency": ("y", 2 if notice.is_urgent else 1)}
        with self._lock:
            before = self._numbers.get(notice.key, 0)
        body = ("agent-hub", before, "agent-hub", notice.title, text, actions, hints, -1)
        call = new_method_call(self._address, "Notify", "susssasa{sv}i", body)
        try:
            with self._speaking:
                number = int(self._speak.send_and_get_reply(call, timeout=CALL_SECONDS).body[0])
        except (OSError, TimeoutError, ValueError, IndexError) as error:
            log.info("a notification could not be shown: %s", type(error).__name__)
            return
        with self._lock:
            self._numbers[notice.key] = number
            self._keys[number] = notice.key

    def _has_markup(self) -> bool:
        """Whether the daemon reads the text as markup: a command with && or <b> must be shown as it is."""
        from jeepney import new_method_call

        if self._reads_markup is None:
            try:
                with self._speaking:
                    reply = self._speak.send_and_get_reply(
                        new_method_call(self._address, "GetCapabilities"), timeout=CALL_SECONDS
                    )
                self._reads_markup = "body-markup" in reply.body[0]
            except (OSError, TimeoutError, IndexError):
                return False  # asked again with the next one
        return self._reads_markup

    def _withdraw(self, key: str) -> None:
        from jeepney import new_method_call

        with self._lock:
            number = self._numbers.pop(key, None)
            if number is not None:
                self._keys.pop(number, None)
        if number is not None:
            with contextlib.suppress(OSError), self._speaking:
                self._speak.send(new_method_call(self._address, "CloseNotification", "u", (number,)))

    def shown(self) -> tuple[str, ...]:
        """Keys of what is on the screen, as far as is known."""
        with self._lock:
            return tuple(self._numbers)

    def close(self) -> None:
        self._stopping.set()
        self._to_say.put(None)
        for thread in self._threads:
            thread.join(LISTEN_SECONDS * 4)
        self._speak.close()
        self._hear.close()

    def _daemon(self) -> str:
        """The bus name of the program that shows notifications now; "" for none."""
        from jeepney import MessageType, message_bus

        try:
            with self._speaking:
                reply = self._speak.send_and_get_reply(message_bus.GetNameOwner(NAME), timeout=CALL_SECONDS)
        except (OSError, TimeoutError):
            return ""
        return str(reply.body[0]) if reply.header.message_type is MessageType.method_return else ""

    def _listen(self) -> None:
        from jeepney import HeaderFields

        while not self._stopping.is_set():
            try:
                message = self._hear.receive(timeout=LISTEN_SECONDS)
            except TimeoutError:
                continue
            except OSError:  # the bus is gone, with it the desktop
                return
            member, sender = (message.header.fields.get(name) for name in (HeaderFields.member, HeaderFields.sender))
            if member not in {"ActionInvoked", "NotificationClosed"} or not message.body:
                continue
            if sender != self._daemon():
                continue  # any program on the bus can send such a signal: it would press Allow by itself
            with self._lock:
                key = self._keys.get(int(message.body[0]))
                if key is not None and member == "NotificationClosed":
                    self._keys.pop(self._numbers.pop(key, 0), None)
            if key is not None and member == "ActionInvoked":
                self._on_action(key, str(message.body[1]))


def connect(on_action: OnAction) -> DesktopNotifier | None:
    """The desktop's notifier, None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        notifier = DesktopNotifier(on_action)
    except (ImportError, OSError, KeyError, TimeoutError, ValueError) as error:
        log.info("no notification daemon: %s", type(error).__name__)
        return None
    return notifier
