"""How far a judge and people agree on which answers pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from lift.evaluators.judge import passed
from lift.schema import Noun, Unit

LEAST_KAPPA = 0.4
"""Below it a judge agrees with people hardly more than chance does: its scores are a hint."""

Count = Annotated[int, Field(ge=0)]


class TrialId(NamedTuple):
    """What tells a trial of an experiment from the others."""

    dataset: str
    item: str
    condition: str
    model: str
    repeat: int


class Judgement(NamedTuple):
    """What a judge says of a trial."""

    trial: TrialId
    judge: str
    """Its name."""
    model: str
    """Id of the model that judges."""
    prompt_hash: str
    value: float
    """Mean of the votes cast, 0 to 1."""


class Agreement(Noun):
    """A judge held against people's labels; both say pass or fail of the same trials."""

    judge: str
    """Its name."""
    model: str
    """Id of the model that judges."""
    experiment: str
    n: Count
    """Trials that both rated."""
    items: Count
    """That these are of."""
    kappa: Annotated[float, Field(ge=-1, le=1)] | None
    """Cohen's: 1 is perfect, 0 is chance. None where both used one and the same label."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    judge_passes: Unit
    """Share of the trials that pass by the judge."""
    people_pass: Unit
    """Share of the trials that pass by people."""
    both_pass: Count
    only_judge: Count
    """Pass by the judge, fail by people."""
    only_people: Count
    both_fail: Count

    @property
    def is_weak(self) -> bool:
        """True where the judge's scores are not to be relied on."""
        return self.kappa is None or self.kappa < LEAST_KAPPA


class Judging(NamedTuple):
    """Who judged an experiment, and what is known of that judge."""

    judge: str
    model: str
    votes: int
    """Cast."""
    uncast: int
    """Asked, but what was answered is no vote, or nothing was."""
    prompts: int
    """Criteria it judged by: each item has its own."""
    validated: int
    """Those of them that people's labels were held against."""
    agreement: Agreement | None
    """The latest by any of these prompts."""


class Found(NamedTuple):
    """An agreement, and the prompts that were judged by."""

    agreement: Agreement
    prompt_hashes: frozenset[str]


def agreements(
    labels: Mapping[TrialId, bool], judgements: Iterable[Judgement], *, experiment: str
) -> list[Found]:
    """Each judge held against people's labels; a judge that rated none of the labelled is left out.

    Args:
        labels: trial → whether a person says it passes.
        judgements: of the experiment's trials.
        experiment: its name.

    Source: Cohen (1960), see `lift.stats.cohen_kappa`.
    """
    rated: dict[tuple[str, str], list[Judgement]] = {}
    for one in judgements:
        if one.trial in labels:
            rated.setdefault((one.judge, one.model), []).append(one)
    return [
        Found(
            _agreement(labels, found, experiment=experiment),
            frozenset(one.prompt_hash for one in found),
        )
        for found in rated.values()
    ]


def _agreement(
    labels: Mapping[TrialId, bool], judgements: Sequence[Judgement], *, experiment: str
) -> Agreement:
    judge = [passed(one.value) for one in judgements]
    people = [labels[one.trial] for one in judgements]
    counts, n = Counter(zip(judge, people, strict=True)), len(judgements)
    from lift.stats import cohen_kappa

    kappa = cohen_kappa(judge, people)
    low, high = kappa.interval.clipped(-1, 1) if kappa else (None, None)
    return Agreement(
        judge=judgements[0].judge,
        model=judgements[0].model,
        experiment=experiment,
        n=n,
        items=len({(one.trial.dataset, one.trial.item) for one in judgements}),
        kappa=min(1.0, max(-1.0, kappa.value)) if kappa else None,
        low=low,
        high=high,
        judge_passes=sum(judge) / n,
        people_pass=sum(people) / n,
        both_pass=counts[True, True],
        only_judge=counts[True, False],
        only_people=counts[False, True],
        both_fail=counts[False, False],
    )
