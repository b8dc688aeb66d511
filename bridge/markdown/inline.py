"""Inline tokens to text and spans: styles, links, pictures, and the HTML tags Telegram knows. Pure.

One ``Inline`` is one flow of text. It keeps the promise of ``styled``: spans outer before inner, nothing inside code.
A span takes its place in the list when it opens and is filled in when it closes, so the list needs no sorting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.token import Token

from bridge.markdown.clean import expand_tabs
from bridge.markdown.links import is_refused, readable_target, telegram_link
from bridge.markdown.styled import Span, Style

PICTURE = "🖼"
WRAPPED_AT = 64
"""A source line at least this wide was wrapped by its writer: its end is a space. A shorter one is a line."""
_STYLES = {
    f"{name}_{end}": style
    for name, style in (("strong", Style.BOLD), ("em", Style.ITALIC), ("s", Style.STRIKE))
    for end in ("open", "close")
}
_TAG = re.compile(r"<(/?)(b|strong|i|em|u|ins|s|del|strike|code|kbd|br)\s*/?>\Z", re.IGNORECASE)
_TAG_STYLES = {
    "b": Style.BOLD,
    "strong": Style.BOLD,
    "i": Style.ITALIC,
    "em": Style.ITALIC,
    "u": Style.UNDERLINE,
    "ins": Style.UNDERLINE,
    "s": Style.STRIKE,
    "del": Style.STRIKE,
    "strike": Style.STRIKE,
    "code": Style.CODE,
    "kbd": Style.CODE,
}
_DUNDER = re.compile(
    r"(?:a(?:dd|ll|wait)|call|class|contains|del|dict|doc|enter|eq|exit|file|FILE|future|getattr|getitem|hash|init|"
    r"iter|len|LINE|main|module|name|new|next|path|post_init|proto|pycache|repr|setattr|slots|str|version)\Z"
)
_STARS = re.compile(r"[0-9/]\*")
_DIGITS = frozenset("0123456789")
_OPERAND = re.compile(r"[A-Za-z0-9_.]+\Z")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


_NO_PLACES: frozenset[int] = frozenset()


class Inline:
    """Collects one flow of styled text; ``indent`` is put after each line break."""

    __slots__ = (
        "_depths",
        "_is_code",
        "_line_start",
        "_link",
        "_open",
        "_shown",
        "indent",
        "length",
        "pieces",
        "spans",
    )

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.spans: list[Span | None] = []
        self.indent = ""
        self._open: list[tuple[Style, int, int]] = []
        self._depths: dict[Style, int] = {}
        self._link: tuple[str, str, int, int, int] | None = None
        self._is_code = False
        self._shown: list[bool] = []
        self._line_start = 0

    def write(self, text: str) -> None:
        """Add text without a style of its own."""
        self.pieces.append(text)
        self.length += len(text)

    def break_line(self) -> None:
        self.write("\n" + self.indent)
        self._line_start = self.length

    def start_line(self) -> None:
        """A block begins here; from here on the width of its source lines counts."""
        self._line_start = self.length

    def open(self, style: Style) -> None:
        """Begin a style; nested in itself it counts once."""
        depth = self._depths.get(style, 0)
        self._depths[style] = depth + 1
        if depth == 0:
            self._open.append((style, len(self.spans), self.length))
            self.spans.append(None)

    def close(self, style: Style) -> None:
        depth = self._depths.get(style, 0) - 1
        self._depths[style] = depth
        if depth == 0:
            for place in range(len(self._open) - 1, -1, -1):
                if self._open[place][0] is style:
                    _, index, start = self._open.pop(place)
                    if self.length > start:
                        self.spans[index] = Span(start, self.length, style)
                    return

    def code(self, text: str) -> None:
        """Inline code; letter styles pause around it, in the label of a link it is plain text."""
        if not text:
            return
        text = expand_tabs(text)
        if (self._link and self._link[1]) or self._is_code:
            self.write(text)
            return
        if self._open:
            self._pause()
        self.spans.append(Span(self.length, self.length + len(text), Style.CODE))
        self.write(text)
        self._resume()

    def _pause(self) -> None:
        for style, index, start in self._open:
            if self.length > start:
                self.spans[index] = Span(start, self.length, style)

    def _resume(self) -> None:
        for place, (style, _, _) in enumerate(self._open):
            self._open[place] = (style, len(self.spans), self.length)
            self.spans.append(None)

    def add(self, tokens: Sequence[Token], source: str) -> None:
        """Add the children of an inline token; ``source`` is its Markdown."""
        shown = _html_to_show(tokens) if "<" in source else _NO_PLACES
        literal = _literal_marks(tokens) if "__" in source or _STARS.search(source) else _NO_PLACES
        has_address = "://" in source
        for place, token in enumerate(tokens):
            kind = token.type
            if kind == "text":
                content = token.content
                self.pieces.append(content)
                self.length += len(content)
            elif kind == "code_inline":
                self.code(token.content)
            elif place in literal:
                self.write(token.markup)
            elif style := _STYLES.get(kind):
                self._style(style, token, has_address)
            else:
                self._rare(token, place in shown)
                if kind == "html_inline" and self.pieces[-1:] == ["\n" + self.indent]:
                    _trim_start(tokens[place + 1 : place + 2])

    def _style(self, style: Style, token: Token, has_address: bool) -> None:
        """Emphasis marks inside a bare address belong to the address: they stay in view."""
        if token.nesting > 0:
            is_shown = has_address and self._is_in_address()
            self._shown.append(is_shown)
            if is_shown:
                self.write(token.markup)
            if not self._is_code:
                self.open(style)
        else:
            if not self._is_code:
                self.close(style)
            if self._shown and self._shown.pop():
                self.write(token.markup)

    def _is_in_address(self) -> bool:
        text = "".join(self.pieces[-16:])
        return bool(text) and not text[-1].isspace() and "://" in text.rsplit(maxsplit=1)[-1]

    def _rare(self, token: Token, is_shown: bool) -> None:
        match token.type:
            case "softbreak":
                self._soft_break()
            case "link_open":
                self._open_link(str(token.attrs.get("href", "")))
            case "link_close":
                self._close_link()
            case "image":
                self._picture(token)
            case "hardbreak":
                self.break_line()
            case "html_inline" if not is_shown:
                self._tag(token.content)
            case _:
                self.write(token.content)

    def _soft_break(self) -> None:
        if self.length - self._line_start >= WRAPPED_AT:
            self.write(" ")
            self._line_start = self.length
        else:
            self.break_line()

    def _open_link(self, target: str) -> None:
        url = "" if self._is_code else telegram_link(target)
        if url:
            self.spans.append(None)
        self._link = (target, url, self.length, len(self.spans) - 1, len(self.pieces))

    def _close_link(self) -> None:
        if self._link is None:
            return
        target, url, start, index, piece = self._link
        self._link = None
        if self.length == start:
            self.write(readable_target(target))
        elif url:
            self.spans[index] = Span(start, self.length, Style.LINK, url)
            self._line_start -= len(url)
        else:
            self._show_target(target, "".join(self.pieces[piece:]))

    def _show_target(self, target: str, label: str) -> None:
        shown = readable_target(target)
        if shown and shown.removeprefix("mailto:") not in label:
            self.write(f" ({shown})")

    def _picture(self, token: Token) -> None:
        alt = _plain(token.children or [])
        source = str(token.attrs.get("src", ""))
        if self._link is not None:
            self.write(alt.strip() or PICTURE)
            if is_refused(source):
                self._show_target(source, alt)
            return
        label = f"{PICTURE} {alt.strip()}".rstrip()
        url = "" if self._is_code else telegram_link(source)
        if url:
            self.spans.append(Span(self.length, self.length + len(label), Style.LINK, url))
        self.write(label)
        if not url:
            self._show_target(source, alt)

    def _tag(self, content: str) -> None:
        match = _TAG.match(content)
        if match is None:
            self.write(content)
            return
        name = match[2].lower()
        if name == "br":
            self.break_line()
        elif (style := _TAG_STYLES[name]) is Style.CODE:
            self._toggle_code(is_closing=bool(match[1]))
        elif not self._is_code:
            (self.close if match[1] else self.open)(style)

    def _toggle_code(self, *, is_closing: bool) -> None:
        """``<code>`` holds tokens; it gives way in the label of a link, as code from backticks does."""
        if self._link and self._link[1]:
            return
        if is_closing:
            self._is_code = False
            self._depths[Style.CODE] = 0
            _, index, start = self._open.pop()
            if self.length > start:
                self.spans[index] = Span(start, self.length, Style.CODE)
            self._resume()
        else:
            self._pause()
            self._is_code = True
            self._depths[Style.CODE] = 1
            self._open.append((Style.CODE, len(self.spans), self.length))
            self.spans.append(None)


def _plain(tokens: Sequence[Token]) -> str:
    """The words of a picture's description, with the targets a plain parser would have left in view."""
    words = []
    targets: list[str] = []
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            words.append(" ")
        elif token.type == "link_open":
            targets.append(str(token.attrs.get("href", "")))
        elif token.type == "link_close" and targets:
            words.append(_refused_target(targets.pop()))
        elif token.type == "image":
            words.append(_plain(token.children or []) + _refused_target(str(token.attrs.get("src", ""))))
        else:
            words.append(token.content)
    return "".join(words)


