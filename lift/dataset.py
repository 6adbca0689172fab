"""What is asked: items, named lists of them, and the modules that define them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from lift.errors import DatasetError
from lift.evaluators import Check, Evaluator, Judge, Rubric
from lift.modules import defined
from lift.schema import ALL, Many, Noun, Prose, Slug, Text, digest

SYSTEM = (
    "You are a senior software engineer. Answer the task completely; put code in fenced blocks."
)


def _no_total(name: str) -> str:
    if name == ALL:
        raise ValueError(f"{ALL!r} is the row over everything: take another name")
    return name


Named = Annotated[Slug, AfterValidator(_no_total)]
"""A name that has a row of its own in a comparison."""


RESERVED = frozenset({"judge", "score", "passed", "errored"})
"""Scores that stand beside those of evaluators, in comparisons and in Langfuse."""


class Item(Noun):
    """One thing to ask, with what a good answer must show."""

    id: Slug
    category: Named
    prompt: Text
    rubric: Rubric | None = None
    evaluators: Many[Evaluator] = ()
    """Checks beside the rubric."""
    judge_criteria: Prose = ""
    """What a judge looks for."""
    ground_truth: Prose | None = None
    """A good answer, for the judge and for people."""
    tags: Many[Slug] = ()
    quick: bool = False
    """Whether `lift --quick` asks it."""

    @property
    def judge(self) -> Judge | None:
        """Who judges the item; None where it has no criteria."""
        if not self.judge_criteria.strip():
            return None
        return Judge(criteria=self.judge_criteria, ground_truth=self.ground_truth)

    @model_validator(mode="after")
    def _has_checks(self) -> Item:
        if not self.checks:
            raise ValueError("no checks: give it a rubric")
        names = [check.name for check in self.checks]
        if repeated := _repeated(names):
            raise ValueError(f"two evaluators are named {repeated!r}: give one another name")
        if taken := next((name for name in names if name in RESERVED), None):
            raise ValueError(f"{taken!r} names another score: give the evaluator another name")
        return self

    @property
    def checks(self) -> tuple[Check, ...]:
        """The evaluators that need nothing but the evidence."""
        return (*((self.rubric,) if self.rubric else ()), *self.evaluators)

    @property
    def hash(self) -> str:
        """Identifies the item's content."""
        return digest(self)


class AnyDataset(Noun):
    """What a dataset module ends in: a named list, of whatever kind, for a skill."""

    name: Named
    skill: Slug
    """Name of the skill it is about."""


class Dataset(AnyDataset):
    """A named list of items for a skill."""

    items: Annotated[Many[Item], Field(min_length=1)]
    description: Prose = ""
    judge: bool = False
    """Whether a judge is asked beside the checks, unless --judge or --no-judge says otherwise."""
    system: Text = SYSTEM
    """First block of the system prompt, the same under every condition."""

    @field_validator("items")
    @classmethod
    def _ids_are_unique(cls, items: Sequence[Item]) -> Sequence[Item]:
        if repeated := _repeated([item.id for item in items]):
            where = [number for number, item in enumerate(items, 1) if item.id == repeated]
            raise ValueError(f"id {repeated!r} is used by items {where[0]} and {where[1]}")
        return items

    def item(self, item_id: str) -> Item:
        """The item with this id.

        Raises:
            DatasetError: there is none.
        """
        for item in self.items:
            if item.id == item_id:
                return item
        raise DatasetError(f"no item {item_id!r}", where=f"dataset {self.name}")


class Selection(Noun):
    """Which items of the datasets are asked; everything by default."""

    quick: bool = False
    only: tuple[str, ...] = ()
    """Item ids, or patterns with `*`."""
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def takes(self, item: Item) -> bool:
        """Whether the item is asked."""
        return (
            (item.quick or not self.quick)
            and (not self.only or any(fnmatchcase(item.id, pattern) for pattern in self.only))
            and (not self.categories or item.category in self.categories)
            and (not self.tags or not set(self.tags).isdisjoint(item.tags))
        )


def discover(folder: Path) -> list[Dataset]:
    """The datasets of items among those in a folder; see `discover_all`."""
    return [dataset for dataset in discover_all(folder) if isinstance(dataset, Dataset)]


def discover_all(folder: Path) -> list[AnyDataset]:
    """Load every dataset module directly in a folder, in the order of their file names.

    Args:
        folder: modules whose name starts with `_` or `.` are left out.

    Raises:
        DatasetError: the folder is missing, a module does not load, or two datasets have one name.
    """
    if not folder.is_dir():
        raise DatasetError(
            "no folder of datasets",
            where=str(folder),
            fix="run in the project's folder, or set datasets_dir",
        )
    datasets = [load(path) for path in _modules(folder)]
    if repeated := _repeated([dataset.name for dataset in datasets]):
        raise DatasetError(
            f"two modules define the dataset {repeated!r}", where=str(folder), fix="rename one"
        )
    return datasets


def _modules(folder: Path) -> list[Path]:
    try:  # not glob, which takes a folder that may not be read for an empty one
        names = sorted(path.name for path in folder.iterdir())
    except OSError as bad:
        raise DatasetError(
            f"the folder of datasets cannot be read: {bad.strerror}", where=str(folder)
        ) from bad
    return [folder / n for n in names if n.endswith(".py") and not n.startswith(("_", "."))]


def load(path: Path) -> AnyDataset:
    """Run a dataset module and return its DATASET.

    Raises:
        DatasetError: the module cannot be run, an item is malformed (the message names module,
            item and field), or there is no DATASET.
    """
    found = defined(path)
    if isinstance(found, AnyDataset):
        return found
    raise DatasetError(
        "the module does not define a dataset",
        where=str(path),
        fix="end it with DATASET = Dataset(...), or start its name with _",
    )


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)
