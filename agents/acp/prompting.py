"""From the contract's prompt to the protocol's content blocks. Pure."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agents.acp.wire_opening import AgentInfo
from agents.contract import Prompt

if TYPE_CHECKING:
    from agents.acp.dialect import AcpDialect


def prompt_blocks(prompt: Prompt, info: AgentInfo, dialect: AcpDialect) -> list[dict[str, Any]]:
    """Text first, then pictures.

    Files are told by their path: resource links are inlined by some agents and dropped by others (Qwen Code 0.24.4
    drops what lies outside its folder, Hermes 0.19.0 inlines up to 512 KiB unasked), a path works everywhere.
    """
    words = prompt.text if prompt.is_command else dialect.literal(prompt.text)
    notes = [f"Attached file: {file.path}" for file in prompt.files]
    if prompt.images and not info.takes_images:
        notes.append(f"({len(prompt.images)} picture(s) left out: this agent takes none.)")
    blocks = [{"type": "text", "text": "\n\n".join(part for part in (words, "\n".join(notes)) if part)}]
    if info.takes_images:
        for image in prompt.images:
            data = base64.b64encode(image.data).decode("ascii")
            blocks.append({"type": "image", "data": data, "mimeType": image.media_type})
    return blocks
