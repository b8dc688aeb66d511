"""How each construct of Markdown looks in Telegram, one line a rule."""

from __future__ import annotations

import pytest

from bridge.markdown import Part, render, utf16_length

F = "```"

RULES = {
    "a heading is a bold line with air above and none below": ("a\n\n## T\n\nb", "a\n\n<b>T</b>\nb"),
    "code in a heading stays code": ("# a `b`", "<b>a </b><code>b</code>"),
    "paragraphs stand apart": ("a\n\nb", "a\n\nb"),
    "a short line stays a line": ("**Key:** v\n**Key:** w", "<b>Key:</b> v\n<b>Key:</b> w"),
    "a wrapped line is joined": ("w" * 70 + "\nnext", "w" * 70 + " next"),
    "a hard break is a line": ("a\\\nb", "a\nb"),
    "styles": ("**b** *i* ~~s~~ `c`", "<b>b</b> <i>i</i> <s>s</s> <code>c</code>"),
    "bold pauses around code": ("**a `b` c**", "<b>a </b><code>b</code><b> c</b>"),
    "bold in bold is bold once": ("**a **b** c**", "<b>a b c</b>"),
    "a dunder name is a name": ("see __init__ here", "see __init__ here"),
    "marks in an address stay": ("http://e.org/foo._bar_-_baz", "http://e.org/foo._<i>bar</i>_-_baz"),
    "a good link": ("[a](https://ex.com/?a=1&b=2)", '<a href="https://ex.com/?a=1&amp;b=2">a</a>'),
    "code in a link is plain": ("[`x` y](https://ex.com)", '<a href="https://ex.com">x y</a>'),
    "a link telegram drops shows its target": ("[main](src/x.c)", "main (src/x.c)"),
    "a target in the label is not repeated": ("[`src/x.c`](src/x.c)", "<code>src/x.c</code>"),
    "a mail address is text": ("<a@b.example>", "a@b.example"),
    "an empty label shows the target": ("[](https://ex.com)", "https://ex.com"),
    "a picture is a link with a sign": ("![alt](https://ex.com/i.png)", '<a href="https://ex.com/i.png">🖼 alt</a>'),
    "a picture in a link is its words": ("[![b](x.svg)](https://ex.com)", '<a href="https://ex.com">b</a>'),
    "a picture's bytes are not shown": ("![a](data:image/png;base64,AAAA)", "🖼 a (data:image/png;base64)"),
    "bullets by level": ("- a\n  - b\n    - c\n- d", "• a\n   ◦ b\n      ▪ c\n• d"),
    "a loose list is compact": ("- a\n\n- b\n\n  more", "• a\n• b\n   more"),
    "a list close to its paragraph stays close": ("Things:\n- a", "Things:\n• a"),
    "a list apart from its paragraph stays apart": ("Things:\n\n- a", "Things:\n\n• a"),
    "numbers are the list's own": ("7. a\n8. b", "7. a\n8. b"),
    "numbers all one count up": ("1. a\n1. b", "1. a\n2. b"),
    "a parenthesis stays": ("1) a", "1) a"),
    "task boxes": ("- [ ] a\n- [x] b\n1. [X] c", "⬜ a\n✅ b\n1. ✅ c"),
    "a quote, flattened": ("> a\n>> b", "<blockquote>a\n\nb</blockquote>"),
    "a long quote folds": ("> " + "\n> ".join("abcdefghijklm"), None),
    "a fence": (f"{F}py x=1\na\n{F}", '<pre><code class="language-py">a</code></pre>'),
    "a fence without a language": (f"{F}\na <b\n{F}", "<pre>a &lt;b</pre>"),
    "an odd language is none": (f"{F}" + '{.py}">' + f"\na\n{F}", "<pre>a</pre>"),
    "tabs become columns": (f"{F}\n\ta\n{F}", "<pre>    a</pre>"),
    "a fence in a list is not indented": (f"- a\n  {F}\n  b\n  {F}\n- c", "• a\n<pre>b</pre>\n• c"),
    "an empty fence is nothing": (f"a\n\n{F}py\n{F}\n\nb", "a\n\nb"),
    "a narrow table is aligned": ("|a|bb|\n|-|-:|\n|x|1|", "<pre>a  bb\n─  ──\nx   1</pre>"),
    "wide characters take two columns": ("|名前|b|\n|-|-|\n|x|y|", "<pre>名前  b\n────  ─\nx     y</pre>"),
    "a bar in a cell's code separates nothing": (
        "|Op|Is|\n|-|-|\n|`a || b`|or|",
        "<pre>Op      Is\n──────  ──\na || b  or</pre>",
    ),
    "a bar in a head's code separates nothing": ("|`a|b`|c|\n|-|-|\n|1|2|", "<pre>a|b  c\n───  ─\n1    2</pre>"),
    "cells beyond the head's are kept": ("|a|b|\n|-|-|\n|1|2|3|", "<pre>a  b\n─  ───\n1  2|3</pre>"),
    "empty cells beyond the head's are not": ("|a|b|\n|-|-|\n|1|2| |", "<pre>a  b\n─  ─\n1  2</pre>"),
    "a table in a quote keeps its code whole": (
        "> |a|b|\n> |-|-|\n> |`x|y`|z|",
        "<blockquote><pre>a    b\n───  ─\nx|y  z</pre></blockquote>",
    ),
    "stars of a product stay": ("2*3*4 and 2**n**2", "2*3*4 and 2**n**2"),
    "stars of a glob stay": ("**/*.py, src/**/*.ts", "**/*.py, src/**/*.ts"),
    "a bold path is bold": ("**src/** and **/help**", "<b>src/</b> and <b>/help</b>"),
    "bold words with a slash between are bold": ("**yes**/**no**", "<b>yes</b>/<b>no</b>"),
    "a formula is whole": ("so $E = mc^2$ holds", "so <code>$E = mc^2$</code> holds"),
    "what follows a break begins the line": ("a<br> b<br>\nc", "a\nb\nc"),
    "a rule": ("a\n\n---\n\nb", "a\n\n——————\n\nb"),
    "known tags that match": ("<u>a</u> <kbd>K</kbd><br>b", "<u>a</u> <code>K</code>\nb"),
    "tags that do not match are shown": ("<b>*x</b>*", "&lt;b&gt;<i>x&lt;/b&gt;</i>"),
    "an unknown tag is shown": ("Map<Foo> <!-- c -->", "Map&lt;Foo&gt; &lt;!-- c --&gt;"),
    "a block of html is shown": ("<details>\n<p>x</p>", "&lt;details&gt;\n&lt;p&gt;x&lt;/p&gt;"),
    "references are decoded": ("&copy; &lt;b&gt;", "© &lt;b&gt;"),
    "spoiler bars and notes stay": ("||x|| a[^1]", "||x|| a[^1]"),
    "a file name is no link": ("see main.py.", "see <code>main.py</code>."),
    "a bold file name stays bold": ("**main.py**", "<b>main</b><code>.</code><b>py</b>"),
    "a path is no command": ("run ./run.sh or /tmp", "run <code>./run.sh</code> or <code>/tmp</code>"),
    "a command stays a command": ("send /status", "send /status"),
    "a package is no person": ("@types/node", "<code>@types/node</code>"),
    "a variable is no share": ("echo $HOME/bin", "echo <code>$HOME/bin</code>"),
    "an address stays a link": ("see example.com and x.dev", "see example.com and x.dev"),
    "a terminal code without its end takes nothing else with it": ("one \x1b]8;;x\ntwo", "one\ntwo"),
    "terminal colours go": ("\x1b[31mred\x1b[0m \x07x", "red x"),
    "letters are composed": ("a\u030a", "å"),
    "a lone half is replaced": ("a\ud800b", "a\ufffdb"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "html"), RULES.values(), ids=RULES.keys())
