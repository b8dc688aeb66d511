"""Judges rendered messages with TDLib and counts what of a document arrives, style by style."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bridge.markdown import Part, utf16_length
from bridge.simulator import tdlib
from bridge.simulator.tdlib import Entity, Sent, TelegramBadRequest
from tests.markdown.documents import Document
from tests.markdown.reference import STYLES, Reference, letters_of, reference_of

_TELEGRAM_STYLES = {
    "bold": "bold",
    "italic": "italic",
    "strikethrough": "strike",
    "code": "code",
    "pre": "pre",
    "text_link": "link",
}


@dataclass
class Score:
    """Totals over many documents. ``wanted`` and ``kept`` count letters and digits per style."""

    messages: int = 0
    refused: int = 0
    over_limit: int = 0
    empty: int = 0
    over_entities: int = 0
    letters: int = 0
    lost_letters: int = 0
    fences: int = 0
    fences_exact: int = 0
    wanted: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    lossy: list[str] = field(default_factory=list)

    def share(self, style: str) -> float:
        """Share of a style's letters that carry it in the end."""
        return self.kept[style] / self.wanted[style] if self.wanted[style] else 1.0

    @property
    def exact_share(self) -> float:
        return self.fences_exact / self.fences if self.fences else 1.0


def slice_of(text: str, entity: Entity) -> str:
    """The text an entity covers; its offsets are UTF-16 units."""
    encoded = text.encode("utf-16-le")
    return encoded[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le", "replace")


def judge(
    documents: Iterable[Document],
    render: Callable[[str], Sequence[Part]],
    send: Callable[[Part], Sent] = lambda part: tdlib.send(part.html),
) -> Score:
    """Render every document, let TDLib judge every message, and add up."""
    score = Score()
    for document in documents:
        reference = reference_of(document.text)
        sent = []
        for part in render(document.text):
            score.messages += 1
            score.over_limit += utf16_length(part.text) > tdlib.TEXT_LIMIT
            try:
                message = send(part)
            except TelegramBadRequest as refusal:
                is_empty = "empty" in refusal.description
                score.empty += is_empty
                score.refused += not is_empty
                continue
            score.over_entities += bool(message.dropped)
            sent.append(message)
        _add(score, document, reference, sent)
    return score


def _add(score: Score, document: Document, reference: Reference, sent: Sequence[Sent]) -> None:
    arrived = Counter(letters_of("".join(unicodedata.normalize("NFC", message.text) for message in sent)))
    lost = (Counter(reference.letters) - arrived).total()
    score.letters += len(reference.letters)
    score.lost_letters += lost
    if lost:
        score.lossy.append(f"{document.id}: {lost} letters")
    styles, blocks = _styles(sent)
    for style in STYLES:
        wanted = reference.styles[style]
        kept = (wanted & styles[style]).total()
        score.wanted[style] += wanted.total()
        score.kept[style] += kept
        if kept < wanted.total():
            score.lossy.append(f"{document.id}: {style} {wanted.total() - kept} of {wanted.total()}")
    exact = _exact_fences(reference, blocks)
    score.fences += len(reference.fences)
    score.fences_exact += exact
    if exact < len(reference.fences):
        score.lossy.append(f"{document.id}: {len(reference.fences) - exact} fences")


def _styles(sent: Sequence[Sent]) -> tuple[dict[str, Counter[str]], list[tuple[str, str]]]:
    """Letters per style and the blocks of code. Aligned tables are monospaced: they hold inline code as well."""
    styles: dict[str, Counter[str]] = {style: Counter() for style in STYLES}
    blocks: list[tuple[str, str]] = []
    for message in sent:
        for entity in message.entities:
            style = _TELEGRAM_STYLES.get(entity.type)
            if style is None:
                continue
            text = slice_of(message.text, entity)
            letters = Counter(letters_of(text))
            styles[style] += letters
            if style == "pre":
                language = str(entity.extra.get("language", ""))
                blocks.append((language, text))
                styles["language" if language else "code"] += letters
    return styles, blocks


def _exact_fences(reference: Reference, blocks: list[tuple[str, str]]) -> int:
    """Fences that arrive as they are; one cut into messages may lose blanks at the cut."""
    whole = set(blocks)
    joined: dict[str, str] = {}
    for language, text in blocks:
        joined[language] = joined.get(language, "") + "".join(text.split())
    exact = 0
    for language, content in reference.fences:
        text = content.expandtabs(4).rstrip(" \n")
        exact += (language, text) in whole or "".join(text.split()) in joined.get(language, "")
    return exact
