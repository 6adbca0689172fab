"""Groups of rows: the same as pandas makes of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lift import grouping
from lift.grouping import Groups

ROWS = st.lists(
    st.tuples(st.sampled_from("zya"), st.sampled_from("bcx"), st.integers(-2, 3), st.floats(-1, 1)),
    max_size=40,
)


def frame(rows: list[tuple[str, str, int, float]]) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=["item", "model", "repeat", "value"])
    return made.astype({"item": "category", "model": "category", "repeat": "int64",
                        "value": "float64"})  # fmt: skip


@given(ROWS)
def test_groups_are_those_of_pandas_in_its_order(rows: list[tuple[str, str, int, float]]):
    made = frame(rows)
    by = ["model", "repeat", "item"]
    groups, oracle = Groups(made, by), made.groupby(by, observed=True)["value"]
    low, high = groups.ends(made["value"])

    pd.testing.assert_frame_equal(groups.table(), oracle.sum().reset_index()[by])
    assert groups.sum(made["value"]) == pytest.approx(oracle.sum().to_numpy(), abs=1e-12)
    assert groups.mean(made["value"]) == pytest.approx(oracle.mean().to_numpy(), abs=1e-12)
    assert low.tolist() == oracle.min().tolist()
    assert high.tolist() == oracle.max().tolist()


@given(ROWS)
def test_a_mean_is_of_the_rows_that_count(rows: list[tuple[str, str, int, float]]):
    made = frame(rows)
    positive = made["repeat"] > 0
    groups = Groups(made, ["item"])
    oracle = made[positive].groupby("item", observed=False)["value"].mean()

    found = groups.mean(made["value"], where=positive)

    wanted = oracle.reindex(groups.table()["item"]).to_numpy()
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_more_groups_than_a_number_can_tell_apart_are_told_apart(monkeypatch: pytest.MonkeyPatch):
    generator = np.random.default_rng(1)
    made = pd.DataFrame(generator.integers(0, 9, (500, 5)), columns=list("abcde"))
    wanted = made.drop_duplicates().sort_values(list("abcde")).reset_index(drop=True)
    monkeypatch.setattr(grouping, "MOST", 100)

    pd.testing.assert_frame_equal(Groups(made, list("abcde")).table(), wanted)
