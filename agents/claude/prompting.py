"""A prompt as the message that Claude Code reads. Reads the files it sends along; may block."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agents.claude import wire
from agents.claude.messages import Json
from agents.contract import FilePart, InputId, Prompt

_PDF = "application/pdf"
_MAX_PDF = 20 * 1024 * 1024
"""Bytes; a larger document is only named, the agent reads it page by page."""


def prompt_line(prompt: Prompt, input_id: InputId) -> bytes:
    """The whole message. Pictures and PDFs travel inside, every file is named by its path.

    But for the agent's own commands a text is marked as literal: else ``@path`` is read and sent to the model without
    a question, wherever it leads, and a leading slash runs a command (measured on 2.1.332). The mark takes nothing
    else away: what a mode tells the model is still there.
    """
    text = _with_names(prompt.text, prompt.files)
    blocks: list[Json] = [wire.image_block(image.data, image.media_type) for image in prompt.images]
    blocks += [block for file in prompt.files if (block := _document(file)) is not None]
    return wire.user_message(input_id, text, blocks, is_literal=not prompt.is_command)


def _with_names(text: str, files: Iterable[FilePart]) -> str:
    names = "\n".join(f"- {file.path}" for file in files)
    if not names:
        return text
    return f"{text}\n\nAttached files:\n{names}" if text else f"Attached files:\n{names}"


def _document(file: FilePart) -> Json | None:
    if file.media_type != _PDF:
        return None
    data = _bytes_of(file.path)
    return None if data is None else wire.pdf_block(data, file.path.name)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= _MAX_PDF else None
    except OSError:
        return None  # it is still named; the agent will say that it can't read it
