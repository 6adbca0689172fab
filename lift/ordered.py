"""The calls of an experiment that go by batch, as jobs made from the journal alone.

No dataset module is needed, so that whoever collects may come after a crash, or from elsewhere. A
call waits, is in a batch, and is done once its outcome is recorded with its trial.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from lift import plan as planning
from lift.backends.batches import MOST_BYTES, MOST_ENTRIES, Outcome, size_of
from lift.backends.messages import evidence_of
from lift.budget import reached
from lift.dataset import Item
from lift.errors import CouldNotRun
from lift.journal import Entry, Journal, Order, Queued, Record
from lift.judging import JUDGE, Voting, missing
from lift.prepare import BATCH_LIFE, bench, clock, kept_replies
from lift.pricing import ROUNDING_USD, Price, cost_usd, price_of, worst_case_usd
from lift.runner import Asking, Watcher
from lift.schema import SETTLED, Evidence, Request, Status, Trial
from lift.settings import FLAG, Config, credential
from lift.worklist import portions

MOST_RESUBMITTED = 3
"""So often a call without an answer is put into another batch."""

LEAST_SHARE = 0.1
"""Of the calls that wait: a batch of fewer is not worth the day that it may take."""

WARM_MS = 3_600_000
"""So long others can read a prompt-cache prefix after one call has written it."""

Chunk = Sequence[tuple[Entry, Request]]
"""What goes in one batch."""


class Ordered:
    """An experiment's calls by batch.

    Args:
        name: the experiment's.
        config: has the credential; the order that the journal keeps says the rest.
        journal: keeps the order. The experiment must be held.
        watcher: told of each trial and vote that ends.
    """

    def __init__(self, name: str, config: Config, journal: Journal, watcher: Watcher) -> None:
        order = journal.ordered(name)
        assert order is not None, "nothing goes by batch without an order"
        self.name = name
        self.journal = journal
        self.watcher = watcher
        self._order = order
        self._config = _settings(config, order)
        self._records: Mapping[str, Record] | None = None
        self._ended = True
        replies = kept_replies(self._config, journal, "messages")
        assert replies is not None, "there is a credential"
        self._replies = replies

    def check_server(self) -> None:
        """Check that the batches are where the credential leads.

        Raises:
            CouldNotRun: they are at another server.
        """
        known = credential(self._config)
        here = known.base_url if known else ""
        if self._order.server != here:
            raise CouldNotRun(
                f"the batches of {self.name} are at {self._order.server}",
                where=here,
                fix="set ANTHROPIC_BASE_URL, and the key, with which they were submitted",
            )

    def queue(self, jobs: Iterable[Asking | Voting]) -> None:
        """Use the answers that are kept; the other calls wait for a batch."""
        waiting = []
        for job in jobs:
            if known := self._replies.known(job):
                job.finish(known)
                self._ended = True
                continue
            request, label = job.request, job.label
            worst_usd = worst_case_usd(request, self._price(request.model), batch=True)
            called = (label.part, label.vote, request.model, request.prefix)
            waiting.append(Queued(job.trial, *called, worst_usd))
        self.journal.enqueue(waiting)

    def queue_votes(self) -> None:
        """Have the votes wait that answered trials lack and that were not asked for yet."""
        if not self._ended:
            return
        self._records, self._ended = None, False
        records = [r for r in self.records.values() if r.trial.dataset in self._order.judged]
        self.queue(
            missing(
                records,
                bench=bench(self._config.settings),
                journal=self.journal,
                voted=self.watcher.voted,
                asked={entry.call for entry in self.entries},
            )
        )

    def asking(self, trial: Trial) -> Asking:
        """The job of a trial that the experiment planned."""
        record = self.records[trial.first_key]
        return Asking(
            trial=trial,
            asks=lambda _trial: self._asked(record),
            checks=Item.model_validate(record.item).checks,
            journal=self.journal,
            watcher=self.watcher,
        )

    def job(self, entry: Entry) -> Asking | Voting:
        """The job of an entry."""
        if entry.call.part != JUDGE:
            return self.asking(entry.trial)
        record = self.records[entry.call.trial]
        item = Item.model_validate(record.item)
        assert record.evidence is not None, "votes are queued on answered trials alone"
        assert item.judge is not None
        return Voting(
            trial=entry.trial,
            judged=record.evidence,
            judge=item.judge,
            number=entry.call.vote,
            prompt=item.prompt,
            model=entry.model,
            journal=self.journal,
            voted=self.watcher.voted,
        )

    def chunks(self) -> Iterator[Chunk]:
        """Batches of waiting calls that fit under the ceiling; submit each before the next.

        One call that writes a prompt-cache prefix goes ahead, in a batch of its own: the others
        wait until they can read it.
        """
        for group in ready(self.entries, self._warm()):
            yield from portions(
                self._fitting(group),
                most=MOST_ENTRIES,
                most_bytes=MOST_BYTES,
                size=lambda fitting: size_of(fitting[1]),
            )

    def end(self, entry: Entry, outcome: Outcome, *, started_ms: int, ended_ms: int) -> None:
        """Record what became of an entry, or have it wait for another batch.

        Args:
            entry: of a batch that ended.
            outcome: the server's word on it.
            started_ms: when the batch was submitted; Unix time in milliseconds.
            ended_ms: when it ended.
        """
        lost_usd = entry.worst_usd if outcome.billed else 0.0
        if outcome.answer is None and outcome.again and entry.tries <= MOST_RESUBMITTED:
            self.journal.requeue(entry, lost_usd=lost_usd)
            return
        times = {"started_ms": started_ms, "ended_ms": max(started_ms, ended_ms)}
        if outcome.answer is None:
            lost_usd += entry.lost_usd
            evidence = Evidence(status=Status.ERRORED, why=outcome.why, lost_usd=lost_usd, **times)
        else:
            usage, reply = outcome.answer
            cost = cost_usd(usage, self._price(entry.model), batch=True)
            evidence = evidence_of(usage, reply, cost_usd=cost, lost_usd=entry.lost_usd, **times)
        self._close(entry, evidence)

    def check_ceiling(self) -> None:
        """Check that the calls that wait may go some time.

        Raises:
            CeilingReached: nothing is in a batch, so that none ever will; they are skipped.
        """
        left = [entry for entry in self.entries if entry.done_ms is None]
        if not left or any(entry.batch is not None for entry in left):
            return
        settings, (spent, lost) = self._config.settings, self.journal.spent_usd(self.name)
        least = math.ceil(LEAST_SHARE * len(left))
        problem = reached(
            sum(sorted(entry.worst_usd for entry in left)[:least]),
            calls=least,
            ceiling_usd=settings.max_cost_usd,
            committed_usd=spent + lost,
            lost_usd=lost,
        )
        for entry in left:
            now, lost_usd = clock(), entry.lost_usd
            # one that was asked before was an attempt, and may have cost
            status = Status.ERRORED if lost_usd else Status.SKIPPED
            why = "the ceiling came first"
            self._close(
                entry,
                Evidence(status=status, why=why, lost_usd=lost_usd, started_ms=now, ended_ms=now),
            )
        raise problem

    @property
    def entries(self) -> list[Entry]:
        """Every call that goes by batch, or went since the order; votes come first."""
        return self.journal.entries(self.name)

    @property
    def left(self) -> int:
        """How many calls have not ended."""
        done, asked = self.progress
        return asked - done

    @property
    def progress(self) -> tuple[int, int]:
        """How many calls are done, of how many."""
        return self.journal.batch_progress(self.name)

    @property
    def records(self) -> Mapping[str, Record]:
        """Key of each planned trial → the trial as `queue_votes` last found it."""
        if self._records is None:
            records = self.journal.records(self.name)
            self._records = {record.trial.first_key: record for record in records}
        return self._records

    def _fitting(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Request]]:
        spent_usd = sum(self.journal.spent_usd(self.name))
        room_usd = self._config.settings.max_cost_usd - spent_usd + ROUNDING_USD
        fitting = []
        for entry in entries:
            if entry.worst_usd <= room_usd:
                room_usd -= entry.worst_usd
                fitting.append(entry)
        if len(fitting) >= LEAST_SHARE * len(entries):
            yield from ((entry, self.job(entry).request) for entry in fitting)

    def _warm(self) -> set[str]:
        """The prompt-cache prefixes that an answered call has written or read not long ago."""
        since_ms = clock() - WARM_MS
        return {
            entry.prefix
            for entry in self.entries
            if entry.prefix
            and (entry.done_ms or 0) >= since_ms
            and self.records[entry.call.trial].status in SETTLED
        }

    def _close(self, entry: Entry, evidence: Evidence) -> None:
        job = self.job(entry)
        job.finish(evidence, key=self._replies.key(job.question, job.label))
        self.journal.close_entry(entry, now_ms=clock())
        self._ended = True

    def _asked(self, record: Record) -> Request:
        condition = record.condition
        return planning.request(
            record.item["prompt"],
            condition,
            system=record.system,
            shown=condition.skill_hash and self._blocks[condition.skill_hash],
            cacheable_tokens=self._price(condition.model).cacheable_tokens,
            cache_life=BATCH_LIFE,
        )

    @cached_property
    def _blocks(self) -> Mapping[str, str]:
        """Tree hash → how that skill is shown."""
        skills = self.journal.skills(self.name)
        return {key: planning.block(one.name, one.body) for key, one in skills.items()}

    def _price(self, model: str) -> Price:
        return price_of(model, self._order.price)


def ready(entries: Sequence[Entry], warm: Collection[str]) -> tuple[list[Entry], list[Entry]]:
    """The waiting entries that may go now.

    Args:
        entries: all of the experiment.
        warm: prompt-cache prefixes that can be read.

    Returns:
        One for each prefix that several will read and nobody has written yet; and those that need
        not wait for such a one.
    """
    waiting = [e for e in entries if e.done_ms is None and e.batch is None]
    writing = {e.prefix for e in entries if e.done_ms is None and e.batch is not None}
    readers = Counter(e.prefix for e in waiting)
    first: list[Entry] = []
    rest: list[Entry] = []
    for entry in waiting:
        if entry.prefix is None or entry.prefix in warm:
            rest.append(entry)
        elif entry.prefix in writing:
            continue
        elif readers[entry.prefix] == 1:
            rest.append(entry)
        else:
            first.append(entry)
            writing.add(entry.prefix)
    return first, rest


def order_of(config: Config, judged: Collection[str], *, fresh: bool) -> Order:
    """What a command wants of batches.

    Args:
        config: server, judge and ceiling.
        judged: names of the datasets whose answers are judged.
        fresh: use no answer that was given before.
    """
    settings, known = config.settings, credential(config)
    return Order(
        server=known.base_url if known else "",
        judged=sorted(judged),
        judge_model=settings.judge_model,
        judge_votes=settings.judge_votes,
        price=settings.price,
        max_cost_usd=settings.max_cost_usd,
        cache_max_age=0.0 if fresh else settings.cache_max_age,
    )


def _settings(config: Config, order: Order) -> Config:
    """The settings as the order has them; a ceiling may be given anew by a flag."""
    wanted = order._asdict()
    del wanted["server"], wanted["judged"]
    if config.origins["max_cost_usd"] == FLAG:
        del wanted["max_cost_usd"]
    settings = config.settings.model_copy(update=wanted)
    return config.model_copy(update={"settings": settings})
