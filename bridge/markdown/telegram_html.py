"""The emitter for Telegram's parse_mode=HTML: tags come from the tree only, all text is escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from bridge.markdown.styled import Span, Style

_TAGS = {
    Style.BOLD: ("<b>", "</b>"),
    Style.ITALIC: ("<i>", "</i>"),
    Style.UNDERLINE: ("<u>", "</u>"),
    Style.STRIKE: ("<s>", "</s>"),
    Style.CODE: ("<code>", "</code>"),
    Style.PRE: ("<pre>", "</pre>"),
    Style.QUOTE: ("<blockquote>", "</blockquote>"),
    Style.EXPANDABLE: ("<blockquote expandable>", "</blockquote>"),
}


def escape(text: str) -> str:
    """Text for between tags. Only these references are known to Telegram; a quote needs none here."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def emit(text: str, spans: Iterable[Span], start: int, end: int) -> str:
    """HTML of ``text[start:end]``: what a range cut off by the slice loses, it gets back by closing and reopening."""
    out: list[str] = []
    open_tags: list[tuple[int, str]] = []
    position = start
    for begin, finish, style, value in spans:
        begin, finish = max(begin, start), min(finish, end)  # noqa: PLW2901 - the slice of the span
        if begin >= finish:
            continue
        while open_tags and open_tags[-1][0] <= begin:
            closes, tag = open_tags.pop()
            out.append(escape(text[position:closes]) + tag)
            position = closes
        before, after = _TAGS[style] if not value else _valued(style, value)
        out.append(escape(text[position:begin]) + before)
        position = begin
        open_tags.append((finish, after))
    while open_tags:
        closes, tag = open_tags.pop()
        out.append(escape(text[position:closes]) + tag)
        position = closes
    out.append(escape(text[position:end]))
    return "".join(out)


def _valued(style: Style, value: str) -> tuple[str, str]:
    quoted = escape(value).replace('"', "&quot;")
    if style is Style.LINK:
        return f'<a href="{quoted}">', "</a>"
    return f'<pre><code class="language-{quoted}">', "</code></pre>"
