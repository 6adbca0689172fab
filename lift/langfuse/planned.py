"""What an experiment plans, as one short text: Langfuse holds answers only, coverage needs both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from lift import frames
from lift.journal import PLANNED

KEY = "planned"
LONGEST_VALUE = 180
"""Servers cut a metadata value at 200 characters, so a longer text goes on under the next key."""


class Cell(NamedTuple):
    """The trials of one run that are of one category."""

    dataset: str
    condition: str
    model: str
    repeat: int
    category: str


Counts = Mapping[Cell, int]
"""How many trials are planned."""


def counted(rows: Iterable[Mapping[str, Any]]) -> Counter[Cell]:
    """How many trials there are of each category of each run: rows of frames.TRIALS."""
    return Counter(cell(row) for row in rows)


def cell(row: Mapping[str, Any]) -> Cell:
    """Where a trial is counted: a row of frames.TRIALS."""
    return Cell(
        row[frames.DATASET], row[frames.CONDITION], row[frames.MODEL], row[frames.REPEAT],
        row[frames.CATEGORY],
    )  # fmt: skip


def written(counts: Counts) -> str:
    """The counts as a text.

    `DATASET|CONDITION@MODEL,…|REPEAT,…|CATEGORY=COUNT,…`, and `;` before the next; runs that
    plan the same are named together.
    """
    runs: dict[tuple[str, str, str, int], dict[str, int]] = defaultdict(dict)
    for place, count in sorted(counts.items()):
        runs[place[:4]][place.category] = count
    sides: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for (dataset, condition, model, repeat), of in runs.items():
        content = ",".join(f"{category}={count}" for category, count in of.items())
        sides[dataset, repeat, content].append(f"{condition}@{quote(model, safe=':/')}")
    repeats: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (dataset, repeat, content), names in sides.items():
        repeats[dataset, ",".join(names), content].append(str(repeat))
    return ";".join(
        f"{dataset}|{names}|{','.join(numbers)}|{content}"
        for (dataset, names, content), numbers in repeats.items()
    )


def read(written: str) -> Counter[Cell]:
    """The counts of a text made by `written`; none where it is not whole."""
    counts: Counter[Cell] = Counter()
    try:
        for part in filter(None, written.split(";")):
            dataset, sides, repeats, content = part.split("|")
            for side in sides.split(","):
                condition, model = side.split("@")
                for repeat in map(int, repeats.split(",")):
                    for category, count in (entry.split("=") for entry in content.split(",")):
                        place = Cell(dataset, condition, unquote(model), repeat, category)
                        counts[place] = int(count)
    except ValueError:
        return Counter()
    return counts


def together(plans: Iterable[Counts]) -> Counter[Cell]:
    """What an experiment plans, given what its runs say: of each cell the most.

    Plans only grow, so that is the latest; and where machines share an experiment, each knows of
    its own cells alone.
    """
    return reduce(or_, map(Counter, plans), Counter())


def metadata(text: str) -> dict[str, str]:
    """The text in as many metadata values as it takes."""
    parts = [text[at : at + LONGEST_VALUE] for at in range(0, len(text), LONGEST_VALUE)]
    return {f"{KEY}_{number}": part for number, part in enumerate(parts, 1)}


def from_metadata(values: Mapping[str, str]) -> str:
    """The text in metadata made by `metadata`."""
    parts, number = [], 1
    while (part := values.get(f"{KEY}_{number}")) is not None:
        parts.append(part)
        number += 1
    return "".join(parts)


def missing(counts: Counts, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The planned trials that are not among the rows, with the status `planned`.

    How many there are of each category of each run is known, so coverage is right. Which items
    they ask is known where other runs of the dataset have just as many items more; they are
    called `?1`, `?2` and so on where it is not.

    Args:
        counts: what is planned.
        rows: of frames.TRIALS.
    """
    items: dict[tuple[str, str], set[str]] = defaultdict(set)
    known: dict[Cell, set[str]] = defaultdict(set)
    for row in rows:
        items[row[frames.DATASET], row[frames.CATEGORY]].add(row[frames.ITEM])
        known[cell(row)].add(row[frames.ITEM])
    found: list[dict[str, Any]] = []
    for place, count in counts.items():
        absent = sorted(items[place.dataset, place.category] - known[place])
        left = count - len(known[place])
        named = absent if len(absent) == left else [f"?{n}" for n in range(1, left + 1)]
        found += [_unanswered(place, item) for item in named]
    return found


def _unanswered(place: Cell, item: str) -> dict[str, Any]:
    return {
        frames.DATASET: place.dataset,
        frames.ITEM: item,
        frames.CATEGORY: place.category,
        frames.CONDITION: place.condition,
        frames.MODEL: place.model,
        frames.REPEAT: place.repeat,
        frames.ATTEMPT: 0,
        frames.STATUS: PLANNED,
        frames.COST_USD: 0.0,
        frames.SECONDS: 0.0,
        frames.INPUT_TOKENS: 0,
        frames.OUTPUT_TOKENS: 0,
    }
