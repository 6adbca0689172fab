"""Calls of the Messages API over HTTP: each is made once, and ends in a message or a fault.

It speaks HTTP itself instead of through the SDK, whose import takes longer than a first answer,
and which does not check what it reads. Headers, bodies and events are the SDK's: the tests hold
them to it.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2

from lift.backends.bodies import MALFORMED, Message, parsed, streamed
from lift.backends.faults import Cut, Refusal, Unsent, named
from lift.errors import CouldNotRun
from lift.network import from_environment
from lift.settings import Credential, is_loopback

PATH = "/v1/messages"
VERSION = "2026-10-21"

CONNECT_S = 30.0
"""A connection that takes longer than this does not come about."""

ALIVE_EVERY_S = 60
"""Between signs of life on a connection that waits: networks forget those that give none."""

NO_CREDENTIAL = "none"
"""Sent as the key to a server on this machine when there is none."""

TEXT_S = 5.0
"""The text of an error may take so long; that it is one is known by then."""

UNSENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)


class Connection:
    """A server that speaks the Messages API.

    Each call in flight has a transport to itself: one that is shared looks through all of its
    connections for each call.

    Args:
        credential: the key and the address.

    Raises:
        CouldNotRun: a proxy or the certificates of the environment cannot be used.
    """

    def __init__(self, credential: Credential) -> None:
        self._url = httpx2.URL(f"{credential.base_url.rstrip('/')}{PATH}")
        self._headers = httpx2.Headers(headers_of(credential))
        with from_environment(CouldNotRun, httpx2.InvalidURL):
            self._transport = _transports(credential.base_url)
            self._idle = [self._transport()]
        self._all = list(self._idle)

    async def message(
        self,
        parameters: Mapping[str, Any],
        *,
        seconds: float,
        began: Callable[[], None] | None = None,
    ) -> Message:
        """Make a call.

        Args:
            parameters: its body.
            seconds: it may take; above 0.
            began: called once the answer has begun; None where nobody waits for that.

        Raises:
            Unsent, Refusal, Cut, Malformed: there is no answer.
        """
        if not self._idle:
            self._idle.append(self._transport())
            self._all.append(self._idle[-1])
        transport = self._idle.pop()
        body = dict(parameters) if began is None else {**parameters, "stream": True}
        request = httpx2.Request(
            "POST",
            self._url,
            headers=self._headers,
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            extensions={"timeout": {"connect": min(CONNECT_S, seconds / 2)}},
        )
        try:
            with _faults():
                async with asyncio.timeout(seconds):
                    return await _answered(await transport.handle_async_request(request), began)
        finally:
            self._idle.append(transport)

    async def close(self) -> None:
        """Close the connections."""
        for transport in self._all:
            await transport.aclose()


async def _answered(response: httpx2.Response, began: Callable[[], None] | None) -> Message:
    try:
        if not response.is_success:
            raise await refusal_of(response)
        if began is None:
            return parsed(await response.aread())
        return await streamed(response.aiter_bytes(), began)
    finally:
        await response.aclose()


async def refusal_of(response: httpx2.Response) -> Refusal:
    """The error that a server answered with, though its text may break off."""
    content = b""
    with suppress(httpx2.HTTPError, TimeoutError):
        async with asyncio.timeout(TEXT_S):
            content = await response.aread()
    said = _said(response, content)
    return Refusal(said, status=response.status_code, headers=response.headers)


def _said(response: httpx2.Response, content: bytes) -> str:
    if response.has_redirect_location:
        return f"it leads to {response.headers['location']}"
    try:
        told = json.loads(content)["error"]["message"]
    except MALFORMED:
        told = None
    if isinstance(told, str) and told:
        return told
    return content.decode("utf-8", "replace").strip() or response.reason_phrase


def headers_of(credential: Credential) -> dict[str, str]:
    """What goes with each call; what the credential names wins."""
    known = credential.api_key or credential.auth_token
    secret = known.get_secret_value() if known else NO_CREDENTIAL
    own = {
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "anthropic-version": VERSION,
        "authorization": f"Bearer {secret}",
        "content-type": "application/json",
        "user-agent": "lift",
    }
    asked = {name.lower(): value.get_secret_value() for name, value in credential.headers.items()}
    return own | asked


class _ByProxy(httpx2.AsyncBaseTransport):
    """Through the environment's proxy, or past it, as its variables say."""

    def __init__(self, certificates: ssl.SSLContext | bool) -> None:
        self._client = httpx2.AsyncClient(verify=certificates)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """What comes back."""
        return await self._client.send(request, stream=True)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _transports(url: str) -> Callable[[], httpx2.AsyncBaseTransport]:
    """What makes the transports to a server.

    Raises:
        OSError, ImportError, ValueError, httpx2.InvalidURL: something in the environment is wrong.
    """
    certificates: ssl.SSLContext | bool = False
    if urlsplit(url).scheme == "https":  # they take long to load, and plain HTTP shows none
        certificates = httpx2.create_ssl_context()
    # proxies of the environment are for other hosts than a local server
    if getproxies() and not is_loopback(url):
        return lambda: _ByProxy(certificates)
    return lambda: httpx2.AsyncHTTPTransport(
        verify=certificates, socket_options=list(_signs_of_life())
    )


def _signs_of_life() -> Iterator[tuple[int, int, int]]:
    yield socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
    for name in ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL"):
        if (option := getattr(socket, name, None)) is not None:
            yield socket.IPPROTO_TCP, option, ALIVE_EVERY_S


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except TimeoutError as late:
        raise Cut("the call timed out") from late
    except UNSENT as failed:
        raise Unsent(f"no connection ({str(failed) or named(failed)})") from failed
    except httpx2.HTTPError as failed:
        raise Cut(f"the connection broke off ({named(failed)})") from failed
