"""Diagnostics in words: one line each, only where there is something to say."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from lift.comparing import FEWEST_ITEMS
from lift.diagnostics import Diagnostics, ModelItem, Undiscerning
from lift.errors import counted
from lift.frames import (
    BASE,
    DATASET,
    DELTA,
    EVALUATOR,
    HIGH,
    ITEMS,
    LOSSES,
    LOW,
    MODEL,
    OTHER,
    WINS,
)
from lift.results import Result
from lift.stats import FEW

LONGEST = 98
"""Characters of a line; it names as many items as fit, JSON has more."""


def lines(found: Diagnostics) -> list[str]:
    """What moved, wavered, or tells nothing, each as one line."""
    named = _namer([*found.moved, *found.flaky, *found.saturated, *found.dead])
    of = f"of {found.items} items"
    wavering = {named(one): one for one in reversed(found.flaky)}  # each item's wider side
    kinds = [
        (found.moved_count, "moved most", [f"{named(o)} {o.delta:+.2f}" for o in found.moved]),
        (
            found.flaky_count,
            f"repeats disagree on {found.flaky_count} {of}",
            [f"{name} {o.low:.2f} to {o.high:.2f}" for name, o in reversed(wavering.items())],
        ),
        (
            found.saturated_count,
            f"perfect on both sides: {found.saturated_count} {of}",
            [named(one) for one in found.saturated],
        ),
        (
            found.dead_count,
            f"0 on both sides: {found.dead_count} {of}",
            [named(one) for one in found.dead],
        ),
    ]
    told = [_line(head, names, count) for count, head, names in kinds if names]
    return [*told, *map(_undiscerning, found.undiscerning)]


def interval(row: Mapping[Hashable, Any]) -> str:
    """The interval of a row of CATEGORIES; how many items moved, where it would say too little.

    Where labels were permuted within items, few items make no difference to that.
    """
    moved = row[WINS] + row[LOSSES]
    enough = row[ITEMS] < FEWEST_ITEMS or moved >= FEW
    if enough and row[LOW] < row[HIGH]:
        return f"[{row[LOW]:+.2f}, {row[HIGH]:+.2f}]"
    return f"{moved} of {row[ITEMS]} moved"


def evaluators(result: Result) -> list[str]:
    """What each evaluator says of the change, where a dataset has several that score."""
    compared, several = result.comparison, len(result.claims) > 1
    lines = []
    rows = compared.fit(compared.evaluators)
    for (model, dataset), group in rows.groupby([MODEL, DATASET]):
        if len(group) > 1:
            said = [
                f"{row[EVALUATOR]} {row[DELTA]:+.2f} ({row[BASE]:.2f} to {row[OTHER]:.2f}"
                f", {counted(row[ITEMS], 'item')})"
                for row in group.to_dict("records")
            ]
            of = f"{dataset}, {model}" if several else str(dataset)
            lines.append(f"evaluators of {of}: {', '.join(said)}")
    return lines


def failures(result: Result) -> str:
    """How many trials the model answered badly, and why; empty where none was."""
    found = {one.condition: one for each in result.every for one in each.diagnostics.failed}
    parts = []
    for one in found.values():
        reasons = [f"{count} × {why}" for why, count in one.reasons.items()]
        why = f" ({', '.join(reasons)})" if reasons else ""
        parts.append(f"{counted(one.failed, f'{one.condition} trial')} failed{why}")
    return ", ".join(parts)


def _line(head: str, names: Sequence[str], count: int) -> str:
    """The head and as many of the names as fit, at least one."""
    line = f"{head}: {names[0]}"
    for name in names[1:]:
        if len(line) + len(name) + len(", , …") > LONGEST:
            return f"{line}, …"
        line += f", {name}"
    return line if len(names) == count else f"{line}, …"


def _undiscerning(one: Undiscerning) -> str:
    return (
        f"{one.evaluator} scores all {one.items} items of {one.dataset} the same under either"
        f" condition ({one.value:.2f} on average)"
    )


def _namer(items: Sequence[ModelItem]) -> Callable[[ModelItem], str]:
    """Names items, by dataset and model too where there are several."""
    datasets = len({one.dataset for one in items}) > 1
    models = len({one.model for one in items}) > 1

    def named(one: ModelItem) -> str:
        name = f"{one.dataset}/{one.item}" if datasets else one.item
        return f"{name} ({one.model})" if models else name

    return named