def _refused_target(target: str) -> str:
    return f" ({target})" if is_refused(target) else ""


def _trim_start(following: Sequence[Token]) -> None:
    """The tag has broken the line: the blank or line end typed behind it adds nothing."""
    for token in following:
        if token.type == "text":
            token.content = token.content.lstrip(" ")
        elif token.type == "softbreak":
            token.type = "text"


def _literal_marks(tokens: Sequence[Token]) -> frozenset[int]:
    """Places of marks that CommonMark takes for emphasis and that are part of a name, a glob or a product."""
    out: set[int] = set()
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.type in {"strong_open", "em_open"}:
            opened.append(place)
        elif token.type in {"strong_close", "em_close"} and opened:
            start = opened.pop()
            inside = tokens[start + 1 : place]
            after = tokens[place + 1].content[:2] if place + 1 < len(tokens) else ""
            is_literal = _is_name(inside, after) if token.markup == "__" else False
            if token.markup[0] == "*":
                before = tokens[start - 1].content[-1:] if start else ""
                is_literal = _is_glob(inside, after) or _is_product(before, inside, after)
            if is_literal:
                out |= {start, place}
    return frozenset(out)


def _is_name(inside: Sequence[Token], after: str) -> bool:
    """``__init__``, ``__anything__.py``, ``__call__()``."""
    if len(inside) != 1 or inside[0].type != "text":
        return False
    name = inside[0].content
    is_used = after[:1] in {"(", "["} or (after[:1] == "." and after[1:].isalpha())
    return bool(_DUNDER.match(name) or (is_used and _IDENTIFIER.match(name)))


