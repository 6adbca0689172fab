"""Laws of a comparison: what must not matter does not."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lift import frames
from lift.comparing import Comparison, compare, trial_scores
from lift.frames import (
    ALL,
    BASE,
    CATEGORY,
    COVERAGE_BASE,
    COVERAGE_OTHER,
    DATASET,
    DELTA,
    FAILED_BASE,
    FAILED_OTHER,
    HIGH,
    ITEMS,
    LOSSES,
    LOW,
    MODEL,
    OTHER,
    TIES,
    WINS,
    P,
)
from lift.verdict import Claim, Verdict, claims

Row = dict[str, Any]

SIDES = ("without_skill", "with_skill")
values = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))
few = settings(max_examples=12)
"""A comparison takes a while: so many examples of each law."""
statuses = st.sampled_from(["ok"] * 18 + ["failed", "errored"])
NAMES = [frames.ITEM, DATASET, CATEGORY, MODEL]


@st.composite
def experiments(draw: st.DrawFn, *, most_items: int = 7) -> list[Row]:
    """An experiment's trials with one evaluator's scores, as rows of both frames at once."""
    repeats = draw(st.integers(1, 2))
    models = draw(st.integers(1, 2))
    items = draw(st.integers(1, most_items))
    return [
        {
            "dataset": f"d{item % 2}", "item": f"i{item}", "category": f"c{item % 3}",
            "condition": condition, "model": f"m{model}", "repeat": repeat,
            "evaluator": "rubric", "value": draw(values), "weight": 1.0, "judged": False,
            "attempt": 1, "status": draw(statuses), "cost_usd": 0.01, "seconds": 1.0,
            "input_tokens": 1, "output_tokens": 1,
        }
        for model in range(models)
        for item in range(items)
        for condition in SIDES
        for repeat in range(1, repeats + 1)
    ]  # fmt: skip


def compared(
    rows: list[Row], base: str = SIDES[0], other: str = SIDES[1]
) -> tuple[Comparison, list[Claim]]:
    """The comparison and its verdicts."""
    trials = frames.of(rows, frames.TRIALS).drop_duplicates(subset=frames.TRIAL)
    answered = [row for row in rows if row["status"] in ("ok", "failed")]
    scores = frames.of(answered, frames.SCORES)
    found = compare(trials, scores, base=base, other=other)
    return found, claims(found, trial_scores(scores))


def assert_equal(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(ours, theirs, rtol=1e-9, atol=1e-9)


def numbers(claim: Claim) -> list[Any]:
    """Of a verdict, what is no name."""
    return [
        claim.scope, claim.items, claim.repeats, claim.moved,
        *(n if n is None else pytest.approx(n, abs=1e-9)
          for n in (claim.delta, claim.low, claim.high, claim.p)),
    ]  # fmt: skip


TURNED = {Verdict.HELPS: Verdict.HURTS, Verdict.HURTS: Verdict.HELPS}


@few
@given(experiments(most_items=24))
def test_swapping_the_conditions_turns_the_signs_and_changes_nothing_else(rows: list[Row]):
    (there, said), (back, again) = compared(rows), compared(rows, *reversed(SIDES))

    turned = back.categories.assign(
        **{
            BASE: back.categories[OTHER], OTHER: back.categories[BASE],
            DELTA: -back.categories[DELTA],
            LOW: -back.categories[HIGH], HIGH: -back.categories[LOW],
            WINS: back.categories[LOSSES], LOSSES: back.categories[WINS],
            COVERAGE_BASE: back.categories[COVERAGE_OTHER],
            COVERAGE_OTHER: back.categories[COVERAGE_BASE],
            FAILED_BASE: back.categories[FAILED_OTHER],
            FAILED_OTHER: back.categories[FAILED_BASE],
        }
    )  # fmt: skip
    assert_equal(there.categories, turned)
    assert there.unfit.keys() == back.unfit.keys()
    for ours, theirs in zip(said, again, strict=True):
        assert ours.verdict == TURNED.get(theirs.verdict, theirs.verdict)
        swapped = theirs.model_copy(
            update={
                "delta": theirs.delta if theirs.delta is None else -theirs.delta,
                "low": theirs.high if theirs.high is None else -theirs.high,
                "high": theirs.low if theirs.low is None else -theirs.low,
            }
        )
        assert numbers(swapped) == numbers(ours)


@few
@given(experiments(most_items=24), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Row], shuffler: random.Random):
    there, said = compared(rows)
    shuffled = list(rows)
    shuffler.shuffle(shuffled)

    back, again = compared(shuffled)

    assert_equal(there.categories, back.categories)
    assert_equal(there.deltas, back.deltas)
    assert said == again


@few
@given(experiments())
def test_extra_columns_do_not_matter(rows: list[Row]):
    trials = frames.of(rows, frames.TRIALS)
    answered = [row for row in rows if row["status"] in ("ok", "failed")]
    scores = frames.of(answered, frames.SCORES)

    found = compare(
        trials.assign(score=0.5, delta=1.0, note="x"), scores.assign(score=9.0, base=1.0, status=0)
    )

    assert_equal(compared(rows)[0].categories, found.categories)


@few
@given(experiments(), st.permutations([f"n{number}" for number in range(16)]), st.booleans())
def test_names_do_not_matter(rows: list[Row], names: list[str], turned: bool):
    def named(kind: str, name: str) -> str:
        return names[sum(map(ord, kind + name)) % 13] + kind[:3] + name

    sides = ("z", "all") if turned else ("all", "z")
    renamed = [
        {**row, **{kind: named(kind, row[kind]) for kind in NAMES},
         "condition": sides[SIDES.index(row["condition"])]}
        for row in rows
    ]  # fmt: skip
    there, said = compared(rows)

    back, again = compared(renamed, *sides)

    keys = [MODEL, DATASET, CATEGORY]
    called = there.categories.assign(
        **{
            kind: [name if name == ALL else named(kind, name) for name in there.categories[kind]]
            for kind in keys
        }
    )
    assert_equal(
        called.sort_values(keys, ignore_index=True),
        back.categories.sort_values(keys, ignore_index=True),
    )
    verdicts = {claim.model: (claim.verdict, numbers(claim)) for claim in again}
    assert {named(MODEL, c.model): (c.verdict, numbers(c)) for c in said} == verdicts


def test_a_category_may_be_called_all():
    rows = [
        {
            "dataset": "d", "item": f"i{n}", "category": "all" if n else "c",
            "condition": condition, "model": "m", "repeat": 1, "evaluator": "rubric",
            "value": value, "weight": 1.0, "judged": False, "attempt": 1,
            "status": "errored" if n == 1 and value else "ok", "cost_usd": 0.0, "seconds": 1.0,
            "input_tokens": 1, "output_tokens": 1,
        }
        for n in range(40)
        for condition, value in zip(SIDES, (0.0, 1.0), strict=True)
    ]  # fmt: skip

    found, (claim,) = compared(rows)

    assert found.invalid == ""
    assert claim.verdict is Verdict.HELPS
    assert found.categories[[DATASET, CATEGORY]].values.tolist() == [
        ["d", "all"], ["d", "c"], [ALL, ALL],
    ]  # fmt: skip


@few
@given(experiments(), experiments())
def test_an_errored_trial_moves_no_mean_only_coverage(rows: list[Row], more: list[Row]):
    errored = [
        {**row, "status": "errored", "repeat": row["repeat"] + 2, "value": 1.0}
        for row in more
    ]  # fmt: skip
    measured = [MODEL, DATASET, CATEGORY, BASE, OTHER, DELTA, LOW, HIGH, P, ITEMS, WINS, TIES,
                LOSSES]  # fmt: skip

    before, after = (compared(one)[0] for one in (rows, rows + errored))

    kept = after.categories[after.categories[ITEMS] > 0][measured]
    assert_equal(
        before.categories[before.categories[ITEMS] > 0][measured].reset_index(drop=True),
        kept.reset_index(drop=True),
    )
    assert_equal(before.deltas, after.deltas)


@pytest.mark.parametrize(
    "sides", [("old_skill", "with_skill"), ("with_skill", "old_skill"), ("a", "b"), ("b", "a")]
)
def test_a_rise_is_a_rise_whatever_the_conditions_are_called(sides: tuple[str, str]):
    rows = [
        {
            "dataset": "d", "item": f"i{n}", "category": "c", "condition": condition, "model": "m",
            "repeat": 1, "evaluator": "rubric", "value": value, "weight": 1.0, "judged": False,
            "attempt": 1, "status": "ok", "cost_usd": 0.0, "seconds": 1.0, "input_tokens": 1,
            "output_tokens": 1,
        }
        for n in range(10)
        for condition, value in zip(sides, (0.25, 1.0), strict=True)
    ]  # fmt: skip

    _, (claim,) = compared(rows, *sides)

    assert (claim.verdict, claim.delta) == (Verdict.HELPS, 0.75)
    assert f"{sides[1]} minus {sides[0]} is +0.75" in claim.says
