"""Message Batches: many calls handed over at once, at half price, answered within a day."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import quote

import httpx2
from anthropic.types.messages import MessageBatch

from lift.backends import sdk
from lift.backends.bodies import FINAL, MALFORMED, message_of, parameters_of, read
from lift.backends.faults import Fault, Malformed, Refusal, Unsent
from lift.backends.messages import Messages, Tries
from lift.errors import BackendError, BatchUnknown, CouldNotRun, LiftError
from lift.schema import Reply, Request, Usage

MOST_ENTRIES = 10_000
MOST_BYTES = 64 << 20
"""The API takes 100,000 calls or 256 MB; a batch and its results are in memory at once."""

BATCHES = "batches"
"""What the calls about them are limited as, where others go by their model."""

CALL_S = 600.0
"""A call about batches that takes longer than this hangs."""

DOWNLOADS = 3
"""So often results are fetched that have less in them than the server counts."""

PAGE = 100

T = TypeVar("T")


class Unsure(Exception):
    """The server may have taken a batch, or not: look before it is handed over again.

    Args:
        problem: what happened.
    """

    def __init__(self, problem: LiftError) -> None:
        super().__init__(problem.what)
        self.problem = problem


class Seen(NamedTuple):
    """A batch, as the server tells of it."""

    name: str
    created_ms: int
    ended_ms: int | None
    """None while it is worked on."""
    entries: int


class Outcome(NamedTuple):
    """How one entry of a batch ended."""

    custom_id: str
    answer: tuple[Usage, Reply] | None = None
    """None where there is none."""
    why: str = ""
    """Why there is none."""
    again: bool = False
    """Whether it may be answered in another batch."""
    billed: bool = False
    """Whether it may have been billed though it says no usage."""


class Batches:
    """The batches of one server.

    Args:
        messages: the same server's, with its patience.
    """

    def __init__(self, messages: Messages) -> None:
        self.messages = messages
        self.client = sdk.client_of(messages.credential)

    async def submit(self, entries: Sequence[tuple[str, Request]]) -> str:
        """Hand over a batch.

        Args:
            entries: custom_id and what is sent, of each; at most MOST_ENTRIES and MOST_BYTES.

        Returns:
            Its id.

        Raises:
            Unsure: nobody knows whether the server took it.
            CouldNotRun: the server did not take it, and will not.
        """
        requests = [{"custom_id": name, "params": parameters_of(one)} for name, one in entries]

        async def create() -> str:
            made = await self.client.messages.batches.create(requests=cast("Any", requests))
            return seen(made).name

        return await self._answered(create, self._no_batches, once=True)

    async def retrieve(self, name: str) -> Seen:
        """A batch as it is now.

        Raises:
            BatchUnknown: the server does not have it.
            CouldNotRun: the server does not answer.
        """

        async def retrieve() -> Seen:
            return seen(await self.client.messages.batches.retrieve(name))

        return await self._answered(retrieve, lambda said: self._unknown(name, said))

    async def since(self, created_ms: int) -> list[Seen]:
        """The batches made since a time, the latest first.

        Args:
            created_ms: Unix time in milliseconds.

        Raises:
            CouldNotRun: the server does not answer.
        """

        async def listed() -> list[Seen]:
            found = []
            async for batch in self.client.messages.batches.list(limit=PAGE):
                one = seen(batch)
                if one.created_ms < created_ms:
                    break
                found.append(one)
            return found

        return await self._answered(listed, self._no_batches)

    async def results(self, batch: Seen) -> list[Outcome]:
        """How the entries of a batch ended, in any order; of some there may be nothing.

        Args:
            batch: that ended.

        Raises:
            BatchUnknown: the server does not have the results, or not any more.
            CouldNotRun: it does not answer, or with something else.
        """
        # not the address that the server names: behind a gateway that is another host
        path = f"/v1/messages/batches/{quote(batch.name, safe='')}/results"
        found: list[Outcome] = []

        async def download() -> list[Outcome]:
            response = await self.client.get(path, cast_to=httpx2.Response)
            outcomes = [
                self._outcome(line) for line in response.content.split(b"\n") if line.strip()
            ]
            readable = [outcome for outcome in outcomes if outcome]
            if outcomes and not readable:
                raise Malformed("the batch's results are no results")
            return readable

        for _ in range(DOWNLOADS):
            latest = await self._answered(download, lambda said: self._unknown(batch.name, said))
            found = max(found, latest, key=len)
            if len(found) >= batch.entries:
                break
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()
        await self.messages.close()

    async def _answered(
        self,
        call: Callable[[], Awaitable[T]],
        missing: Callable[[str], CouldNotRun],
        *,
        once: bool = False,
    ) -> T:
        """What a call returns, made again while that may help.

        Args:
            call: makes it.
            missing: what the server says where it does not have what it was asked for → the
                problem.
            once: do not make it again where the server may have done what it asks.
        """
        tries = Tries(0, self.messages.deadline_s)
        while True:
            asked = sent = time.monotonic()
            try:
                async with self.messages.patience.turn(BATCHES):
                    sent = time.monotonic()
                    tries.used_s += sent - asked if tries.failures else 0.0
                    with sdk.faults():
                        async with asyncio.timeout(CALL_S):
                            answer = await call()
            except Fault as failed:
                refused = self.messages.understood(failed, missing)._replace(sent=sent)
                if once and _may_be_done(failed):
                    raise Unsure(refused.problem) from failed
            else:
                self.messages.answered(BATCHES)
                return answer
            tries.used_s += time.monotonic() - sent
            tries.failures += 1
            tries.malformed += refused.malformed
            try:
                await self.messages.wait(refused, tries, BATCHES)
            except BackendError as failed:
                where, fix = self.messages.base_url, "lift collect goes on from here"
                raise CouldNotRun(failed.what, where=where, fix=fix) from failed

    def _outcome(self, line: bytes) -> Outcome | None:
        """What a line of the results says; None where it does not say of which entry."""
        try:
            told = json.loads(line)
            name = told["custom_id"]
        except MALFORMED:
            return None
        if not isinstance(name, str):
            return None
        try:
            return self._ended(name, told["result"])
        except (Malformed, *MALFORMED) as bad:
            why = self.messages.without_key(str(bad)) or "it is no result"
            return Outcome(
                name, why=f"the batch's result cannot be read: {why}", again=True, billed=True
            )

    def _ended(self, name: str, result: Mapping[str, Any]) -> Outcome:
        kind = result["type"]
        if kind == "succeeded":
            return Outcome(name, read(message_of(result["message"])))
        if kind == "errored":
            error = result["error"]["error"]
            why = self.messages.without_key(f"{error['type']}: {error['message']}")
            return Outcome(name, why=why, again=error["type"] not in FINAL)
        if kind == "expired":
            return Outcome(name, why="the batch expired before it was asked", again=True)
        if kind == "canceled":
            return Outcome(name, why="the batch was canceled before it was asked")
        raise Malformed(f"unknown type {kind!r}")

    def _no_batches(self, said: str) -> CouldNotRun:
        return CouldNotRun(
            f"the server has no Message Batches: {said}",
            where=self.messages.base_url,
            fix="check ANTHROPIC_BASE_URL, or run without --batch",
        )

    def _unknown(self, name: str, said: str) -> BatchUnknown:
        return BatchUnknown(
            f"the server does not have the batch {name}, or not its results: {said}",
            where=self.messages.base_url,
            fix="use the key it was submitted with; if it is gone, lift collect --give-up",
        )


def size_of(request: Request) -> int:
    """Bytes that a request takes in a batch."""
    return len(json.dumps(parameters_of(request), ensure_ascii=False).encode("utf-8", "replace"))


def seen(batch: MessageBatch) -> Seen:
    """What the server tells of a batch.

    Raises:
        Malformed: it is no batch.
    """
    counts = batch.request_counts
    ended = batch.processing_status == "ended"
    name: object = batch.id
    if not isinstance(name, str) or not name:
        raise Malformed("the server's answer is no batch: it has no id")
    return Seen(
        name=name,
        created_ms=_ms(batch.created_at),
        ended_ms=_ms(batch.ended_at or batch.created_at) if ended else None,
        entries=counts.processing
        + counts.succeeded
        + counts.errored
        + counts.canceled
        + counts.expired,
    )


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _may_be_done(failed: Fault) -> bool:
    """Whether the server may have done what it was asked though no answer says so."""
    if isinstance(failed, Refusal):
        return failed.status >= 500 or failed.status < 400
    return not isinstance(failed, Unsent)
