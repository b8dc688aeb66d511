"""Text that Qwen Code writes again: after a cut stream each of its five tries starts the answer from the beginning.

Measured on 0.24.4: the tries are 1 to 8 s apart, nothing on the wire marks them. Pure: the time is handed in.
"""

from __future__ import annotations

GAP = 0.8
"""Seconds of quiet before a text may be a new try: a stream that runs has pieces far closer."""


class RepeatFilter:
    """Lets each text through once. What only looked like a repetition comes out whole as soon as it differs."""

    def __init__(self) -> None:
        self._text = ""
        self._last = 0.0
        self._cursor: int | None = None

    @property
    def is_repeating(self) -> bool:
        return self._cursor is not None

    def reset(self) -> None:
        """Something else than text came: what follows is a new text."""
        self._text, self._cursor = "", None

    def is_new_try(self, now: float) -> bool:
        """Whether thinking that comes now belongs to a new try of a text already begun."""
        return bool(self._text) and (self._cursor is not None or now - self._last >= GAP)

    def take(self, piece: str, now: float) -> str:
        """The part of ``piece`` (and of what was held back) that is new. ``now`` in monotonic seconds."""
        if not piece:
            return piece
        quiet, self._last = now - self._last, now
        if self._cursor is None and quiet >= GAP and self._begins_anew(piece):
            self._cursor = 0
        if self._cursor is None:
            self._text += piece
            return piece
        known = self._text[self._cursor : self._cursor + len(piece)]
        if not piece.startswith(known):
            held, self._cursor = self._text[: self._cursor] + piece, None
            self._text += held
            return held
        self._cursor += len(known)
        rest = piece[len(known) :]
        if self._cursor == len(self._text):
            self._cursor = None
        self._text += rest
        return rest

    def _begins_anew(self, piece: str) -> bool:
        """Whether ``piece`` can only be the beginning told again. In doubt it is new: twice is better than never."""
        if not self._text or not self._text.startswith(piece[: len(self._text)]):
            return False
        is_elsewhere = self._text.find(piece, 1) != -1
        is_periodic = (piece + piece).find(piece, 1) < len(piece)
        return not (is_elsewhere or is_periodic)
