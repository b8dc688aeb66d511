"""How the window says ages, sizes and costs. Pure."""

from __future__ import annotations

from bridge.texts import tr, trn


def age(seconds: float) -> str:
    """A span in the one unit that matters."""
    seconds = max(0.0, seconds)
    if seconds < 60:
        return tr("just now")
    if seconds < 3600:
        return trn("{count} minute", "{count} minutes", int(seconds // 60))
    if seconds < 86400:
        return trn("{count} hour", "{count} hours", int(seconds // 3600))
    return trn("{count} day", "{count} days", int(seconds // 86400))


def memory(size: int) -> str:
    """Bytes as whole megabytes; "" for unknown."""
    return tr("{count} MB", count=size // 2**20) if size else ""


def cost(dollars: float | None) -> str:
    return "" if dollars is None else f"${dollars:.2f}"
