"""One Bot API call as it came in: its method, its parameters from a form, JSON or multipart body, its files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from bridge.simulator.errors import bad_request
from bridge.simulator.http import Request

_DISPOSITION = re.compile(r'(\w+\*?)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a multipart body."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """Parameters are strings (form, multipart) or JSON values (JSON body); the readers take both."""

    method: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A string, "" when absent."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def integer(self, name: str, default: int = 0) -> int:
        """A whole number; nonsense counts as the default, as in the Bot API server."""
        try:
            return int(self.fields.get(name, default))
        except (TypeError, ValueError):
            return default

    def flag(self, name: str) -> bool:
        """True for true, "true", "True", "1", "yes"."""
        return str(self.fields.get(name, "")).lower() in {"true", "1", "yes"}

    def json(self, name: str) -> Any:
        """A JSON value, None when absent; raises 400 when it is not JSON."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value:
            return None if value == "" else value
        try:
            return json.loads(value)
        except ValueError:
            raise bad_request(f"can't parse {name.replace('_', ' ')} JSON object") from None

    def has(self, name: str) -> bool:
        return name in self.fields or name in self.files


def read_call(method: str, request: Request) -> Call:
    """Parameters of the address and of the body together; the body wins."""
    fields: dict[str, Any] = dict(parse_qsl(request.query, keep_blank_values=True))
    kind, _, options = request.headers.get("content-type", "").partition(";")
    kind = kind.strip().lower()
    files: dict[str, Upload] = {}
    if kind == "application/json" and request.body:
        try:
            value = json.loads(request.body)
        except ValueError:
            raise bad_request("can't parse JSON object in the request body") from None
        if isinstance(value, dict):
            fields.update(value)
    elif kind == "application/x-www-form-urlencoded":
        fields.update(parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
    elif kind == "multipart/form-data":
        boundary = options.partition("boundary=")[2].split(";")[0].strip().strip('"')
        _read_multipart(request.body, boundary, fields, files)
    return Call(method, fields, files)


def _read_multipart(body: bytes, boundary: str, fields: dict[str, Any], files: dict[str, Upload]) -> None:
    mark = b"--" + boundary.encode("latin-1")
    for piece in (b"\r\n" + body).split(b"\r\n" + mark)[1:]:
        head, separator, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not separator:
            continue
        lines = head.decode("utf-8", "replace").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        options = dict(_DISPOSITION.findall(headers.get("content-disposition", "")))
        name = options.get("name", "")
        if "filename" in options:
            file_name = options["filename"].replace("%22", '"').replace("\\", "/").rsplit("/", 1)[-1]
            files[name] = Upload(file_name, headers.get("content-type", ""), content)
        else:
            fields[name] = content.decode("utf-8", "replace")
