"""A finished experiment, compared: what every report is made from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pandas as pd

from lift import frames
from lift.comparing import Comparison, Drop, compare, dropped, trial_scores
from lift.errors import ExperimentError, ThresholdMissed
from lift.gate import Best, Candidate
from lift.journal import PLANNED, Experiment, Journal, Record
from lift.langfuse.masking import masked
from lift.redact import redacted
from lift.schema import WITH_SKILL, WITHOUT_SKILL, Status, digest
from lift.verdict import Claim, claims

UNASKED = frozenset({PLANNED, Status.SKIPPED.value})


class Result(NamedTuple):
    """One experiment and what changed in it."""

    experiment: Experiment
    comparison: Comparison
    claims: tuple[Claim, ...]
    """The verdict on each model."""


def compared(
    journal: Journal,
    name: str | None = None,
    *,
    base: str = WITHOUT_SKILL,
    other: str = WITH_SKILL,
) -> Result:
    """Compare two conditions of an experiment, from the journal.

    Args:
        journal: where it is recorded.
        name: the experiment; None for the one that ran last.
        base: condition to measure from.
        other: condition to measure.

    Raises:
        ExperimentError: there is no such experiment, or it has no such condition.
    """
    experiment = journal.experiment(name)
    trials = frames.of(journal.trials(experiment.name), frames.TRIALS)
    check_conditions(trials, experiment.name, (base, other))
    scores = frames.of(journal.scores(experiment.name), frames.SCORES)
    return result(experiment, trials, scores, base=base, other=other)


def result(
    experiment: Experiment, trials: pd.DataFrame, scores: pd.DataFrame, *, base: str, other: str
) -> Result:
    """Compare two conditions and say what it means: TRIALS and SCORES in."""
    comparison = compare(trials, scores, base=base, other=other)
    paid = experiment.answered - sum(reused.answers for reused in experiment.reused)
    each = experiment.cost_usd / paid if paid else 0.0
    found = claims(comparison, trial_scores(scores), usd_per_trial=each)
    return Result(experiment, comparison, tuple(found))


CHECKS = ("rubric", "evaluators")
"""Fields of an item that score; the others ask."""


def candidates(journal: Journal, found: Result) -> list[Candidate]:
    """What the gate is asked to accept, one a model; none where no item was scored.

    Args:
        journal: where the experiment is recorded.
        found: its comparison.
    """
    name, table = found.experiment.name, found.comparison.categories
    asked = journal.items(name)
    contents = {digest(content): content for content, _ in asked}.values()
    plain = [
        {**c, "item": {k: v for k, v in c["item"].items() if k not in CHECKS}} for c in contents
    ]
    checks = [{key: content["item"].get(key) for key in CHECKS} for content in contents]
    unasked = any(row[frames.STATUS] in UNASKED for row in journal.trials(name))
    rows = table[table[frames.CATEGORY] == frames.ALL].set_index(frames.MODEL)
    return [
        Candidate(
            model=claim.model,
            claim=claim,
            partial=unasked,
            canned=found.experiment.canned,
            best=Best(
                score=score,
                without=_number(rows.loc[claim.model, frames.BASE]),
                run=name,
                date=f"{datetime.fromtimestamp(found.experiment.created_ms / 1000, UTC):%Y-%m-%d}",
                repeats=found.experiment.repeats,
                dataset_hash=digest(plain),
                evaluator_hash=digest(checks),
                exposure=next((c.exposure for _, c in asked if c.skill_hash), None),
            ),
        )
        for claim in found.claims
        if (score := _number(rows.loc[claim.model, frames.OTHER])) is not None
    ]


def _number(value: Any) -> float | None:
    return None if value != value else float(value)


def check_conditions(trials: pd.DataFrame, experiment: str, wanted: Sequence[str]) -> None:
    """Check that an experiment has conditions: TRIALS in.

    Raises:
        ExperimentError: it lacks one.
    """
    known = set(trials[frames.CONDITION])
    for condition in wanted:
        if condition not in known:
            raise ExperimentError(
                f"the experiment has no condition {condition!r}",
                where=experiment,
                fix=f"it has {', '.join(sorted(known))}",
            )


def check_drop(result: Result, drop: Drop) -> None:
    """Hold a comparison against the largest drop that is accepted.

    Raises:
        ThresholdMissed: naming every category that fell further, or was not measured.
    """
    missed = dropped(result.comparison, drop)
    unmeasured = missed[frames.DELTA].isna()
    names = [
        f"{row[frames.CATEGORY]} ({row[frames.DELTA]:+.2f} from {row[frames.BASE]:.2f})"
        for row in missed[~unmeasured].to_dict("records")
    ]
    says = [f"dropped by more than {drop}: {', '.join(names)}"] if names else []
    if unmeasured.any():
        says.append(f"not measured: {', '.join(missed[unmeasured][frames.CATEGORY])}")
    if says:
        raise ThresholdMissed("; ".join(says), where=result.experiment.name)


def trial_rows(
    journal: Journal, experiment: str, *, condition: str | None, repeat: int | None
) -> list[dict[str, Any]]:
    """The planned trials with their scores, None where a trial is not scored."""
    scored = trial_scores(frames.of(journal.scores(experiment), frames.SCORES))
    known = {
        tuple(row[name] for name in frames.TRIAL): row[frames.SCORE]
        for row in scored.to_dict("records")
    }
    return [
        {**row, frames.SCORE: known.get(tuple(row[name] for name in frames.TRIAL))}
        for row in journal.trials(experiment)
        if condition in (None, row[frames.CONDITION]) and repeat in (None, row[frames.REPEAT])
    ]


def found_records(
    journal: Journal,
    experiment: str,
    *,
    item: str | None = None,
    condition: str | None = None,
    repeat: int | None = None,
) -> list[Record]:
    """Trials in full, of one item or of all; secrets are masked.

    Raises:
        ExperimentError: the experiment has none that fit.
    """
    dataset, _, name = (item or "").rpartition("/")
    found = [
        masked(record, redacted)
        for record in journal.records(experiment, item=name or None)
        if condition in (None, record.trial.condition)
        and repeat in (None, record.trial.repeat)
        and dataset in ("", record.trial.dataset)
    ]
    if found:
        return found
    raise no_trial(journal, experiment, what=repr(item))


def no_trial(journal: Journal, experiment: str, *, what: str) -> ExperimentError:
    """Says which items, conditions and repeats an experiment has."""
    rows = journal.trials(experiment)
    items = ", ".join(sorted({row[frames.ITEM] for row in rows}))
    conditions = ", ".join(sorted({row[frames.CONDITION] for row in rows}))
    repeats = max((row[frames.REPEAT] for row in rows), default=0)
    return ExperimentError(
        f"no such trial of {what}",
        where=experiment,
        fix=f"items: {items}; conditions: {conditions}; repeats: 1 to {repeats}",
    )
