"""Markdown as hypothesis makes it: well-formed blocks, and anything at all.

Blocks are written by a random writer from a seed and a size: thousands of cases in the time hypothesis would need to
draw dozens piece by piece. A failing case shrinks by its size and its seed.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

WORDS = (
    *("word", "лес", "東京", "a", "naïve", "e\u0301", "a\u030a", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "1️⃣", "שלום", "a" * 300),
    *("x<y>z", "&amp;", "&lt;b", "AT&T", "5>3", "&copy;", "&#27;", "&#xD800;", "\x1b[31mred\x1b[0m", "\x07", "\t"),
    *("main.py", "src/a.py", "./run.sh", "@types/node", "$HOME", "https://ex.com/a_b_c?x=1&y=2", "__init__.py"),
    *(
        "snake_case",
        "2*3*4",
        "\\*",
        "\\_x",
        "<Foo>",
        "<b>",
        "</b>",
        "<br>",
        "<!-- c -->",
        "**",
        "`",
        "[",
        "](",
        "!",
        "~~",
    ),
)
TARGETS = (
    *("https://example.com/x?a=1&b=2", "http://1.2.3.4:8080/p", "tg://resolve?domain=x", "https://пример.рф/путь"),
    *("src/app.py#L1", "#top", "mailto:a@b.c", "http://localhost:3000", "<https://ex.com/a b>", "", "README.md"),
    "https://ex.com/" + "p" * 300,
)
CODE_LINES = ("x = 1", "    y = 2  # <&>", "\tz", "", "end", "é" * 40, "```inner", "- no list", "   ", "# no heading")
LANGUAGES = ("", "python", "c++", "objective-c", "{.py}", "js {1,3}", 'py title="a"', "diff", "язык")
MARKS = ("**", "*", "_", "__", "~~", "`", "***")


class Writer:
    """Writes random Markdown; ``size`` bounds how much and how deep."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = Random(seed)
        self.size = size

    def text(self, depth: int = 2) -> str:
        choice = self.random.randrange(6) if depth else 0
        if choice <= 1:
            return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 2 + self.size)))
        inner = self.text(depth - 1)
        if choice == 2:
            mark = self.random.choice(MARKS)
            return f"{mark}{inner}{mark}"
        if choice in {3, 4}:
            return f"{'!' * (choice == 4)}[{inner}]({self.random.choice(TARGETS)})"
        return inner + self.random.choice(["", " "]) + self.text(depth - 1)

    def line(self) -> str:
        return self.text().replace("\n", " ").strip() or "x"

    def lines(self, most: int) -> list[str]:
        return [self.line() for _ in range(self.random.randint(1, most))]

    def fence(self) -> str:
        content = self.random.choices(CODE_LINES, k=self.random.randint(1, 3 + self.size))
        return "````" + self.random.choice(LANGUAGES) + "\n" + "\n".join(content) + "\n````"

    def table(self) -> str:
        width = self.random.randint(1, 4)
        rows = [[self.line().replace("|", "/") for _ in range(width)] for _ in range(self.random.randint(1, 5))]
        head, *body = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([head, "|" + "---|" * width, *body])

    def leaf(self) -> str:
        kinds: list[Callable[[], str]] = [
            self.line,
            lambda: "\n".join(self.lines(4)),
            lambda: f"{'#' * self.random.randint(1, 6)} {self.line()}",
            self.fence,
            lambda: "---",
            lambda: "<details>\n<summary>More</summary>\n</details>",
            lambda: f"- {self.random.choice(['[ ]', '[x]'])} {self.line()}",
        ]
        return self.random.choice(kinds)()

    def block(self, depth: int = 2) -> str:
        kind = self.random.randrange(5) if depth else 0
        if kind <= 1:
            return self.leaf()
        inner = [self.block(depth - 1) for _ in range(self.random.randint(1, 3))]
        if kind == 2:
            return "\n".join("> " + line for line in inner[0].split("\n"))
        if kind == 3:
            return "\n\n".join(inner)
        mark = self.random.choice(["-", "*", ".", ")"])
        marks = [mark if mark in "-*" else f"{number}{mark}" for number in range(3, 9)]
        items = ("\n".join("   " + line if line else "" for line in item.split("\n")).strip(" ") for item in inner)
        return "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=False))

    def blocks(self) -> list[str]:
        return [self.block() for _ in range(self.random.randint(1, self.size))]


def _written(write: Callable[[Writer], str]) -> st.SearchStrategy[str]:
    return st.builds(lambda seed, size: write(Writer(seed, size)), st.integers(0, 2**32), st.integers(1, 5))


def _long(writer: Writer) -> str:
    return "\n\n".join(writer.blocks() * writer.random.randint(2, 12))


def _mixed(writer: Writer) -> str:
    blocks = writer.blocks()
    blocks.insert(writer.random.randint(0, len(blocks)), writer.table())
    return "\n\n".join(blocks)


BLOCKS = _written(Writer.block)
"""One block, maybe of blocks; no tables."""
FENCES = _written(Writer.fence)
WELL_FORMED = _written(_mixed)
"""Several blocks, one of them a table."""
LONG = _written(_long)
"""Long enough for several messages, most of the time."""
ANYTHING = st.text(
    alphabet=st.one_of(
        st.sampled_from("*_`~[]()<>!#-+.|\\&;:\n \t1aЖ\x00\x1b\r\u2028\u202e\u030a\u200d\ufe0f🇩👩\ud800\udc00"),
        st.characters(exclude_categories=()),
    ),
    max_size=80,
)
_REPEATED = st.tuples(ANYTHING, st.integers(1, 120)).map(lambda pair: pair[0] * pair[1])
MARKDOWN = st.one_of(WELL_FORMED, LONG, ANYTHING, _REPEATED)
