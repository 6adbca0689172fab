"""Comparisons as the terminal shows them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import pandas as pd
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from lift.against import overlap
from lift.agreement import Judging
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
    ITEMS,
    MODEL,
    OTHER,
)
from lift.journal import Experiment
from lift.reports import findings, listing
from lift.reports.judges import standing, summaries, told, uncast
from lift.reports.listing import heading
from lift.reports.screen import Table, plain, prose, rendered
from lift.results import Result
from lift.suggesting import Suggestion

COLORS = {"HELPS": "green", "HURTS": "red", "INVALID": "red"}

Row = dict[Hashable, Any]
"""Of CATEGORIES."""

AXIS = 21
"""Characters of the scale from 0 to 1."""


def comparison(
    result: Result,
    *,
    suggestions: Sequence[Suggestion] | None = None,
    width: int = 100,
    color: bool = False,
) -> str:
    """The table per category, and one line that sums it up.

    Args:
        result: what to show.
        suggestions: what to do about it; None where nobody asked.
        width: of the terminal, in characters.
        color: whether escape codes may be used.
    """
    parts: list[RenderableType] = [heading(result.experiment, result.against)]
    for number, one in enumerate(result.every):
        parts += [*([Text()] if number else []), *_verdicts(one)]
        parts += [*_table(one, width), *map(plain, findings.evaluators(one)), *_judges(one)]
        parts += [plain(line) for line in findings.lines(one.diagnostics)]
    parts.append(_bill(result))
    if result.against:
        parts.append(Text(overlap(result.against), "dim"))
    parts += _advice(suggestions)
    return rendered(parts, width=width, color=color)


def _advice(suggestions: Sequence[Suggestion] | None) -> list[RenderableType]:
    if suggestions is None:
        return []
    lines = [Padding(plain(f"- {one.says}"), (0, 0, 0, 2)) for one in suggestions]
    return [Text("suggestions:" if lines else "nothing to suggest", style="bold"), *lines]


def _table(result: Result, width: int) -> list[Table]:
    """None where no model's numbers may be compared; without the scale where there is no room."""
    rows = result.comparison.fit(result.comparison.categories)
    if rows.empty:
        return []
    whole = _table_of(result, rows, scale=True)
    return [whole if whole.natural_width() <= width else _table_of(result, rows, scale=False)]


def _table_of(result: Result, rows: pd.DataFrame, *, scale: bool) -> Table:
    compared = result.comparison
    table = Table()
    several_models = rows[MODEL].nunique() > 1
    several_datasets = rows[DATASET].nunique() > 2  # one of them is the row over all
    names = [MODEL] * several_models + [DATASET] * several_datasets + [CATEGORY]
    for name in names:
        table.add_column(name)
    table.add_column(ITEMS, justify="right", spare=5)
    for name in (compared.base, compared.other, DELTA):
        table.add_column(name, justify="right")
    table.add_column("95 %", justify="right", spare=2)
    if scale:
        table.add_column(f"0{'─' * (AXIS - 2)}1", no_wrap=True)
    extras = _extras(result)
    for title, spare, _ in extras:
        table.add_column(title, justify="right", spare=spare)
    for row in rows.to_dict("records"):
        style = "bold" if row[DATASET] == ALL else ""
        cells: list[str | Text] = [str(row[name]) for name in names]
        cells += [str(row[ITEMS]), _share(row[BASE]), _share(row[OTHER]), _delta(row[DELTA])]
        cells.append(findings.interval(row))
        if scale:
            cells.append(_scale(row[BASE], row[OTHER]))
        cells += [cell(row) for *_, cell in extras]
        table.add_row(*cells, style=style)
    return table


class _Extra(NamedTuple):
    """A column, when it is dropped where there is no room, and its cells."""

    title: str
    spare: int
    cell: Callable[[Row], str | Text]


