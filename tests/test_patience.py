"""How long calls wait, and how many go at once."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lift.backends.patience import FIRST_PROBE_S, LONGEST_PAUSE_S, Pace, Patience

MODEL, JUDGE = "m", "j"


async def holding(calls: int) -> Patience:
    """So many calls in flight, as many as there may be."""
    patience = Patience(calls)
    for _ in range(calls):
        await patience.take(MODEL)
    return patience


def test_no_more_calls_at_once_than_allowed():
    async def scenario() -> None:
        patience, most, now = Patience(3), 0, 0

        async def call() -> None:
            nonlocal most, now
            async with patience.turn(MODEL):
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.001)
                now -= 1

        await asyncio.gather(*(call() for _ in range(20)))
        assert most == 3

    asyncio.run(scenario())


def test_a_rate_limit_makes_everybody_wait():
    async def scenario() -> float:
        patience = Patience(4)
        patience.limited(MODEL, 0.2, began=time.monotonic())
        async with patience.turn(MODEL):
            return patience.paces[MODEL].pause()

    assert asyncio.run(scenario()) <= 0


def test_calls_refused_together_halve_the_limit_once():
    async def scenario() -> None:
        patience = await holding(16)
        sent = time.monotonic()
        for _ in range(8):
            patience.limited(MODEL, 0, began=sent)
        assert patience.paces[MODEL].limit == 8

    asyncio.run(scenario())


def test_a_rate_limit_is_of_the_model_that_was_asked():
    async def scenario() -> float:
        patience, began = Patience(4), time.monotonic()
        patience.limited(MODEL, 60, began=began)
        async with patience.turn(JUDGE):
            return time.monotonic() - began

    assert asyncio.run(scenario()) < 30


def test_calls_go_at_the_pace_that_the_server_tells():
    async def scenario() -> list[float]:
        patience, went = Patience(16), []
        refused = time.monotonic()
        patience.limited(MODEL, 0.1, began=refused, per_s=50)
        assert patience.paces[MODEL].limit == 16

        async def call() -> None:
            async with patience.turn(MODEL):
                went.append(time.monotonic() - refused)

        await asyncio.gather(*(call() for _ in range(12)))
        return went

    went = asyncio.run(scenario())
    assert min(went) >= 0.1
    allowed = [number / 50 for number in range(1, 13)]  # the bucket was empty when it refused
    assert [late for late, least in zip(went, allowed, strict=True) if late < least] == []


def test_what_a_bucket_holds_is_what_fills_it_in_a_minute(monkeypatch):
    now = 1000.0
    monkeypatch.setattr("lift.backends.patience.time.monotonic", lambda: now)
    pace = Pace(16)
    pace.refuse(0, began=now, per_s=1)

    now += 3600

    for _ in range(60):
        assert pace.pause() <= 0
        pace.grant()
    assert pace.pause() == pytest.approx(1)


def test_too_many_tokens_leave_the_pace_of_calls_as_it_is(monkeypatch):
    monkeypatch.setattr("lift.backends.patience.time.monotonic", lambda: 1000.0)
    pace = Pace(16)
    pace.refuse(0, began=1000.0, per_s=2)

    pace.refuse(0, began=1000.0, per_s=None)

    assert pace.pause() == pytest.approx(0.5)


def test_refused_at_the_told_pace_the_calls_in_flight_are_halved():
    async def scenario() -> float:
        patience = await holding(16)
        for _ in range(2):
            patience.limited(MODEL, 0, began=time.monotonic(), per_s=50)
        return patience.paces[MODEL].limit

    assert asyncio.run(scenario()) == 8


def test_who_waits_for_one_model_takes_no_place_from_another():
    async def scenario() -> float:
        patience, began = Patience(2), time.monotonic()
        patience.limited(MODEL, 60, began=began)
        waiting = [asyncio.create_task(patience.take(MODEL)) for _ in range(5)]
        await asyncio.sleep(0.01)
        async with patience.turn(JUDGE), patience.turn(JUDGE):
            took = time.monotonic() - began
        for task in waiting:
            task.cancel()
        return took

    assert asyncio.run(scenario()) < 30


def test_answers_let_the_limit_grow_back_to_where_it_was():
    async def scenario() -> None:
        patience = await holding(16)
        patience.limited(MODEL, 0, began=time.monotonic())
        for _ in range(200):
            patience.answered(MODEL)
        assert patience.paces[MODEL].limit == 16

    asyncio.run(scenario())


@given(st.integers(1, 60))
def test_backoff_is_bounded_however_often_a_call_failed(failures: int):
    assert 0 <= Patience(1).backoff(failures) <= LONGEST_PAUSE_S


def test_a_crowd_loses_as_many_places_as_calls_were_refused_and_stays_there():
    patience = Patience(16)
    for _ in range(8):
        patience.crowded()
    for _ in range(500):
        patience.answered(MODEL)
    assert int(patience.limit) == 8


def test_beyond_a_crowd_is_probed_once_its_time_has_come():
    patience = Patience(16)
    patience.crowded()
    patience._probe_at = 0.0
    for _ in range(40):
        patience.answered(MODEL)
    assert patience.limit == 16

    patience.crowded()

    assert int(patience.limit) == 15
    assert patience._probe_at - time.monotonic() > FIRST_PROBE_S


def test_a_crowd_never_takes_the_last_place():
    patience = Patience(3)
    for _ in range(9):
        patience.crowded()
    assert patience.limit == 1