def _is_glob(inside: Sequence[Token], after: str) -> bool:
    """The second star of ``**/*.py and src/**/*.ts`` or ``a/*.c and b/*.h``: between a slash and what it matches."""
    return inside[-1].content.endswith("/") and (after[:1] == "/" or (after[:1] == "." and after[1:].isalnum()))


def _is_product(before: str, inside: Sequence[Token], after: str) -> bool:
    """``2*3*4`` and ``2**n**2``."""
    between = inside[0].content if len(inside) == 1 else ""
    return before in _DIGITS and after[:1] in _DIGITS and bool(_OPERAND.match(between))


def _html_to_show(tokens: Sequence[Token]) -> frozenset[int]:
    """Places of tags to show as typed: unknown ones, unbalanced ones, and those that cross other styles."""
    shown: set[int] = set()
    stack: list[tuple[str, int]] = []
    for place, token in enumerate(tokens):
        if token.type != "html_inline":
            if token.nesting > 0:
                stack.append((token.tag, -1))
            elif token.nesting < 0:
                _unwind(stack, shown)
            continue
        match = _TAG.match(token.content)
        if match is None:
            shown.add(place)
        elif match[2].lower() == "br":
            continue
        elif not match[1]:
            is_nested_code = _is_code(match[2]) and any(at >= 0 and _is_code(name) for name, at in stack)
            if is_nested_code or token.content.endswith("/>"):
                shown.add(place)
            else:
                stack.append((match[2].lower(), place))
        elif stack and stack[-1][1] >= 0 and stack[-1][0] == match[2].lower():
            stack.pop()
        else:
            shown.add(place)
    shown.update(place for _, place in stack if place >= 0)
    return frozenset(shown)


def _unwind(stack: list[tuple[str, int]], shown: set[int]) -> None:
    """A Markdown style ends: tags opened inside it that are still open are not balanced."""
    while stack:
        _, place = stack.pop()
        if place < 0:
            return
        shown.add(place)


def _is_code(name: str) -> bool:
    return name.lower() in {"code", "kbd"}
