"""The Bot API's wire on python-telegram-bot: warm connections, true error codes, raw results.

Results stay the server's own JSON: a new or missing field of a later Bot API then never breaks a call that succeeded.
No token gets into an error, a log or a ``repr`` from here. Lives in the event loop's thread.
"""

from __future__ import annotations

import functools
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import httpx
from telegram import Bot
from telegram.error import NetworkError, TelegramError
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from bridge.messenger import MessengerError, OutcomeUnknownError, UnreachableError
from bridge.redaction import redact
from bridge.telegram.failures import failure_of
from bridge.texts import tr

KEEPALIVE = 120.0
"""Seconds an idle connection is kept: a prompt after a quiet spell costs one round trip instead of three."""
SEND_READ_TIMEOUT = 20.0
"""Seconds; the Bot API server itself holds a flood-limited request for up to 8 s before it answers."""
CONNECT_TIMEOUT = 8.0
WRITE_TIMEOUT = 15.0
UPLOAD_WRITE_TIMEOUT = 120.0
CALL_POOL = 16
POLL_POOL = 4
"""One poll at a time; the rest is for a connection that is still dying."""

OFFICIAL = "https://api.telegram.org"

_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True)
class ApiAddress:
    """Where the Bot API is. ``proxy`` is an http(s) or socks5 address, "" for none.

    ``uses_environment``: let HTTP(S)_PROXY of the environment apply (not wanted on loopback).
    """

    base_url: str = ""
    base_file_url: str = ""
    proxy: str = ""
    uses_environment: bool = True

    def call_root(self) -> str:
        """Ends in "/bot"; a bare server address gets it added."""
        root = (self.base_url or OFFICIAL).rstrip("/")
        return root if root.endswith("/bot") else f"{root}/bot"

    def file_root(self) -> str:
        """Ends in "/file/bot"; derived from the call address when not given."""
        if self.base_file_url:
            root = self.base_file_url.rstrip("/")
            return root if root.endswith("/bot") else f"{root}/bot"
        return self.call_root().removesuffix("/bot") + "/file/bot"


class _Failure(TelegramError):
    """Carries the seam's error through the library, which passes its own errors on untouched."""

    def __init__(self, error: MessengerError) -> None:
        super().__init__(error.title)
        self.error = error


class ApiRequest(HTTPXRequest):
    """One pool of connections that tells "never sent" from "outcome unknown" and keeps the server's error code."""

    __slots__ = ("_headers", "_timeouts")

    def __init__(self, address: ApiAddress, *, pool: int, read_timeout: float = SEND_READ_TIMEOUT) -> None:
        limits = httpx.Limits(max_connections=pool, max_keepalive_connections=pool, keepalive_expiry=KEEPALIVE)
        super().__init__(
            connection_pool_size=pool,
            read_timeout=read_timeout,
            write_timeout=WRITE_TIMEOUT,
            connect_timeout=CONNECT_TIMEOUT,
            pool_timeout=5.0,
            media_write_timeout=UPLOAD_WRITE_TIMEOUT,
            proxy=address.proxy or None,
            httpx_kwargs={
                "limits": limits,
                "trust_env": address.uses_environment,
                "verify": certificates(uses_environment=address.uses_environment),
            },
        )
        self._headers = {
            "User-Agent": self.USER_AGENT,
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "*/*",
            "Connection": "keep-alive",
        }
        self._timeouts = self._client.timeout.as_dict()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """One HTTP exchange; raises only ``_Failure``."""
        try:
            if method == "POST" and request_data is not None and not request_data.contains_files:
                code, payload = await self._post_form(url, request_data, read_timeout)
            else:
                code, payload = await super().do_request(
                    url, method, request_data, read_timeout, write_timeout, connect_timeout, pool_timeout
                )
        except NetworkError as error:
            raise _Failure(transport_failure(error.__cause__ or error)) from None
        except httpx.HTTPError as error:
            raise _Failure(transport_failure(error)) from None
        except (httpx.InvalidURL, ValueError, RuntimeError) as error:
            raise _Failure(UnreachableError("The call could not be made", detail=redact(str(error)))) from None
        if not 200 <= code <= 299:
            raise _Failure(answer_failure(code, payload))
        if method == "POST" and not is_answer(payload):
            raise _Failure(OutcomeUnknownError("The server's answer is cut or no JSON"))
        return code, payload

    async def _post_form(self, url: str, data: RequestData, read_timeout: Any) -> tuple[int, bytes]:
        """What the library's own ``do_request`` does for a form, without building everything anew for each call.

        A prompt is on the wire a fifth sooner (measured: httpx and httpcore are 62 % of a call).
        """
        timeout = dict(self._timeouts)
        if isinstance(read_timeout, float | int):
            timeout["read"] = float(read_timeout)
        body = urlencode(data.json_parameters).encode()
        request = httpx.Request("POST", url, headers=self._headers, content=body, extensions={"timeout": timeout})
        response = await self._client.send(request)
        return response.status_code, response.content


