"""The Messages API, of Anthropic or any server that speaks it: with patience, and what it costs."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, NamedTuple

from lift.backends import Meter
from lift.backends.bodies import parameters_of, read
from lift.backends.connection import Connection
from lift.backends.faults import Fault, Malformed, Refusal, Unsent
from lift.backends.patience import Patience
from lift.errors import (
    BackendError,
    CeilingReached,
    CouldNotRun,
    CredentialError,
    LiftError,
    ModelUnavailable,
)
from lift.pricing import Price, cost_usd, worst_case_usd
from lift.schema import Evidence, Label, Reply, Request, Status, Usage
from lift.settings import Credential

CALL_OVERHEAD_S = 30.0
SLOWEST_TOKENS_PER_S = 30.0
"""A call that takes longer than its answer would at this speed hangs."""

SHORTEST_CALL_S = 1.0
"""A call is not begun with less time than this before the trial's deadline."""

TRIES_WITHOUT_CONTACT = 5
"""So often a server that never answered anything may refuse a connection."""

UNCLEAR_S = 1.0
"""How long to wait where a server asks for it, and does not say how long."""

LONGEST_SAID = 500
"""Characters of a server's error."""

SHORTEST_SECRET = 8
"""What is shorter than this is no secret, and may be a word of an error's text."""

FAILURES = {
    "refusal": "the model refused",
    "max_tokens": "the answer was cut off at max_tokens",
    "model_context_window_exceeded": "the answer was cut off at the context window",
}

MOST_MALFORMED = 3
"""So many answers that are no messages are enough."""


class Refused(NamedTuple):
    """A call without an answer, and what to make of it."""

    problem: LiftError
    again: bool
    """Whether the same call may succeed later."""
    billed: bool
    """Whether the server may have billed it."""
    pause_s: float | None = None
    """How long the server asks everyone to wait; None where it does not."""
    per_s: float | None = None
    """Calls a second that it says it takes, where they were too many; None where it does not."""
    sent: float = 0.0
    """Monotonic time of the call."""
    malformed: bool = False
    """Whether there was an answer that is no message."""
    crowded: bool = False
    """Whether too many calls were in flight."""


@dataclass
class Tries:
    """What became of a request so far."""

    started_ms: int
    deadline_s: float
    used_s: float = 0.0
    """By its own calls and pauses."""
    failures: int = 0
    malformed: int = 0
    lost_usd: float = 0.0

    @property
    def left_s(self) -> float:
        """Seconds until it is given up."""
        return self.deadline_s - self.used_s


