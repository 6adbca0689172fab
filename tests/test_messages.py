"""The messages backend against a real server on loopback, with faults."""

from __future__ import annotations

import asyncio
import threading
import time
from email.utils import formatdate
from typing import Any

import pytest
import servers
from pydantic import SecretStr
from servers import Says

from lift.backends.bodies import parameters_of
from lift.backends.messages import Messages
from lift.budget import Budget
from lift.errors import BackendError, CouldNotRun, CredentialError, ModelUnavailable
from lift.pricing import price_of, worst_case_usd
from lift.schema import Evidence, Label, Request, Status, Usage
from lift.settings import Credential

MODEL = "claude-sonnet-5-5"
PRICE = price_of(MODEL)
KEY = "sk-" + "fake-" + "1" * 6

LABEL = Label("d", "i")
REQUEST = Request(
    model=MODEL,
    system=("base", "<skill>s</skill>"),
    cached_blocks=2,
    content=("p",),
    max_tokens=100,
)


def ask(
    url: str,
    *,
    times: int = 1,
    deadline_s: float = 30,
    concurrency: int = 4,
    began: Any = None,
    budget: Budget | None = None,
) -> list[Evidence]:
    """The evidence of some equal calls at once; raises what the first of them raises."""

    async def scenario() -> list[Evidence]:
        backend = Messages(
            Credential(base_url=url, api_key=SecretStr(KEY)),
            prices={MODEL: PRICE},
            concurrency=concurrency,
            deadline_s=deadline_s,
            clock=lambda: 5,
        )
        meter = budget or Budget(100.0)
        try:
            calls = [
                backend.answer(REQUEST, label=LABEL, meter=meter, began=began) for _ in range(times)
            ]
            return await asyncio.gather(*calls)
        finally:
            await backend.close()

    return asyncio.run(scenario())


def after(*first: Says) -> servers.Script:
    """These answers in turn, then good ones."""
    return lambda _body, attempt: first[attempt] if attempt < len(first) else Says("fine")


def test_an_answer_becomes_evidence():
    says = Says("hi", input_tokens=10, output_tokens=7, cache_write=1000, cache_read=500)
    with servers.serving(lambda *_: says) as model:
        (evidence,) = ask(model.url)

    assert evidence.status is Status.OK
    assert evidence.text == "hi"
    assert evidence.usage == Usage(
        input_tokens=10, output_tokens=7, cache_write_5m_tokens=1000, cache_read_tokens=500
    )
    assert evidence.cost_usd == pytest.approx((10 * 2 + 1000 * 2.5 + 500 * 0.1 + 7 * 10) / 1e6)
    assert evidence.lost_usd == 0


def test_what_is_sent():
    with servers.serving() as model:
        ask(model.url)
    (body,), (headers,) = model.calls, model.headers

    assert body == parameters_of(REQUEST)
    assert [b.get("cache_control") for b in body["system"]] == [None, {"type": "ephemeral"}]
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not {"temperature", "top_p", "top_k", "tool_choice"} & set(body)


