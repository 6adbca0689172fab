"""The example skill, its datasets and their canned replies are what the docs say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lift.backends import demo
from lift.dataset import Item, discover
from lift.schema import Evidence, Label, Reply, Status
from lift.skill import load

ROOT = Path(__file__).parent.parent
DATASETS = {dataset.name: dataset for dataset in discover(ROOT / "datasets")}
CANNED = demo.load(ROOT / "datasets", "micro_tasks")
QUICK = [item for item in DATASETS["micro_tasks"].items if item.quick]


def value(item: Item, text: str) -> float:
    evidence = Evidence(status=Status.OK, reply=Reply(text=text, stop_reason="end_turn"))
    (score,) = [check.score(evidence) for check in item.checks]
    assert score.value is not None
    return score.value


def test_both_datasets_are_about_the_example_skill():
    skill = load(ROOT / "skills" / "vaadin-playwright-test")

    assert {dataset.skill for dataset in DATASETS.values()} == {skill.name}
    assert 0 < len(skill.description) <= 1024
    assert skill.linked()


def test_the_datasets_have_the_sizes_they_should():
    micro, views = DATASETS["micro_tasks"].items, DATASETS["view_tasks"].items
    negative = [item for item in micro if item.category == "negative"]

    assert 24 <= len(micro) <= 30
    assert 6 <= len(views) <= 10
    assert 3 <= len(negative) <= 5
    assert all(item.ground_truth and item.judge_criteria for item in views)


def test_five_quick_items_one_of_a_category():
    quick = [item for dataset in DATASETS.values() for item in dataset.items if item.quick]

    assert len({item.category for item in quick}) == len(quick) == 5


@pytest.mark.parametrize("item", DATASETS["view_tasks"].items, ids=lambda item: item.id)
def test_a_good_engineers_test_class_passes_its_own_rubric(item: Item):
    assert item.ground_truth is not None
    assert value(item, f"```java\n{item.ground_truth}\n```") == 1.0


@pytest.mark.parametrize("item", QUICK, ids=lambda item: item.id)
def test_every_quick_item_has_two_different_canned_replies_a_condition(item: Item):
    for condition in ("with_skill", "without_skill"):
        assert len(set(CANNED[Label("micro_tasks", item.id, condition)])) == 2


def test_canned_replies_with_the_skill_are_better_and_not_perfect():
    values = {
        condition: [
            value(item, text)
            for item in QUICK
            for text in CANNED[Label("micro_tasks", item.id, condition)]
        ]
        for condition in ("with_skill", "without_skill")
    }

    assert sum(values["with_skill"]) > sum(values["without_skill"])
    assert min(values["with_skill"]) < 1
    assert Counter(values["with_skill"])[1.0] >= 5


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_an_answer_that_says_nothing_passes_no_item(name: str):
    assert [item.id for item in DATASETS[name].items if value(item, "I do not know.") >= 0.8] == []
