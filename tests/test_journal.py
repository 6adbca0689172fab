"""The journal: what is written stays, once, and a broken file is one clear error."""

from __future__ import annotations

import itertools
import os
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from lift import frames
from lift import plan as planning
from lift.dataset import Dataset, Item, Selection
from lift.errors import ExperimentError, JournalError
from lift.evaluators import Rubric
from lift.journal import MIGRATIONS, Journal, Order, Queued
from lift.plan import Plan
from lift.schema import Evidence, Reply, Score, Status, Trial, Usage, Vote
from lift.skill import Skill
from lift.tables import tables


def skill(body: str = "body") -> Skill:
    return Skill(
        name="s", description="d", body=body, root=Path("s"), files=(), tree_hash=f"hash of {body}"
    )


def plan(body: str = "body", must_use: str = "x", backend: str = "messages") -> Plan:
    rubric = Rubric(must_use=[must_use])
    items = [Item(id=f"i{n}", category="c", prompt="p", rubric=rubric) for n in range(3)]
    dataset = Dataset(name="d", skill="s", items=items)
    return planning.make(
        skill(body), [dataset], selection=Selection(), models=["m"], repeats=1, backend=backend,
        max_tokens=10, effort=None, experiment="e",
    )  # fmt: skip


def answered(text: str = "hello", **fields: object) -> Evidence:
    return Evidence(
        status=Status.OK, reply=Reply(text=text), usage=Usage(input_tokens=3, output_tokens=2),
        cost_usd=0.25, started_ms=1000, ended_ms=3000, **fields,
    )  # fmt: skip


def vote(number: int) -> Vote:
    return Vote(
        evaluator="judge", number=number, evidence=answered(os.urandom(5_000).hex()), value=0.5,
        why="half", model="j", prompt_hash="p",
    )  # fmt: skip


SCORE = Score(evaluator="rubric", value=0.5, passed=False, why="half")


