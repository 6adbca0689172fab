"""Doubt: what a server may have taken is looked for until it must be there, and then sent again."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from langfuse_project import OTEL, SCORES, Fault, Langfuse
from langfuse_trials import (
    START_MS,
    Clock,
    answered,
    checks,
    connected,
    planned,
    record,
    sent,
    vote,
)

from lift.journal import MIGRATIONS, Journal
from lift.langfuse.faults import LangfuseError
from lift.langfuse.publish import publish

LISTS = ("/api/public/experiment-items", "/api/public/v2/observations")
UNANSWERED = {
    "reset": Fault(OTEL, reset=True),
    "hang": Fault(OTEL, hang=True),
    "502": Fault(OTEL, status=502),
    "504": Fault(OTEL, status=504),
}


@pytest.fixture
def journal(journal: Journal) -> Journal:
    record(journal, planned(2), votes=1)
    return journal


def doubles(langfuse: Langfuse) -> list[str]:
    counts = Counter(span["id"] for span in langfuse.spans)
    return [id for id, count in counts.items() if count > 1]


@pytest.mark.parametrize("kind", UNANSWERED)
def test_what_got_no_answer_is_sent_again_once_it_must_be_missing(
    journal: Journal, langfuse: Langfuse, kind: str
):
    langfuse.faults = [UNANSWERED[kind]]
    clock = Clock()
    assert sent(journal, langfuse, clock=clock, timeout_s=0.1).unsent > 0
    langfuse.faults = []
    failed_ms = clock.now_ms

    assert sent(journal, langfuse, clock=clock).unsent == 0
    assert failed_ms + 100_000 < clock.now_ms < failed_ms + 140_000
    assert len(langfuse.roots()) == 4


def test_a_server_that_said_it_failed_is_given_it_again_soon(journal: Journal, langfuse: Langfuse):
    langfuse.faults = [Fault(OTEL, status=500)]
    clock = Clock()
    sent(journal, langfuse, clock=clock)
    langfuse.faults = []
    failed_ms = clock.now_ms

    assert sent(journal, langfuse, clock=clock).unsent == 0
    assert clock.now_ms < failed_ms + 45_000


def test_a_server_that_said_so_when_the_run_was_about_to_end_too(
    journal: Journal, langfuse: Langfuse
):
    langfuse.faults = [Fault(OTEL, status=500)]

    def ended(_seconds: float) -> None:
        raise LangfuseError("the run ended first")

    with connected(langfuse, sleep=ended) as connection:
        publish(journal, "exp", connection, redact=lambda v: v, now_ms=lambda: START_MS)
    langfuse.faults = []
    clock = Clock()

    assert sent(journal, langfuse, clock=clock).unsent == 0
    assert clock.now_ms < START_MS + 45_000


def test_what_is_waited_for_is_said_once(journal: Journal, langfuse: Langfuse):
    langfuse.faults = [Fault(OTEL, reset=True)]
    clock = Clock()
    sent(journal, langfuse, clock=clock)
    langfuse.faults = []
    said: list[str] = []

    sent(journal, langfuse, clock=clock, told=said.append)

    (line,) = said
    assert line.startswith("4 trials may have been taken already: looking for them, for up to 11")


@pytest.mark.parametrize("kind", UNANSWERED)
def test_what_was_taken_and_shows_late_is_not_sent_again(
    journal: Journal, langfuse: Langfuse, kind: str
):
    fault = UNANSWERED[kind]
    langfuse.faults = [
        Fault(OTEL, status=fault.status, reset=fault.reset, hang=fault.hang, stored=True)
    ]
    langfuse.behind = dict.fromkeys(LISTS, 8)
    clock = Clock()
    assert sent(journal, langfuse, clock=clock, timeout_s=0.1).unsent > 0
    langfuse.faults = []

    assert sent(journal, langfuse, clock=clock).unsent == 0
    assert langfuse.behind == dict.fromkeys(LISTS, 0)
    assert doubles(langfuse) == []


def test_what_was_taken_for_sure_is_not_looked_for(journal: Journal, langfuse: Langfuse):
    langfuse.faults = [Fault(SCORES, status=401)]
    sent(journal, langfuse)
    langfuse.faults = []
    langfuse.behind = dict.fromkeys(LISTS, 99)
    clock = Clock()

    assert sent(journal, langfuse, clock=clock).unsent == 0
    assert clock.now_ms == START_MS
    assert doubles(langfuse) == []


@pytest.mark.parametrize(
    "fault",
    [Fault(OTEL, status=503), Fault(OTEL, status=413), Fault(OTEL, html=True)],
    ids=["503", "413", "page"],
)
def test_what_was_not_taken_is_in_no_doubt(journal: Journal, langfuse: Langfuse, fault: Fault):
    langfuse.faults = [fault]
    sent(journal, langfuse)
    langfuse.faults = []
    clock = Clock()

    assert sent(journal, langfuse, clock=clock).unsent == 0
    assert clock.now_ms == START_MS


def test_a_run_does_not_wait_for_what_is_in_doubt(journal: Journal, langfuse: Langfuse):
    langfuse.faults = [Fault(OTEL, reset=True)]
    sent(journal, langfuse)
    langfuse.faults = []
    clock = Clock()

    found = sent(journal, langfuse, clock=clock, settles=False)

    assert (found.answers, clock.now_ms) == (0, START_MS)
    assert found.why == "4 trials may have been taken: look again later"


def test_what_is_in_no_doubt_does_not_wait_for_what_is(journal: Journal, langfuse: Langfuse):
    langfuse.faults = [Fault(OTEL, reset=True)]
    sent(journal, langfuse)
    langfuse.faults = []
    plan = planned(4)
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        if trial.item in ("greet-2", "greet-3"):
            journal.record(trial, answered(trial), checks(trial))

    assert sent(journal, langfuse, settles=False).answers == 4


def test_an_answer_that_is_not_scored_yet_waits_for_its_scores(
    journal: Journal, langfuse: Langfuse
):
    sent(journal, langfuse)
    plan = planned(3)
    journal.begin(plan, now_ms=START_MS)
    (trial,) = (t for t in plan.trials if (t.item, t.condition) == ("greet-2", "with_skill"))
    journal.record(trial, answered(trial))
    assert sent(journal, langfuse).answers == 0

    journal.record_scores(trial, checks(trial))

    assert sent(journal, langfuse).answers == 1


def test_a_vote_cast_again_while_the_first_was_sent_is_sent_too(
    journal: Journal, langfuse: Langfuse
):
    (unsent, *_) = journal.unsent("exp", "there")
    (parcel,) = journal.parcels([unsent])
    trial, first = parcel.record.trial, parcel.record.votes[0]
    again = vote(trial).model_copy(update={"evidence": answered(trial, at_ms=99_000)})
    journal.record_vote(trial, again)
    parts = [(trial, part) for part in parcel.parts]

    journal.mark_sent("there", parts, now_ms=START_MS)

    left = [one.parts for one in journal.unsent("exp", "there") if one.trial == unsent.trial]
    assert [list(parts) for parts in left] == [[f"judge/1|{again.evidence.started_ms}"]]
    assert first.evidence.started_ms != again.evidence.started_ms


def test_votes_that_an_older_lift_sent_are_not_sent_again(journal: Journal, tmp_path: Path):
    parcels = journal.parcels(journal.unsent("exp", "there"))
    parts = [(parcel.record.trial, part) for parcel in parcels for part in parcel.parts]
    journal.mark_sent("there", parts, now_ms=START_MS)
    old = tmp_path / "old.db"
    make_older(journal.path, old)

    with Journal(old) as opened:
        assert len(opened.trials("exp")) == 4
        assert opened.unsent("exp", "there") == []


def make_older(new: Path, old: Path) -> None:
    """A journal of the version before votes had their time in the name of their part."""
    before = next(number for number, script in enumerate(MIGRATIONS) if "TABLE given" in script)
    with sqlite3.connect(old) as db:
        for script in MIGRATIONS[:before]:
            db.executescript(script)
        db.execute(f"PRAGMA user_version = {before}")
        db.execute("ATTACH ? AS new", (str(new),))
        tables = db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
        db.execute("UPDATE sent SET part = substr(part, 1, instr(part || '|', '|') - 1)")
    db.close()
