"""Where to look in the Langfuse UI: the runs of an experiment side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

from lift import frames
from lift.conditions import pairs
from lift.journal import Journal
from lift.langfuse.client import Connection
from lift.langfuse.ids import RunName
from lift.langfuse.runs import run_of
from lift.langfuse.store import dataset_id
from lift.langfuse.wire import flat
from lift.schema import SETTLED, WITHOUT_SKILL, Status

MOST_RUNS = 10
"""That the UI shows side by side."""

SHOWN = frozenset({*SETTLED, Status.ERRORED})
"""Statuses of trials that have a trace."""


class Link(NamedTuple):
    """The comparison of one dataset's runs with one model."""

    dataset: str
    model: str
    url: str


class Side(NamedTuple):
    """One run, as a side of a comparison."""

    condition: str
    repeat: int


def links(journal: Journal, experiment: str, connection: Connection) -> list[Link]:
    """The comparison of each dataset and model of an experiment that has been sent.

    Args:
        journal: where the experiment is recorded.
        experiment: its name.
        connection: the project it was sent to.

    Raises:
        ExperimentError: the journal has no such experiment.
        LangfuseError: the server cannot be asked for the ids.
    """
    whole = journal.experiment(experiment)
    counts: dict[tuple[str, str], Counter[Side]] = {}
    for row in journal.trials(experiment):
        if row[frames.STATUS] in SHOWN:
            side = Side(row[frames.CONDITION], row[frames.REPEAT])
            counts.setdefault((row[frames.DATASET], row[frames.MODEL]), Counter())[side] += 1
    compared = pairs({side.condition for sided in counts.values() for side in sided})
    base = compared[0].base if compared else WITHOUT_SKILL
    found = []
    for (dataset, model), traced in counts.items():
        if (known := dataset_id(connection, dataset)) is None:
            continue
        project = connection.project()
        names = [
            RunName(dataset, side.condition, model, side.repeat)
            for side in sides(traced, base=base)
        ]
        run_ids = [run_of(name, whole, project=project, dataset_id=known).id for name in names]
        found.append(Link(dataset, model, comparison_url(connection.base_url, project, run_ids)))
    return found


def sides(counts: Mapping[Side, int], *, base: str = WITHOUT_SKILL) -> list[Side]:
    """The runs to put side by side, the baseline first.

    An item that the baseline lacks is not shown at all, so the most complete run is the
    baseline; of several, one of the base condition, and the first repeat.

    Args:
        counts: how many trials each run has.
        base: condition to measure from.
    """
    first = min(counts, key=lambda side: (-counts[side], side.condition != base, side.repeat))
    others = sorted(
        (side for side in counts if side != first),
        key=lambda side: (side.repeat, side.condition == first.condition, side.condition),
    )
    return [first, *others][:MOST_RUNS]


def comparison_url(base_url: str, project: str, run_ids: Iterable[str]) -> str:
    """The page that shows runs side by side, the first as the baseline."""
    baseline, *others = run_ids
    query = urlencode([("baseline", baseline), *(("c", other) for other in others)])
    return f"{base_url}/project/{quote(project, safe='')}/experiments/results?{query}"


def runs_url(base_url: str, project: str, experiment: str) -> str:
    """The page that lists the runs of an experiment."""
    value = flat({"experiment": experiment})["experiment"]
    query = urlencode({"filter": f"metadata;stringObject;experiment;=;{value}"})
    return f"{base_url}/project/{quote(project, safe='')}/experiments?{query}"
