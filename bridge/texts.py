"""Looks up what people read, in the language of the hub. The catalogues live in ``resources/locale`` (gettext).

Message ids are the English sentences. ``tr``/``trn`` are the keywords Babel extracts, and ``sentence`` of what agents
have to say, which ``told`` looks up. Values are filled in after
the look-up, so a translation may reorder them; they are never parsed as markup here.
"""

from __future__ import annotations

import gettext
from importlib import resources
from pathlib import Path

from agents.contract import Sentence

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


def told(text: str) -> str:
    """A text from below the bridge in the hub's language: a ``Sentence`` is looked up, anything else stays."""
    if not isinstance(text, Sentence):
        return text
    found = _translations.gettext(text.template)
    return found.format(**{name: told(value) for name, value in text.values.items()}) if text.values else found


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """Like ``tr`` with the plural form for ``count``; ``{count}`` is filled too."""
    return _translations.ngettext(singular, plural, count).format(count=count, **values)