def test_a_long_plan_pays_for_a_prefix_that_lives_longer():
    system = parameters_of(REQUEST.model_copy(update={"cache_life": "1h"}))["system"]

    assert system[-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_a_streamed_answer_says_when_it_began():
    began: list[int] = []
    with servers.serving(lambda *_: Says("hi", cache_write=9)) as model:
        (evidence,) = ask(model.url, began=lambda: began.append(1))

    assert model.calls[0]["stream"] is True
    assert evidence.text == "hi"
    assert evidence.usage.cache_write_5m_tokens == 9
    assert began


@pytest.mark.parametrize("reason", ["refusal", "max_tokens"])
def test_a_bad_answer_is_failed_and_not_an_error(reason: str):
    with servers.serving(lambda *_: Says("part", stop_reason=reason)) as model:
        (evidence,) = ask(model.url)

    assert evidence.status is Status.FAILED
    assert evidence.text == "part"
    assert evidence.why


FREE = [Says(status=code) for code in (408, 409, 500, 502, 503, 529)]
MAYBE_BILLED = [Says(reset=True), Says("x" * 500, sent=servers.HALF), Says(body=b"<html>")]


@pytest.mark.parametrize("fault", FREE, ids=lambda fault: str(fault.status))
def test_server_errors_are_asked_again_and_cost_nothing(fault: Says):
    with servers.serving(after(fault, fault)) as model:
        (evidence,) = ask(model.url)

    assert evidence.text == "fine"
    assert evidence.lost_usd == 0
    assert len(model.calls) == 3


@pytest.mark.parametrize("fault", MAYBE_BILLED, ids=["reset", "truncated", "html"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_answers_that_break_off_are_asked_again_and_count_at_their_worst(
    fault: Says, streamed: bool
):
    budget = Budget(100.0)
    with servers.serving(after(fault)) as model:
        (evidence,) = ask(model.url, began=(lambda: None) if streamed else None, budget=budget)

    assert evidence.text == "fine"
    assert evidence.lost_usd == pytest.approx(worst_case_usd(REQUEST, PRICE))
    assert budget.lost_usd == pytest.approx(evidence.lost_usd)
    assert budget.promised_usd == 0


def test_a_rate_limit_is_waited_out():
    limited = Says(status=429, headers=(("retry-after", "1"),))
    with servers.serving(after(limited)) as model:
        (evidence,) = ask(model.url)

    assert evidence.text == "fine"
    assert len(model.calls) == 2


def test_no_answer_until_the_deadline_is_a_backend_error():
    with servers.serving(lambda *_: Says(reset=True)) as model, pytest.raises(BackendError) as none:
        ask(model.url, deadline_s=0.5)

    assert "no answer within" in none.value.what
    assert none.value.lost_usd > 0


def test_a_call_that_hangs_is_cut_at_the_deadline():
    began = time.monotonic()
    with servers.serving(lambda *_: Says(seconds=60)) as model, pytest.raises(BackendError):
        ask(model.url, deadline_s=1.5)

    assert time.monotonic() - began < 45


def test_a_bad_request_is_not_asked_again():
    with (
        servers.serving(lambda *_: Says("no such parameter", status=400)) as model,
        pytest.raises(BackendError, match="HTTP 400: no such parameter"),
    ):
        ask(model.url)

    assert len(model.calls) == 1


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, CredentialError), (403, CredentialError), (404, ModelUnavailable), (402, CouldNotRun)],
)
def test_what_no_retry_can_mend_ends_the_run(status: int, error: type[CouldNotRun]):
    with servers.serving(lambda *_: Says("no", status=status)) as model, pytest.raises(error) as no:
        ask(model.url)

    assert no.value.exit_code == 3
    assert no.value.fix
    assert len(model.calls) == 1


def test_a_server_that_was_never_there_ends_the_run():
    url = f"http://127.0.0.1:{servers.refused_port()}"

    with pytest.raises(CouldNotRun, match="cannot be reached") as gone:
        ask(url)

    assert not isinstance(gone.value, BackendError)
    assert url in gone.value.where


def test_no_more_calls_in_flight_than_asked_for():
    with servers.serving(lambda *_: Says(seconds=0.05)) as model:
        ask(model.url, times=12, concurrency=3)

    assert model.peak == 3
    assert len(model.calls) == 12


def test_without_a_key_a_local_server_is_still_asked():
    async def scenario(url: str) -> Evidence:
        backend = Messages(
            Credential(base_url=url), prices={MODEL: PRICE}, concurrency=1, deadline_s=5,
            clock=lambda: 0,
        )  # fmt: skip
        try:
            return await backend.answer(REQUEST, label=LABEL, meter=Budget(1.0))
        finally:
            await backend.close()

    with servers.serving() as model:
        assert asyncio.run(scenario(model.url)).status is Status.OK


def test_effort_is_passed_on():
    assert parameters_of(REQUEST.model_copy(update={"effort": "low"}))["output_config"] == {
        "effort": "low"
    }


TEXT = {"type": "text", "text": "hi"}
SOME = {"input_tokens": 1, "output_tokens": 1}

