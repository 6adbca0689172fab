"""Counting: how many are done, and about how long the rest takes."""

from __future__ import annotations

import re

from lift.cli.counting import Lines


class Steps:
    """Things done at an even pace, on a clock that only they move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.said: list[tuple[float, str]] = []

    def __call__(self) -> float:
        return self.now

    def say(self, line: str) -> None:
        self.said.append((self.now, line))


def test_the_rest_takes_as_long_as_it_says():
    steps = Steps()
    lines = Lines("pets", clock=steps, say=steps.say)
    steps.now = 7.0  # what is there was listed first
    lines(0, 10_000)
    for done in range(1, 10_001):
        steps.now += 0.011
        lines(done, 10_000)

    assert len(steps.said) > 10
    for at, line in steps.said:
        done, left_s = map(int, re.search(r"(\d+) of 10000 .* (\d+) s left", line).groups())
        assert done < 10_000
        assert 0 <= at + left_s - steps.now < 1.001


def test_what_is_done_at_once_says_nothing():
    steps = Steps()
    lines = Lines("pets", clock=steps, say=steps.say)
    for done in range(11):
        lines(done, 10)

    assert steps.said == []
