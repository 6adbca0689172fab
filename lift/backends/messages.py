"""The Messages API, of Anthropic or any server that speaks it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import anthropic
import httpx2
from anthropic.types import Message

from lift.backends import Meter
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
from lift.settings import Credential, is_loopback

if TYPE_CHECKING:
    from anthropic.types import MessageParam, TextBlockParam

CALL_OVERHEAD_S = 30.0
SLOWEST_TOKENS_PER_S = 30.0
"""A call that takes longer than its answer would at this speed hangs."""

SHORTEST_CALL_S = 1.0
"""So long a call may take, however near the trial's deadline."""

TRIES_WITHOUT_CONTACT = 5
"""So often a server that never answered anything may refuse a connection."""

NO_CREDENTIAL = "none"
"""Sent as the key to a server on this machine when there is none."""

FAILURES = {
    "refusal": "the model refused",
    "max_tokens": "the answer was cut off at max_tokens",
    "model_context_window_exceeded": "the answer was cut off at the context window",
}


FAULTS = (anthropic.AnthropicError, httpx2.HTTPError, TimeoutError, ValueError)
"""What a call without an answer raises; the SDK does not wrap what breaks a stream."""


class Refused(NamedTuple):
    """A call without an answer, and what to make of it."""

    problem: LiftError
    again: bool
    """Whether the same call may succeed later."""
    billed: bool
    """Whether the server may have billed it."""
    pause_s: float | None = None
    """How long the server asks everyone to wait; None where it does not."""
    sent: float = 0.0
    """Monotonic time of the call."""


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
        self.base_url = credential.base_url
        self._contact = False
        self._client = _client(credential, concurrency)

    async def answer(
        self,
        request: Request,
        *,
        label: Label,  # noqa: ARG002 - only canned replies are found by it
        meter: Meter,
        began: Callable[[], None] | None = None,
    ) -> Evidence:
        """The model's answer, asked again until the deadline where there is none."""
        worst_usd = worst_case_usd(request, self.prices[request.model])
        started_ms, give_up_at = self.clock(), time.monotonic() + self.deadline_s
        failures, lost_usd = 0, 0.0
        while True:
            try:
                await meter.promise(worst_usd)
            except CeilingReached as reached:
                reached.lost_usd = lost_usd
                raise
            outcome = await self._try(request, began, meter, worst_usd, give_up_at)
            if isinstance(outcome, Message):
                usage = _usage(outcome)
                return _evidence(
                    outcome,
                    usage,
                    cost_usd=cost_usd(usage, self.prices[request.model]),
                    lost_usd=lost_usd,
                    started_ms=started_ms,
                    ended_ms=self.clock(),
                )
            failures += 1
            lost_usd += worst_usd if outcome.billed else 0.0
            await self._wait(outcome, failures, give_up_at, lost_usd=lost_usd)

    async def _try(
        self,
        request: Request,
        began: Callable[[], None] | None,
        meter: Meter,
        worst_usd: float,
        give_up_at: float,
    ) -> Message | Refused:
        """One call; the meter knows what became of it, whatever that is."""
        sent = time.monotonic()
        try:
            async with self.patience.turn():
                sent = time.monotonic()
                longest = CALL_OVERHEAD_S + request.max_tokens / SLOWEST_TOKENS_PER_S
                seconds = max(SHORTEST_CALL_S, min(longest, give_up_at - sent))
                message = await self._call(request, began, seconds)
        except FAULTS as failed:
            refused = self._understood(failed, request)._replace(sent=sent)
            if refused.billed:
                await meter.lose(worst_usd)
            else:
                await meter.bill(worst_usd, 0.0)
            return refused
        except BaseException:
            await meter.lose(worst_usd)
            raise
        await meter.bill(worst_usd, cost_usd(_usage(message), self.prices[request.model]))
        self.patience.answered()
        self._contact = True
        return message

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _call(
        self, request: Request, began: Callable[[], None] | None, seconds: float
    ) -> Message:
        parameters = parameters_of(request)
        async with asyncio.timeout(seconds):
            if began is None:
                message = await self._client.messages.create(**parameters, timeout=seconds)
            else:
                message = await self._streamed(parameters, began, seconds)
        # the SDK does not validate: another server may leave any of this out
        if not isinstance(message, Message) or None in (message.content, message.usage):
            raise ValueError("the server's answer is no message")
        return message

    async def _streamed(
        self, parameters: dict[str, Any], began: Callable[[], None], seconds: float
    ) -> Message:
        whole = False
        async with self._client.messages.stream(**parameters, timeout=seconds) as events:
            async for event in events:
                began()
                whole = whole or event.type == "message_stop"
            if not whole:  # the SDK would hand out what there is
                raise ValueError("the stream broke off")
            return await events.get_final_message()

    async def _wait(
        self, refused: Refused, failures: int, give_up_at: float, *, lost_usd: float
    ) -> None:
        """Wait before the next try, or raise where there is none."""
        if not refused.again:
            if isinstance(refused.problem, BackendError):
                refused.problem.lost_usd = lost_usd
            raise refused.problem
        if refused.pause_s is not None:
            self.patience.limited(refused.pause_s, began=refused.sent)
            pause = refused.pause_s
        else:
            pause = self.patience.backoff(failures)
        if time.monotonic() + pause > give_up_at:
            raise BackendError(
                f"no answer within {self.deadline_s:.0f} s: {refused.problem.what}",
                lost_usd=lost_usd,
            ) from refused.problem
        self._check_contact(refused, failures)
        await asyncio.sleep(pause if refused.pause_s is None else 0)

    def _check_contact(self, refused: Refused, failures: int) -> None:
        never_reached = not refused.billed and isinstance(refused.problem, BackendError)
        unreachable = never_reached and isinstance(
            refused.problem.__cause__, anthropic.APIConnectionError
        )
        if unreachable and not self._contact and failures >= TRIES_WITHOUT_CONTACT:
            raise CouldNotRun(
                "the model server cannot be reached",
                where=self.base_url,
                fix="check ANTHROPIC_BASE_URL and the network",
            ) from refused.problem

    def _understood(self, failed: Exception, request: Request) -> Refused:
        if isinstance(failed, anthropic.APIStatusError):
            self._contact = True
            return _of_status(failed, request, self.base_url)
        sent = not (
            isinstance(failed, anthropic.APIConnectionError)
            and isinstance(failed.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
        )
        problem = BackendError(_said(failed))
        problem.__cause__ = failed
        return Refused(problem, again=True, billed=sent)


def parameters_of(request: Request) -> dict[str, Any]:
    """The body of a Messages API call."""
    system: list[TextBlockParam] = [{"type": "text", "text": text} for text in request.system]
    if request.cached_blocks:
        system[request.cached_blocks - 1]["cache_control"] = {"type": "ephemeral"}
    messages: list[MessageParam] = [{"role": "user", "content": _blocks(request.content)}]
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": system,
        "messages": messages,
    }
    output: dict[str, Any] = {"effort": request.effort} if request.effort else {}
    if request.output_schema:
        output["format"] = {"type": "json_schema", "schema": request.output_schema}
    return body | ({"output_config": output} if output else {})