NO_MESSAGES = (
    {"content": None},
    {"content": 7},
    {"content": ["hi"]},
    {"content": [{**TEXT, "text": None}]},
    {"content": [{**TEXT, "text": 5}]},
    {"usage": None},
    {"usage": "much"},
    {"usage": {"input_tokens": 1}},
    {"usage": {**SOME, "output_tokens": None}},
    {"usage": {**SOME, "output_tokens": -5}},
    {"usage": {**SOME, "output_tokens": 1e300}},
    {"usage": {**SOME, "output_tokens": "12"}},
    {"usage": {**SOME, "cache_read_input_tokens": 10**30}},
    {"usage": {**SOME, "cache_creation": {"ephemeral_1h_input_tokens": 10}}},
    {"stop_reason": {"a": 1}},
    {"model": ["m"]},
)


@pytest.mark.parametrize("fields", NO_MESSAGES, ids=str)
def test_an_answer_that_is_no_message_is_asked_again(fields: dict[str, Any]):
    with servers.serving(after(Says(fields=fields))) as model:
        (evidence,) = ask(model.url)

    assert evidence.text == "fine"
    assert evidence.lost_usd == worst_case_usd(REQUEST, PRICE)


@pytest.mark.parametrize("fields", NO_MESSAGES[:6], ids=str)
def test_a_request_that_is_never_answered_with_a_message_alone_is_given_up(
    fields: dict[str, Any],
):
    async def scenario(url: str) -> list[Any]:
        backend = Messages(
            Credential(base_url=url, api_key=SecretStr(KEY)),
            prices={MODEL: PRICE},
            concurrency=1,
            deadline_s=30,
            clock=lambda: 5,
        )
        meter = Budget(100.0)
        good = await backend.answer(REQUEST, label=LABEL, meter=meter)
        bad = REQUEST.model_copy(update={"content": ("bad",)})
        outcomes = await asyncio.gather(
            backend.answer(bad, label=LABEL, meter=meter), return_exceptions=True
        )
        await backend.close()
        return [good.text, *outcomes, meter.lost_usd]

    def script(body: dict[str, Any], _attempt: int) -> Says:
        return Says(fields=fields) if "bad" in str(body["messages"]) else Says("fine")

    with servers.serving(script) as model:
        text, problem, lost_usd = asyncio.run(scenario(model.url))

    assert text == "fine"
    assert isinstance(problem, BackendError)
    assert len(model.calls) == 4
    assert problem.lost_usd == lost_usd > 0


def test_a_server_that_speaks_something_else_ends_the_run():
    with servers.serving(lambda *_: Says(body=b"<html>hello</html>")) as model:
        with pytest.raises(CouldNotRun, match="ANTHROPIC_BASE_URL"):
            ask(model.url)
        assert len(model.calls) == 3


def test_waiting_for_a_turn_is_not_time_of_the_trial():
    with servers.serving(lambda *_: Says("fine", seconds=0.4)) as model:
        evidence = ask(model.url, times=6, concurrency=1, deadline_s=2)

    assert [one.text for one in evidence] == ["fine"] * 6


def test_a_retry_after_longer_than_the_deadline_is_not_waited_for():
    limited = Says(status=429, headers=(("retry-after", "4000"),))
    begun = time.monotonic()
    with (
        servers.serving(lambda *_: limited) as model,
        pytest.raises(BackendError, match="the server asks for 4000 s"),
    ):
        ask(model.url, deadline_s=5)
    assert time.monotonic() - begun < 5


def test_nobody_waits_for_a_retry_after_that_is_longer_than_a_trial_may_take():
    limited = Says(status=429, headers=(("retry-after", "4000"),))

    async def scenario(url: str) -> list[Evidence | BaseException]:
        backend = Messages(
            Credential(base_url=url, api_key=SecretStr(KEY)), prices={MODEL: PRICE},
            concurrency=1, deadline_s=5, clock=lambda: 5,
        )  # fmt: skip
        calls = [backend.answer(REQUEST, label=LABEL, meter=Budget(100.0)) for _ in range(3)]
        async with asyncio.timeout(60):
            found = await asyncio.gather(*calls, return_exceptions=True)
        await backend.close()
        return found

    with servers.serving(after(limited)) as model:
        first, *others = asyncio.run(scenario(model.url))

    assert isinstance(first, BackendError)
    assert [one.text for one in others if isinstance(one, Evidence)] == ["fine", "fine"]