def test_what_is_recorded_is_read_back(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.record(made.trials[0], answered("ünïcode 🎭"), [SCORE])
    (record, *rest) = journal.records("e", item="i0")

    assert record.trial == made.trials[0]
    assert record.evidence == answered("ünïcode 🎭")
    assert record.scores == (SCORE,)
    assert record.item["prompt"] == "p"
    assert [other.status for other in rest] == ["planned"]


def test_trials_and_scores_are_the_rows_of_the_frames(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.record(made.trials[0], answered(), [SCORE])

    experiment, trials, scores = tables(journal, "e")

    pd.testing.assert_frame_equal(trials, frames.of(journal.trials("e"), frames.TRIALS))
    assert experiment == journal.experiment("e")
    assert len(trials) == 6
    assert trials[frames.STATUS].value_counts().to_dict() == {"planned": 5, "ok": 1}
    assert trials[frames.SECONDS].max() == 2.0
    assert scores[frames.VALUE].tolist() == [0.5]


def test_what_is_read_while_a_run_goes_on_has_the_scores_of_all_its_answers(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)

    def run() -> None:
        with Journal(journal.path) as own:
            for attempt, trial in itertools.product(range(1, 101), made.trials):
                asked = trial.model_copy(update={"attempt": attempt})
                own.record(asked, answered(), [SCORE])

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        read = []
        while not running.done():
            _, trials, scores = tables(journal, "e")
            read.append((int((trials[frames.STATUS] == "ok").sum()), len(scores)))
    running.result()

    assert len(read) > 1
    assert [pair for pair in read if pair[0] != pair[1]] == []


def test_a_name_that_leaves_no_room_for_the_lock_makes_nothing(tmp_path: Path):
    with pytest.raises(JournalError, match="too long"):
        Journal(tmp_path / ("x" * 245 + ".db"))

    assert list(tmp_path.iterdir()) == []


def test_the_latest_attempt_counts_and_every_attempt_is_paid(journal: Journal):
    made = plan()
    first = made.trials[0]
    journal.begin(made, now_ms=1)
    broken = Evidence(status=Status.ERRORED, why="reset", lost_usd=1.0)
    journal.record(first, broken, [])
    assert journal.ended("e") == {first.key: (1, Status.ERRORED)}

    second = first.model_copy(update={"attempt": 2})
    journal.record(second, answered(), [SCORE])

    assert journal.ended("e") == {first.key: (2, Status.OK)}
    assert journal.spent_usd("e") == (0.25, 1.0)
    _, trials, scores = tables(journal, "e")
    pd.testing.assert_frame_equal(trials, frames.of(journal.trials("e"), frames.TRIALS))
    assert len(scores) == 1


def test_the_same_vote_recorded_again_is_paid_once_and_another_try_twice(journal: Journal):
    made = plan()
    first = made.trials[0]
    journal.begin(made, now_ms=1)
    journal.record(first, answered())
    cast = vote(1)
    for again in (cast, cast, vote(1)):
        journal.record_vote(first, again)

    assert journal.spent_usd("e") == (0.25 + 2 * 0.25, 0)


def test_what_is_in_a_batch_counts_at_its_worst_until_it_is_done(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.order("e", Order("http://x", ["d"], "j", 1, "", 2.0, 7.0))
    journal.enqueue([Queued(t, "answer", 1, "m", None, 0.5) for t in made.trials[:3]])
    assert journal.spent_usd("e") == (0, 0)
    batch = journal.submit("e", [(e.id, str(e.id)) for e in journal.entries("e")[:2]], now_ms=1)
    assert journal.spent_usd("e") == (0, 1.0)
    assert {call.trial for call in journal.in_batches("e")} == {t.key for t in made.trials[:2]}
    done, again, waits = journal.entries("e")

    journal.close_entry(done, now_ms=2)
    journal.requeue(again, lost_usd=0.25)
    journal.collected(batch)

    assert journal.spent_usd("e") == (0, 0.25)
    assert journal.batches("e") == []
    assert journal.in_batches("e") == set()
    assert [e.tries for e in journal.entries("e")] == [1, 1, 0]
    journal.forget_waiting("e")
    assert [e.id for e in journal.entries("e")] == [done.id]
    assert journal.spent_usd("e") == (0, 0.25)
    assert waits.batch is None


def test_a_batch_that_was_not_taken_was_no_try(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.order("e", Order("http://x", ["d"], "j", 1, "", 2.0, 7.0))
    journal.enqueue([Queued(made.trials[0], "answer", 1, "m", "p", 0.5)] * 2)
    (waiting,) = journal.entries("e")
    batch = journal.submit("e", [(waiting.id, "a")], now_ms=1)
    journal.withdraw(batch)

    assert journal.entries("e") == [waiting._replace(custom_id="a")]
    assert journal.spent_usd("e") == (0, 0)
    assert journal.with_batches() == ["e"]
    assert journal.ordered("e") == Order("http://x", ("d",), "j", 1, "", 2.0, 7.0)


def test_a_skipped_attempt_is_replaced_by_the_real_one(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.record(made.trials[0], Evidence(status=Status.SKIPPED), [])
    left = planning.left(made.trials, journal.ended("e"))
    assert [trial.attempt for trial in left] == [1] * 6

    journal.record(left[0], answered(), [SCORE])

    assert journal.experiment("e").answered == 1


def test_the_same_plan_again_adds_nothing(journal: Journal):
    journal.begin(plan(), now_ms=1)
    journal.begin(plan(), now_ms=2)

    assert len(journal.trials("e")) == 6
    assert journal.experiment().planned == 6


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (plan(body="edited"), "with another condition"),
        (plan(must_use="y"), "with another item"),
        (plan(backend="demo"), "holds answers of the messages backend, not demo"),
    ],
)
def test_a_name_stands_for_one_plan(journal: Journal, other: Plan, what: str):
    journal.begin(plan(), now_ms=1)

    with pytest.raises(ExperimentError, match=what):
        journal.begin(other, now_ms=2)

    assert len(journal.trials("e")) == 6


def test_an_unknown_experiment_names_the_nearest(journal: Journal):
    journal.begin(plan(), now_ms=1)

    with pytest.raises(ExperimentError, match="no experiment 'ee'") as unknown:
        journal.experiment("ee")

    assert "nearest: e" in unknown.value.fix


def test_what_it_holds_is_for_its_owner_alone(journal: Journal):
    folder = journal.path.parent

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"


def test_files_made_beside_it_are_for_its_owner_alone(journal: Journal):
    journal.begin(plan(), now_ms=1)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in journal.path.parent.iterdir()}
    assert {mode for name, mode in modes.items() if name.startswith("journal")} == {0o600}


def test_a_missing_journal_is_one_clear_error(tmp_path: Path):
    with pytest.raises(JournalError, match="no journal here") as missing:
        Journal(tmp_path / "journal.db", create=False)

    assert missing.value.exit_code == 3


def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "journal.db"
    path.write_text("precious notes " * 100)

    with pytest.raises(JournalError, match="does not work"):
        Journal(path)

    assert path.read_text() == "precious notes " * 100


def test_a_journal_of_a_newer_version_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "journal.db"
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()

    with pytest.raises(JournalError, match="has version") as newer:
        Journal(path)

    assert "update lift" in newer.value.fix


def test_a_damaged_journal_is_one_clear_error(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    for trial in made.trials:
        journal.record(trial, answered("x" * 5000), [SCORE])
    journal.close()
    with sqlite3.connect(journal.path) as db:
        db.execute("UPDATE attempts SET evidence = x'00112233'")
    db.close()

    with Journal(journal.path) as damaged, pytest.raises(JournalError, match="damaged"):
        damaged.records("e")


def test_evidence_without_scores_is_known(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.record(made.trials[0], answered(), [])
    journal.record(made.trials[1], answered(), [SCORE])
    journal.record(made.trials[2], Evidence(status=Status.ERRORED), [])

    assert journal.unscored("e") == [(made.trials[0], answered())]


def test_two_processes_may_write_at_once(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    with Journal(journal.path) as other:
        journal.record(made.trials[0], answered(), [SCORE])
        other.record(made.trials[1], answered(), [SCORE])

    assert journal.experiment("e").answered == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file: Path) -> None:
    with pytest.raises(OSError, match="No space"), file.open("wb", buffering=0) as filler:
        filler.writelines(itertools.repeat(b"x" * 4096))


def record_all(journal: Journal, made: Plan) -> None:
    for trial in made.trials[1:]:
        journal.record(trial, answered("y" * 20_000), [SCORE])


def test_on_a_full_disk_answers_in_flight_are_still_recorded(small_disk: Path):
    made = plan()
    with Journal(small_disk / "journal.db") as journal:
        journal.begin(made, now_ms=1)
        journal.record(made.trials[0], answered(), [SCORE])
        filler: Path = small_disk / "filler"
        fill(filler)

        with pytest.raises(JournalError, match=r"full|No space|I/O") as full:
            record_all(journal, made)

        assert "free some disk space" in full.value.fix
    filler.unlink()
    with Journal(small_disk / "journal.db") as journal:
        assert journal.experiment("e").answered >= 2


def cast_all(journal: Journal, trial: Trial, cast: list[int]) -> None:
    for number in range(1, 500):
        cast.append(number)
        journal.record_vote(trial, vote(number))


def test_on_a_full_disk_votes_in_flight_are_still_recorded(small_disk: Path):
    made = plan()
    trial = made.trials[0]
    with Journal(small_disk / "journal.db") as journal:
        journal.begin(made, now_ms=1)
        journal.record(trial, answered(), [SCORE])
        filler = small_disk / "filler"
        fill(filler)
        with pytest.raises(JournalError, match=r"full|No space|I/O"):
            cast_all(journal, trial, before := [])
    filler.unlink()
    with Journal(small_disk / "journal.db") as journal:
        assert sum(journal.votes_cast("e", model="j", most=99).values()) == len(before)


def test_a_run_that_was_killed_counts_what_it_had_in_flight(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.reserve("e", 0.5)
    assert journal.spent_usd("e") == (0, 0.5)

    journal.take_over("e")
    journal.reserve("e", 0.2)
    assert journal.spent_usd("e") == (0, 0.7)

    journal.record(made.trials[0], answered(), [SCORE])
    journal.settle("e", 0.7)
    assert journal.spent_usd("e") == (0.25, pytest.approx(0.45))

    journal.settle("e", 0.25)
    assert journal.spent_usd("e") == (0.25, 0)


def test_another_programs_database_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(JournalError, match="another program's database"):
        Journal(path)

    assert path.read_bytes() == before


def test_a_journal_that_is_taken_away_is_not_written_any_more(journal: Journal):
    made = plan()
    journal.begin(made, now_ms=1)
    journal.path.rename(journal.path.with_name("moved.db"))

    with pytest.raises(JournalError, match="removed while it was in use"):
        journal.record(made.trials[0], answered(), [SCORE])


def test_a_disk_that_is_full_from_the_start_stops_the_run_before_it_begins(small_disk: Path):
    (small_disk / "filler").write_bytes(b"x" * (2_400 << 10))

    with Journal(small_disk / "journal.db") as journal, pytest.raises(JournalError) as full:
        journal.begin(plan(), now_ms=1)

    assert "free some disk space" in full.value.fix


def test_the_key_tells_every_trial_from_every_other():
    made = plan()
    keys = {trial.key for trial in made.trials}
    keys |= {trial.model_copy(update={"attempt": 2}).key for trial in made.trials}

    assert len(keys) == 2 * len(made.trials)
    assert all(isinstance(trial, Trial) for trial in made.trials)