def test_a_construct_looks_as_the_rule_says(source: str, html: str | None) -> None:
    (part,) = render(source)
    if html is None:
        assert part.html.startswith("<blockquote expandable>")
    else:
        assert part.html == html


def test_a_wide_table_of_two_columns_is_a_list_of_pairs() -> None:
    (part,) = render("| Setting | Meaning |\n|---|---|\n| `timeout` | how long the hub waits for the person |")
    assert part.html == ("<b>Setting — Meaning</b>\n• <code>timeout</code>: how long the hub waits for the person")


def test_a_wide_table_is_a_card_for_each_row_without_empty_cells() -> None:
    (part,) = render(
        "| File | Problem found | Fix | Note |\n|---|---|---|---|\n"
        "| a.c | the lock is kept when cancelled | **yes** | |\n| b.c | | [l](https://ex.com) | |"
    )
    assert part.html == (
        "<i>File · Note</i>\n<b>a.c</b>\n<i>Problem found:</i> the lock is kept when cancelled\n"
        '<i>Fix:</i> <b>yes</b>\n\n<b>b.c</b>\n<i>Fix:</i> <a href="https://ex.com">l</a>'
    )


def test_a_table_with_styles_is_not_flattened_to_monospace() -> None:
    (part,) = render("|a|b|\n|-|-|\n|**x**|*y*|")
    assert "<i>y</i>" in part.html


