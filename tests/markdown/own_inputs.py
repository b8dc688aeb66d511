"""Inputs of our own: hard ones, one for each construct, and answers as coding agents write them."""

from __future__ import annotations

import json
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "markdown"


def hard_inputs() -> dict[str, str]:
    """By name; the nastiest are left to the property tests."""
    small: dict[str, str] = json.loads((FIXTURES / "hard_inputs.json").read_text(encoding="utf-8"))
    return {**small, **_long_inputs()}


def answers() -> dict[str, str]:
    """By name; 0.1 to 2 kB each."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((FIXTURES / "answers").glob("*.md"))}


def _long_inputs() -> dict[str, str]:
    fence = "```"
    code = "\n".join(f"    x_{i} = compute({i})  # <note & more>" for i in range(400))
    steps = (f"{i}. step **{i}** does `thing_{i}` with [link](https://ex.com/{i})" for i in range(1, 301))
    sentence = "This sentence has **bold words** and *italic ones* and `code` to fill the message. "
    return {
        "emoji": "👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ❤️ 1️⃣ **👨‍💻 dev** " * 40 + "\n",
        "table_long_cell": "| k | v |\n|---|---|\n| key | " + "word " * 1200 + "|\n",
        "table_200_rows": "| id | name | state |\n|---|---|---|\n"
        + "".join(f"| {i} | item {i} | ok |\n" for i in range(200)),
        "long_para": sentence * 130 + "\n",
        "long_lines": "\n".join(f"line {i}: value = {i * i}" for i in range(900)) + "\n",
        "long_code": f"intro\n\n{fence}python\n{code}\n{fence}\n\nend\n",
        "long_code_1line": f"{fence}json\n" + json.dumps({f"k{i}": i for i in range(1500)}) + f"\n{fence}\n",
        "long_list": "\n".join(steps) + "\n",
        "long_quote": "\n".join(f"> quoted line {i} with *it*" for i in range(400)) + "\n",
        "long_bold": "**" + "bold text goes on " * 400 + "**\n",
        "long_link": "[" + "label words " * 500 + "](https://ex.com/x)\n",
        "long_word": "w" * 10000 + "\n",
        "many_entities": " ".join(f"`c{i}` **b{i}**" for i in range(300)) + "\n",
        "many_amps": "&<>" * 3000 + "\n",
        "many_links": " ".join(f"[l{i}](https://ex.com/{'p' * 150}/{i}?a=1&b=2)" for i in range(200)) + "\n",
    }
