"""Writes docs/settings.md from the model of the settings, so that the reference can't be wrong.

python packaging/settings_reference.py          write it
python packaging/settings_reference.py --check  exit code 1 if it is not up to date
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pydantic import BaseModel

from app.settings import AgentSettings, OwnClassSettings, Settings, parse
from app.settings_fields import FieldKind, SettingField, described, fields, is_protected, problem_with

PAGE = ROOT / "docs" / "settings.md"
TABLES: tuple[tuple[str, type[BaseModel], str], ...] = (
    (
        "agents.NAME",
        AgentSettings,
        "One table for each agent whose start you want to change. NAME is `claude`, `codex`, `qwen`, `hermes`, or a "
        "name of your own for any program that speaks ACP (see [adding an agent](adding-an-agent.md)).",
    ),
    (
        "policy.own.NAME",
        OwnClassSettings,
        "A class of requests of your own. The first one whose tool and subject both fit decides.",
    ),
)
HEAD = """# Settings

Made by `python packaging/settings_reference.py` from the program itself; do not edit by hand.

All settings stand in one file, `settings.toml`:

| System | Place |
| --- | --- |
| Linux | `~/.config/agent-hub/settings.toml` |
| macOS | `~/Library/Application Support/agent-hub/settings.toml` |
| Windows | `%LOCALAPPDATA%\\agent-hub\\settings.toml` |

With `--settings FILE` another file is used; with `--data-dir DIR` (or the variable `AGENT_HUB_DATA`) the file
`settings.toml` in DIR, and everything else of that hub lives below DIR too.

Change them in the window (Settings) or in the file with any editor; comments stay. A missing file means the defaults.
A running hub looks at the file every five seconds and uses most changes at once. Settings marked 🔒 say who may use
the hub, where, and what it lets pass: a change of them **in the file** waits for your yes in the window, or for the
next start. A mistake in the file never stops a running hub: it goes on with the old settings and says which line or
which field is wrong.

The bot token is not in this file. It lives in the system's keyring: `agent-hub token`.
"""
EXAMPLE = """
## An example

```toml
{text}```
"""
EXAMPLE_TEXT = """\
[telegram]
chats = [-1001234567890]

[telegram.users]
11111111 = "owner"
22222222 = "operator"   # may give tasks and decide, but change no rules

[workspace]
roots = ["~/code", "~/notes"]

[agents]
default = "codex"

[agents.claude]
model = "opus"
env = { HTTPS_PROXY = "http://127.0.0.1:8080" }

[agents.opencode]       # any agent that speaks ACP
kind = "acp"
title = "OpenCode"
command = "opencode"
args = ["acp"]

[hub]
language = "ru"
ask_timeout = 1800

[policy]
network = "allow"

[policy.own.production]
tool = "*"
subject = "*prod*"
second_step = true

[lock]
enabled = true
"""
KINDS = {
    FieldKind.TEXT: "text",
    FieldKind.NUMBER: "number",
    FieldKind.SWITCH: "true or false",
    FieldKind.CHOICE: "one of the words",
    FieldKind.LINES: "list or table",
}


def as_toml(value: object) -> str:
    """A default as it is written in the file."""
    return f"`{json.dumps(value, ensure_ascii=False)}`" if value not in ("", [], {}) else "nothing"


def fits(field: SettingField, word: str) -> bool:
    """Some words of a type are refused for one setting (`destructive` is never allowed by itself)."""
    return "NAME" in field.name or not problem_with(field.name, word)


def what(field: SettingField) -> str:
    """The kind of value, or the words there are."""
    words = ", ".join(f"`{word}`" for word in field.choices if word and fits(field, word))
    if field.kind is FieldKind.LINES:
        return (
            "list" if isinstance(field.default, list) else KINDS[field.kind] if "list" in field.description else "table"
        )
    return words or KINDS[field.kind]


def row(field: SettingField) -> str:
    short = field.name.rsplit(".", 1)[1]
    mark = " 🔒" if is_protected(field.name) else ""
    text = field.description.replace("|", "\\|")
    return f"| `{short}`{mark} | {what(field)} | {as_toml(field.default)} | {text} |"


def table(listed: list[SettingField]) -> Iterator[str]:
    yield "| Setting | Value | Default | What it does |"
    yield "| --- | --- | --- | --- |"
    yield from map(row, listed)


def first_line(model: object) -> str:
    return ((getattr(model, "__doc__", "") or "").strip().splitlines() or [""])[0]


def page() -> str:
    """The whole page."""
    parse(EXAMPLE_TEXT, "the example of docs/settings.md")
    lines = [HEAD]
    for section, info in Settings.model_fields.items():
        lines += [f"## [{section}]", "", first_line(info.annotation), ""]
        lines += [*table([field for field in fields() if field.name.startswith(f"{section}.")]), ""]
        for name, model, about in TABLES:
            if name.startswith(f"{section}."):
                inner = [described(f"{name}.{key}", field) for key, field in model.model_fields.items()]
                lines += [f"## [{name}]", "", about, "", *table(inner), ""]
    return "\n".join(lines).rstrip() + "\n" + EXAMPLE.format(text=EXAMPLE_TEXT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = page()
    if args.check:
        fits = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        sys.stdout.write("docs/settings.md is up to date\n" if fits else "docs/settings.md is out of date\n")
        return 0 if fits else 1
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}: {len(text.splitlines())} lines\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
