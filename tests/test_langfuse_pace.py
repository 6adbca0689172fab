"""Pace: no more requests than a plan allows, and none while the server says to wait."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langfuse_project import ITEMS, Fault, Langfuse
from langfuse_server import serving
from langfuse_trials import connected, dataset

from lift.langfuse.datasets import sync
from lift.langfuse.faults import Refused
from lift.langfuse.pace import PLANS, Limits, Pace, limits

CLOUD, OWN = "https://cloud.langfuse.com", "http://127.0.0.1:3000"


class Time:
    """A clock that goes on while one sleeps, and only then."""

    def __init__(self) -> None:
        self.now = 1000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def turns(limit: float, count: int, path: str = ITEMS) -> list[float]:
    """When each of so many requests may go."""
    time = Time()
    pace = Pace(Limits(limit, limit, limit), sleep=time.sleep, clock=time)
    found = []
    for _ in range(count):
        pace.wait(path)
        found.append(time.now)
    return found


@given(st.integers(1, 5000), st.integers(1, 400))
def test_no_minute_has_more_requests_than_the_limit(limit: int, count: int):
    found = turns(limit, count)

    for start, first in enumerate(found):
        assert sum(first <= turn < first + 60 for turn in found[start:]) <= limit


@given(st.integers(10, 5000))
def test_the_limit_is_used_as_far_as_nine_tenths(limit: int):
    found = turns(limit, 1000)

    assert found[-1] - found[0] == pytest.approx(999 * 60 / (0.9 * limit), rel=0.05)


def test_without_a_limit_nothing_waits():
    assert len(set(turns(math.inf, 100))) == 1


def test_groups_do_not_wait_for_each_other():
    time = Time()
    pace = Pace(Limits(tracing=math.inf, datasets=1, general=1), sleep=time.sleep, clock=time)
    pace.wait("/api/public/v2/datasets/a")
    pace.wait("/api/public/v3/scores")
    for _ in range(9):
        pace.wait("/api/public/otel/v1/traces")
    assert time.now == 1000.0

    pace.wait(ITEMS)

    assert time.now > 1060.0


def test_nothing_of_a_group_goes_while_it_is_held():
    time = Time()
    pace = Pace(sleep=time.sleep, clock=time)
    pace.hold(ITEMS, 30.0)
    pace.wait("/api/public/v3/scores")
    assert time.now == 1000.0

    pace.wait("/api/public/v2/datasets")

    assert time.now == 1030.0


@pytest.mark.parametrize(
    ("plan", "url", "expected"),
    [
        ("auto", CLOUD, PLANS["hobby"]),
        ("auto", "https://us.cloud.langfuse.com/", PLANS["hobby"]),
        ("auto", OWN, PLANS["none"]),
        ("core", OWN, PLANS["core"]),
        ("none", CLOUD, PLANS["none"]),
        ("6000", OWN, Limits(6000, 6000, 6000)),
    ],
)
def test_a_plan_says_how_many(plan: str, url: str, expected: Limits):
    assert limits(plan, url) == expected


def test_a_server_that_takes_no_more_makes_all_wait_and_fails_none():
    time = Time()
    busy = Fault(ITEMS, method="POST", status=429, times=60, headers=(("retry-after", "7"),))
    with serving(Langfuse(faults=[busy])) as langfuse:
        pace = Pace(sleep=time.sleep, clock=time)
        with connected(langfuse, tries=2, waits_s=600.0, pace=pace) as connection:
            found = sync(connection, dataset(40), redact=lambda value: value)

        assert len(found.created) == 41
        assert {len(versions) for versions in langfuse.versions.values()} == {1}
    assert time.now >= 1007.0


def test_it_does_not_wait_for_ever():
    busy = Fault("", status=429, headers=(("retry-after", "50"),))
    time = Time()
    with serving(Langfuse(faults=[busy])) as langfuse:
        pace = Pace(sleep=time.sleep, clock=time)
        with (
            connected(langfuse, waits_s=120.0, pace=pace) as connection,
            pytest.raises(Refused, match="takes no more now"),
        ):
            connection.project()

    assert time.now == 1100.0
