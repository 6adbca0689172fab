"""One connection to a Langfuse project: requests with patience, answers or clear errors.

It speaks HTTP itself instead of through the SDK, which neither repeats a request that broke off,
nor bounds all tries by one deadline, nor tells a request that was not taken from one that may
have been; and its OTLP exporter drops what a server answers with 500. Names, ids and bodies are
the SDK's: the tests hold them to it.
"""

from __future__ import annotations

import gzip
import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from functools import cached_property
from threading import get_ident
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr, field_validator

from lift.langfuse import faults
from lift.langfuse.faults import LangfuseError, Refused, Unclear
from lift.langfuse.pace import Pace
from lift.network import from_environment
from lift.schema import Noun
from lift.settings import is_loopback

OLDEST = (4, 59)
"""The first server version that takes scores as a list, with their times."""

Query = Mapping[str, str | int]

HEALTH = "/api/public/health"
HALF_A_SECOND = 0.5

OF_LISTS = ("/api/public/scores", "/api/public/ingestion")
"""What is given a list; those who give it read which part was taken."""

PAGE = 100
OBSERVATIONS_PAGE = 1000
LONGEST_PAUSE_S = 8.0
IDLE_S = 2.0
"""A server may close a connection that was idle for longer."""


class LangfuseCredential(Noun):
    """What requests carry, and where they go."""

    public_key: str
    secret_key: SecretStr
    base_url: str

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("not an address: it starts with https:// and names a host")
        return url.rstrip("/")


class Answer(NamedTuple):
    """What a server said."""

    status: int
    body: dict[str, Any]


