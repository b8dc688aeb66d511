"""Notifications with buttons, over a real session bus to a daemon that notes what it was told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_method_return, new_signal
from jeepney.io.blocking import open_dbus_connection

from app.notifications import NAME, OPEN, PATH, DesktopNotifier, Notice, connect
from tests.parts import require_session_bus

pytestmark = pytest.mark.system


class Daemon:
    """The notification server of a desktop, as small as it can be."""

    def __init__(self) -> None:
        self.shown: list[tuple[Any, ...]] = []
        self.closed: list[int] = []
        self.capabilities: list[str] = []
        self._number = 40
        self._stopping = threading.Event()
        self._bus = open_dbus_connection("SESSION")
        self._bus.send_and_get_reply(message_bus.RequestName(NAME, 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._stopping.is_set():
            try:
                message = self._bus.receive(timeout=0.1)
            except TimeoutError:
                continue
            if message.header.message_type is not MessageType.method_call:
                continue
            member = message.header.fields.get(HeaderFields.member)
            if member == "Notify":
                self._number = message.body[1] or self._number + 1
                self.shown.append((self._number, *message.body))
                self._bus.send(new_method_return(message, "u", (self._number,)))
            elif member == "GetCapabilities":
                self._bus.send(new_method_return(message, "as", (["actions", *self.capabilities],)))
            else:
                if member == "CloseNotification":
                    self.closed.append(message.body[0])
                self._bus.send(new_method_return(message))

    def first(self) -> tuple[Any, ...]:
        """What was shown first, once it is."""
        wait(lambda: self.shown)
        return self.shown[0]

    def press(self, number: int, action: str) -> None:
        emitter = DBusAddress(PATH, interface=NAME)
        self._bus.send(new_signal(emitter, "ActionInvoked", "us", (number, action)))

    def stop_answering(self) -> None:
        self._stopping.set()
        self._thread.join(2)

    def stop(self) -> None:
        self.stop_answering()
        self._bus.close()


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    require_session_bus()
    made = Daemon()
    yield made
    made.stop()


@pytest.fixture
def pressed() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def notifier(daemon: Daemon, pressed: list[tuple[str, str]]) -> Iterator[DesktopNotifier]:
    made = connect(lambda key, action: pressed.append((key, action)))
    assert made is not None
    yield made
    made.close()


def wait(look: Any) -> None:
    deadline = time.monotonic() + 5
    while not look() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert look()


def test_a_request_is_shown_with_its_buttons(notifier: DesktopNotifier, daemon: Daemon) -> None:
    notifier.show(Notice("a1", "Claude Code asks", "make test", (("allow", "Allow"), ("deny", "Deny"))))
    assert daemon.first()[4:7] == ("Claude Code asks", "make test", [OPEN, "", "allow", "Allow", "deny", "Deny"])


def test_a_pressed_button_names_its_request(
    notifier: DesktopNotifier, daemon: Daemon, pressed: list[tuple[str, str]]
) -> None:
    notifier.show(Notice("a1", "t", "x", (("deny", "Deny"),)))
    daemon.press(daemon.first()[0], "deny")
    wait(lambda: pressed == [("a1", "deny")])


def test_a_signal_from_another_program_presses_nothing(
    notifier: DesktopNotifier, daemon: Daemon, pressed: list[tuple[str, str]]
) -> None:
    notifier.show(Notice("a1", "t", "x", (("allow", "Allow"),)))
    stranger = open_dbus_connection("SESSION")
    stranger.send(new_signal(DBusAddress(PATH, interface=NAME), "ActionInvoked", "us", (daemon.first()[0], "allow")))
    stranger.close()
    daemon.press(daemon.first()[0], OPEN)
    wait(lambda: pressed)
    assert pressed == [("a1", OPEN)]


def test_what_was_decided_elsewhere_is_taken_away(notifier: DesktopNotifier, daemon: Daemon) -> None:
    notifier.show(Notice("a1", "t", "x"))
    notifier.withdraw("a1")
    wait(lambda: daemon.closed == [daemon.first()[0]])
    assert notifier.shown() == ()


def test_the_same_key_replaces_its_notification(notifier: DesktopNotifier, daemon: Daemon) -> None:
    notifier.show(Notice("a1", "t", "one"))
    notifier.show(Notice("a1", "t", "two"))
    wait(lambda: len(daemon.shown) == 2)
    assert daemon.shown[1][0] == daemon.shown[0][0]


@pytest.mark.parametrize(("capabilities", "shown"), [(["body-markup"], "a &amp;&amp; &lt;b&gt;"), ([], "a && <b>")])
def test_a_command_is_shown_as_it_is_by_daemons_with_and_without_markup(
    notifier: DesktopNotifier, daemon: Daemon, capabilities: list[str], shown: str
) -> None:
    daemon.capabilities = capabilities
    notifier.show(Notice("a1", "t", "a && <b>"))
    assert daemon.first()[5] == shown


def test_a_daemon_that_does_not_answer_holds_nobody_up(
    notifier: DesktopNotifier, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.notifications.CALL_SECONDS", 0.2)
    daemon.stop_answering()
    begun = time.monotonic()
    for number in range(20):
        notifier.show(Notice(f"a{number}", "t", "x"))
    assert time.monotonic() - begun < 0.2


def test_a_bus_without_a_daemon_gives_no_notifier() -> None:
    require_session_bus()
    assert connect(lambda _key, _action: None) is None


def test_without_a_bus_there_is_no_notifier_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nonexistent")
    assert connect(lambda _key, _action: None) is None
