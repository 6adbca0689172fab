"""The outbox: what a server has not taken yet goes there, and is marked once it says it took it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from lift import frames
from lift.journal import Experiment, Journal
from lift.langfuse import configs, runs
from lift.langfuse.client import Connection
from lift.langfuse.datasets import Shelves
from lift.langfuse.dispatch import Dispatch, Told, untold
from lift.langfuse.faults import LangfuseError
from lift.langfuse.masking import check_names
from lift.langfuse.parts import ANSWER, SCORES
from lift.langfuse.prompts import Prompts
from lift.langfuse.runs import Facts
from lift.langfuse.wire import Redact, prepared


class Sent(NamedTuple):
    """What a server took, and what is left."""

    answers: int
    """Trials whose trace was taken."""
    scores: int
    """Trials whose checks' scores were taken."""
    votes: int
    unsent: int
    """Answers, scores and votes that are left for the next time."""
    why: str
    """Why they are left, on one line; empty where none is."""
    notices: tuple[str, ...] = ()
    """What a person should know about the server."""
    broke_off: bool = False
    """Whether the server failed, so that nothing more was tried."""

    @property
    def taken(self) -> int:
        """Answers, scores and votes that the server took."""
        return self.answers + self.scores + self.votes

    def and_then(self, later: Sent) -> Sent:
        """Both together: what was taken in all, and what is left after the later one."""
        return later._replace(
            answers=self.answers + later.answers,
            scores=self.scores + later.scores,
            votes=self.votes + later.votes,
            notices=tuple(dict.fromkeys(self.notices + later.notices)),
        )


NOTHING = Sent(answers=0, scores=0, votes=0, unsent=0, why="")


def publish(
    journal: Journal,
    experiment: str,
    connection: Connection,
    *,
    redact: Redact,
    now_ms: Callable[[], int],
    seconds: float = 60.0,
    told: Told = untold,
) -> Sent:
    """Send what the server has not taken of an experiment. Doing it again sends only what is left.

    Args:
        journal: where it is recorded.
        experiment: its name.
        connection: where to.
        redact: masks strings; called once for each trial and each item, with all its texts.
        now_ms: the time, in Unix milliseconds, for the journal's marks.
        seconds: after which no further trials are sent.
        told: what takes time.

    Returns:
        How much was sent and is left. A server that fails is no error here: what it did not
        take is left, and why is said.

    Raises:
        ExperimentError: the journal has no such experiment.
        JournalError: it cannot be read or written.
    """
    outbox = Outbox(journal, experiment, connection, redact=redact, now_ms=now_ms)
    return outbox.send(seconds=seconds, settles=True, told=told)


class Outbox:
    """An experiment on its way to a project, however often there is something to send.

    Args:
        journal: where it is recorded.
        experiment: its name.
        connection: where to.
        redact: masks strings; called once for each trial and each item, with all its texts.
        now_ms: the time, in Unix milliseconds, for the journal's marks.
    """

    def __init__(
        self,
        journal: Journal,
        experiment: str,
        connection: Connection,
        *,
        redact: Redact,
        now_ms: Callable[[], int],
    ) -> None:
        self._journal, self._experiment, self._connection = journal, experiment, connection
        self._redact, self._now_ms = redact, now_ms
        self._shelves = Shelves(connection, redact)
        self._prompts: Prompts | None = None
        self._people_can_score = False

    def send(
        self, *, seconds: float, settles: bool, most: int | None = None, told: Told = untold
    ) -> Sent:
        """Send what the server has not taken; see `publish`, which settles.

        Args:
            seconds: after which no further trials are sent.
            settles: whether to wait, in that time, for what may have been taken before.
            most: of trials; None for all.
            told: what takes time.
        """
        about = self._journal.experiment(self._experiment)
        unsent = self._journal.unsent(self._experiment, self._connection.destination)
        if not unsent:
            return NOTHING
        dispatch = Dispatch(
            journal=self._journal,
            connection=self._connection,
            shelves=self._shelves,
            prompts=self._skills(),
            known=self._facts(about),
            redact=self._redact,
            now_ms=self._now_ms,
            until=time.monotonic() + seconds,
            told=told,
        )
        broke_off = False
        try:
            check_names(self._names(about), self._redact)
            dispatch.send(unsent[:most], settles=settles)
        except LangfuseError as failed:
            dispatch.note(failed)
            broke_off = True
        if dispatch.sent[ANSWER]:
            self._let_people_score()
        total = sum(len(one.parts) for one in unsent)
        return _report(dispatch, total)._replace(broke_off=broke_off)

    def _let_people_score(self) -> None:
        """Make the score configs for annotators; without them everything else works."""
        if not self._people_can_score:
            self._people_can_score = True
            with suppress(LangfuseError):
                configs.ensure(self._connection)

    def _names(self, about: Experiment) -> list[str]:
        rows = self._journal.trials(about.name)
        items = [row[column] for row in rows for column in (frames.ITEM, frames.CATEGORY)]
        return [about.name, about.skill, *about.models, *about.datasets, *items]

    def _skills(self) -> Prompts:
        if self._prompts is None:
            texts = self._journal.skills(self._experiment)
            self._prompts = Prompts(self._connection, texts, self._redact)
        return self._prompts

    def _facts(self, about: Experiment) -> Facts:
        pages = prepared(self._journal.pages(about.name), self._redact)
        return runs.facts(about, self._journal.trials(about.name), pages=pages)


def _report(dispatch: Dispatch, total: int) -> Sent:
    """What came of it.

    Args:
        dispatch: what was sent.
        total: how many parts were unsent before.
    """
    sent = dispatch.sent
    left = total - sent.total()
    return Sent(
        answers=sent[ANSWER],
        scores=sent[SCORES],
        votes=sent.total() - sent[ANSWER] - sent[SCORES],
        unsent=left,
        why=dispatch.why if left else "",
        notices=tuple(dispatch.notices),
    )
