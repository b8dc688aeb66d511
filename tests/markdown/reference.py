"""What CommonMark says is in a document: its letters, and which of them carry which style.

Taken from a bare markdown-it-py with tables and strike-through; shares no code with the renderer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

STYLES = ("bold", "italic", "strike", "code", "pre", "link", "language")
_KNOWN_TAG = re.compile(r"</?(b|strong|i|em|u|ins|s|del|strike|code|kbd|br)\s*/?>\Z", re.IGNORECASE)
_KEPT_LINK = re.compile(r"https?://[^/?#:]*\.[^/?#:]*|tg://", re.IGNORECASE)
_NAME = re.compile(r"(?:init|main|name|file|all|doc|proto|version)\Z")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_.-]{1,32}\Z")


@dataclass
class Reference:
    """``letters`` in reading order; per style a count of each letter; ``fences`` with text in them."""

    letters: str = ""
    styles: dict[str, Counter[str]] = field(default_factory=lambda: {style: Counter() for style in STYLES})
    fences: list[tuple[str, str]] = field(default_factory=list)
    has_table: bool = False
    has_reference: bool = False


def bare_parser() -> MarkdownIt:
    """The parser the renderer is compared with."""
    return MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])


def letters_of(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def reference_of(source: str) -> Reference:
    """Read ``source`` as CommonMark with tables and strike-through."""
    out = Reference()
    parser = bare_parser()
    environment: dict[str, object] = {}
    parts: list[str] = []
    heading = 0
    tokens = parser.parse(unicodedata.normalize("NFC", source), environment)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = 1
        elif token.type == "heading_close":
            heading = 0
        elif token.type == "table_open":
            out.has_table = True
        elif token.type in {"fence", "code_block"}:
            _note_code(out, token, parts)
        elif token.type == "html_block":
            parts.append(token.content)
        elif token.type == "inline":
            children = _without_box(tokens, place)
            parts += [text for text, _ in _inline(children, heading, out)]
    out.letters = letters_of("".join(parts))
    out.has_reference = bool(environment.get("references"))
    return out


def _note_code(out: Reference, token: Token, parts: list[str]) -> None:
    parts.append(token.content)
    letters = Counter(letters_of(token.content))
    out.styles["pre"] += letters
    words = token.info.split()
    language = words[0] if words and _LANGUAGE.match(words[0]) else ""
    if language:
        out.styles["language"] += letters
    if token.content.strip():
        out.fences.append((language, token.content))


def _without_box(tokens: Sequence[Token], place: int) -> Sequence[Token]:
    """The words behind a task box; the box itself becomes a mark."""
    children = tokens[place].children or []
    is_item = place >= 2 and tokens[place - 2].type == "list_item_open"
    if is_item and children and children[0].type == "text" and children[0].content[:4] in {"[ ] ", "[x] ", "[X] "}:
        children[0].content = children[0].content[4:]
    return children


def _inline(tokens: Sequence[Token], heading: int, out: Reference) -> Iterator[tuple[str, None]]:
    depth = Counter({"strong": heading})
    link: list[bool] = []
    for place, token in enumerate(tokens):
        if token.nesting > 0 and _is_literal(tokens, place):
            depth[token.tag] -= 1
        elif token.nesting < 0 and _is_literal(tokens, place - 2):
            depth[token.tag] += 1
        elif token.type == "link_open":
            link.append(bool(_KEPT_LINK.match(str(token.attrs.get("href", "")))))
        elif token.type == "link_close":
            link.pop()
        elif token.nesting:
            depth[token.tag] += token.nesting
        else:
            text = _words(token)
            is_code = token.type == "code_inline" and not (link and link[-1])
            _count(out, text, depth, is_code=is_code, is_link=bool(link) and link[-1])
            yield text, None


def _is_literal(tokens: Sequence[Token], place: int) -> bool:
    """``__init__`` and its kin, and ``2*3*4``: emphasis to CommonMark, left as typed by the renderer."""
    if place < 0 or len(tokens) < place + 3:
        return False
    first, name, last = tokens[place : place + 3]
    if first.nesting <= 0 or last.nesting >= 0:
        return False
    if first.markup == "__" == last.markup:
        return bool(_NAME.match(name.content))
    before = tokens[place - 1].content[-1:] if place else ""
    after = tokens[place + 3].content[:1] if len(tokens) > place + 3 else ""
    return (
        first.markup == last.markup in {"*", "**"}
        and (before + name.content + after).isdecimal()
        and bool(before and after)
    )


def _count(out: Reference, text: str, depth: Counter[str], *, is_code: bool, is_link: bool) -> None:
    letters = Counter(letters_of(text))
    if is_link:
        out.styles["link"] += letters
    if is_code:
        out.styles["code"] += letters
        return
    for tag, style in (("strong", "bold"), ("em", "italic"), ("s", "strike")):
        if depth[tag] > 0:
            out.styles[style] += letters


def _words(token: Token) -> str:
    if token.type == "image":
        return "".join(_words(child) for child in token.children or [])
    if token.type == "html_inline" and _KNOWN_TAG.match(token.content):
        return ""
    return token.content
