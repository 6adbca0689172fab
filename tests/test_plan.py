"""What is asked: identity, order, what is left, what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lift import plan as planning
from lift.dataset import Dataset, Item, Selection
from lift.errors import DatasetError
from lift.evaluators import Rubric
from lift.plan import Plan
from lift.pricing import price_of
from lift.schema import Status
from lift.skill import Skill

MODEL = "claude-sonnet-5-5"
PRICES = {MODEL: price_of(MODEL)}
LENGTHS = {("d", condition, MODEL): (0, 100, 200) for condition in ("with_skill", "without_skill")}


def made(*, body: str = "x" * 8000, must_use: str = "a", **changes: Any) -> Plan:
    skill = Skill(
        name="s", description="", body=body, root=Path(), files=(), tree_hash=f"hash {body}"
    )
    rubric = Rubric(must_use=[must_use])
    items = [
        Item(id=f"i{n}", category="c", prompt="p" * 40, rubric=rubric, quick=n == 0)
        for n in range(3)
    ]
    arguments: dict[str, Any] = {
        "selection": Selection(), "models": [MODEL], "repeats": 2, "backend": "messages",
        "max_tokens": 100, "effort": None,
    }  # fmt: skip
    dataset = Dataset(name="d", skill="s", items=items)
    return planning.make(skill, [dataset], **(arguments | changes))


def test_every_item_is_asked_under_both_conditions_and_repeated():
    plan = made()

    assert len({trial.key for trial in plan.trials}) == len(plan.trials) == 3 * 2 * 2
    assert plan.experiment == f"s-{plan.hash[:8]}"


def test_the_same_plan_has_the_same_name():
    assert made().experiment == made().experiment


@pytest.mark.parametrize(
    "change",
    [
        {"body": "other"}, {"must_use": "b"}, {"repeats": 3}, {"backend": "demo"},
        {"max_tokens": 9}, {"effort": "low"}, {"models": ["claude-opus-5"]},
        {"selection": Selection(quick=True)},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_whatever_decides_what_is_asked_or_scored_is_in_the_name(change: dict[str, Any]):
    assert made(**change).experiment != made().experiment


def test_a_given_name_is_kept():
    assert made(experiment="mine").experiment == "mine"


def test_filters_that_leave_nothing_are_refused():
    with pytest.raises(DatasetError, match="leave no item"):
        made(selection=Selection(only=("nope",)))


@pytest.mark.parametrize(
    ("status", "attempt"),
    [
        (Status.OK, None), (Status.FAILED, None), (Status.ERRORED, 4), (Status.SKIPPED, 3),
    ],
)  # fmt: skip
def test_what_is_left_after_an_attempt(status: Status, attempt: int | None):
    plan = made()
    first = plan.trials[0]

    left = planning.left(plan.trials, {first.key: (3, status)})
    attempts = [trial.attempt for trial in left if trial.item == first.item][:1]

    assert len(left) == len(plan.trials) - (attempt is None)
    if attempt is not None:
        assert attempts == [attempt]


def test_only_the_with_side_shows_the_skill_and_has_a_breakpoint():
    plan = made()
    requests = {t.condition: plan.request(t, cacheable_tokens=1024) for t in plan.trials}

    assert requests["with_skill"].cached_blocks == 2
    assert requests["without_skill"].cached_blocks == 0
    assert requests["with_skill"].system[:1] == requests["without_skill"].system


def test_a_prefix_too_short_for_the_cache_gets_no_breakpoint():
    plan = made(body="short")
    with_skill = plan.request(plan.trials[0], cacheable_tokens=1024)

    assert (with_skill.cached_blocks, with_skill.prefix) == (0, None)


def test_no_answer_is_expected_to_be_longer_than_it_may_be():
    short = made(repeats=1, max_tokens=50)
    estimate = planning.estimate(short, short.trials, PRICES, lengths=LENGTHS)

    assert estimate.usd == estimate.high_usd
    assert estimate.usd - estimate.low_usd == pytest.approx(6 * 50 * 10 / 1e6)


@pytest.mark.parametrize(
    ("tokens", "most", "expected"),
    [
        ([10] * 8 + [1000] * 2, 5000, (10, 208, 1000)),
        ([10] * 19 + [10_000], 20_000, (10, 509.5, 509.5)),  # one answer in 20 makes the mean
        ([100, 100, 8000, 8000, 8000], 1000, (100, 640, 1000)),
        ([7] * 4, 100, None),
    ],
)
def test_lengths_are_a_mean_within_its_range(tokens, most, expected):
    found = planning.lengths({("d", "with_skill", MODEL): tokens}, max_tokens=most)

    assert found.get(("d", "with_skill", MODEL)) == expected


def test_the_expected_cost_counts_one_cache_write():
    plan = made(repeats=1, max_tokens=1000)
    estimate = planning.estimate(plan, plan.trials, PRICES, lengths=LENGTHS)
    prefix = sum(-(-len(text) // 4) for text in plan.request(
        plan.trials[0], cacheable_tokens=1024).system)  # fmt: skip
    base = -(-len(plan.datasets[0].system) // 4)

    written_and_read = prefix * 2.5 + 2 * prefix * 0.1
    rest = (6 * 10 + 3 * base) * 2
    assert estimate.calls == 6
    hour = planning.estimate(plan, plan.trials, PRICES, cache_life="1h", lengths=LENGTHS)
    assert hour.usd > estimate.usd
    assert estimate.low_usd == pytest.approx((written_and_read + rest) / 1e6)
    assert estimate.usd - estimate.low_usd == pytest.approx(6 * 100 * 10 / 1e6)
    assert estimate.high_usd - estimate.low_usd == pytest.approx(6 * 200 * 10 / 1e6)


@pytest.mark.parametrize(
    ("calls", "concurrency", "life"),
    [(40, 16, "5m"), (240, 16, "5m"), (241, 16, "1h"), (16, 1, "1h")],
)
def test_a_plan_of_more_than_five_minutes_wants_the_long_life(calls, concurrency, life):
    assert planning.cache_life(calls, concurrency=concurrency) == life
