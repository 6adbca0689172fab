"""Pulling: an experiment out of Langfuse compares as the journal's, to the last digit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from langfuse_project import OLD, Fault, Langfuse
from langfuse_trials import (
    START_MS,
    answered,
    chance,
    checks,
    connected,
    dataset,
    errored,
    planned,
    record,
    sent,
)

from lift import frames
from lift.comparing import Comparison, compare
from lift.errors import ExperimentError
from lift.journal import Journal
from lift.langfuse import wire
from lift.langfuse.faults import LangfuseError
from lift.langfuse.pull import Pulled, pulled
from lift.outbox.pulling import opinions
from lift.schema import Trial
from lift.tables import tables

SINCE = datetime.fromtimestamp(START_MS / 1000 - 60, UTC)


def annotate(langfuse: Langfuse, name: str, value: Any, kind: str, **more: Any) -> dict[str, Any]:
    return langfuse.annotate(langfuse.roots()[0], name, value, kind, **more)


def pull(langfuse: Langfuse, experiment: str = "exp", since: datetime = SINCE) -> Pulled:
    with connected(langfuse) as connection:
        return pulled(connection, experiment, since=since)


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    keys = [name for name in (*frames.TRIAL, frames.EVALUATOR) if name in frame]
    return frame.sort_values(keys).reset_index(drop=True)


def compared(trials: list[dict[str, Any]], scores: list[dict[str, Any]]) -> Comparison:
    return compare(frames.of(trials, frames.TRIALS), frames.of(scores, frames.SCORES))


def assert_same(journal: Journal, found: Pulled, experiment: str = "exp") -> None:
    """Rows and comparison are those of the journal."""
    _, trials, scores = tables(journal, experiment)
    for ours, theirs, columns in (
        (trials, found.trials, frames.TRIALS),
        (scores, found.scores, frames.SCORES),
    ):
        pd.testing.assert_frame_equal(
            ordered(ours), ordered(frames.of(theirs, columns)), rtol=1e-12
        )
    ours, theirs = compare(trials, scores), compared(found.trials, found.scores)
    for name in ("deltas", "categories", "judged"):
        pd.testing.assert_frame_equal(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    assert ours.invalid == theirs.invalid


@pytest.mark.parametrize("version", ["4.60.0", OLD])
@pytest.mark.parametrize("parsed", [False, True])
def test_a_whole_experiment_is_the_journals(
    journal: Journal, langfuse: Langfuse, version: str, parsed: bool
):
    langfuse.version, langfuse.reads_metadata_as_json = version, parsed
    plan = planned(12, models=("m1", "m2"), repeats=3)
    record(journal, plan, fails=lambda trial: chance(trial.key, "fails") < 0.02, votes=2)
    sent(journal, langfuse)
    errors = journal.experiment("exp").errored
    assert 0 < errors < 7

    found = pull(langfuse)

    assert_same(journal, found)
    ours = journal.experiment("exp")
    assert found.experiment == ours._replace(
        cost_usd=pytest.approx(ours.cost_usd), lost_usd=pytest.approx(ours.lost_usd)
    )
    assert len(compared(found.trials, found.scores).judged)


def half(trial: Trial) -> bool:
    return chance(trial.key, "asked") < 0.5


def first_repeat(trial: Trial) -> bool:
    return trial.repeat == 1


def with_skill(trial: Trial) -> bool:
    return trial.condition == "with_skill"


def first_dataset(trial: Trial) -> bool:
    return trial.dataset == "greetings"


@pytest.mark.parametrize("asked", [half, first_repeat, with_skill, first_dataset])
def test_what_is_planned_and_not_answered_counts_as_in_the_journal(
    journal: Journal, langfuse: Langfuse, asked: Callable[[Trial], bool]
):
    two = [dataset(5), dataset(4, name="farewells")]
    plan = planned(datasets=two, models=("m1", "m2"), repeats=2)
    record(journal, plan, asked=asked)
    sent(journal, langfuse)

    found = pull(langfuse)

    _, trials, scores = tables(journal, "exp")
    ours = compare(trials, scores)
    theirs = compared(found.trials, found.scores)
    pd.testing.assert_frame_equal(ours.categories, theirs.categories, rtol=1e-9)
    assert ours.invalid == theirs.invalid != ""
    assert found.experiment.planned == journal.experiment("exp").planned


def test_trials_that_other_runs_name_are_named(journal: Journal, langfuse: Langfuse):
    record(journal, planned(6, repeats=2), asked=first_repeat)
    sent(journal, langfuse)

    assert_same(journal, pull(langfuse))


def test_a_plan_that_grew_is_the_one_that_counts(journal: Journal, langfuse: Langfuse):
    record(journal, planned(3))
    sent(journal, langfuse)
    record(journal, planned(9), asked=lambda trial: trial.item != "greet-8")
    sent(journal, langfuse)

    assert pull(langfuse).experiment.planned == 18


def test_the_latest_attempt_counts_and_every_attempt_is_paid(journal: Journal, langfuse: Langfuse):
    plan = planned(3)
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        broken = errored(trial).model_copy(update={"cost_usd": 0.25, "lost_usd": 0.5})
        journal.record(trial, broken, [])
    sent(journal, langfuse)
    for trial in plan.trials:
        second = trial.model_copy(update={"attempt": 2})
        journal.record(second, answered(second), checks(second))
    sent(journal, langfuse)

    found = pull(langfuse)

    assert_same(journal, found)
    assert {row["attempt"] for row in found.trials} == {2}
    assert found.experiment.cost_usd == pytest.approx(journal.experiment("exp").cost_usd)
    assert found.experiment.lost_usd == pytest.approx(3.0)


def test_an_attempt_that_was_never_sent_is_paid_too(journal: Journal, langfuse: Langfuse):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        journal.record(trial, errored(trial).model_copy(update={"cost_usd": 0.25}), [])
        second = trial.model_copy(update={"attempt": 2})
        journal.record(second, answered(second), checks(second))
    sent(journal, langfuse)

    assert_same(journal, pull(langfuse))


def test_names_may_look_like_numbers(journal: Journal, langfuse: Langfuse):
    langfuse.reads_metadata_as_json = True
    odd = dataset(2, name="1.10")
    items = [
        item.model_copy(update={"id": id, "category": category})
        for item, id, category in zip(odd.items, ("1e5", "007"), ("true", "null"), strict=True)
    ]
    odd = odd.model_copy(update={"items": items})
    plan = planned(datasets=[odd], models=("2.0", "org/m@1"), experiment="2026")
    record(journal, plan, votes=1)
    sent(journal, langfuse, "2026")

    assert_same(journal, pull(langfuse, "2026"), "2026")


def test_other_experiments_and_other_scores_are_left_out(journal: Journal, langfuse: Langfuse):
    for name in ("exp", "exp2", "exp/greetings", "ex"):
        record(journal, planned(2, experiment=name))
        sent(journal, langfuse, name)
    (score, *_) = langfuse.scores.values()
    langfuse.scores["human"] = {**score, "id": "human", "name": "human", "metadata": {}}

    assert_same(journal, pull(langfuse))
    assert_same(journal, pull(langfuse, "exp/greetings"), "exp/greetings")


def test_an_experiment_that_is_not_there_is_one_clear_error(journal: Journal, langfuse: Langfuse):
    record(journal, planned(1))
    sent(journal, langfuse)

    with pytest.raises(ExperimentError, match="no experiment 'nope' in Langfuse") as raised:
        pull(langfuse, "nope")

    assert "--since" in raised.value.fix
    with pytest.raises(ExperimentError, match="no experiment 'exp' in Langfuse"):
        pull(langfuse, since=datetime(2030, 1, 1, tzinfo=UTC))


def test_a_trace_that_does_not_say_what_it_is_of_is_an_error(journal: Journal, langfuse: Langfuse):
    record(journal, planned(1))
    sent(journal, langfuse)
    key = "langfuse.observation.metadata.status"
    for span in langfuse.spans:
        span["attributes"].pop(key, None)
    langfuse.scores.clear()

    with pytest.raises(LangfuseError, match="a trace does not say which trial it is of"):
        pull(langfuse)


def test_scores_that_are_not_there_yet_are_never_left_out_in_silence(
    journal: Journal, langfuse: Langfuse
):
    record(journal, planned(2))
    sent(journal, langfuse)
    late = [id for id, score in langfuse.scores.items() if score["name"] == "style"]
    del langfuse.scores[late[0]]

    with pytest.raises(LangfuseError, match="not have the scores of 1 trials") as raised:
        pull(langfuse)

    assert "lift push" in raised.value.fix


@pytest.mark.parametrize("path", ["experiments", "experiment-items", "v3/scores"])
def test_a_server_that_fails_is_one_clear_error(journal: Journal, langfuse: Langfuse, path: str):
    record(journal, planned(1))
    sent(journal, langfuse)
    langfuse.faults = [Fault(f"/api/public/{path}", status=500)]

    with pytest.raises(LangfuseError, match="failed with status 500"):
        pull(langfuse)


def test_machines_that_share_an_experiment_meet_in_it(langfuse: Langfuse, tmp_path: Path):
    whole = planned(5)
    for number, category in enumerate(("short", "long")):
        theirs = tuple(trial for trial in whole.trials if trial.category == category)
        with Journal(tmp_path / f"{number}.db") as journal:
            record(journal, replace(whole, trials=theirs), asked=lambda t: t.item != "greet-3")
            sent(journal, langfuse)

    found = pull(langfuse)

    states = Counter((row[frames.ITEM], row[frames.STATUS]) for row in found.trials)
    assert states == {("?1", "planned"): 2} | {(f"greet-{n}", "ok"): 2 for n in (0, 1, 2, 4)}
    assert (found.experiment.planned, found.experiment.answered) == (10, 8)


def test_scores_alone_tell_a_trial(journal: Journal, langfuse: Langfuse):
    record(journal, planned(2), fails=lambda trial: trial.item == "greet-1")
    sent(journal, langfuse)
    for span in langfuse.spans:
        span["attributes"].pop("langfuse.observation.metadata.status", None)

    found = pull(langfuse)

    pd.testing.assert_frame_equal(
        ordered(frames.of(journal.trials("exp"), frames.TRIALS)),
        ordered(frames.of(found.trials, frames.TRIALS)),
    )


def test_what_people_annotated_is_in_a_frame_of_its_own(journal: Journal, langfuse: Langfuse):
    record(journal, planned(2), votes=1)
    sent(journal, langfuse)
    annotate(langfuse, "human_passed", 1, "BOOLEAN", comment="well said")
    annotate(langfuse, "human_rubric", 0.25, "NUMERIC")
    annotate(langfuse, "human_verdict", "right", "CATEGORICAL", authorUserId="user-2")
    annotate(langfuse, "a bot's", 1, "NUMERIC", source="EVAL")

    found = pull(langfuse)

    assert_same(journal, found)
    frame = frames.of(found.annotations, frames.ANNOTATIONS)
    shown = frame[[frames.NAME, frames.VALUE, frames.LABEL, frames.AUTHOR, frames.COMMENT]]
    assert shown.fillna(-1).values.tolist() == [
        ["human_passed", 1.0, "", "user-1", "well said"],
        ["human_rubric", 0.25, "", "user-1", ""],
        ["human_verdict", -1, "right", "user-2", ""],
    ]
    side = frame[frames.CONDITION][0]
    assert opinions(frame) == [
        f"people say human_passed: {side} 1.00 (n = 1)",
        f"people say human_rubric: {side} 0.25 (n = 1)",
        f"people say human_verdict: {side} 1 right (n = 1)",
    ]


def test_what_people_annotated_is_in_the_order_of_their_times(journal: Journal, langfuse: Langfuse):
    record(journal, planned(1))
    sent(journal, langfuse)
    for day, author in ((3, "a"), (1, "c"), (2, "b")):
        annotate(langfuse, "human_passed", day % 2, "BOOLEAN", authorUserId=author,
                 timestamp=f"2029-01-0{day}T00:00:00Z")  # fmt: skip

    assert [row[frames.AUTHOR] for row in pull(langfuse).annotations] == ["c", "b", "a"]


def test_what_people_made_of_an_earlier_attempt_does_not_count(
    journal: Journal, langfuse: Langfuse
):
    plan = planned(1)
    record(journal, plan, fails=lambda _trial: True)
    sent(journal, langfuse)
    annotate(langfuse, "human_passed", 0, "BOOLEAN")
    for trial in plan.trials:
        second = trial.model_copy(update={"attempt": 2})
        journal.record(second, answered(second), checks(second))
    sent(journal, langfuse)

    assert pull(langfuse).annotations == []


@pytest.mark.parametrize("version", ["4.60.0", OLD])
def test_old_trials_come_back_as_they_were(journal: Journal, langfuse: Langfuse, version: str):
    langfuse.version = version
    plan = planned(6, repeats=2)
    journal.begin(plan, now_ms=START_MS)
    weeks_ms = 60 * 24 * 3600 * 1000
    for trial in plan.trials:
        evidence = answered(trial, at_ms=-int(chance(trial.key, "age") * weeks_ms))
        journal.record(trial, evidence, checks(trial))
    found = sent(journal, langfuse)
    since = datetime.fromtimestamp((START_MS - weeks_ms) / 1000 - 60, UTC)

    assert all("own time" not in notice for notice in found.notices)
    assert_same(journal, pull(langfuse, since=since))
    ended = {wire.moment(r.evidence.ended_ms) for r in journal.records("exp") if r.evidence}
    assert {score["timestamp"] for score in langfuse.scores.values()} == ended
    began = {r.evidence.started_ms for r in journal.records("exp") if r.evidence}
    assert {root["start_ns"] // 10**6 for root in langfuse.roots()} == began


def test_many_trials_come_back_page_by_page(journal: Journal, langfuse: Langfuse):
    record(journal, planned(130))
    sent(journal, langfuse)
    before = len(langfuse.asked)

    assert_same(journal, pull(langfuse))
    pages = [a.path for a in langfuse.asked[before:]]
    assert pages.count("/api/public/experiment-items") == 3
    assert pages.count("/api/public/v3/scores") > 6


@pytest.mark.parametrize("shown", [True, False])
def test_what_was_given_before_is_known_to_be(journal: Journal, langfuse: Langfuse, shown: bool):
    plan = planned(4)
    journal.begin(plan, now_ms=START_MS)
    for number, trial in enumerate(plan.trials):
        before = {"cached": True, "kept_ms": START_MS - number, "kept_usd": 0.5, "cost_usd": 0.0}
        kept = before if trial.condition == "without_skill" else {}
        journal.record(trial, answered(trial, **kept), checks(trial))
    sent(journal, langfuse)
    for span in langfuse.spans if not shown else ():  # the trials' own scores tell it too
        attributes = span["attributes"]
        for name in [one for one in attributes if one.startswith("langfuse.observation.metadata")]:
            del attributes[name]

    found, ours = pull(langfuse).experiment, journal.experiment("exp")

    ours_rows, theirs = journal.trials("exp"), pull(langfuse).trials
    pd.testing.assert_frame_equal(
        ordered(frames.of(ours_rows, frames.TRIALS)), ordered(frames.of(theirs, frames.TRIALS))
    )
    assert found.cost_usd == pytest.approx(ours.cost_usd)
    assert found.reused == ours.reused != ()
    assert (found.cache_writes, found.cache_reads) == (ours.cache_writes, ours.cache_reads)
    assert found.cache_writes == 4


def test_an_experiment_of_many_trials_is_the_journals(journal: Journal, langfuse: Langfuse):
    plan = planned(40, models=("m1", "m2"), repeats=3)
    record(journal, plan, fails=lambda trial: chance(trial.key, "fails") < 0.03)
    sent(journal, langfuse)
    assert journal.experiment("exp").errored > 5

    assert_same(journal, pull(langfuse))