def _extras(result: Result) -> list[_Extra]:
    """Columns that are only there where they say something."""
    rows, judged = result.comparison.categories, _judged(result)
    columns: list[_Extra] = []
    if (rows[[COVERAGE_BASE, COVERAGE_OTHER]] < 1).to_numpy().any():
        columns.append(_Extra("answered", 4, _covered))
    if rows[[FAILED_BASE, FAILED_OTHER]].to_numpy().any():
        columns.append(_Extra("failed", 3, _failed))
    if judged:
        columns.append(
            _Extra(
                "judge",
                1,
                lambda row: _delta(judged[row[MODEL], row[DATASET], row[CATEGORY]][DELTA]),
            )
        )
    return columns


def _judged(result: Result) -> dict[tuple[str, str, str], Row]:
    """Row of the judge's table by model, dataset and category; empty where nothing was judged."""
    rows = result.comparison.fit(result.comparison.judged).to_dict("records")
    return {(row[MODEL], row[DATASET], row[CATEGORY]): row for row in rows}


def _verdicts(result: Result) -> list[Text]:
    lines = []
    for claim in result.claims:
        model = f" ({claim.model})" if len(result.claims) > 1 else ""
        line = plain(f"{claim.verdict}{model}", f"bold {COLORS.get(claim.verdict, 'yellow')}")
        line.append_text(plain(f": {claim.says}", "not bold default"))
        if claim.beside:
            line.append_text(plain(f"; {claim.beside}", "not bold default"))
        lines += [line, plain(f"  next: {claim.then}")]
    return lines


def _judges(result: Result) -> list[Text]:
    lines = [plain(line) for line in summaries(result)]
    known = {standing(one): _style(one) for one in told(result)} if lines else {}
    missing = [plain(line, "yellow") for line in uncast(result)]
    return [*lines, *(plain(f"  {says}", style) for says, style in known.items()), *missing]


def _style(one: Judging) -> str:
    return "yellow" if one.agreement is None or one.agreement.is_weak else ""


def _bill(result: Result) -> Text:
    if result.against is None:
        failed = findings.failures(result)
        lines = [_paid(result.experiment, failed), *listing.reused(result.experiment)]
        return prose("\n".join(lines), "dim")
    both = (result.experiment, result.against.experiment)
    lines = [f"{one.name}: {_paid(one)}" for one in both]
    return prose("\n".join(lines), "dim")


def _paid(experiment: Experiment, failed: str = "") -> str:
    line = f"{experiment.answered} of {experiment.planned} trials answered"
    if experiment.errored:
        line += f", {experiment.errored} errored"
    if failed:
        line += f", {failed}"
    line += f" · ${experiment.cost_usd:.6f} in all"
    if experiment.lost_usd:
        waiting = " or wait in batches" if experiment.in_batches else ""
        line += f" (and at most ${experiment.lost_usd:.4f} for calls that broke off{waiting})"
    if experiment.cache_writes or experiment.cache_reads:
        line += f" · prompt cache: {experiment.cache_writes} written, {experiment.cache_reads} read"
    return line


def _share(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def _delta(value: float) -> Text:
    if value != value:
        return Text("–")
    rounded = round(value, 2) + 0.0  # no minus zero
    style = "green" if rounded > 0 else "red" if rounded < 0 else ""
    return Text(f"{rounded:+.2f}", style=style)


def _scale(base: float, other: float) -> Text:
    """Base (○) and other (●) on a scale from 0 to 1."""
    if base != base or other != other:
        return Text("")
    first, last = round(base * (AXIS - 1)), round(other * (AXIS - 1))
    low, high = sorted((first, last))
    line = [" "] * AXIS
    line[low : high + 1] = "─" * (high - low + 1)
    line[first], line[last] = "○", "●"
    return Text("".join(line), style="green" if other > base else "red" if other < base else "")


def _covered(row: Row) -> str:
    shares = (row[COVERAGE_BASE], row[COVERAGE_OTHER])
    return "all" if min(shares) == 1 else " / ".join(f"{share:.0%}" for share in shares)


def _failed(row: Row) -> str:
    return f"{row[FAILED_BASE]} / {row[FAILED_OTHER]}"
