"""What can be read of an experiment, and what cannot yet: a server says yes before it stores."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lift.journal import Experiment, Record
from lift.langfuse import ids, runs, scores
from lift.langfuse.client import PAGE, Connection, Query
from lift.langfuse.faults import Refused, Unclear, Unreachable
from lift.langfuse.pace import is_cloud
from lift.langfuse.present import MARGIN_MS, items, observations
from lift.langfuse.runs import Facts
from lift.langfuse.store import dataset_id
from lift.langfuse.wire import moment
from lift.schema import Status, Trial

SCORES = "/api/public/v3/scores"

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
"""Between two looks; each is twice the one before."""

PATIENCE_S, CLOUD_PATIENCE_S = 600.0, 1200.0
"""How long a server may take to store; some lists of Langfuse Cloud are 10 minutes behind."""

BUSY = (429, 503)


class Piece(NamedTuple):
    """One thing that must be readable."""

    trial: str
    """The trial's name."""
    what: str
    """`trace`, or the name of a vote or of a score."""


Wanted = dict[str, Piece]
"""Id of an observation or a score → what it is."""


@dataclass
class Awaited:
    """What could not be read of an experiment so far."""

    runs: Sequence[str]
    """Ids of its runs."""
    session: str
    since_ms: int
    roots: Wanted = field(default_factory=dict)
    """Of trials, as comparisons read them: items of an experiment."""
    observations: Wanted = field(default_factory=dict)
    """The same roots, and those of votes, as the UI lists them."""
    scores: Wanted = field(default_factory=dict)

    @property
    def missing(self) -> list[Piece]:
        """Each thing once, trial by trial."""
        pieces = (*self.roots.values(), *self.observations.values(), *self.scores.values())
        return sorted(dict.fromkeys(pieces))

    def look(self, connection: Connection) -> None:
        """Cross off what can be read now.

        Raises:
            LangfuseError: it cannot be asked.
        """
        since_ms = self.since_ms - MARGIN_MS
        if self.roots:
            since = moment(since_ms)
            _cross_off(self.roots, items(connection, self.runs, since=since, fields="core"))
        if self.observations:
            self._look_for_observations(connection, since_ms)
        for wanted in _groups(list(self.scores)):
            query: Query = {"id": ",".join(wanted), "limit": PAGE}
            _cross_off(self.scores, connection.listed(SCORES, query))

    def _look_for_observations(self, connection: Connection, since_ms: int) -> None:
        try:
            found = observations(connection, self.session, since_ms=since_ms)
            _cross_off(self.observations, found)
        except Refused as refused:
            if refused.status not in (400, 404):
                raise
            self.observations.clear()  # a server without that list cannot lack anything in it


def patience_s(base_url: str) -> float:
    """How long a server may take to store what it took, in seconds."""
    return CLOUD_PATIENCE_S if is_cloud(base_url) else PATIENCE_S


def awaited(connection: Connection, records: Iterable[Record], known: Facts) -> Awaited:
    """Everything that must be readable of an experiment's trials.

    Args:
        connection: the project that they were sent to.
        records: of trials; those that have not been asked, or were skipped, have no trace.
        known: what the experiment is.

    Raises:
        LangfuseError: the project or a dataset cannot be asked for its id.
    """
    sent = [r for r in records if r.evidence and r.status != Status.SKIPPED]
    found = Awaited(
        runs=_run_ids(connection, known.experiment, sent),
        session=runs.session(known.experiment),
        since_ms=min((runs.ended(record).started_ms for record in sent), default=0),
    )
    for record in sent:
        name = _name(record.trial, known.experiment)
        found.roots[ids.of_trial(record.trial).root] = Piece(name, "trace")
        for vote in record.votes:
            if vote.value is not None:
                piece = Piece(name, f"vote {vote.evaluator}/{vote.number}")
                found.observations[ids.of_vote(record.trial, vote).root] = piece
        for body in _bodies(record, known):
            found.scores[body["id"]] = Piece(name, f"score {body['name']}")
    found.observations |= found.roots
    return found


def wait(connection: Connection, wanted: Awaited, *, seconds: float) -> str:
    """Look until everything can be read, or the time is up.

    Args:
        connection: where to look.
        wanted: what to look for; what was seen is crossed off.
        seconds: how long at most; one look is made in any case.

    Returns:
        Why the last look failed; empty where it did not.

    Raises:
        LangfuseError: looking again cannot help.
    """
    until, pause_s = time.monotonic() + seconds, FIRST_PAUSE_S
    while True:
        why = _looked(connection, wanted)
        if not wanted.missing or time.monotonic() + pause_s > until:
            return why
        connection.sleep(pause_s)
        pause_s = min(LONGEST_PAUSE_S, 2 * pause_s)


def _looked(connection: Connection, wanted: Awaited) -> str:
    """Look once; returns why that failed, where it may pass."""
    try:
        wanted.look(connection)
    except (Unclear, Unreachable) as failed:
        return failed.what
    except Refused as refused:
        if refused.status not in BUSY:
            raise
        return refused.what
    return ""


def _name(trial: Trial, experiment: Experiment) -> str:
    return f"{trial.name} {trial.model}" if len(experiment.models) > 1 else trial.name


def _bodies(record: Record, known: Facts) -> Iterator[scores.Body]:
    if record.status == Status.ERRORED:
        yield scores.errored_score(record, known=known)
    yield from scores.check_scores(record, known=known)
    for judge in dict.fromkeys(v.evaluator for v in record.votes if v.value is not None):
        yield scores.judge_score(record, judge, known=known)


def _run_ids(
    connection: Connection, experiment: Experiment, records: Iterable[Record]
) -> list[str]:
    names = dict.fromkeys(runs.parts(record.trial) for record in records)
    known = {name.dataset: dataset_id(connection, name.dataset) for name in names}
    project = connection.project()
    return [
        runs.run_of(name, experiment, project=project, dataset_id=there).id
        for name in names
        if (there := known[name.dataset]) is not None
    ]


def _cross_off(wanted: Wanted, rows: Iterable[dict[str, str]]) -> None:
    for row in rows:
        wanted.pop(row["id"], None)


def _groups(wanted: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(wanted), PAGE):
        yield wanted[start : start + PAGE]
