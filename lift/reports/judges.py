"""How far a judge can be relied on, in words."""

from __future__ import annotations

from collections.abc import Iterator

from lift.agreement import LEAST_KAPPA, Agreement, Judging
from lift.errors import counted
from lift.frames import ALL, BASE, DATASET, DELTA, ITEMS, MODEL, OTHER
from lift.results import Result


def summaries(result: Result) -> Iterator[str]:
    """What the judge changed, a line a model; none where nothing was judged."""
    by = " ".join(
        ["judge", ", ".join(sorted({one.model for one in result.recorded.judges}))]
    ).strip()
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
    return (unasked if lacking else []) + [
        f"{one.uncast} of {counted(one.votes + one.uncast, 'vote')} of {one.model} could not be"
        " read: lift judge asks again"
        for one in result.recorded.judges
        if one.uncast
    ]


def told(result: Result) -> tuple[Judging, ...]:
    """The judges to warn or tell of: canned replies say nothing of one."""
    return () if result.experiment.canned else result.recorded.judges


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
