"""Answers kept for equal requests: what did not change is not paid for again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lift.journal import Journal
from lift.schema import Evidence, Label, digest
from lift.worklist import Job

DAY_MS = 24 * 3600 * 1000


class Replies:
    """The answers of one server, by request, repeat and vote.

    Args:
        journal: keeps them.
        server: its address; another server may have another model behind the same name.
        clock: the time, in milliseconds.
        max_age_days: an older answer is not used: behind the same name there may be another model
            by now. 0 uses none, and keeps new ones all the same.
    """

    def __init__(
        self, journal: Journal, server: str, *, clock: Callable[[], int], max_age_days: float
    ) -> None:
        self.journal = journal
        self.server = server
        self.clock = clock
        self.max_age_days = max_age_days

    def key(self, question: str, label: Label) -> str:
        """Identifies what decides the answer, and which of several equal calls it is.

        Args:
            question: of the request.
            label: of the call.
        """
        return digest([self.server, question, label.repeat, label.part, label.vote])

    def known(self, job: Job) -> Evidence | None:
        """The answer to an equal call, at no cost; None where there is none so young."""
        if not self.max_age_days:
            return None
        now = self.clock()
        kept = self.journal.reply(self.key(job.question, job.label), since_ms=self._since_ms())
        if kept is None:
            return None
        evidence = kept.evidence
        return evidence.model_copy(
            update={
                "cost_usd": 0.0,
                "lost_usd": 0.0,
                "cached": True,
                "kept_ms": kept.kept_ms,
                "kept_usd": evidence.cost_usd,
                "started_ms": now - (evidence.ended_ms - evidence.started_ms),
                "ended_ms": now,
            }
        )

    def among(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that have an answer; none of them counts as used."""
        if not self.max_age_days:
            return set()
        return self.journal.replies_since(keys, self._since_ms())

    def answers(self, keys: Sequence[str]) -> dict[str, Evidence]:
        """Key → what was answered, of those that have an answer; none of them counts as used."""
        if not self.max_age_days:
            return {}
        return self.journal.evidence_since(keys, self._since_ms())

    def _since_ms(self) -> int:
        return self.clock() - int(self.max_age_days * DAY_MS)
