"""The renderer's figures: time against the bare parser, memory, and what of a corpus arrives.

``python -m tests.benchmarks.render --json [--quick]``. The corpus is our own inputs and the Markdown that lies on this
computer (``tests.markdown.documents``); rows of telegramify-markdown are added where it is installed.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from statistics import median

from bridge.markdown import Part, render, render_tail
from bridge.simulator import tdlib
from bridge.simulator.tdlib import Sent
from tests.benchmarks import telegramify
from tests.benchmarks.report import Figure, arguments, report, say
from tests.markdown.documents import Document, installed_documents, own_documents
from tests.markdown.judge import Score, judge
from tests.markdown.own_inputs import answers
from tests.markdown.reference import bare_parser

SHARES = ("bold", "italic", "strike", "code", "pre", "language", "link")
STREAM_LENGTH = 20_000
STATUS_UNITS = 1_200
"""UTF-16 units of tail that a status message shows."""


def main() -> int:
    options = arguments("render").parse_args()
    rounds = 15 if options.quick else 60
    documents = [*own_documents(), *installed_documents()]
    if options.quick:
        documents = documents[:: max(1, len(documents) // 400)]
    times, parsing = _times(documents, rounds)
    figures = {**times, **_pathological(options.quick), **_stream(), **_memory()}
    say(f"judging {len(documents)} documents")
    figures |= _corpus(judge(documents, render))
    rows, note = _others(documents)
    notes = f"{len(documents)} documents; ratios are medians of {rounds} paired rounds in CPU time; {parsing}. {note}"
    return report("render", figures, notes, rows)


# --- time ---------------------------------------------------------------------------------------------------------


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    start = time.process_time()
    work()
    spent = time.process_time() - start
    gc.enable()
    return spent


def _paired(source: Sequence[str], rounds: int, repeat: int = 1) -> tuple[float, float]:
    """Median ratio of rendering to bare parsing, and the parse in microseconds; each round measures both."""
    parse = bare_parser().parse

    def floor() -> None:
        for text in source:
            for _ in range(repeat):
                parse(text)

    def ours() -> None:
        for text in source:
            for _ in range(repeat):
                render(text)

    pairs = [(_seconds(floor), _seconds(ours)) for _ in range(rounds)]
    return median(mine / bare for bare, mine in pairs), median(bare for bare, _ in pairs) / repeat * 1e6


def _times(documents: Sequence[Document], rounds: int) -> tuple[dict[str, Figure], str]:
    """The two ratios, and what the bare parser took."""
    say("timing a usual answer and real files")
    ratio, floor = _paired([_typical()], rounds, repeat=20)
    every = [document.text for document in documents if document.kind == "real"]
    real = every[:: max(1, len(every) // 50)]
    files_ratio, files_floor = _paired(real or list(answers().values()), max(5, rounds // 6))
    figures = {
        "typical_ratio": Figure(ratio, 1.35, "x", 1.0),
        "files_ratio": Figure(files_ratio, 1.3, "x", 1.0),
    }
    return (
        figures,
        f"the bare parser takes {floor:.0f} us for the usual answer, {files_floor / 1000:.0f} ms for the files",
    )


def _typical() -> str:
    """An answer of 1.5 kB: headings, lists, code, a table."""
    return (answers()["patch_notes"] + answers()["diff"])[:1500]


def pathological() -> dict[str, str]:
    """Inputs that break slow renderers."""
    sentence = "The **quick** brown fox jumps over the `lazy` dog and runs on to [the end](https://ex.com/a). "
    return {
        "prose": (sentence * 8 + "\n\n") * (1_000_000 // (8 * len(sentence))),
        "prose_180k": (sentence * 8 + "\n\n") * (180_000 // (8 * len(sentence))),
        "list": "- item **one** and `two`\n" * 40_000,
        "list_180k": "- item **one** and `two`\n" * 7_000,
        "word": "w" * 1_000_000,
        "word_180k": "w" * 180_000,
        "brackets": "[" * 64_000,
        "quotes": "> " * 200 + "deep",
        "quotes_90": "> " * 90 + "deep",
        "emphasis": "*a **b " * 2_000,
        "ticks": "".join("`" * (n % 40 + 1) + " " for n in range(1_500)),
        "many_names": "see main.py and **lib.rs** " * 6_000,
    }


_SLOW = frozenset({"prose", "list", "list_180k", "brackets"})


def _pathological(is_quick: bool) -> dict[str, Figure]:
    """The worst ratio; what takes the parser a second is measured once, and left out of a quick run."""
    worst, name = 0.0, ""
    for label, source in pathological().items():
        if label in _SLOW and is_quick:
            continue
        ratio, floor = _paired([source], 1 if label in _SLOW else 5)
        say(f"{label}: {ratio:.2f} x the parse of {floor / 1e3:.1f} ms")
        if ratio > worst:
            worst, name = ratio, label
    say(f"worst is {name}")
    return {"worst_ratio": Figure(worst, 3.0, "x")}


def _stream() -> dict[str, Figure]:
    """The live tail of a growing answer at two renders a second: the worst quarter of it, as a share of one core."""
    say("streaming")
    text = ("\n\n".join(answers().values()) * 10)[:STREAM_LENGTH]
    lengths = range(STREAM_LENGTH * 3 // 4, STREAM_LENGTH, 400)
    spent = [_seconds(lambda length=length: render_tail(text[:length], STATUS_UNITS)) for length in lengths]  # type: ignore[misc]
    return {"stream_core_share": Figure(2 * median(spent), 0.02, "share")}


def _memory() -> dict[str, Figure]:
    """The peak for 1 MB, which is shown as it stands, and for the largest text that is laid out; the larger one."""
    say("memory for 1 MB")
    return {"peak_extra_mb": Figure(max(_peak(pathological()[name]) for name in ("prose", "prose_180k")), 100, "MB")}


def _peak(source: str) -> float:
    render(source[:1000])
    gc.collect()
    tracemalloc.start()
    render(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


# --- what arrives -------------------------------------------------------------------------------------------------


def _corpus(score: Score) -> dict[str, Figure]:
    for line in score.lossy:
        say(line)
    say(f"{score.messages} messages, {score.letters} letters and digits, {score.fences} fences")
    goals = {"code": 0.999, "link": 0.999}
    return {
        "refused": Figure(score.refused, 0, "messages"),
        "over_limit": Figure(score.over_limit, 0, "messages"),
        "empty": Figure(score.empty, 0, "messages"),
        "over_entities": Figure(score.over_entities, 0, "messages"),
        "lost_letters": Figure(score.lost_letters, 20, "letters"),
        **{
            f"{style}_kept": Figure(score.share(style), goals.get(style, 1.0), "share", more_is_better=True)
            for style in SHARES
        },
        "fences_exact": Figure(score.exact_share, 0.999, "share", more_is_better=True),
    }


def _others(documents: Sequence[Document]) -> tuple[list[dict[str, float | str]], str]:
    """The same corpus through telegramify-markdown, in both of its forms."""
    if not telegramify.is_installed():
        return [], "telegramify-markdown is not installed: its rows are left out."
    rows: list[dict[str, float | str]] = []
    forms: tuple[tuple[str, Callable[[str], Sequence[Part]], Callable[[Part], Sent]], ...] = (
        ("telegramify-markdown (entities)", telegramify.as_entities, telegramify.send_entities),
        ("telegramify-markdown (MarkdownV2)", telegramify.as_markdown, telegramify.send_markdown),
    )
    for name, renderer, send in forms:
        say(f"judging {name}")
        score = judge(documents, renderer, send)
        row: dict[str, float | str] = {"name": name, "version": telegramify.version()}
        row |= {key: figure.value for key, figure in _corpus_quiet(score).items()}
        row["messages"] = score.messages
        rows.append(row)
    return rows, f"compared with telegramify-markdown {telegramify.version()}."


def _corpus_quiet(score: Score) -> dict[str, Figure]:
    score.lossy.clear()
    return _corpus(score)


if __name__ == "__main__":
    assert tdlib.is_available(), "needs tdjson (pip install tdjson)"
    sys.exit(main())