class Connection:
    """A Langfuse project, over HTTP.

    Args:
        credential: key and address.
        deadline_s: of one request, all its tries together; above 0.
        timeout_s: how long a try may wait for the server; above 0.
        pause_s: about how long to wait before the second try; doubles with each, up to 8 s.
        tries: of one request at most; at least 1.
        waits_s: how long a request lets a server that takes no more now (429, 503) make it wait,
            beside the deadline and the tries.
        pace: when the next request may go.
        seed: of the jitter.
        sleep: waits so many seconds; may raise LangfuseError to give up.
    """

    def __init__(
        self,
        credential: LangfuseCredential,
        *,
        deadline_s: float = 15.0,
        timeout_s: float = 8.0,
        pause_s: float = 0.5,
        tries: int = 4,
        waits_s: float = 0.0,
        pace: Pace | None = None,
        seed: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = credential.base_url
        self.destination = f"{credential.base_url} {credential.public_key}"
        """What the journal calls this project: address and public key."""
        self.dataset_ids: dict[str, str] = {}
        """Name of a dataset → its id, as far as it was asked for."""
        self.sleep = sleep
        self._in_flight: dict[int, float] = {}
        self._deadline_s, self._timeout_s = deadline_s, timeout_s
        self._pause_s, self._tries, self._waits_s = pause_s, tries, waits_s
        self._pace = pace or Pace(sleep=sleep)
        self._random = random.Random(seed)
        self._credential = credential

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if "_http" in self.__dict__:
            self._http.close()

    @cached_property
    def _http(self) -> httpx.Client:
        credential = self._credential
        with from_environment(LangfuseError, httpx.InvalidURL):
            return httpx.Client(
                base_url=credential.base_url,
                auth=(credential.public_key, credential.secret_key.get_secret_value()),
                limits=httpx.Limits(keepalive_expiry=IDLE_S),
                # proxies of the environment are for other hosts than a local server
                trust_env=not is_loopback(credential.base_url),
                # certificates take a tenth of a second to load, and plain HTTP shows none
                verify=urlsplit(credential.base_url).scheme == "https",
            )

    @property
    def asked_at(self) -> float | None:
        """Monotonic time of the oldest request in flight; None where there is none."""
        return min(list(self._in_flight.values()), default=None)

    # ---- what is at the other end

    def project(self) -> str:
        """The id of the project that the key belongs to; asked once.

        Raises:
            LangfuseError: it cannot be asked, or the key is refused.
        """
        return self._project

    def server_version(self) -> tuple[int, ...]:
        """The server's version, as (4, 59, 0); empty where it does not say. Asked once.

        Raises:
            LangfuseError: it cannot be asked.
        """
        return self._version

    def clock_ahead_s(self) -> float | None:
        """How far this machine's clock is ahead of the server's; None where it does not tell.

        Raises:
            LangfuseError: it cannot be asked.
        """
        began = time.time()
        response = self._request("GET", HEALTH, repeatable=True)
        between = (began + time.time()) / 2
        try:
            told = parsedate_to_datetime(response.headers.get("date", "")).timestamp()
        except (TypeError, ValueError):
            return None
        return between - (told + HALF_A_SECOND)  # it tells whole seconds

    def takes_lists(self) -> bool:
        """Whether the server takes scores as a list; one that hides its version is a new one."""
        return not self._version or self._version >= OLDEST

    def notice(self) -> str:
        """What a person should know about the server; empty where there is nothing.

        Raises:
            LangfuseError: it cannot be asked.
        """
        if self.takes_lists():
            return ""
        version, oldest = (".".join(map(str, v)) for v in (self._version, OLDEST))
        return f"Langfuse {version} is older than {oldest}: scores take its older route"

    @cached_property
    def _project(self) -> str:
        path = "/api/public/projects"
        found = self._entries(path, self.get(path))
        if not found:
            raise LangfuseError(
                "the key belongs to no project",
                where=self.base_url,
                fix="use a key from the project's settings",
            )
        return str(found[0]["id"])

    @cached_property
    def _version(self) -> tuple[int, ...]:
        said = str(self.get(HEALTH).get("version", ""))
        parts = said.removeprefix("v").partition("-")[0].split(".")
        return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()

    # ---- requests

    def get(self, path: str, query: Query | None = None) -> dict[str, Any]:
        """What a server says of something.

        Raises:
            Refused: it does not give it; its status may be 404.
            LangfuseError: it cannot be asked.
        """
        response = self._request("GET", path, repeatable=True, params=dict(query or {}))
        return self._read(response).body

    def listed(self, path: str, query: Query) -> Iterator[dict[str, Any]]:
        """Every entry of a list that a cursor leads through.

        Raises:
            LangfuseError: as for `get`.
        """
        cursor, known = "", set[str]()
        while cursor not in known:
            known.add(cursor)
            page = self.get(path, {**query, "cursor": cursor} if cursor else query)
            yield from self._entries(path, page)
            cursor = (page.get("meta") or {}).get("cursor") or ""

    def numbered(self, path: str, query: Query) -> Iterator[dict[str, Any]]:
        """Every entry of a list with numbered pages.

        Raises:
            LangfuseError: as for `get`.
        """
        number, last = 1, 1
        while number <= last:
            page = self.get(path, {**query, "page": number, "limit": PAGE})
            yield from self._entries(path, page)
            last = int((page.get("meta") or {}).get("totalPages") or 1)
            number += 1

    def post(self, path: str, body: Any, *, repeatable: bool = True) -> Answer:
        """What a server answers to something it is given.

        Args:
            path: where to.
            body: anything JSON can hold.
            repeatable: whether the server may be given it twice. Where it may not, a try that
                broke off is not repeated.

        Raises:
            Refused: it does not take it.
            Unclear: it may have taken it; only where it is not repeatable.
            LangfuseError: it cannot be asked.
        """
        return self._read(self._request("POST", path, repeatable=repeatable, json=body))

    def make(
        self, path: str, body: Any, *, found: Callable[[], dict[str, Any] | None]
    ) -> dict[str, Any]:
        """What a server made, where every request makes another one.

        Args:
            path: where to.
            body: anything JSON can hold.
            found: looks whether it is there, after a request that broke off.

        Raises:
            LangfuseError: it cannot be asked, or does not take it.
        """
        for again in range(1, self._tries + 1):
            try:
                return self.post(path, body, repeatable=False).body
            except Unclear:
                if (there := found()) is not None:
                    return there
                if again == self._tries:
                    raise
        raise AssertionError("the last try raises")

    def patch(self, path: str, body: Any) -> Answer:
        """What a server answers to a change, which it may be told twice.

        Raises:
            Refused: it does not take it.
            LangfuseError: it cannot be asked.
        """
        return self._read(self._request("PATCH", path, repeatable=True, json=body))

    def post_spans(self, data: bytes) -> None:
        """Give a server an OTLP request; when this returns, it took it.

        Args:
            data: a request, not compressed.

        Raises:
            Refused: it does not take it.
            Unclear: it may have taken it.
            LangfuseError: it cannot be asked.
        """
        response = self._request(
            "POST",
            "/api/public/otel/v1/traces",
            repeatable=False,
            content=gzip.compress(data, mtime=0),
            headers={
                "content-type": "application/x-protobuf",
                "content-encoding": "gzip",
                "x-langfuse-ingestion-version": "4",
                # servers reset the connection after a request that was too large
                "connection": "close",
            },
        )
        # its body says nothing more, and holds the key
        if faults.is_page(response):
            raise faults.page(response)

    def _entries(self, path: str, page: dict[str, Any]) -> list[dict[str, Any]]:
        entries = page.get("data")
        if isinstance(entries, list) and all(map(faults.is_entry, entries)):
            return entries
        raise faults.odd(f"GET {self.base_url}{path}")

    def _read(self, response: httpx.Response) -> Answer:
        try:
            body = response.json()
        except (ValueError, RecursionError) as bad:
            raise faults.page(response) from bad
        if not isinstance(body, dict):
            raise faults.page(response)
        return Answer(response.status_code, body)

    def _request(
        self, method: str, path: str, *, repeatable: bool, **content: Any
    ) -> httpx.Response:
        until, waits_s = time.monotonic() + self._deadline_s, self._waits_s
        failures = 0
        for again in itertools.count(1):
            until += self._pace.wait(path)
            fault = self._tried(method, path, until, repeatable=repeatable, **content)
            if isinstance(fault, httpx.Response):
                return fault
            jitter = self._random.uniform(0, min(LONGEST_PAUSE_S, self._pause_s * 2**again))
            pause = max(fault.wait_s, jitter)
            if fault.busy and pause <= waits_s:
                # it says so to all: nothing else goes meanwhile, and this is no failure
                self._pace.hold(path, pause)
                waits_s -= pause
                continue
            failures += 1
            late = time.monotonic() + pause >= until
            if not fault.again or failures == self._tries or late:
                raise fault.error
            try:
                self.sleep(pause)
            except LangfuseError as given_up:  # it says less than what happened
                raise fault.error from given_up
        raise AssertionError("it is tried until it ends")

    def _tried(
        self, method: str, path: str, until: float, *, repeatable: bool, **content: Any
    ) -> httpx.Response | faults.Fault:
        now = self._in_flight[get_ident()] = time.monotonic()
        timeout = max(0.001, min(self._timeout_s, until - now))
        try:
            response = self._http.request(method, path, timeout=timeout, **content)
        except (httpx.HTTPError, httpx.InvalidURL) as broken:
            where = f"{method} {self.base_url}{path}"
            return faults.of_break(broken, where=where, repeatable=repeatable)
        finally:
            del self._in_flight[get_ident()]
        if response.is_success and (response.status_code != faults.PARTIAL or path in OF_LISTS):
            return response
        return faults.of_answer(response, repeatable=repeatable)


__all__ = ["Answer", "Connection", "LangfuseCredential", "LangfuseError", "Refused"]