class Messages:
    """One client for the whole run; retries and waiting are shared by all its calls.

    Args:
        credential: the key and the address.
        prices: model → price.
        concurrency: calls in flight at most.
        deadline_s: seconds after which a trial without an answer is given up.
        clock: the time, in milliseconds.
    """

    name = "messages"

    def __init__(
        self,
        credential: Credential,
        *,
        prices: Mapping[str, Price],
        concurrency: int,
        deadline_s: float,
        clock: Callable[[], int],
    ) -> None:
        self.prices = prices
        self.deadline_s = deadline_s
        self.clock = clock
        self.patience = Patience(concurrency)
        self.credential = credential
        self.base_url = credential.base_url
        self._calling: set[asyncio.Task[Any] | None] = set()
        self._contact = False
        self._answered = False
        known = (credential.api_key, credential.auth_token, *credential.headers.values())
        self._secrets = [s.get_secret_value() for s in known if s and len(s) >= SHORTEST_SECRET]
        self._connection = Connection(credential)

    async def answer(
        self,
        request: Request,
        *,
        label: Label,  # noqa: ARG002 - only canned replies are found by it
        meter: Meter,
        began: Callable[[], None] | None = None,
    ) -> Evidence:
        """The model's answer, asked again until the deadline where there is none.

        The deadline is of the trial's own calls and pauses, and of waiting for a turn once it was
        refused; waiting for the first turn, or for money, does not count.
        """
        worst_usd = worst_case_usd(request, self.prices[request.model])
        tries = Tries(self.clock(), self.deadline_s)
        task = asyncio.current_task()
        while True:
            try:
                await meter.promise(worst_usd)
            except CeilingReached as reached:
                reached.lost_usd = tries.lost_usd
                raise
            try:
                outcome = await self._try(request, began, meter, worst_usd, tries)
            finally:
                self._calling.discard(task)
            if isinstance(outcome, Evidence):
                return outcome
            tries.failures += 1
            tries.malformed += outcome.malformed
            tries.lost_usd += worst_usd if outcome.billed else 0.0
            await self.wait(outcome, tries, request.model)

    async def _try(
        self,
        request: Request,
        began: Callable[[], None] | None,
        meter: Meter,
        worst_usd: float,
        tries: Tries,
    ) -> Evidence | Refused:
        """One call; the meter knows what became of it, whatever that is."""
        await self._turn(request.model, tries, partial(meter.bill, worst_usd, 0.0))
        self._calling.add(asyncio.current_task())
        settled = partial(meter.lose, worst_usd)  # as long as nothing else is known
        sent = time.monotonic()
        try:
            longest = CALL_OVERHEAD_S + request.max_tokens / SLOWEST_TOKENS_PER_S
            message = await self._connection.message(
                parameters_of(request), seconds=min(longest, tries.left_s), began=began
            )
            usage, reply = read(message)
            cost = cost_usd(usage, self.prices[request.model])
            settled = partial(meter.bill, worst_usd, cost)
        except Fault as failed:
            tries.used_s += time.monotonic() - sent
            refused = self.understood(failed, partial(self._unserved, request))
            if not refused.billed:
                settled = partial(meter.bill, worst_usd, 0.0)
            return refused._replace(sent=sent)
        finally:
            try:
                await settled()
            finally:
                await self.patience.leave(request.model)
        self.answered(request.model)
        return evidence_of(
            usage,
            reply,
            cost_usd=cost,
            lost_usd=tries.lost_usd,
            started_ms=tries.started_ms,
            ended_ms=self.clock(),
        )

    async def _turn(self, model: str, tries: Tries, unsent: Callable[[], Awaitable[None]]) -> None:
        """Take a place. A request that was refused waits for it on its own time.

        Args:
            model: that is asked.
            tries: of the request.
            unsent: called where it comes to nothing.

        Raises:
            BackendError: the time is up.
        """
        began = time.monotonic()
        try:
            left_s = tries.left_s - SHORTEST_CALL_S if tries.failures else None
            async with asyncio.timeout(left_s):
                await self.patience.take(model)
        except BaseException as failed:
            await unsent()
            if not isinstance(failed, TimeoutError):
                raise
            raise BackendError(
                f"no answer within {self.deadline_s:.0f} s: the server takes no more calls now",
                lost_usd=tries.lost_usd,
            ) from None
        if tries.failures:
            tries.used_s += time.monotonic() - began

    def answered(self, model: str) -> None:
        """A call of a model was answered as it should be."""
        self.patience.answered(model)
        self._contact = self._answered = True

    def is_calling(self, task: asyncio.Task[Any]) -> bool:
        """Whether a task waits for a call that is made, and not for its turn or another try."""
        return task in self._calling

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def wait(self, refused: Refused, tries: Tries, model: str) -> None:
        """Wait before the next try of a model.

        Raises:
            BackendError: there is none: no time is left, or it would not help.
            CouldNotRun: nothing can be answered: key, model or server.
        """
        if not refused.again:
            if isinstance(refused.problem, BackendError):
                refused.problem.lost_usd = tries.lost_usd
            raise refused.problem
        self._check_contact(refused, tries)
        if refused.crowded:
            self.patience.crowded()
        asked, left_s = refused.pause_s, tries.left_s - SHORTEST_CALL_S
        # the first time it is enough to wait as long as all do
        waits_alone = asked is None or tries.failures > 1
        pause = self.patience.backoff(tries.failures) if waits_alone else 0.0
        if asked is not None and asked < left_s:  # longer than a trial may take, nobody waits
            self.patience.limited(model, asked, began=refused.sent, per_s=refused.per_s)
        least = max(pause, asked or 0.0, self.patience.paces[model].pause())
        if least >= left_s:
            said = f"; the server asks for {least:.0f} s of patience" if least > pause else ""
            raise BackendError(
                f"no answer within {self.deadline_s:.0f} s: {refused.problem.what}{said}",
                lost_usd=tries.lost_usd,
            ) from refused.problem
        tries.used_s += pause
        await asyncio.sleep(pause)

    def _check_contact(self, refused: Refused, tries: Tries) -> None:
        """Raise where trying again is of no use.

        Raises:
            CouldNotRun: the server was never there, or never answered with a message.
            BackendError: this request's answers are never messages.
        """
        unreachable = isinstance(refused.problem.__cause__, Unsent)
        if unreachable and not self._contact and tries.failures >= TRIES_WITHOUT_CONTACT:
            raise CouldNotRun(
                f"the model server cannot be reached: {refused.problem.what}",
                where=self.base_url,
                fix="check ANTHROPIC_BASE_URL and the network",
            ) from refused.problem
        if tries.malformed < MOST_MALFORMED:
            return
        if self._answered:
            raise BackendError(refused.problem.what, lost_usd=tries.lost_usd) from refused.problem
        raise CouldNotRun(
            refused.problem.what,
            where=self.base_url,
            fix="check that ANTHROPIC_BASE_URL is a server that speaks the Anthropic API",
        ) from refused.problem

    def understood(self, failed: Fault, missing: Callable[[str], CouldNotRun]) -> Refused:
        """What to make of a call without an answer.

        Args:
            failed: what became of it.
            missing: what the server says where it does not have what it was asked for → the
                problem.
        """
        said = self.without_key(failed.said)[:LONGEST_SAID]  # half a key would not be known
        if isinstance(failed, Refusal):
            self._contact = True
            return _of_status(failed, said, missing, self.base_url)
        problem = BackendError(said)
        problem.__cause__ = failed
        return Refused(
            problem,
            again=True,
            billed=not isinstance(failed, Unsent),
            malformed=isinstance(failed, Malformed),
        )

    def _unserved(self, request: Request, said: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"the server does not serve {request.model!r}: {said}",
            where=self.base_url,
            fix="check the name of the model, and ANTHROPIC_BASE_URL",
        )

    def without_key(self, text: str) -> str:
        """The text without the credential, which a server may repeat."""
        for secret in self._secrets:
            text = text.replace(secret, "<key>")
        return text


