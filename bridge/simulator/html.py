"""Our own strict reader of Telegram's HTML, for places where TDLib is not installed. Pure.

Follows TDLib's parser byte by byte: the same tags, the same forgiveness, the same sentences of error with the same
byte offsets. What sending does to the result afterwards is in ``entities``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bridge.simulator.chats import Entity
from bridge.simulator.errors import ApiError, bad_request
from bridge.simulator.links import checked_link, mentioned_user

TAGS = {
    b"b": "bold",
    b"strong": "bold",
    b"i": "italic",
    b"em": "italic",
    b"s": "strikethrough",
    b"strike": "strikethrough",
    b"del": "strikethrough",
    b"u": "underline",
    b"ins": "underline",
    b"tg-spoiler": "spoiler",
    b"span": "spoiler",
    b"a": "text_link",
    b"pre": "pre",
    b"code": "code",
    b"blockquote": "blockquote",
    b"tg-emoji": "custom_emoji",
    b"tg-time": "date_time",
}
NAMED = {b"lt": "<", b"gt": ">", b"amp": "&", b"quot": '"'}
BLANKS = b" \t\r\n\0\x0b"
WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
DIGITS = frozenset(b"0123456789")
HEX = frozenset(b"0123456789abcdefABCDEF")
END = 0


def refuse(text: str) -> ApiError:
    return bad_request(f"can't parse entities: {text}")


@dataclass(slots=True)
class _Open:
    """A tag that waits for its end; ``start`` in UTF-16 units, ``at`` an index into the text."""

    tag: bytes
    argument: str
    start: int
    at: int
    format: str = ""


def utf16(text: str) -> int:
    """Length in UTF-16 units, as Telegram counts entities."""
    return len(text) + sum(char > "\uffff" for char in text)


class _Reader:
    def __init__(self, html: str) -> None:
        self._data = html.encode()
        self._at = 0
        self._out: list[str] = []
        self._units = 0
        self._open: list[_Open] = []
        self._found: list[Entity] = []

    def read(self) -> tuple[str, tuple[Entity, ...]]:
        while self._at < len(self._data):
            byte = self._data[self._at]
            if byte == ord("&") and (char := self._reference()):
                self._write(char)
            elif byte != ord("<"):
                self._plain()
            elif self._peek(1) == ord("/"):
                self._end_tag()
            else:
                self._start_tag()
        if self._open:
            name = self._open[-1].tag.decode()
            raise refuse(f'Can\'t find end tag corresponding to start tag "{name}"')
        bare = [replace(item, extra=()) if item.type == "code" else item for item in self._found]
        return "".join(self._out), tuple(sorted(bare, key=lambda item: (item.offset, -item.length)))

    def _peek(self, ahead: int = 0) -> int:
        at = self._at + ahead
        return self._data[at] if at < len(self._data) else END

    def _write(self, text: str) -> None:
        self._out.append(text)
        self._units += utf16(text)

    def _plain(self) -> None:
        """Everything up to the next mark that may mean something."""
        end = self._at + 1
        while end < len(self._data) and self._data[end] not in b"&<":
            end += 1
        self._write(self._data[self._at : end].decode())
        self._at = end

    def _reference(self) -> str:
        """The character of a reference, "" when it is none; moves on only when it is one."""
        end = self._at + 1
        if self._peek(1) == ord("#"):
            end += 1
            base, digits = 10, DIGITS
            if self._peek(2) in b"xX":
                end, base, digits = end + 1, 16, HEX
            start = end
            while end < len(self._data) and self._data[end] in digits:
                end += 1
            code = int(self._data[start:end] or b"0", base)
            if code == 0 or code >= 0x10FFFF or end - self._at >= 10:
                return ""
            if 0xD800 <= code <= 0xDFFF:
                raise refuse(
                    "Text contains invalid Unicode characters after decoding HTML entities, "
                    "check for unmatched surrogate code units"
                )
            char = chr(code)
        else:
            while end < len(self._data) and self._data[end] in WORD:
                end += 1
            char = NAMED.get(self._data[self._at + 1 : end], "")
        if char:
            self._at = end + (end < len(self._data) and self._data[end] == ord(";"))
        return char

    def _skip_blanks(self) -> None:
        while self._at < len(self._data) and self._data[self._at] in BLANKS:
            self._at += 1

    def _word_until(self, stops: bytes) -> bytes:
        start = self._at
        while self._at < len(self._data) and self._data[self._at] not in stops:
            self._at += 1
        return self._data[start : self._at]

    def _start_tag(self) -> None:
        begin = self._at
        self._at += 1
        tag = self._word_until(BLANKS + b">").lower()
        if self._peek() == END:
            raise refuse(f"Unclosed start tag at byte offset {begin}")
        if tag not in TAGS:
            raise refuse(f'Unsupported start tag "{tag.decode("utf-8", "replace")}" at byte offset {begin}')
        opened = _Open(tag, "", self._units, len(self._out))
        while self._peek() != ord(">"):
            self._skip_blanks()
            if self._peek() == ord(">"):
                break
            name, value = self._attribute(tag, begin)
            _note_attribute(opened, name, value)
        if tag == b"span" and opened.argument != "spoiler":
            raise refuse(f'Tag "span" must have class "tg-spoiler" at byte offset {begin}')
        self._at += 1
        self._open.append(opened)

    def _attribute(self, tag: bytes, begin: int) -> tuple[bytes, str]:
        unclosed = refuse(f'Unclosed start tag "{tag.decode()}" at byte offset {begin}')
        name = self._word_until(BLANKS + b"=>/\"'")
        if not name:
            if self._peek() == END:
                raise unclosed
            raise refuse(f'Empty attribute name in the tag "{tag.decode()}" at byte offset {begin}')
        self._skip_blanks()
        if self._peek() == END:
            raise unclosed
        if self._peek() != ord("="):
            return name, ""
        self._at += 1
        self._skip_blanks()
        if self._peek() == END:
            raise unclosed
        value = self._quoted() if self._peek() in b"\"'" else self._token()
        if self._peek() == END:
            raise refuse(f"Unclosed start tag at byte offset {begin}")
        return name, value

    def _token(self) -> str:
        start = self._at
        while self._peek() in WORD or self._peek() in DIGITS or self._peek() in b".-":
            self._at += 1
        if self._peek() not in BLANKS + b">":
            raise refuse(f"Unexpected end of name token at byte offset {start}")
        return self._data[start : self._at].decode().lower()

    def _quoted(self) -> str:
        mark = self._peek()
        self._at += 1
        out: list[str] = []
        while self._at < len(self._data) and self._data[self._at] != mark:
            if self._data[self._at] == ord("&") and (char := self._reference()):
                out.append(char)
                continue
            start = self._at
            self._at += 1
            while self._at < len(self._data) and self._data[self._at] not in (mark, ord("&")):
                self._at += 1
            out.append(self._data[start : self._at].decode())
        self._at += self._at < len(self._data)
        return "".join(out)

    def _end_tag(self) -> None:
        begin = self._at
        if not self._open:
            raise refuse(f"Unexpected end tag at byte offset {begin}")
        self._at += 2
        name = self._word_until(BLANKS + b">").lower()
        self._skip_blanks()
        if self._peek() != ord(">"):
            raise refuse(f"Unclosed end tag at byte offset {begin}")
        self._at += 1
        opened = self._open.pop()
        if name and name != opened.tag:
            expected, found = opened.tag.decode(), name.decode("utf-8", "replace")
            raise refuse(f'Unmatched end tag at byte offset {begin}, expected "</{expected}>", found "</{found}>"')
        if self._units > opened.start:
            self._close(opened)

    def _close(self, opened: _Open) -> None:
        kind, length = TAGS[opened.tag], self._units - opened.start
        made = Entity(kind, opened.start, length)
        if kind == "text_link":
            made = self._link(made, opened.argument or "".join(self._out[opened.at :]))
        elif kind == "blockquote" and opened.argument:
            made = replace(made, type="expandable_blockquote")
        elif kind in {"pre", "code"}:
            made = self._code(made, opened.argument)
        elif kind == "custom_emoji":
            if not opened.argument.isdigit() or int(opened.argument) == 0:
                raise refuse("Invalid custom emoji identifier specified")
            made = replace(made, extra=(("custom_emoji_id", opened.argument),))
        elif kind == "date_time":
            made = _time(made, opened)
        if made.type:
            self._found.append(made)

    def _link(self, made: Entity, url: str) -> Entity:
        user = mentioned_user(url)
        if user:
            return replace(made, type="text_mention", extra=(("user_id", user),))
        url = checked_link(url)
        return replace(made, extra=(("url", url),)) if url else replace(made, type="")

    def _code(self, made: Entity, language: str) -> Entity:
        """A code and a pre of one extent become a pre with the code's language, whichever is outside."""
        last = self._found[-1] if self._found else None
        if last is not None and (last.offset, last.length) == (made.offset, made.length):
            if made.type == "pre" and last.type == "code" and last.extra:
                self._found[-1] = replace(last, type="pre")
                return replace(made, type="")
            if made.type == "code" and last.type == "pre" and language:
                self._found[-1] = replace(last, extra=(("language", language),))
                return replace(made, type="")
        if made.type == "code" and language:
            return replace(made, extra=(("language", language),))
        return made