@pytest.mark.parametrize("source", ["", " \n\t\n", "\u200b\u2060", "[a]: https://ex.com", f"{F}\n\n{F}"])
def test_what_nobody_sees_gives_no_message(source: str) -> None:
    assert render(source) == []


def test_a_long_answer_is_cut_at_a_block_and_a_heading_stays_with_its_text() -> None:
    blocks = [f"## Part {number}\n\n" + "word " * 150 for number in range(12)]
    parts = render("\n\n".join(blocks))
    assert len(parts) > 1
    for part in parts:
        assert part.text.startswith("Part ")
        assert not part.text.rsplit("\n", 1)[-1].startswith("Part ")


def test_a_long_fence_is_reopened_with_its_language() -> None:
    parts = render(f"{F}python\n" + "\n".join(f"    line_{n} = {n}" for n in range(600)) + f"\n{F}")
    assert len(parts) > 2
    for part in parts:
        assert part.html.startswith('<pre><code class="language-python">    line_')
        assert part.html.endswith("</code></pre>")


def test_more_than_98_entities_make_another_message() -> None:
    parts = render(" ".join(f"`c{n}`" for n in range(250)))
    assert [part.html.count("<code>") for part in parts] == [98, 98, 54]


def test_many_long_addresses_make_another_message() -> None:
    parts = render(" ".join(f"[l{n}](https://ex.com/{'p' * 400}/{n})" for n in range(60)))
    assert len(parts) == 4


@pytest.mark.parametrize(
    "source", ["> " * 200 + "x", "".join("  " * n + "- x\n" for n in range(120)), "x **b** " * 40_000]
)
def test_what_is_too_deep_or_too_large_is_shown_as_it_stands(source: str) -> None:
    text = "".join(part.text for part in render(source))
    assert text.count("x") == source.count("x")
    assert all("<" not in part.html for part in render(source))


def test_a_shallow_stack_left_by_the_caller_is_no_reason_to_fail() -> None:
    def descend(depth: int) -> list[Part]:
        return render("> " * 60 + "deep") if depth == 0 else descend(depth - 1)

    (part,) = descend(700)
    assert "deep" in part.text


def test_lengths_are_counted_in_utf16_units() -> None:
    assert utf16_length("aЖ😀") == 4
    assert [utf16_length(part.text) for part in render("😀" * 3000)] == [4096, 1904]