def _of_status(
    failed: Refusal, said: str, missing: Callable[[str], CouldNotRun], url: str
) -> Refused:
    status = failed.status
    if status in (401, 403):
        problem: LiftError = CredentialError(
            f"the server refuses the key: {said}",
            where=url,
            fix="check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and the address",
        )
        return Refused(problem, again=False, billed=False)
    if status == 402:
        problem = CouldNotRun(f"the account cannot pay: {said}", where=url, fix="add credit")
        return Refused(problem, again=False, billed=False)
    if 300 <= status < 400:
        where, fix = url, "check that ANTHROPIC_BASE_URL is the address of the API itself"
        problem = CouldNotRun(f"not the Messages API: {said}", where=where, fix=fix)
        return Refused(problem, again=False, billed=False)
    if status == 404:
        return Refused(missing(said), again=False, billed=False)
    problem = BackendError(f"HTTP {status}: {said}")
    if status == 429:
        pause_s = _retry_after(failed)
        return Refused(
            problem, again=True, billed=False, pause_s=pause_s, per_s=_calls_per_s(failed),
            crowded=pause_s is None,
        )  # fmt: skip
    if status == 503:
        return Refused(problem, again=True, billed=False, pause_s=_retry_after(failed))
    if status in (408, 409) or status >= 500:
        return Refused(problem, again=True, billed=False)
    # an error event inside a stream has the stream's status
    return Refused(problem, again=status < 400, billed=status < 400)


def _retry_after(failed: Refusal) -> float | None:
    """How long everybody is to wait; None where it is about calls at once, not in a time."""
    said = failed.headers.get("retry-after")
    if said is None:
        return None
    try:
        seconds = float(said)
    except ValueError:
        seconds = _until(said)
    return max(0.0, seconds) if math.isfinite(seconds) else UNCLEAR_S


def _until(said: str) -> float:
    """Seconds until a date of HTTP; UNCLEAR_S where it is none."""
    try:
        return parsedate_to_datetime(said).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return UNCLEAR_S


def _calls_per_s(failed: Refusal) -> float | None:
    """How many calls a second the server says it takes, where none is left."""
    limit, left = (
        failed.headers.get(f"anthropic-ratelimit-requests-{what}", "")
        for what in ("limit", "remaining")
    )
    known = left == "0" and re.fullmatch(r"0*[1-9][0-9]{0,8}", limit)
    return int(limit) / 60 if known else None


def evidence_of(
    usage: Usage, reply: Reply, *, cost_usd: float, lost_usd: float, started_ms: int, ended_ms: int
) -> Evidence:
    """What an answered call left behind: ok, or failed where the model answered badly."""
    why = FAILURES.get(reply.stop_reason or "", "")
    return Evidence(
        status=Status.FAILED if why else Status.OK,
        why=why,
        reply=reply,
        usage=usage,
        cost_usd=cost_usd,
        lost_usd=lost_usd,
        started_ms=started_ms,
        ended_ms=ended_ms,
    )
