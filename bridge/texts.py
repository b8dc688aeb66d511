"""Looks up what people read, in the language of the hub. The catalogues live in ``resources/locale`` (gettext).

Message ids are the English sentences. ``tr``/``trn`` are the keywords Babel extracts. Values are filled in after
the look-up, so a translation may reorder them; they are never parsed as markup here.
"""

from __future__ import annotations

import gettext
from importlib import resources
from pathlib import Path

LANGUAGES = ("en", "ru")

_translations: gettext.NullTranslations = gettext.NullTranslations()


def set_language(code: str) -> None:
    """Choose the language of every later text; an unknown code means English."""
    global _translations  # noqa: PLW0603 - one process speaks one language
    folder = Path(str(resources.files("resources"))) / "locale"
    _translations = gettext.translation("agent-hub", localedir=folder, languages=[code], fallback=True)


def mark(message: str, /) -> str:
    """A sentence that stands in a table and is looked up when it is shown; this only tells Babel of it."""
    return message


def tr(message: str, /, **values: object) -> str:
    """The sentence in the hub's language with ``{name}`` places filled."""
    text = _translations.gettext(message)
    return text.format(**values) if values else text


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """Like ``tr`` with the plural form for ``count``; ``{count}`` is filled too."""
    return _translations.ngettext(singular, plural, count).format(count=count, **values)