def refusing(limit: str, after: str = "0") -> servers.Script:
    """A server that takes no calls, and says how many it takes a minute."""
    told = (
        ("retry-after", after),
        ("anthropic-ratelimit-requests-limit", limit),
        ("anthropic-ratelimit-requests-remaining", "0"),
    )
    return lambda *_: Says(status=429, headers=told)


@pytest.mark.parametrize("limit", ["1", "60", "6000000", "nope", "0", "1" + "0" * 400, "9" * 5000])
def test_a_server_that_never_takes_a_call_is_left_at_the_deadline(limit: str):
    budget, begun = Budget(100.0), time.monotonic()
    with (
        servers.serving(refusing(limit)) as model,
        pytest.raises(BackendError, match="no answer within 3 s"),
    ):
        ask(model.url, deadline_s=3, budget=budget)

    assert time.monotonic() - begun < 30
    assert len(model.calls) < 100
    assert (budget.promised_usd, budget.lost_usd) == (0, 0)


def test_a_call_that_waits_for_its_turn_costs_nothing_when_it_is_cut():
    async def scenario(url: str) -> None:
        backend = Messages(
            Credential(base_url=url, api_key=SecretStr(KEY)), prices={MODEL: PRICE},
            concurrency=4, deadline_s=600, clock=lambda: 5,
        )  # fmt: skip
        calls = [
            asyncio.create_task(backend.answer(REQUEST, label=LABEL, meter=budget))
            for _ in range(6)
        ]
        async with asyncio.timeout(30):
            while len(model.calls) < 4 or backend.patience.in_flight:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await backend.close()

    budget = Budget(100.0)
    with servers.serving(refusing("1", after="300")) as model:
        asyncio.run(scenario(model.url))

    assert (budget.promised_usd, budget.lost_usd, budget.spent_usd) == (0, 0, 0)


def test_a_server_that_repeats_the_key_does_not_bring_it_into_a_message():
    echo = Says(f"the key {KEY} is not known", status=401, error="authentication_error")
    with servers.serving(lambda *_: echo) as model, pytest.raises(CredentialError) as refused:
        ask(model.url)
    assert KEY not in str(refused.value)
    assert "<key>" in str(refused.value)


def test_a_long_error_is_cut_after_the_key_is_masked():
    echo = Says("y" * 490 + KEY, status=400)
    with servers.serving(lambda *_: echo) as model, pytest.raises(BackendError) as refused:
        ask(model.url)
    assert KEY[:8] not in str(refused.value)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("after_s", ["1", "nan", "-3", "soon", "a date"])
@pytest.mark.parametrize("status", [429, 503])
def test_a_server_may_say_in_many_ways_how_long_to_wait(status: int, after_s: str):
    if after_s == "a date":
        after_s = formatdate(time.time() + 1, usegmt=True)
    busy = Says(status=status, headers=(("retry-after", after_s),))
    with servers.serving(after(busy)) as model:
        (evidence,) = ask(model.url)

    assert evidence.text == "fine"
    assert len(model.calls) == 2


def test_a_certificate_that_nobody_trusts_is_named():
    with servers.serving() as model, pytest.raises(CouldNotRun, match="SSL") as refused:
        ask(model.url.replace("http://", "https://"))
    assert "cannot be reached" in str(refused.value)


def test_a_server_that_takes_few_calls_at_once_gets_few():
    places = threading.Semaphore(3)

    def script(_body: dict[str, Any], _attempt: int) -> Says:
        if not places.acquire(blocking=False):
            return Says(status=429, error="rate_limit_error")
        try:
            time.sleep(0.05)
            return Says("fine")
        finally:
            places.release()

    with servers.serving(script) as model:
        evidence = ask(model.url, times=60, concurrency=12)

    assert [one.text for one in evidence] == ["fine"] * 60
    assert len(model.calls) < 60 + 30
