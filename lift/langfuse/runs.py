"""What a run is in Langfuse: an experiment with a name, an id, tags and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lift import __version__, frames
from lift.backends.demo import NOTICE
from lift.journal import Experiment, Record
from lift.langfuse import ids, planned
from lift.langfuse.ids import RunName
from lift.langfuse.prompts import Prompt
from lift.langfuse.wire import flat
from lift.schema import Evidence, Trial

ENVIRONMENT = "skill-eval"
LONGEST_TAG = 200

PROVIDERS = {"demo": "canned", "messages": "anthropic"}
"""Backend → who answers, as the side panel of a run names it."""

LOST_USD, KEPT_MS, KEPT_USD = "lost_usd", "kept_ms", "kept_usd"
"""Metadata: worst case of calls that reported no usage; when the reply was paid for and how dear it
was then, if it was given before."""

CACHE_READ_TOKENS, CACHE_WRITE_TOKENS = "cache_read_tokens", "cache_write_tokens"
"""Metadata: tokens from and to the prompt cache."""

TrialKey = tuple[Any, ...]
"""What tells a trial from the others of its experiment: the values of frames.TRIAL."""


class Facts(NamedTuple):
    """What an experiment is, for every trial of it."""

    experiment: Experiment
    planned: str
    costs: Mapping[TrialKey, float]
    """What each trial cost, all its attempts together, in US dollars."""
    pages: Mapping[str, str]
    """Of the pull request and the job that it ran in, masked; see github.pages."""
    prompts: Mapping[str, Prompt]
    """Tree hash of a skill → the version of the prompt that it is."""


class Run(NamedTuple):
    """One (dataset, condition, model, repeat) of an experiment."""

    name: str
    id: str
    dataset_id: str


def facts(
    experiment: Experiment,
    rows: Iterable[Mapping[str, Any]],
    *,
    pages: Mapping[str, str] | None = None,
) -> Facts:
    """What an experiment is.

    Args:
        experiment: from the journal.
        rows: of frames.TRIALS, of all its trials.
        pages: of the pull request and the job that it ran in, masked.
    """
    rows = list(rows)
    costs = {tuple(row[name] for name in frames.TRIAL): row[frames.COST_USD] for row in rows}
    return Facts(experiment, planned.written(planned.counted(rows)), costs, pages or {}, {})


def parts(trial: Trial) -> RunName:
    """The parts of the name of a trial's run, its model among them."""
    return RunName(trial.dataset, trial.condition, trial.model, trial.repeat)


def run_of(parts: RunName, experiment: Experiment, *, project: str, dataset_id: str) -> Run:
    """A run of an experiment; its name has the model in it where the experiment has several.

    Args:
        parts: of the name, with the model.
        experiment: what it belongs to.
        project: id of the project it is sent to.
        dataset_id: id that the server gave to its dataset.
    """
    several = len(experiment.models) > 1
    name = ids.run_name(experiment.name, parts if several else parts._replace(model=""))
    return Run(name, ids.experiment_id(project, dataset_id, name), dataset_id)


def session(experiment: Experiment) -> str:
    """The session all traces of an experiment share."""
    return experiment.name[:LONGEST_TAG]


def tags(trial: Trial, experiment: Experiment) -> list[str]:
    """What traces of the trial can be found by."""
    named = {
        "exp": trial.experiment,
        "condition": trial.condition,
        "skill": experiment.skill,
        "model": trial.model,
    }
    found = [f"{kind}:{name}"[:LONGEST_TAG] for kind, name in named.items()]
    return [*found, "canned"] if experiment.canned else found


def run_metadata(record: Record, known: Facts) -> dict[str, str]:
    """What a run is filtered by, and what reading it back needs."""
    experiment, trial = known.experiment, record.trial
    values = flat(
        {
            "experiment": trial.experiment,
            "dataset": trial.dataset,
            "condition": trial.condition,
            "repeat": trial.repeat,
            "model": trial.model,
            "provider": PROVIDERS.get(experiment.backend, experiment.backend),
            "skill": experiment.skill,
            "skill_sha": record.condition.skill_hash or "none",
            "backend": experiment.backend,
            "canned": experiment.canned,
            "repeats": experiment.repeats,
            "created_ms": experiment.created_ms,
            "tool_version": __version__,
        }
    )
    if experiment.canned:
        values["notice"] = NOTICE
    return values | flat(known.pages) | planned.metadata(known.planned)


def description(trial: Trial, experiment: Experiment) -> str:
    """The run in words."""
    words = f"skill {experiment.skill}, {trial.condition}, {trial.model}, repeat {trial.repeat}"
    return f"{words}; {NOTICE}" if experiment.canned else words


def ended(record: Record) -> Evidence:
    """What the trial left behind.

    Raises:
        ValueError: it has not been asked; there is nothing of it to send.
    """
    if record.evidence is None:
        raise ValueError(f"{record.trial.name} has not been asked")
    return record.evidence


def trial_row(record: Record, known: Facts) -> dict[str, str | int | float]:
    """The trial's row of frames.TRIALS."""
    trial, evidence = record.trial, ended(record)
    key = tuple(getattr(trial, name) for name in frames.TRIAL)
    return {
        **dict(zip(frames.TRIAL, key, strict=True)),
        frames.ATTEMPT: trial.attempt,
        frames.STATUS: str(record.status),
        frames.COST_USD: known.costs.get(key, evidence.cost_usd),
        frames.SECONDS: (evidence.ended_ms - evidence.started_ms) / 1000.0,
        frames.INPUT_TOKENS: evidence.usage.total_input_tokens,
        frames.OUTPUT_TOKENS: evidence.usage.output_tokens,
    }


def billing(evidence: Evidence) -> dict[str, int | float]:
    """Metadata of what a trial was billed for, where there is anything."""
    known = {
        LOST_USD: evidence.lost_usd,
        KEPT_MS: evidence.kept_ms or 0,
        KEPT_USD: evidence.kept_usd,
        CACHE_READ_TOKENS: evidence.usage.cache_read_tokens,
        CACHE_WRITE_TOKENS: evidence.usage.cache_write_tokens,
    }
    return {name: value for name, value in known.items() if value}


def join_keys(record: Record, known: Facts) -> dict[str, str]:
    """Metadata that says whose a score or an observation is: the experiment and the trial's row."""
    row = trial_row(record, known)
    return flat({frames.EXPERIMENT: record.trial.experiment, **row})
