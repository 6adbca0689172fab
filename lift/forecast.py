"""What is left of a plan will cost so much: by lengths of answers, votes, and what is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lift import plan as planning
from lift.evaluators import judge as judging
from lift.journal import Journal
from lift.judging import Bench, missing, votes_on
from lift.plan import Estimate, Plan
from lift.pricing import Price, cost_usd, estimated_tokens
from lift.replies import Replies
from lift.schema import Trial, Usage

Dollars = tuple[float, float, float]
"""Low, middle and high."""

VOTE_OUTPUT_TOKENS = (80, 150, 400)
"""Low, middle and high length of a judge's answer."""


class Kept(NamedTuple):
    """What is left to ask, and was given to an equal request before."""

    answers: Collection[str]
    """Keys of trials."""
    votes: int
    """On those answers, and on those that the experiment has."""


NOTHING = Kept((), 0)


def lengths(
    journal: Journal, plan: Plan, *, effort: str | None
) -> Mapping[planning.Asked, planning.Lengths]:
    """How long answers will be, by those to the same datasets.

    Args:
        journal: has them.
        plan: its datasets.
        effort: that they are asked with.
    """
    names = [dataset.name for dataset in plan.datasets]
    most = max((condition.max_tokens for condition in plan.conditions), default=1)
    seen = journal.output_tokens(names, effort=effort, max_tokens=most)
    return planning.lengths(seen, max_tokens=most)


def kept(
    replies: Replies,
    plan: Plan,
    left: Sequence[Trial],
    *,
    prices: Mapping[str, Price],
    judged: Collection[str],
    bench: Bench,
    lacking: bool,
) -> Kept:
    """What of a plan equal requests were given before.

    Args:
        replies: that are kept.
        plan: what is asked.
        left: trials of it that have no answer yet.
        prices: model → price, which says what its prompt cache takes.
        judged: names of the datasets that are judged.
        bench: who judges.
        lacking: whether answers that the experiment has lack votes.
    """
    journal = replies.journal
    keys = {
        replies.key(
            plan.request(trial, cacheable_tokens=prices[trial.model].cacheable_tokens).question,
            trial.label,
        ): trial
        for trial in left
    }
    given = replies.among([*keys])
    answers = replies.answers([key for key in given if keys[key].dataset in judged])
    jobs = [
        vote
        for key, evidence in answers.items()
        for vote in votes_on(
            keys[key], evidence, plan.item(keys[key]), bench=bench, journal=journal, voted=_unheard
        )
    ]
    if lacking:
        records = [
            record
            for record in journal.records(plan.experiment)
            if plan.has(record.trial) and record.trial.dataset in judged
        ]
        jobs += missing(records, bench=bench, journal=journal, voted=_unheard)
    votes = replies.among([replies.key(job.question, job.label) for job in jobs])
    return Kept({keys[key].key for key in given}, len(votes))


def vote_usd(
    journal: Journal | None, datasets: Collection[str], *, model: str, price: Price
) -> Dollars:
    """Low, middle and high cost of a vote, by those that the judge cast on the same datasets.

    Args:
        journal: has them; None where there is none.
        datasets: their names.
        model: that judges.
        price: of it, which typical votes have where there are too few.
    """
    known = sorted(journal.vote_costs(datasets, model=model)) if journal else []
    if len(known) >= planning.FEWEST_ANSWERS:
        mean, tail = sum(known) / len(known), len(known) // 10
        return min(known[tail], mean), mean, max(known[-1 - tail], mean)
    tokens = estimated_tokens(judging.SYSTEM) + 2 * planning.TYPICAL_OUTPUT_TOKENS[1]
    low, middle, high = (
        cost_usd(Usage(input_tokens=round(tokens), output_tokens=output), price)
        for output in VOTE_OUTPUT_TOKENS
    )
    return low, middle, high


def with_votes(answers: Estimate, votes: int, each_usd: Dollars) -> Estimate:
    """The calls for answers, and so many votes.

    Args:
        answers: without them.
        votes: how many.
        each_usd: what one costs.
    """
    low, middle, high = (votes * usd for usd in each_usd)
    return answers.model_copy(
        update={
            "calls": answers.calls + votes,
            "usd": answers.usd + middle,
            "low_usd": answers.low_usd + low,
            "high_usd": answers.high_usd + high,
        }
    )


def tight(estimate: Estimate, spent_usd: float, ceiling_usd: float) -> str:
    """Says that the ceiling may come first; empty where all will fit.

    Args:
        estimate: of what is left.
        spent_usd: by the experiment so far.
        ceiling_usd: that it must not pass.
    """
    room_usd = ceiling_usd - spent_usd
    if not estimate.calls or estimate.usd + estimate.worst_usd <= room_usd:
        return ""
    used = f", of which ${spent_usd:.2f} is spent, or may be" if spent_usd else ""
    ceiling = f"the ceiling is ${ceiling_usd:.2f}{used}"
    if estimate.worst_usd > room_usd:
        return (
            f"--max-cost-usd leaves no room for a call that may cost ${estimate.worst_usd:.4f};"
            f" {ceiling}"
        )
    fits = (
        f", and a call starts only where ${estimate.worst_usd:.4f} fit"
        if estimate.worst_usd
        else ""
    )
    return f"--max-cost-usd may come first: about ${estimate.usd:.2f} is expected{fits}; {ceiling}"


def _unheard(*_: object) -> None:
    """Votes are counted, not cast."""
