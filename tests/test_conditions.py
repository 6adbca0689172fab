"""Conditions as they are written, and what is measured from what."""

from __future__ import annotations

import itertools

import pytest

from lift.conditions import CONDITIONS, Conditions, pairs, parse
from lift.errors import UsageError

WITH, WITHOUT, OLD = CONDITIONS


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("with_skill,without_skill", Conditions((WITH, WITHOUT))),
        ("without_skill, with_skill", Conditions((WITH, WITHOUT))),
        ("old_skill=HEAD~1,with_skill", Conditions((WITH, OLD), "HEAD~1")),
        ("with_skill,old_skill=../a,b", Conditions((WITH, OLD), "../a,b")),
        ("old_skill=HEAD@{a, b},without_skill", Conditions((WITHOUT, OLD), "HEAD@{a, b}")),
        ("old_skill=v1=2,with_skill,without_skill", Conditions((WITH, WITHOUT, OLD), "v1=2")),
    ],
)
def test_conditions_are_read_in_any_order(text: str, conditions: Conditions):
    assert parse(text) == conditions


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no condition ''"),
        ("with_skill", "alone is no comparison"),
        ("old_skill=HEAD", "alone is no comparison"),
        ("with_skill,new_skill", "no condition 'new_skill'"),
        ("with_skill,", "no condition ''"),
        ("with_skill,with_skill", "twice"),
        ("old_skill=a,old_skill=b", "twice"),
        ("with_skill,old_skill", "does not say which"),
        ("with_skill,old_skill=", "does not say which"),
        ("with_skill=HEAD,without_skill", "takes no value"),
    ],
)
def test_malformed_conditions_are_one_clear_error(text: str, says: str):
    with pytest.raises(UsageError) as bad:
        parse(text)

    assert says in bad.value.what
    assert bad.value.exit_code == 2


@pytest.mark.parametrize(
    ("names", "compared"),
    [
        ((WITH, WITHOUT), [(WITHOUT, WITH)]),
        ((WITH, OLD), [(OLD, WITH)]),
        ((WITHOUT, OLD), [(WITHOUT, OLD)]),
        ((WITH, WITHOUT, OLD), [(WITHOUT, WITH), (OLD, WITH)]),
        ((WITH,), []),
        ((OLD,), []),
        ((WITHOUT,), []),
        ((), []),
    ],
)
def test_a_base_is_what_there_was_before(names: tuple[str, ...], compared: list[tuple[str, str]]):
    for order in itertools.permutations(names):
        assert pairs(order) == compared
