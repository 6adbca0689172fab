"""Stored evidence and judges to votes: each vote a call, and a transaction, of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lift.evaluators.judge import Judge
from lift.journal import Journal
from lift.plan import Plan
from lift.runner import Job
from lift.schema import SETTLED, Evidence, Label, Request, Status, Trial, Vote


@dataclass(frozen=True)
class Bench:
    """Who judges, and how often.

    Args:
        model: id of the model that judges.
        votes: of each judge on each trial; at least 1.
        datasets: whose trials are judged; None for those that ask for it.
    """

    model: str
    votes: int
    everything: bool | None = None
    """True judges every dataset, False none, None those with judge=True."""

    def judges(self, plan: Plan, trial: Trial) -> Judge | None:
        """The judge of a trial; None where it is not judged."""
        wanted = plan.dataset(trial).judge if self.everything is None else self.everything
        return plan.item(trial).judge if wanted else None


@dataclass(frozen=True)
class Voting:
    """The job of one vote."""

    trial: Trial
    judged: Evidence
    judge: Judge
    number: int
    prompt: str
    model: str
    journal: Journal

    @cached_property
    def request(self) -> Request:
        """The judge's question."""
        return self.judge.question(self.judged, prompt=self.prompt, model=self.model)

    @property
    def label(self) -> Label:
        """Names the trial, and that it is judged."""
        return self.trial.label._replace(part="judge")

    def finish(self, evidence: Evidence) -> Sequence[Job]:
        """Record the vote; one that was not cast is asked for again by the next run."""
        if evidence.status is not Status.SKIPPED:
            self.journal.record_vote(self.trial, self._vote(evidence))
        return ()

    def _vote(self, evidence: Evidence) -> Vote:
        value, why = None, evidence.why
        if evidence.status is Status.OK:
            try:
                value, why = self.judge.read(evidence.text)
            except ValueError as unreadable:
                why = str(unreadable)
        return Vote(
            evaluator=self.judge.name,
            number=self.number,
            evidence=evidence,
            value=value,
            why=why,
            prompt_hash=self.judge.prompt_hash,
        )


def votes_after(
    plan: Plan, journal: Journal, bench: Bench, trial: Trial, evidence: Evidence
) -> list[Job]:
    """The votes that an answered trial still needs, none of them cast yet."""
    judge = bench.judges(plan, trial)
    if judge is None or evidence.status not in SETTLED:
        return []
    return [
        Voting(trial, evidence, judge, number, plan.item(trial).prompt, bench.model, journal)
        for number in range(1, bench.votes + 1)
    ]


def missing_votes(plan: Plan, journal: Journal, bench: Bench) -> list[Job]:
    """The votes that answered trials of the plan still need."""
    cast: Mapping[str, set[int]] = journal.votes_cast(plan.experiment)
    return [
        job
        for trial, evidence in journal.answered(plan.experiment)
        if plan.has(trial)
        for job in votes_after(plan, journal, bench, trial, evidence)
        if isinstance(job, Voting) and job.number not in cast.get(trial.key, set())
    ]
