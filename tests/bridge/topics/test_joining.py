"""Which messages belong together, and that nothing else is delayed."""

from __future__ import annotations

from bridge.commands.parsing import literal, nearest, parse_command
from bridge.inbound import FileKind, IncomingFile, IncomingMessage, Person, Place
from bridge.topics.joining import Joiner

ANNA, OLEG = Person(501), Person(502)


def message(number: int, text: str = "", *, album: str = "", person: Person = ANNA) -> IncomingMessage:
    files = (IncomingFile(FileKind.PHOTO, f"F{number}"),) if album else ()
    return IncomingMessage(number, Place(-1, 7), number, person, 0.0, text, files=files, album_id=album)


def test_a_short_text_passes_at_once() -> None:
    (said,) = Joiner().add(message(1, "hello"), 0.0)
    assert said.text == "hello"


def test_an_album_is_complete_a_second_after_its_last_member() -> None:
    joiner = Joiner()
    assert joiner.add(message(51, album="g"), 0.0) == []
    assert joiner.add(message(52, "caption", album="g"), 0.65) == []
    assert joiner.ripe(1.6) == []
    (said,) = joiner.ripe(1.65)
    assert [file.file_id for file in said.files] == ["F51", "F52"]
    assert said.text == "caption"


def test_members_that_come_in_the_wrong_order_are_put_right() -> None:
    joiner = Joiner()
    joiner.add(message(52, album="g"), 0.0)
    joiner.add(message(51, album="g"), 0.1)
    assert joiner.ripe(2.0)[0].message_id == 51


def test_two_albums_stay_two() -> None:
    joiner = Joiner()
    joiner.add(message(51, album="g"), 0.0)
    joiner.add(message(52, album="h"), 0.1)
    assert len(joiner.ripe(5.0)) == 2


def test_pieces_of_a_long_paste_are_put_together_without_a_gap() -> None:
    joiner = Joiner()
    assert joiner.add(message(1, "x" * 4096), 0.0) == []
    (said,) = joiner.add(message(2, "y" * 10), 0.2)
    assert said.text == "x" * 4096 + "y" * 10


def test_a_piece_that_was_cut_at_a_line_gets_its_line_back() -> None:
    joiner = Joiner()
    joiner.add(message(1, "x" * 4000), 0.0)
    (said,) = joiner.add(message(2, "next line"), 0.2)
    assert said.text == "x" * 4000 + "\nnext line"


def test_a_long_text_that_stays_alone_passes_after_a_second() -> None:
    joiner = Joiner()
    joiner.add(message(1, "x" * 4000), 0.0)
    assert joiner.due == 1.0
    assert len(joiner.ripe(1.0)) == 1


def test_another_persons_text_is_not_glued_to_a_paste_and_keeps_its_place() -> None:
    joiner = Joiner()
    joiner.add(message(1, "x" * 4000), 0.0)
    assert joiner.add(message(2, "hi", person=OLEG), 0.1) == []
    assert [said.sender.id for said in joiner.ripe(1.0)] == [501, 502]


def test_length_counts_as_telegram_counts() -> None:
    assert Joiner().add(message(1, "😀" * 1960), 0.0) == []


def test_an_edit_of_a_member_that_still_waits_is_taken() -> None:
    joiner = Joiner()
    joiner.add(message(51, "old", album="g"), 0.0)
    assert joiner.replace(message(51, "new", album="g"))
    assert joiner.ripe(2.0)[0].text == "new"


def test_commands_and_texts_that_begin_with_a_slash_are_told_apart() -> None:
    command = parse_command("/new@our_bot codex shop")
    assert command is not None
    assert (command.name, command.bot, command.arguments) == ("new", "our_bot", "codex shop")
    assert parse_command("/usr/bin/env") is None
    assert parse_command("//stop") is None
    assert parse_command("/") is None
    assert parse_command(" /stop") is None
    assert literal("//stop") == "/stop"


def test_an_agents_command_may_hold_colons_and_dashes() -> None:
    command = parse_command("/mcp:code-review now")
    assert command is not None
    assert command.name == "mcp:code-review"


def test_arguments_may_go_over_lines() -> None:
    command = parse_command("/deny\nbecause of this")
    assert command is not None
    assert command.arguments == "because of this"


def test_the_nearest_names_are_found() -> None:
    assert nearest("statsu", ["status", "stop", "new"])[0] == "status"
    assert nearest("qqqq", ["status", "stop", "new"]) == []
