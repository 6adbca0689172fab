"""Names and ids in Langfuse, each derived from what it stands for: the same trial, the same id."""

from __future__ import annotations

import hashlib
import json
import re
from typing import NamedTuple

from lift.journal import part_of
from lift.schema import Trial, Vote

TRACE_DIGITS, OBSERVATION_DIGITS = 32, 16


class Trace(NamedTuple):
    """The ids of one trace with two observations: its root, and the call to a model in it."""

    id: str
    root: str
    call: str


class RunName(NamedTuple):
    """The parts of a run's name that follow the experiment."""

    dataset: str
    condition: str
    model: str
    """Empty where the experiment has one model only."""
    repeat: int


def run_name(experiment: str, run: RunName) -> str:
    """The run as Langfuse lists it: `{exp}/{dataset}/{condition}[@model]/r{n}`."""
    model = f"@{run.model}" if run.model else ""
    return f"{experiment}/{run.dataset}/{run.condition}{model}/r{run.repeat}"


_RUN = re.compile(r"([^/]+)/([^/@]+)(?:@(.+))?/r([1-9][0-9]*)", re.DOTALL)


def parsed(name: str, experiment: str) -> RunName | None:
    """The parts of a run's name; None where it is no run of this experiment."""
    if not name.startswith(f"{experiment}/"):
        return None
    found = _RUN.fullmatch(name[len(experiment) + 1 :])
    return RunName(found[1], found[2], found[3] or "", int(found[4])) if found else None


def experiment_id(project: str, dataset_id: str, name: str) -> str:
    """The id that the server and its SDK give to a run of a dataset.

    Args:
        project: id of the project.
        dataset_id: id of the dataset there.
        name: the run's.
    """
    parts = ["langfuse-experiment-v1", project, dataset_id, name]
    text = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
    return checked(_digits(text, OBSERVATION_DIGITS), OBSERVATION_DIGITS)


def item_id(dataset: str, item: str) -> str:
    """An item's id: ids are unique in a project, so the dataset is part of it."""
    return f"{dataset}:{item}"


def of_trial(trial: Trial) -> Trace:
    """The ids of a trial's trace; another attempt has others."""
    return _trace(trial.key)


def of_vote(trial: Trial, vote: Vote) -> Trace:
    """The ids of the trace of a judge's vote; one that is cast again has others."""
    return _trace(f"{trial.key}|{part_of(vote)}")


def of_review(content: str) -> Trace:
    """The ids of the trace of a static review.

    Args:
        content: identifies what it says.
    """
    return _trace(f"review|{content}")


def score_id(trace: Trace, name: str) -> str:
    """The id of the score with this name on a trace's root."""
    return _digits(f"score|{trace.id}|{trace.root}|{name}", TRACE_DIGITS)


def checked(id: str, digits: int) -> str:
    """The id, if a server takes it for what it is meant to be.

    Raises:
        ValueError: it is not so many lower-case hex digits, or all are zero. A server takes a
            short id and makes another trace of it.
    """
    if len(id) != digits or not re.fullmatch(r"[0-9a-f]+", id) or not id.strip("0"):
        raise ValueError(f"{id!r} is not an id of {digits} hex digits")
    return id


def _trace(seed: str) -> Trace:
    return Trace(
        checked(_digits(seed, TRACE_DIGITS), TRACE_DIGITS),
        checked(_digits(f"root|{seed}", OBSERVATION_DIGITS), OBSERVATION_DIGITS),
        checked(_digits(f"call|{seed}", OBSERVATION_DIGITS), OBSERVATION_DIGITS),
    )


def _digits(text: str, count: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:count]