@functools.cache
def certificates(*, uses_environment: bool) -> ssl.SSLContext:
    """The trusted roots, read once for both pools (40 ms each time)."""
    return httpx.create_ssl_context(trust_env=uses_environment)


class ApiBot(Bot):
    """The library's bot with one raw call; its own methods and its parsing are not used."""

    __slots__ = ()

    async def call(self, method: str, parameters: Mapping[str, object], read_timeout: float | None = None) -> Any:
        """Call ``method``; None values are left out. Raises MessengerError only; never retries."""
        try:
            return await self._do_post(
                method,
                {name: value for name, value in parameters.items() if value is not None},
                read_timeout=SEND_READ_TIMEOUT if read_timeout is None else read_timeout,
            )
        except _Failure as failure:
            raise failure.error from None
        except TelegramError as error:
            raise OutcomeUnknownError("The server gave no proper answer", detail=redact(str(error))) from None

    def __repr__(self) -> str:
        """The library's own would show the token."""
        return "ApiBot()"


async def fetch(request: ApiRequest, url: str, read_timeout: float) -> bytes:
    """GET a file. Raises MessengerError only."""
    try:
        return await request.retrieve(url, read_timeout=read_timeout)
    except _Failure as failure:
        raise failure.error from None


def transport_failure(cause: BaseException) -> MessengerError:
    """Whether the server can have got the call, from what broke."""
    detail = redact(f"{type(cause).__name__}: {cause}")
    if isinstance(cause, _NEVER_SENT):
        return UnreachableError(
            tr("Telegram can't be reached."), tr("Check the internet connection and the proxy."), detail
        )
    return OutcomeUnknownError("The reply was lost", detail=detail)


def answer_failure(code: int, payload: bytes) -> MessengerError:
    """The error for an answer with an error status; proxies answer with HTML, which is no envelope."""
    envelope = parsed(payload)
    if not isinstance(envelope, dict):
        if code in (401, 403, 404, 407):
            # A real Bot API server always sends its envelope: this is a proxy or a wrong address.
            return UnreachableError(
                tr("Something other than Telegram answered."),
                tr("Check the proxy and the Bot API address."),
                f"HTTP {code}",
            )
        return failure_of(code, f"HTTP {code}", {})
    parameters = envelope.get("parameters")
    description = str(envelope.get("description") or f"HTTP {code}")
    return failure_of(code, description, parameters if isinstance(parameters, dict) else {})


def parsed(payload: bytes) -> object:
    """The payload as JSON, None when it is none."""
    try:
        return cast("object", json.loads(payload))
    except ValueError:
        return None


def is_answer(payload: bytes) -> bool:
    """Whether a success is whole: a cut body must not be taken for one."""
    return payload.rstrip().endswith(b"}") and payload.lstrip().startswith(b"{")
