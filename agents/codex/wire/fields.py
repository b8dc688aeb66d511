"""Reading fields of JSON objects without trusting them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def text(source: Mapping[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def number(source: Mapping[str, Any], key: str) -> int | None:
    value = source.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(source: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = source.get(key)
    return value if isinstance(value, dict) else {}


def objects(source: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = source.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def strings(source: Mapping[str, Any], key: str) -> list[str]:
    value = source.get(key)
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def pretty(value: Any) -> str:
    """Any JSON value as a person reads it; "" for nothing."""
    if value in (None, {}, []):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
