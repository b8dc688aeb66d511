"""Which addresses Telegram keeps as links, and in what form. Pure; an approximation of TDLib's link checker."""

from __future__ import annotations

import re

_USER = re.compile(r"tg:(?://)?user\?id=(\d+)", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://")
_OWN = re.compile(r"(tg|ton|tonsite)://?", re.IGNORECASE)
_PORT = re.compile(r":(\d+)$")


def mentioned_user(url: str) -> int:
    """The user id of a tg://user link, 0 when it is none."""
    found = _USER.match(url)
    return int(found[1]) if found else 0


def checked_link(url: str) -> str:
    """The address as Telegram keeps it, "" when it drops the link and shows the bare text."""
    if not url or any(char in url for char in "\n\r\t"):
        return ""
    own = _OWN.match(url)
    if own:
        return own[1].lower() + "://" + url[own.end() :]
    scheme = "http"
    found = _SCHEME.match(url)
    if found:
        scheme, url = found[1].lower(), url[found.end() :]
    if scheme not in {"http", "https"}:
        return ""
    end = next((at for at, char in enumerate(url) if char in "/?#"), len(url))
    authority, rest = url[:end], url[end:]
    account, at, host = authority.rpartition("@")
    port = _PORT.search(host)
    host_name = host[: port.start()] if port else host
    if not _is_host(host_name) or (port and not 0 < int(port[1]) < 65536):
        return ""
    if not rest.startswith("/"):
        rest = "/" + rest
    rest = re.sub(r"[\x00-\x20]", lambda blank: f"%{ord(blank[0]):02X}", rest)
    return f"{scheme}://{account}{at}{host_name.lower()}{port[0] if port else ''}{rest}"


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return host.endswith("]") and ":" in host
    if "." not in host.strip(".") or " " in host or ".." in host:
        return False
    return all(char.isalnum() or char in "-._~%" for char in host)
