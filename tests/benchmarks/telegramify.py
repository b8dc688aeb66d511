"""telegramify-markdown beside us, where it is installed: its messages and how Telegram would take them."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Sequence
from typing import Any

from bridge.markdown import Part
from bridge.simulator import tdlib
from bridge.simulator.tdlib import Entity, Sent

_KEPT = ("url", "language")


def is_installed() -> bool:
    return importlib.util.find_spec("telegramify_markdown") is not None


def version() -> str:
    return importlib.metadata.version("telegramify-markdown")


def as_entities(source: str) -> Sequence[Part]:
    """Its messages as text with entities beside; the entities wait in ``_waiting`` for ``send_entities``."""
    library = importlib.import_module("telegramify_markdown")
    chunks: list[tuple[str, list[Any]]] = library.split_entities(*library.convert(source), 4096)
    parts = []
    for text, entities in chunks:
        part = Part("", text)
        _waiting[id(part)] = [
            Entity(
                entity.type,
                entity.offset,
                entity.length,
                {name: value for name in _KEPT if (value := getattr(entity, name, None))},
            )
            for entity in entities
        ]
        parts.append(part)
    return parts


_waiting: dict[int, list[Entity]] = {}


def send_entities(part: Part) -> Sent:
    return tdlib.send_entities(part.text, _waiting.pop(id(part)))


def as_markdown(source: str) -> Sequence[Part]:
    """Its messages in MarkdownV2."""
    library = importlib.import_module("telegramify_markdown")
    try:
        return [Part(chunk, "") for chunk in library.split_markdownv2(*library.convert(source), 4096)]
    except ValueError:  # "Unable to split": nothing can be sent
        return []


def send_markdown(part: Part) -> Sent:
    return tdlib.send_markdown(part.html)
