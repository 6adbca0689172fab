"""The order of trials: one prompt-cache write for each prefix."""

from __future__ import annotations

import asyncio

import pytest

from lift.schema import Trial
from lift.worklist import Worklist, portions


def trial(item: str, condition: str = "with_skill") -> Trial:
    return Trial(
        experiment="e", dataset="d", item=item, category="c", condition=condition, model="m",
        repeat=1, item_hash="i", condition_hash="h",
    )  # fmt: skip


def prefix(trial: Trial) -> str | None:
    return "skill" if trial.condition == "with_skill" else None


def test_others_of_a_prefix_wait_until_the_first_reply_begins():
    async def scenario() -> None:
        work = Worklist([trial("a"), trial("b"), trial("c", "without_skill")], prefix)
        first = await work.take()
        assert first is not None
        assert (first.job.item, first.warms) == ("a", True)
        second = await work.take()
        assert second is not None
        assert second.job.item == "c"
        held = asyncio.create_task(work.take())
        await asyncio.sleep(0)
        assert not held.done()
        await work.began(first)
        third = await held
        assert third is not None
        assert (third.job.item, third.warms) == ("b", False)
        await work.done(first)
        await work.done(second)
        await work.done(third)
        assert await work.take() is None

    asyncio.run(scenario())


def test_where_the_first_fails_the_next_one_writes_the_prefix():
    async def scenario() -> None:
        work = Worklist([trial("a"), trial("b")], prefix)
        first = await work.take()
        assert first is not None
        await work.done(first)
        second = await work.take()
        assert second is not None
        assert second.warms

    asyncio.run(scenario())


def test_closing_wakes_who_waits_and_returns_what_was_not_taken():
    async def scenario() -> None:
        work = Worklist([trial("a"), trial("b"), trial("c")], prefix)
        await work.take()
        waiting = asyncio.create_task(work.take())
        await asyncio.sleep(0)
        rest = await work.close()
        assert await waiting is None
        assert sorted(t.item for t in rest) == ["b", "c"]

    asyncio.run(scenario())


def test_a_job_that_follows_goes_first_and_somebody_waits_for_it():
    async def scenario() -> None:
        work = Worklist([trial("a", "without_skill"), trial("b", "without_skill")], prefix)
        first, second = await work.take(), await work.take()
        assert first is not None
        assert second is not None
        idle = asyncio.create_task(work.take())
        await asyncio.sleep(0)
        assert not idle.done()
        await work.done(first, more=[trial("vote", "without_skill")])
        follow_up = await idle
        assert follow_up is not None
        assert follow_up.job.item == "vote"
        await work.done(second)
        await work.done(follow_up)
        assert await work.take() is None

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("sizes", "portioned"),
    [
        ([], []),
        ([1, 1, 1], [[1, 1], [1]]),
        ([6, 5, 5], [[6], [5, 5]]),
        ([99, 1, 99], [[99], [1], [99]]),
    ],
    ids=str,
)
def test_a_portion_is_bounded_in_number_and_in_size(sizes, portioned):
    assert list(portions(sizes, most=2, most_bytes=10, size=int)) == portioned
