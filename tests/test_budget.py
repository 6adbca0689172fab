"""The ceiling holds, whatever is in flight."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lift.budget import Budget
from lift.errors import CeilingReached


def test_a_call_that_cannot_fit_is_refused():
    async def scenario() -> None:
        budget = Budget(1.0, spent_usd=0.8)
        with pytest.raises(CeilingReached, match=r"ceiling of \$1\.00") as reached:
            await budget.promise(0.3)
        assert reached.value.exit_code == 4

    asyncio.run(scenario())


def test_a_call_waits_for_the_promise_of_another_to_be_billed():
    async def scenario() -> None:
        budget = Budget(1.0)
        await budget.promise(0.7)
        waiting = asyncio.create_task(budget.promise(0.7))
        await asyncio.sleep(0)
        assert not waiting.done()
        await budget.bill(0.7, 0.1)
        await waiting
        assert budget.spent_usd == 0.1

    asyncio.run(scenario())


def test_a_lost_call_stays_billed_at_its_worst_case():
    async def scenario() -> None:
        budget = Budget(1.0)
        await budget.promise(0.7)
        await budget.lose(0.7)
        with pytest.raises(CeilingReached):
            await budget.promise(0.4)

    asyncio.run(scenario())


@given(
    st.floats(0.5, 5),
    st.lists(st.floats(0.01, 0.4), min_size=1, max_size=40),
    st.integers(1, 64),
    st.randoms(use_true_random=False),
)
def test_spent_never_passes_the_ceiling(
    ceiling: float, worst_cases: list[float], workers: int, chance: random.Random
):
    async def scenario() -> None:
        budget = Budget(ceiling)
        queue = list(worst_cases)

        async def worker() -> None:
            while queue:
                worst = queue.pop()
                try:
                    await budget.promise(worst)
                except CeilingReached:
                    return
                assert budget.committed_usd + budget.promised_usd <= ceiling + 1e-6
                await asyncio.sleep(0)
                if chance.random() < 0.1:
                    await budget.lose(worst)
                else:
                    await budget.bill(worst, worst * chance.random())

        await asyncio.gather(*(worker() for _ in range(workers)))
        assert budget.committed_usd <= ceiling + 1e-6

    asyncio.run(scenario())


def test_the_reserve_is_the_most_that_nobody_has_heard_of():
    async def scenario() -> None:
        told: list[float] = []
        budget = Budget(10.0, lost_usd=1.0, reserve=told.append)
        await budget.promise(0.5)
        await budget.promise(0.5)
        await budget.bill(0.5, 0.1)
        await budget.promise(0.5)
        await budget.lose(0.5)
        await budget.promise(0.5)
        assert told == [0.5, 1.0, 1.5]

    asyncio.run(scenario())
