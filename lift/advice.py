"""What to do about a result, from the answers and the skill in the journal."""

from __future__ import annotations

from collections.abc import Iterator

from lift import frames
from lift.dataset import Item
from lift.journal import Journal, Record
from lift.results import Result
from lift.suggesting import Answer, Section, Suggestion, sections, suggestions


def advice(journal: Journal, result: Result) -> list[Suggestion]:
    """What to do about a result.

    Args:
        journal: has the answers of its experiments.
        result: the comparison; where there are several, the first counts.
    """
    pairs = result.comparison.deltas
    places = set(zip(pairs[frames.DATASET], pairs[frames.ITEM], strict=True))
    several = len({dataset for dataset, _ in places}) > 1
    found = [
        (record, is_other)
        for record, is_other in _records(journal, result)
        if (record.trial.dataset, record.trial.item) in places and record.evidence
    ]
    answers = [
        Answer(
            item=f"{one.trial.dataset}/{one.trial.item}" if several else one.trial.item,
            content=Item.model_validate(one.item),
            is_other=is_other,
            evidence=one.evidence,
        )
        for one, is_other in found
        if one.evidence
    ]
    shown = next((one.condition.skill_hash for one, is_other in found if is_other), None)
    return suggestions(result.diagnostics, answers, _skill(journal, result, shown))


def _records(journal: Journal, result: Result) -> Iterator[tuple[Record, bool]]:
    """The trials of either side, and whether they are of the one that is measured."""
    name, compared = result.experiment.name, result.comparison
    sides = [(name, compared.other, True), (name, compared.base, False)]
    if result.against:
        condition, base = result.against.condition, result.against.experiment.name
        sides = [(name, condition, True), (base, condition, False)]
    for experiment, condition, is_other in sides:
        for record in journal.records(experiment):
            if record.trial.condition == condition:
                yield record, is_other


def _skill(journal: Journal, result: Result, tree_hash: str | None) -> list[Section]:
    versions = journal.skills(result.experiment.name)
    return sections(versions[tree_hash].body) if tree_hash in versions else []
