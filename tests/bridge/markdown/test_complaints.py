"""What users of similar tools met: small inputs, and what has to come out. All judged by TDLib."""

from __future__ import annotations

import pytest

from bridge.markdown import render, utf16_length
from bridge.simulator import tdlib
from bridge.simulator.tdlib import Sent
from tests.markdown.judge import slice_of
from tests.parts import require_module


@pytest.fixture(autouse=True, scope="module")
def _oracle() -> None:
    require_module("tdjson")


def sent(source: str) -> list[Sent]:
    return [tdlib.send(part.html) for part in render(source)]


def kinds(message: Sent, kind: str) -> list[str]:
    return [slice_of(message.text, entity) for entity in message.entities if entity.type == kind]


def test_a_fence_of_four_ticks_keeps_the_fence_inside() -> None:
    (message,) = sent("Файл:\n\n````md\n# T\n```py\nprint('x < y')\n```\ntail & end\n````\n\nПосле **жирный**.\n")
    assert kinds(message, "pre") == ["# T\n```py\nprint('x < y')\n```\ntail & end"]
    assert kinds(message, "bold") == ["жирный"]


def test_words_in_angle_brackets_arrive() -> None:
    source = "**Author: Ann <ann.lee@example.test>** wrote `Map<String, List<Int>>`; use <key> and </x>. 3 <4 && 5> 2"
    (message,) = sent(source)
    plain = source.replace("*", "").replace("`", "")
    assert message.text == plain.replace("<ann.lee@example.test>", "ann.lee@example.test")
    assert kinds(message, "text_link") == []


def test_no_message_ends_inside_a_character() -> None:
    source = "a" * 4095 + "😀" + "b" * 10 + "👩‍👩‍👧" + "c" * 4090 + "🇫🇮" * 3
    parts = render(source)
    assert "".join(part.text for part in parts) == source
    assert all(utf16_length(part.text) <= 4096 for part in parts)


def test_a_link_at_the_edge_keeps_its_address() -> None:
    url = "https://example.test/a_(b)/c?q=1&r=2"
    messages = sent("x" * 4070 + f" [a rather long label for the link]({url})" + " tail" * 40)
    links = [entity for message in messages for entity in message.entities if entity.type == "text_link"]
    assert {entity.extra["url"] for entity in links} == {url}
    assert "".join(kinds(message, "text_link")[0] for message in messages if kinds(message, "text_link")).replace(
        " ", ""
    ) == "a rather long label for the link".replace(" ", "")


def test_links_telegram_can_not_open_show_where_they_lead() -> None:
    (message,) = sent(
        "See [main](src/app/main.py#L10), [win](file:///C:/Temp/a%20b.txt), [dev](http://localhost:5173/), "
        "[top](#top), [ed](vscode://file/x.py:3), [empty]() and [ok](https://example.test/ok)."
    )
    assert kinds(message, "text_link") == ["ok"]
    for target in (
        "src/app/main.py#L10",
        "file:///C:/Temp/a%20b.txt",
        "http://localhost:5173/",
        "#top",
        "vscode://file/x.py:3",
    ):
        assert f"({target})" in message.text
    assert "empty and ok." in message.text


def test_blanks_after_a_fence_make_no_message_and_no_long_entity() -> None:
    (message,) = sent("Done:\n\n```sh\nmake test\n```\n\n\n   \n")
    assert message.text == "Done:\nmake test"
    assert kinds(message, "pre") == ["make test"]


def test_underscores_in_names_and_addresses_are_no_emphasis() -> None:
    source = (
        "Open https://example.test/get_user_by_id_v2?x_y=1_2 then set my_var_name and SOME_CONST_NAME=1; "
        "file test__init__.py and a_b_; `x_y_z` stays code"
    )
    (message,) = sent(source)
    assert kinds(message, "italic") == kinds(message, "bold") == []
    assert message.text == source.replace("`", "")


def test_a_list_keeps_its_numbers_its_levels_and_the_fence_in_it() -> None:
    (message,) = sent(
        "3. third\n   ```sh\n   echo hi\n   ```\n   - sub\n     1. deep\n     2. deeper\n4. fourth\n\n"
        "- [x] ready\n- [ ] open\n"
    )
    assert message.text == (
        "3. third\necho hi\n   ◦ sub\n      1. deep\n      2. deeper\n4. fourth\n\n✅ ready\n⬜ open"
    )
    assert kinds(message, "pre") == ["echo hi"]


def test_a_reply_of_40_000_letters_arrives_whole() -> None:
    source = "letters " * 5_000
    assert " ".join(part.text for part in render(source)) == source.strip()


def test_a_character_that_an_agent_tore_in_two_arrives_whole() -> None:
    (message,) = sent("done \ud83c" + "\udf89 and \ud83d alone")
    assert message.text == "done 🎉 and \ufffd alone"
