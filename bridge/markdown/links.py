"""Decides which addresses become links. Telegram drops others without a word, so their targets are shown. Pure."""

from __future__ import annotations

import ipaddress
import re

LONGEST = 2_000
_HTTP = re.compile(
    r"https?://(?:[^\s/?#@\\]*@)?(\[[0-9a-fA-F:.]+\]|[^\s/?#:@\[\]\\]+)(:[0-9]{1,5})?(?=[/?#]|\Z)", re.IGNORECASE
)
_TELEGRAM = re.compile(r"tg://[A-Za-z]+(?:[/?][^\s\"<>]*)?\Z")
_REFUSED = re.compile(r"(?:vbscript|javascript|file|data):", re.IGNORECASE)
_ODD = re.compile(r"[\x00-\x20\"<>\\^`{|}\x7f]")


def telegram_link(target: str) -> str:
    """The address to put behind a label, or "" when Telegram would not keep it as a link.

    Measured on TDLib 1.8.69: it wants http, https or tg, and a dot in the host or an address in brackets.
    """
    if len(target) > LONGEST:
        return ""
    match = _HTTP.match(target)
    if match:
        return _quoted(target) if _is_host(match[1]) and _is_port(match[2]) else ""
    return target if _TELEGRAM.match(target) else ""


def _is_host(host: str) -> bool:
    if not host.startswith("["):
        return "." in host.strip(".") and "%" not in host
    try:
        ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return True


def _is_port(port: str | None) -> bool:
    return port is None or 0 < int(port[1:]) < 65_536


def _quoted(target: str) -> str:
    """Percent-encode what may not stand in an address (the host may be international, Telegram knows how)."""
    return _ODD.sub(lambda odd: f"%{ord(odd[0]):02X}", target)


def is_refused(target: str) -> bool:
    """Whether CommonMark parsers refuse the target, and so show the whole of it as typed."""
    return bool(_REFUSED.match(target))


def readable_target(target: str) -> str:
    """The target as shown beside its label; the bytes of an embedded picture are no reading matter."""
    if target.startswith("data:image/"):
        return target.partition(",")[0]
    return target
