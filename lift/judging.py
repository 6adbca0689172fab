"""Stored evidence and judges to votes: each vote a call, and a transaction, of its own."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property

from lift.dataset import Item
from lift.evaluators.judge import Judge
from lift.journal import Call, Journal, Record
from lift.schema import SETTLED, Evidence, Label, Request, Status, Trial, Vote
from lift.worklist import Job

JUDGE = "judge"
"""Part of a vote's label."""

Voted = Callable[[Trial, Vote], None]
"""Told of each vote that is on disk."""


@dataclass(frozen=True)
class Bench:
    """Who judges, and how often.

    Args:
        model: id of the model that judges.
        votes: of the judge on each trial; at least 1.
    """

    model: str
    votes: int


@dataclass(frozen=True)
class Voting(Job):
    """The job of one vote."""

    trial: Trial
    judged: Evidence
    judge: Judge
    number: int
    prompt: str
    model: str
    journal: Journal
    voted: Voted

    @cached_property
    def request(self) -> Request:
        """The judge's question."""
        return self.judge.question(self.judged, prompt=self.prompt, model=self.model)

    @property
    def label(self) -> Label:
        """Names the trial, and that it is judged."""
        return self.trial.label._replace(part=JUDGE, vote=self.number)

    def finish(self, evidence: Evidence, *, key: str | None = None) -> Sequence[Job]:
        """Record the vote; one that was not cast is asked for again by the next run."""
        if evidence.status is not Status.SKIPPED:
            vote = self._vote(evidence)
            self.journal.record_vote(self.trial, vote, key=None if vote.value is None else key)
            self.voted(self.trial, vote)
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
            model=self.model,
            prompt_hash=self.judge.prompt_hash,
        )


def votes_on(
    trial: Trial,
    evidence: Evidence,
    item: Item,
    *,
    bench: Bench,
    journal: Journal,
    voted: Voted,
    cast: Sequence[Vote] = (),
    asked: Container[Call] = (),
) -> list[Voting]:
    """The votes that a trial still needs.

    Args:
        trial: with the attempt that was answered.
        evidence: what is judged; nothing where it was not answered.
        item: its criteria; nothing where it has none.
        bench: who judges, and how often.
        journal: where votes go.
        voted: told of each.
        cast: votes there are; those of another model or by other criteria do not count.
        asked: calls that are made already; they are left out.
    """
    judge = item.judge
    if judge is None or evidence.status not in SETTLED:
        return []
    known = {
        vote.number
        for vote in cast
        if vote.value is not None
        and (vote.model, vote.prompt_hash) == (bench.model, judge.prompt_hash)
    }
    return [
        Voting(trial, evidence, judge, number, item.prompt, bench.model, journal, voted)
        for number in range(1, bench.votes + 1)
        if number not in known and Call(trial.first_key, JUDGE, number) not in asked
    ]


def missing(
    records: Sequence[Record],
    *,
    bench: Bench,
    journal: Journal,
    voted: Voted,
    asked: Container[Call] = (),
) -> list[Voting]:
    """The votes that recorded trials still need; their criteria are those they were asked with.

    Args:
        records: of the trials.
        bench: who judges, and how often.
        journal: where votes go.
        voted: told of each.
        asked: calls that are made already; they are left out.
    """
    return [
        job
        for record in records
        if record.evidence
        for job in votes_on(
            record.trial,
            record.evidence,
            Item.model_validate(record.item),
            bench=bench,
            journal=journal,
            voted=voted,
            cast=record.votes,
            asked=asked,
        )
    ]
