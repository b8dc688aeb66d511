"""Sentences for a person, made where no language is known: English by themselves, and ready to be said in another one.

Nothing below the bridge looks texts up. Whoever shows a text asks ``bridge.texts.told`` for it in the hub's language.
"""

from __future__ import annotations

from collections.abc import Mapping


class Sentence(str):
    """An English sentence that remembers the ``template`` and the ``values`` it was made of.

    A value that is a ``Sentence`` itself is translated too. Logs and JSON see plain English.
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, str]

    def __new__(cls, template: str, values: Mapping[str, str]) -> Sentence:
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, values
        return made

    def __getnewargs__(self) -> tuple[str, Mapping[str, str]]:  # type: ignore[override]
        return self.template, self.values


def sentence(template: str, /, **values: object) -> Sentence:
    """A sentence with its ``{name}`` places filled; the keyword by which translators' tools find it."""
    return Sentence(template, {name: value if isinstance(value, str) else str(value) for name, value in values.items()})
