"""How far a judge can be relied on, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lift.agreement import LEAST_KAPPA, Agreement, Judging
from lift.errors import counted
from lift.frames import ALL, BASE, DATASET, DELTA, ITEMS, MODEL, OTHER
from lift.results import Result


def summaries(result: Result) -> Iterator[str]:
    """What the judge changed, a line a model; none where nothing was judged."""
    by = " ".join(["judge", *_model(result)])
    compared = result.comparison
    for row in compared.fit(compared.judged).to_dict("records"):
        if row[DATASET] == ALL:
            name = f" of {row[MODEL]}" if len(result.claims) > 1 else ""
            sides = f"{row[DELTA]:+.2f} ({row[BASE]:.2f} to {row[OTHER]:.2f}) on"
            sides += f" {counted(row[ITEMS], 'item')}"
            yield f"{by}{name}: {sides if row[ITEMS] else 'no item on both sides'}"


def uncast(result: Result) -> list[str]:
    """The votes that are missing, in lines."""
    lacking = result.recorded.unjudged
    unasked = [f"{counted(lacking, 'answer')} without a vote: lift judge asks for them"]
    left_out = [
        f"{counted(one.votes, 'vote')} of {one.model} left out: most are of another judge;"
        f" lift judge --judge-model {one.model} asks for the rest"
        for one in result.recorded.judges
        if one.votes and one.model not in _model(result)
    ]
    unread = [
        f"{one.uncast} of {counted(one.votes + one.uncast, 'vote')} of {one.model} could not be"
        " read: lift judge asks again"
        for one in result.recorded.judges
        if one.uncast
    ]
    return [*(unasked if lacking else ()), *left_out, *unread]


def _model(result: Result) -> list[str]:
    """The judge whose votes are compared, that with the most; empty where it is not known."""
    votes: Counter[str] = Counter()
    for one in sorted(result.recorded.judges, key=lambda one: one.model):
        votes[one.model] += one.votes
    return [model for model, _ in votes.most_common(1)]


def told(result: Result) -> tuple[Judging, ...]:
    """The judges to warn or tell of: canned replies say nothing of one."""
    known = _model(result)
    of = () if result.experiment.canned else result.recorded.judges
    return tuple(one for one in of if one.model in known)


def kappa(one: Agreement) -> str:
    """The agreement in words."""
    of = f"{one.n} trials, {one.items} items"
    if one.kappa is None or one.low is None or one.high is None:
        return f"kappa is not defined, both say {'pass' if one.both_pass else 'fail'} of all ({of})"
    return f"kappa {one.kappa:.2f} [{one.low:.2f}, {one.high:.2f}] ({of})"


def standing(one: Judging) -> str:
    """How far a judge's scores can be relied on."""
    if one.agreement is None:
        return "never held against people's labels: lift agreement does"
    known = f"against people: {kappa(one.agreement)}"
    if one.validated < one.prompts:
        known += f", on {one.validated} of {one.prompts} criteria"
    return f"{known}; {weakness(one.agreement)}" if one.agreement.is_weak else known


def weakness(one: Agreement) -> str:
    """What keeps a judge's scores from being relied on."""
    if one.kappa is None:
        return "label good and bad answers: only then can it be told from chance"
    return f"below {LEAST_KAPPA}: read the judge's scores as a hint at most"
