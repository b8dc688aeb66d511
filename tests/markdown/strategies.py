"""Markdown as hypothesis makes it: well-formed blocks, and anything at all."""

from __future__ import annotations

from hypothesis import strategies as st

_WORDS = st.sampled_from(
    [
        "word",
        "лес",
        "東京",
        "a",
        "naïve",
        "é",
        "å",
        "👩\u200d👩\u200d👧\u200d👦",
        "🇩🇪",
        "👍🏽",
        "❤️",
        "1️⃣",
        "x<y>z",
        "&amp;",
        "&lt;b",
        "AT&T",
        "5>3",
        "main.py",
        "src/a.py",
        "./run.sh",
        "@types/node",
        "$HOME",
        "https://ex.com/a_b_c?x=1&y=2",
        "__init__.py",
        "snake_case",
        "2*3*4",
        "\\*",
        "\\_x",
        "<Foo>",
        "<b>",
        "</b>",
        "<br>",
        "<!-- c -->",
        "&copy;",
        "&#27;",
        "&#xD800;",
        "\x1b[31mred\x1b[0m",
        "\x07",
        "\t",
        "שלום",
        "**",
        "`",
        "[",
        "](",
        "!",
        "~~",
        "a" * 300,
    ]
)
_TARGETS = st.sampled_from(
    [
        "https://example.com/x?a=1&b=2",
        "http://1.2.3.4:8080/p",
        "src/app.py#L1",
        "#top",
        "mailto:a@b.c",
        "http://localhost:3000",
        "tg://resolve?domain=x",
        "<https://ex.com/a b>",
        "",
        "README.md",
        "https://пример.рф/путь",
        "https://ex.com/" + "p" * 300,
    ]
)
_PLAIN = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)


def _styled(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    marks = st.sampled_from(["**", "*", "_", "__", "~~", "`", "***"])
    return st.one_of(
        st.tuples(marks, inner).map(lambda pair: f"{pair[0]}{pair[1]}{pair[0]}"),
        st.tuples(inner, _TARGETS).map(lambda pair: f"[{pair[0]}]({pair[1]})"),
        st.tuples(inner, _TARGETS).map(lambda pair: f"![{pair[0]}]({pair[1]})"),
        st.tuples(inner, inner).map(" ".join),
        st.tuples(inner, inner).map("".join),
    )


INLINE = st.recursive(_PLAIN, _styled, max_leaves=6)
_LINE = INLINE.map(lambda text: text.replace("\n", " ").strip() or "x")
_CODE_LINES = st.lists(
    st.sampled_from(
        ["x = 1", "    y = 2  # <&>", "\tz", "", "end", "ééééééééééééé", "```inner", "- no list", "   ", "# no heading"]
    ),
    min_size=1,
    max_size=10,
)
_LANGUAGES = st.sampled_from(["", "python", "c++", "objective-c", "{.py}", "js {1,3}", 'py title="a"', "diff", "язык"])


def _fence(language: str, lines: list[str]) -> str:
    return "````" + language + "\n" + "\n".join(lines) + "\n````"


def _list(items: list[str], marker: str) -> str:
    marks = (marker if marker in "-*+" else f"{number}{marker}" for number in range(3, 99))
    return "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=False))


def _table(rows: list[list[str]]) -> str:
    width = len(rows[0])
    lines = ["| " + " | ".join(cell.replace("|", "/") for cell in (row + [""] * width)[:width]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


FENCES = st.builds(_fence, _LANGUAGES, _CODE_LINES)
TABLES = st.lists(st.lists(_LINE, min_size=1, max_size=4), min_size=1, max_size=5).map(_table)
_LEAVES = st.one_of(
    _LINE,
    st.lists(_LINE, min_size=1, max_size=4).map("\n".join),
    st.tuples(st.integers(1, 6), _LINE).map(lambda pair: f"{'#' * pair[0]} {pair[1]}"),
    FENCES,
    st.just("---"),
    st.just("<details>\n<summary>More</summary>\n</details>"),
)


def _indented(text: str) -> str:
    return "\n".join("  " + line if line else "" for line in text.split("\n"))


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map(lambda text: "\n".join("> " + line for line in text.split("\n"))),
        st.tuples(st.lists(inner, min_size=1, max_size=4), st.sampled_from(["-", "*", ".", ")"])).map(
            lambda pair: _list([_indented(item).strip(" ") for item in pair[0]], pair[1])
        ),
        st.tuples(_LINE, st.sampled_from(["[ ] ", "[x] "])).map(lambda pair: f"- {pair[1]}{pair[0]}"),
        st.tuples(inner, inner).map("\n\n".join),
    )


BLOCKS = st.recursive(_LEAVES, _nested, max_leaves=8)
"""One block, maybe of blocks; no tables."""
WELL_FORMED = st.lists(st.one_of(BLOCKS, TABLES), min_size=1, max_size=5).map("\n\n".join)
LONG = st.tuples(st.lists(BLOCKS, min_size=1, max_size=3), st.integers(2, 12)).map(
    lambda pair: "\n\n".join(pair[0] * pair[1])
)
"""Long enough for several messages, most of the time."""
ANYTHING = st.text(
    alphabet=st.one_of(
        st.sampled_from("*_`~[]()<>!#-+.|\\&;:\n \t1aЖ\x00\x1b\r\u2028\u202e\u030a\u200d\ufe0f🇩👩\ud800\udc00"),
        st.characters(exclude_categories=()),
    ),
    max_size=400,
)
_REPEATED = st.tuples(ANYTHING, st.integers(1, 30)).map(lambda pair: pair[0] * pair[1])
MARKDOWN = st.one_of(WELL_FORMED, LONG, ANYTHING, _REPEATED)
