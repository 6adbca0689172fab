"""What is asked: items, named lists of them, and the modules that define them."""

from __future__ import annotations

import ast
import hashlib
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from lift.errors import DatasetError
from lift.evaluators import Check, Evaluator, Judge, Rubric
from lift.schema import Many, Noun, Slug, Text, digest

SYSTEM = (
    "You are a senior software engineer. Answer the task completely; put code in fenced blocks."
)

ITEMS = ("Item", "TriggerPrompt")
"""Calls in a dataset module that an error names by their id."""


class Item(Noun):
    """One thing to ask, with what a good answer must show."""

    id: Slug
    category: Slug
    prompt: Text
    rubric: Rubric | None = None
    evaluators: Many[Evaluator] = ()
    """Checks beside the rubric."""
    judge_criteria: str = ""
    """What a judge looks for."""
    ground_truth: str | None = None
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

    name: Slug
    skill: Slug
    """Name of the skill it is about."""


class Dataset(AnyDataset):
    """A named list of items for a skill."""

    items: Annotated[Many[Item], Field(min_length=1)]
    description: str = ""
    judge: bool = False
    """Whether a judge is asked beside the checks, unless --judge or --no-judge says otherwise."""
    system: Text = SYSTEM
    """First block of the system prompt, the same under every condition."""

    @field_validator("name")
    @classmethod
    def _is_no_sum(cls, name: str) -> str:
        if name == "all":
            raise ValueError("'all' is the row over every dataset: give it another name")
        return name

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
        folder: modules whose name starts with `_` are left out.

    Raises:
        DatasetError: the folder is missing, a module does not load, or two datasets have one name.
    """
    if not folder.is_dir():
        raise DatasetError(
            "no folder of datasets",
            where=str(folder),
            fix="run in the project's folder, or set datasets_dir",
        )
    paths = [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")]
    datasets = [load(path) for path in paths]
    if repeated := _repeated([dataset.name for dataset in datasets]):
        raise DatasetError(
            f"two modules define the dataset {repeated!r}", where=str(folder), fix="rename one"
        )
    return datasets


def load(path: Path) -> AnyDataset:
    """Run a dataset module and return its DATASET.

    Raises:
        DatasetError: the module cannot be run, an item is malformed (the message names module,
            item and field), or there is no DATASET.
    """
    found = _run(path)
    if isinstance(found, AnyDataset):
        return found
    raise DatasetError(
        "the module does not define a dataset",
        where=str(path),
        fix="end it with DATASET = Dataset(...), or start its name with _",
    )


def _run(path: Path) -> Any:
    # a name of its own: neither `datasets` nor any other importable name is shadowed
    name = f"lift_dataset_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        # not by the import system: its bytecode cache takes an edit within a second for none
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except ValidationError as bad:
        raise _malformed(path, bad) from bad
    except SyntaxError as bad:
        line = f"{bad.filename or path}:{bad.lineno}"
        raise DatasetError(f"syntax error: {bad.msg}", where=line, fix="correct it") from bad
    except (Exception, SystemExit) as bad:
        where = f"{path}:{_line(path, bad)}"
        raise DatasetError(f"the module raised {type(bad).__name__}: {bad}", where=where) from bad
    return getattr(module, "DATASET", None)


def _malformed(path: Path, bad: ValidationError) -> DatasetError:
    first = bad.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    line = _line(path, bad)
    item = _item_at(path, line)
    field = ".".join(str(part) for part in first["loc"])
    parts = [f"item {item!r}" if item else bad.title, f"field {field}" if field else ""]
    what = f"{', '.join(part for part in parts if part)}: {message}"
    return DatasetError(what, where=f"{path}:{line}", fix=_shown(first["input"]))


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float | bool | None):
        return f"it was given {value!r:.80}"
    return ""


def _line(path: Path, problem: BaseException) -> int:
    """The last line of the module on the way to the problem; 1 where it never got there."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return (lines[-1] or 1) if lines else 1


def _item_at(path: Path, line: int) -> str:
    """The id in the Item(...) call, or its like, that covers a line; empty if it has none."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ITEMS:
            ids = [word.value for word in node.keywords if word.arg == "id"]
            covers = node.lineno <= line <= (node.end_lineno or node.lineno)
            if covers and ids and isinstance(ids[0], ast.Constant):
                return cast(str, ids[0].value)
    return ""


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)
