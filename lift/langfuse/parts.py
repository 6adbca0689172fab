"""What is sent of a trial: its answer, its scores, each vote on it; each marked for itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lift.journal import Parcel, part_of
from lift.langfuse import ids, otlp, runs, scores, traces
from lift.langfuse.present import Sought
from lift.langfuse.runs import Facts, Run
from lift.langfuse.scores import Body
from lift.schema import Status, Trial, Vote

ANSWER, SCORES = "answer", "scores"
"""Parts of a parcel; the others are votes."""


class Part(NamedTuple):
    """What is sent at once of a trial, and marked at once."""

    trial: Trial
    name: str
    spans: bytes = b""
    """A request with its trace; empty where it has none."""
    root: str = ""
    """Id of the trace's root."""
    start_ms: int = 0
    """When the root began."""
    run: str = ""
    """Id of the run that its trace is in; empty where it is in none."""
    scores: tuple[Body, ...] = ()
    missing_ms: int | None = None
    """As in Unsent."""

    @property
    def is_new(self) -> bool:
        """Whether it has a trace that the server has not said to have taken."""
        return bool(self.spans) and self.missing_ms != 0

    @property
    def sought(self) -> Sought:
        """What to look for before its trace is sent."""
        item = ids.item_id(self.trial.dataset, self.trial.item) if self.run else ""
        return Sought(self.root, self.start_ms, self.run, item)


def parts_of(parcel: Parcel, run: Run | None, known: Facts) -> list[Part]:
    """The parcel's parts, made.

    Args:
        parcel: with a masked record.
        run: the trial's; needed where the answer is among the parts.
        known: what the experiment is.
    """
    made = []
    if ANSWER in parcel.parts and run is not None:
        made.append(_answer(parcel, run, known))
    if SCORES in parcel.parts:
        made.append(_scores(parcel, known))
    votes = {part_of(vote): vote for vote in parcel.record.votes}
    made += [
        _vote(parcel, name, vote, known) for name, vote in votes.items() if name in parcel.parts
    ]
    return [part._replace(missing_ms=parcel.parts[part.name]) for part in made]


def bodies(parts: Iterable[Part]) -> list[Body]:
    """The parts' scores, each once: the votes of a judge share one."""
    return list({body["id"]: body for part in parts for body in part.scores}.values())


def _answer(parcel: Parcel, run: Run, known: Facts) -> Part:
    record = parcel.record
    errored = record.status == Status.ERRORED
    return Part(
        trial=record.trial,
        name=ANSWER,
        spans=otlp.encoded(traces.answer_spans(record, run=run, known=known)),
        root=ids.of_trial(record.trial).root,
        start_ms=runs.ended(record).started_ms,
        run=run.id,
        scores=(scores.errored_score(record, known=known),) if errored else (),
    )


def _scores(parcel: Parcel, known: Facts) -> Part:
    record = parcel.record
    found = scores.check_scores(record, known=known)
    return Part(trial=record.trial, name=SCORES, scores=tuple(found))


def _vote(parcel: Parcel, name: str, vote: Vote, known: Facts) -> Part:
    record = parcel.record
    mean = scores.judge_score(record, vote.evaluator, known=known)
    return Part(
        trial=record.trial,
        name=name,
        spans=otlp.encoded(traces.vote_spans(record, vote, known=known)),
        root=ids.of_vote(record.trial, vote).root,
        start_ms=vote.evidence.started_ms,
        scores=(mean,),
    )