def _blocks(texts: Sequence[str]) -> str | list[TextBlockParam]:
    if len(texts) == 1:
        return texts[0]
    return [{"type": "text", "text": text} for text in texts]


def _client(credential: Credential, concurrency: int) -> anthropic.AsyncAnthropic:
    key, token = credential.api_key, credential.auth_token
    secret = key.get_secret_value() if key else None
    if not key and not token:
        secret = NO_CREDENTIAL
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    return anthropic.AsyncAnthropic(
        api_key=secret,
        auth_token=token.get_secret_value() if token else None,
        base_url=credential.base_url,
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(
            limits=limits,
            # proxies and .netrc of the environment are for other hosts than a local server
            trust_env=not is_loopback(credential.base_url),
        ),
    )


def _of_status(failed: anthropic.APIStatusError, request: Request, url: str) -> Refused:
    status, said = failed.status_code, _said(failed)
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
    if status == 404:
        problem = ModelUnavailable(
            f"the server does not serve {request.model!r}: {said}",
            where=url,
            fix="check --model and ANTHROPIC_BASE_URL",
        )
        return Refused(problem, again=False, billed=False)
    problem = BackendError(f"HTTP {status}: {said}")
    if status == 429:
        return Refused(problem, again=True, billed=False, pause_s=_retry_after(failed))
    if status in (408, 409) or status >= 500:
        return Refused(problem, again=True, billed=False)
    # an error event inside a stream has the stream's status
    return Refused(problem, again=status < 400, billed=status < 400)


def _retry_after(failed: anthropic.APIStatusError) -> float:
    try:
        return max(0.0, float(failed.response.headers.get("retry-after", "1")))
    except ValueError:
        return 1.0


def _said(failed: Exception) -> str:
    if isinstance(failed, TimeoutError | anthropic.APITimeoutError):
        return "the call timed out"
    if isinstance(failed, anthropic.APIStatusError):
        return failed.api_message or failed.message
    cause = failed.__cause__
    detail = f"{type(cause).__name__}: {cause}".rstrip(": ") if cause else ""
    return f"{str(failed).rstrip('.')} ({detail})" if detail else str(failed)


def _usage(message: Message) -> Usage:
    used = message.usage
    written = used.cache_creation_input_tokens or 0
    hour = (used.cache_creation.ephemeral_1h_input_tokens or 0) if used.cache_creation else 0
    return Usage(
        input_tokens=used.input_tokens or 0,
        cache_write_5m_tokens=written - hour,
        cache_write_1h_tokens=hour,
        cache_read_tokens=used.cache_read_input_tokens or 0,
        output_tokens=used.output_tokens or 0,
    )


def _evidence(message: Message, usage: Usage, **fields: Any) -> Evidence:
    texts = [block.text for block in message.content if block.type == "text"]
    reason = cast("str | None", message.stop_reason)
    why = FAILURES.get(reason or "", "")
    return Evidence(
        status=Status.FAILED if why else Status.OK,
        why=why,
        reply=Reply(
            text="\n\n".join(texts),
            stop_reason=reason,
            model=message.model,
            message_id=message.id,
        ),
        usage=usage,
        **fields,
    )
