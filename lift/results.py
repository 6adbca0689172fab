"""A finished experiment, compared: what every report is made from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pandas as pd

from lift import frames
from lift.against import Against, Recorded, aligned
from lift.ahead import Reading
from lift.comparing import Comparison, compare, dropped, trial_scores
from lift.conditions import Pair, pairs
from lift.diagnostics import Diagnostics, diagnosed
from lift.errors import ExperimentError, ThresholdMissed
from lift.gate import Best, Candidate
from lift.journal import PLANNED, Experiment, Journal, Record
from lift.measures import measures, of_model
from lift.plan import Plan
from lift.schema import SETTLED, WITH_SKILL, WITHOUT_SKILL, Status, digest
from lift.stats.distributions import special
from lift.tables import framed, tables
from lift.thresholds import Drop, Threshold, missed
from lift.verdict import Claim, claims

UNASKED = frozenset({PLANNED, Status.SKIPPED.value})


class Result(NamedTuple):
    """One experiment and what changed in it."""

    experiment: Experiment
    comparison: Comparison
    claims: tuple[Claim, ...]
    """The verdict on each model."""
    recorded: Recorded
    """What was compared."""
    diagnostics: Diagnostics
    measures: pd.DataFrame
    """MEASURES."""
    more: tuple[Result, ...] = ()
    """Where the experiment has three conditions: the comparison with the other base."""
    against: Against | None = None
    """Where two experiments are compared: the one that is the base."""

    @property
    def every(self) -> tuple[Result, ...]:
        """This comparison and those beside it."""
        return (self, *self.more)


def recorded(
    journal: Journal,
    name: str | None = None,
    *,
    hashed: bool = False,
    reading: Reading | None = None,
) -> Recorded:
    """An experiment from the journal.

    Args:
        journal: where it is recorded.
        name: the experiment; None for the one that ran last.
        hashed: whether `items` is read, which only another experiment is held against.
        reading: of it, where that was begun before.

    Raises:
        ExperimentError: there is no such experiment.
    """
    reading = reading or Reading(journal, name)
    special()  # takes a moment too
    experiment, trials, scores = framed(reading)
    judged = bool(scores[frames.JUDGED].any())
    return Recorded(
        experiment,
        trials,
        scores,
        items=journal.item_hashes(experiment.name) if hashed else {},
        reasons=journal.failures(experiment.name),
        judges=tuple(journal.judges(experiment.name) if judged else ()),
        unjudged=journal.unjudged(experiment.name) if judged else 0,
    )


def compared(
    journal: Journal,
    name: str | None = None,
    *,
    base: str | None = None,
    other: str | None = None,
    plan: Plan | None = None,
) -> Result:
    """Compare conditions of an experiment, from the journal.

    Args:
        journal: where it is recorded.
        name: the experiment; None for the one that ran last.
        base: condition to measure from; None for what `conditions.pairs` gives.
        other: condition to measure; None likewise.
        plan: only its trials; None for all that the experiment ever planned.

    Raises:
        ExperimentError: there is no such experiment, or it has no such conditions.
    """
    found = recorded(journal, name)
    return result(_planned(found, plan) if plan else found, base=base, other=other)


def result(found: Recorded, *, base: str | None = None, other: str | None = None) -> Result:
    """Compare conditions of an experiment and say what it means.

    Args:
        found: the experiment.
        base: condition to measure from; None for what `conditions.pairs` gives.
        other: condition to measure; None likewise.

    Raises:
        ExperimentError: it has no such conditions.
    """
    first, *others = [_result(found, pair) for pair in _chosen(found, base, other)]
    return first._replace(more=tuple(others))


def held_against(other: Recorded, base: Recorded, *, condition: str = WITH_SKILL) -> Result:
    """Compare an experiment with another one, under the same condition.

    Raises:
        ExperimentError: one lacks the condition, or they have no item or no model in common.
    """
    for one in (other, base):
        check_conditions(one.trials, one.experiment.name, (condition,))
    both, against = aligned(other, base, condition=condition)
    pair = Pair(base.experiment.name, other.experiment.name)
    return _result(both, pair)._replace(against=against)


def _result(found: Recorded, pair: Pair) -> Result:
    experiment = found.experiment
    comparison = compare(found.trials, found.scores, base=pair.base, other=pair.other)
    return Result(
        experiment=experiment,
        comparison=comparison,
        claims=tuple(
            claims(
                comparison,
                comparison.scored,
                usd_per_trial=_prices(found),
                in_batches=experiment.in_batches,
                skipped=int((found.trials[frames.STATUS] == Status.SKIPPED).sum()),
            )
        ),
        recorded=found,
        diagnostics=diagnosed(comparison, found.trials, reasons=found.reasons),
        measures=measures(comparison, found.trials),
    )


def _prices(found: Recorded) -> dict[str, float]:
    """Model → what one of its answers costs, on average."""
    answered = found.trials[found.trials[frames.STATUS].isin(list(SETTLED))]
    means = answered.groupby(frames.MODEL, observed=True)[frames.COST_USD].mean()
    return {str(model): float(mean) for model, mean in means.items()}


def _chosen(found: Recorded, base: str | None, other: str | None) -> list[Pair]:
    """The pairs of conditions to compare; at least one."""
    name, known = found.experiment.name, sorted(found.trials[frames.CONDITION].unique())
    check_conditions(found.trials, name, [one for one in (base, other) if one])
    if base and base == other:
        raise ExperimentError(
            f"{base!r} cannot be compared with itself", where=name, fix=f"it has {', '.join(known)}"
        )
    possible = pairs(known)
    if base and other:
        return [Pair(base, other)]
    if base or other:
        possible = [Pair(one, two) for one, two in possible if base in (None, one)
                    and other in (None, two)]  # fmt: skip
    if possible:
        return possible
    raise ExperimentError(
        "there are no two conditions to compare",
        where=name,
        fix=f"it has {', '.join(known)}; name two with --base and --other",
    )


def _planned(found: Recorded, plan: Plan) -> Recorded:
    """What a plan asks, of all that its experiment has."""
    keys = [tuple(getattr(trial, name) for name in frames.TRIAL) for trial in plan.trials]
    asked = pd.DataFrame(keys, columns=frames.TRIAL)
    return found._replace(
        trials=frames.shape(found.trials.merge(asked, on=frames.TRIAL), frames.TRIALS),
        scores=frames.shape(found.scores.merge(asked, on=frames.TRIAL), frames.SCORES),
    )


CHECKS = ("rubric", "evaluators")
"""Fields of an item that score; the others ask."""


def candidates(journal: Journal, found: Result) -> list[Candidate]:
    """What the gate is asked to accept, one a model.

    None where no item was scored, or where it is not with against without.

    Args:
        journal: where the experiment is recorded.
        found: its comparison.
    """
    name, table = found.experiment.name, found.comparison.categories
    if found.comparison[:2] != (WITHOUT_SKILL, WITH_SKILL):
        return []
    items = found.recorded.trials[[frames.DATASET, frames.ITEM]].drop_duplicates()
    chosen = set(items.itertuples(index=False, name=None))
    asked = [
        (content, condition) for item, content, condition in journal.items(name) if item in chosen
    ]
    contents = {digest(content): content for content, _ in asked}.values()
    plain = [
        {**c, "item": {k: v for k, v in c["item"].items() if k not in CHECKS}} for c in contents
    ]
    checks = [{key: content["item"].get(key) for key in CHECKS} for content in contents]
    trials = found.recorded.trials
    ours = trials[frames.CONDITION].isin([WITHOUT_SKILL, WITH_SKILL])
    unasked = bool(trials[ours][frames.STATUS].isin(list(UNASKED)).any())
    rows = table[table[frames.DATASET] == frames.ALL].set_index(frames.MODEL)
    return [
        Candidate(
            model=claim.model,
            claim=claim,
            partial=unasked,
            canned=found.experiment.canned,
            reused=sum(one.answers for one in found.experiment.reused),
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


def check(result: Result, thresholds: Sequence[Threshold], drop: Drop | None = None) -> None:
    """Hold a comparison against what is asked of it.

    Args:
        result: the comparison.
        thresholds: over all items, for each model.
        drop: the largest that is accepted of any category.

    Raises:
        ThresholdMissed: naming everything that does not hold, with what was measured.
    """
    several = len(result.claims) > 1
    lines = [
        f"{line} ({claim.model})" if several else line
        for one in result.every
        for claim in one.claims
        for line in missed(thresholds, of_model(one.measures, claim.model))
    ]
    lines = list(dict.fromkeys(lines))  # a value is the same whatever it is measured from
    if drop:
        lines += _fallen(result, drop)
    if lines:
        raise ThresholdMissed("; ".join(lines), where=result.experiment.name)


def _fallen(result: Result, drop: Drop) -> list[str]:
    """The categories that fell further, or were not measured."""
    rows = pd.concat([dropped(one.comparison, drop) for one in result.every])
    unmeasured = rows[frames.DELTA].isna()
    names = [
        f"{row[frames.CATEGORY]} ({row[frames.DELTA]:+.2f} from {row[frames.BASE]:.2f})"
        for row in rows[~unmeasured].to_dict("records")
    ]
    says = [f"dropped by more than {drop}: {', '.join(names)}"] if names else []
    if unmeasured.any():
        says.append(f"not measured: {', '.join(rows[unmeasured][frames.CATEGORY])}")
    return says


def trial_rows(
    journal: Journal, experiment: str, *, condition: str | None, repeat: int | None
) -> list[dict[str, Any]]:
    """The planned trials with their scores, None where a trial is not scored."""
    scored = trial_scores(tables(journal, experiment).scores)
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
    """Trials in full, of one item or of all, as they are.

    Raises:
        ExperimentError: the experiment has none that fit.
    """
    dataset, _, name = (item or "").rpartition("/")
    found = [
        record
        for record in journal.records(experiment, item=name or None)
        if condition in (None, record.trial.condition)
        and repeat in (None, record.trial.repeat)
        and dataset in ("", record.trial.dataset)
    ]
    if found:
        return found
    raise no_trial(journal, experiment, what=repr(item))


def no_trial(journal: Journal, experiment: str, *, what: str) -> ExperimentError:
    """Says which items, conditions and repeats an experiment has.

    Args:
        journal: where it is recorded.
        experiment: its name.
        what: was asked for; perhaps the name of another experiment.
    """
    known = [one.name for one in journal.experiments() if repr(one.name) == what]
    if known:
        fix = f"lift show --experiment {known[0]} shows that experiment"
        return ExperimentError(f"no such item: {what}", where=experiment, fix=fix)
    rows = journal.trials(experiment)
    items = ", ".join(sorted({row[frames.ITEM] for row in rows}))
    conditions = ", ".join(sorted({row[frames.CONDITION] for row in rows}))
    repeats = max((row[frames.REPEAT] for row in rows), default=0)
    return ExperimentError(
        f"no such trial of {what}",
        where=experiment,
        fix=f"items: {items}; conditions: {conditions}; repeats: 1 to {repeats}",
    )
