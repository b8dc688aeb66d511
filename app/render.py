"""``agent-hub render``: shows how an answer will look, as JSON, as text, or as a page with phone bubbles.

Reads one file or standard input and writes only where it was told to. Nothing is sent.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import resources
from pathlib import Path

from agents.contract import HubError
from app.console import say
from bridge.markdown import Part, render, utf16_length
from bridge.texts import tr


def render_command(path: str, *, as_json: bool, preview: Path | None) -> int:
    """Render the Markdown in ``path`` ("-" = standard input); returns the exit code, raises HubError."""
    parts = render(_source(path))
    if preview is not None:
        _write(preview, preview_page(parts))
    if as_json:
        # ASCII only: the consoles of Windows are not UTF-8.
        say(json.dumps([{"html": part.html, "text": part.text} for part in parts], indent=1))
    elif preview is None:
        for number, part in enumerate(parts, start=1):
            say(f"--- {number}/{len(parts)}, {utf16_length(part.text)}\n{_printable(part.html)}")
    return 0


def preview_page(parts: list[Part]) -> str:
    """A page that shows the messages as a phone does: Telegram's tags are HTML's own."""
    page = (resources.files("resources") / "render" / "preview.html").read_text(encoding="utf-8")
    bubbles = "\n".join(f'<div class="bubble">{_as_page(part.html)}</div>' for part in parts)
    return page.replace("<!-- messages -->", bubbles)


def _as_page(html: str) -> str:
    """A browser breaks the line around a block by itself, and needs the language where a style can read it."""
    html = re.sub(r'<pre><code class="language-([^"]*)">', r'<pre data-language="\1"><code>', html)
    return re.sub(r"(</pre>|</blockquote>)\n|\n(?=<pre|<blockquote)", r"\1", html)


def _source(path: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise HubError(
            tr("{path} can't be read", path=path), tr("Name a text file, or - for standard input."), str(error)
        ) from error
    return raw.decode("utf-8-sig", "replace")


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise HubError(
            tr("{path} can't be written", path=path), tr("Choose a folder you may write to."), str(error)
        ) from error


def _printable(text: str) -> str:
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
