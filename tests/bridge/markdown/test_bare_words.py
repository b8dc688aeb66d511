"""Words of code that Telegram would link, and the addresses it should link."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.markdown import render
from bridge.markdown.bare_words import CODE_DOMAINS
from bridge.simulator import tdlib
from tests.markdown.judge import slice_of
from tests.parts import require_module

STEMS = st.text(alphabet="abcXYZ019-_.é", min_size=1, max_size=8)
AROUND = st.sampled_from(
    ["{}", "({})", '"{}"', "{}.", "{}, and", "a/{}", "./{}", "~/{}", "key={}", "C:\\x\\{}", "{}:12", "{}#L3"]
)


@pytest.mark.parametrize("domain", sorted(CODE_DOMAINS))
def test_each_domain_in_the_list_is_one_telegram_links(domain: str) -> None:
    require_module("tdjson")
    assert [entity.type for entity in tdlib.automatic_entities(f"see name.{domain} now")] == ["url"]


@settings(max_examples=400, deadline=None)
@given(STEMS, st.sampled_from(sorted(CODE_DOMAINS)), AROUND)
def test_no_file_name_becomes_a_link_or_a_command(stem: str, ending: str, around: str) -> None:
    require_module("tdjson")
    for part in render("see " + around.format(f"{stem}.{ending}") + " now"):
        message = tdlib.send(part.html)
        code = [(entity.offset, entity.offset + entity.length) for entity in message.entities if entity.type == "code"]
        for entity in tdlib.automatic_entities(message.text):
            linked = slice_of(message.text, entity)
            is_code = any(start < entity.offset + entity.length and entity.offset < end for start, end in code)
            ends_so = re.search(rf"\.{ending}(?![\w.-])", linked)
            assert is_code or entity.type == "email" or (entity.type == "url" and not ends_so), linked


@pytest.mark.parametrize("word", ["example.com", "https://x.dev/main.py", "www.a.io/b.sh", "me@main.py", "пример.рф"])
def test_an_address_is_left_to_telegram(word: str) -> None:
    (part,) = render(f"see {word} now")
    assert "<code>" not in part.html


@pytest.mark.parametrize("word", ["3.14", "e.g.", "v1.2.3", "and/or", "$5", "a.b", "src/net/packet.py", "app.ts"])
def test_what_telegram_does_not_link_stays_text(word: str) -> None:
    (part,) = render(f"see {word} now")
    assert part.html == f"see {word} now"