def _note_attribute(opened: _Open, name: bytes, value: str) -> None:
    tag = opened.tag
    if (tag, name) in {(b"a", b"href"), (b"tg-emoji", b"emoji-id"), (b"tg-time", b"unix")}:
        opened.argument = value
    elif tag == b"code" and name == b"class" and value.startswith("language-"):
        opened.argument = value[9:]
    elif tag == b"span" and name == b"class" and value.startswith("tg-"):
        opened.argument = value[3:]
    elif tag == b"blockquote" and name == b"expandable":
        opened.argument = "1"
    elif tag == b"tg-time" and name == b"format":
        opened.format = value


def _time(made: Entity, opened: _Open) -> Entity:
    if any(letter not in "rwdDtT" for letter in opened.format) or ("r" in opened.format and opened.format != "r"):
        raise refuse("Invalid date format used")
    if not opened.argument.isdigit() or int(opened.argument) == 0:
        return replace(made, type="")
    stamp: tuple[str, object] = ("unix_time", int(opened.argument))
    return replace(made, extra=(("date_time_format", opened.format), stamp) if opened.format else (stamp,))


def read_html(html: str) -> tuple[str, tuple[Entity, ...]]:
    """Text and entities as TDLib's parseTextEntities gives them; raises ApiError with its sentence."""
    return _Reader(html).read()
