"""What sending does to a parsed text: cleaning, repair of entities, trimming, the length, the budget of 100. Pure.

The rules are TDLib's (MessageEntity, MessageContent), checked against TDLib itself by the tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bridge.simulator.chats import Entity
from bridge.simulator.errors import CAPTION_TOO_LONG, MESSAGE_TOO_LONG, TEXT_INVISIBLE, bad_request

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
ENTITY_LIMIT = 100
STYLES = ("bold", "italic", "underline", "strikethrough", "spoiler")
QUOTES = ("blockquote", "expandable_blockquote")
BARE = ("pre", "code", "date_time")
PRIORITY = {
    "blockquote": 0,
    "expandable_blockquote": 0,
    "pre": 10,
    "code": 20,
    "text_mention": 49,
    "text_link": 49,
    "bold": 90,
    "italic": 91,
    "underline": 92,
    "strikethrough": 93,
    "spoiler": 94,
    "date_time": 98,
    "custom_emoji": 99,
}
_REMOVED = frozenset({0x0D, 0x0333, 0x033F, 0x030A, *range(0x2028, 0x202F)})
INVISIBLE = frozenset(
    {0x20, 0x0A, 0xA0, 0x1680, 0x180E, 0x202E, 0x202F, 0x205F, 0x2800, 0x3000, 0xFEFF, 0xFFFC}
    | set(range(0x2000, 0x2010))
    | set(range(0xE0000, 0xE0080))
)


@dataclass(frozen=True, slots=True)
class SentText:
    """A text as Telegram stores it; ``dropped`` counts entities beyond the budget."""

    text: str
    entities: tuple[Entity, ...] = ()
    dropped: int = 0


def finish(text: str, entities: Iterable[Entity], *, is_caption: bool = False) -> SentText:
    """What a person gets of a parsed text; raises 400 when it is empty or too long."""
    units = len(text) + sum(char > "\uffff" for char in text)
    entities = [item for item in entities if item.offset >= 0 and item.length > 0 and _end(item) <= units]
    text, entities = _cleaned(text, entities)
    text, entities = _trimmed(text, _repaired(entities))
    if all(ord(char) in INVISIBLE for char in text):
        if not is_caption:
            raise bad_request(TEXT_INVISIBLE)
        if not text:
            return SentText("")
    if len(text) > (CAPTION_LIMIT if is_caption else TEXT_LIMIT):
        raise bad_request(CAPTION_TOO_LONG if is_caption else MESSAGE_TOO_LONG)
    return _within_budget(text, entities)


def order(entity: Entity) -> tuple[int, int, int]:
    return entity.offset, -entity.length, PRIORITY.get(entity.type, 50)


def _cleaned(text: str, entities: Iterable[Entity]) -> tuple[str, list[Entity]]:
    """Control characters become blanks or vanish; entities move along."""
    if not any((ord(char) < 0x20 and char != "\n") or ord(char) in _REMOVED for char in text):
        return text, list(entities)
    out: list[str] = []
    moved = [0]
    gone = 0
    for char in text:
        if ord(char) in _REMOVED:
            gone += 1
        else:
            out.append(" " if ord(char) < 0x20 and char != "\n" else char)
        moved.extend([moved[-1] + (ord(char) not in _REMOVED)] if char <= "\uffff" else [moved[-1] + 1, moved[-1] + 2])
    kept = [
        replace(item, offset=moved[item.offset], length=moved[item.offset + item.length] - moved[item.offset])
        for item in entities
    ]
    return "".join(out), [item for item in kept if item.length > 0]


def _end(entity: Entity) -> int:
    return entity.offset + entity.length


def _overlap(one: Entity, other: Entity) -> bool:
    return one.offset < _end(other) and other.offset < _end(one)


def _holds(outer: Entity, inner: Entity) -> bool:
    return outer.offset <= inner.offset and _end(inner) <= _end(outer)


def _repaired(entities: Iterable[Entity]) -> list[Entity]:
    """Which entities survive one another: quotes, then links and code by place and length, then styles around code."""
    ordered = sorted(entities, key=order)
    quotes = _without_overlaps(item for item in ordered if item.type in QUOTES)
    solid = _without_overlaps(item for item in ordered if item.type not in (*QUOTES, *STYLES))
    solid = [item for item in solid if all(_holds(quote, item) or not _overlap(quote, item) for quote in quotes)]
    bare = [item for item in solid if item.type in BARE]
    styles: list[Entity] = []
    for style in joined(item for item in ordered if item.type in STYLES):
        styles.extend(_outside(style, bare))
    return sorted([*quotes, *solid, *styles], key=order)


def _without_overlaps(ordered: Iterable[Entity]) -> list[Entity]:
    kept: list[Entity] = []
    for item in ordered:
        if not kept or item.offset >= _end(kept[-1]):
            kept.append(item)
    return kept


def joined(styles: Iterable[Entity]) -> list[Entity]:
    """Touching or nested runs of one style are one."""
    ordered = sorted(styles, key=order)
    out: list[Entity] = []
    for kind in STYLES:
        run: Entity | None = None
        for item in (item for item in ordered if item.type == kind):
            if run is not None and item.offset <= _end(run):
                run = replace(run, length=max(_end(run), _end(item)) - run.offset)
                continue
            if run is not None:
                out.append(run)
            run = item
        if run is not None:
            out.append(run)
    return sorted(out, key=order)


def _outside(style: Entity, bare: list[Entity]) -> list[Entity]:
    """The parts of a style that lie outside code, pre and times."""
    parts: list[Entity] = []
    start = style.offset
    for item in bare:
        if not _overlap(style, item):
            continue
        if item.offset > start:
            parts.append(replace(style, offset=start, length=item.offset - start))
        start = max(start, _end(item))
    if start < _end(style):
        parts.append(replace(style, offset=start, length=_end(style) - start))
    return parts


def _trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Blanks go at the end, and at the start as far as the first entity."""
    text = text.rstrip(" \n")
    end = len(text) + sum(char > "\uffff" for char in text)
    kept = [replace(item, length=min(item.length, end - item.offset)) for item in entities if item.offset < end]
    first = min((item.offset for item in kept), default=end)
    head = min(len(text) - len(text.lstrip(" \n")), first)
    return text[head:], [replace(item, offset=item.offset - head) for item in kept]


def _within_budget(text: str, entities: list[Entity]) -> SentText:
    free = [item for item in entities if item.type == "custom_emoji"]
    counted = [item for item in entities if item.type not in (*STYLES, "custom_emoji")]
    counted += joined([item for item in entities if item.type in STYLES])
    kept = sorted(free + counted[:ENTITY_LIMIT], key=order)
    return SentText(text, tuple(kept), max(0, len(counted) - ENTITY_LIMIT))
