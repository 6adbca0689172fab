"""Scores: what is made of a trial's checks and judges, before anything is sent."""

from __future__ import annotations

import pytest
from langfuse_trials import START_MS, answered, known, planned, record, run_of, vote

from lift.journal import Journal
from lift.langfuse import ids, runs, scores, traces
from lift.schema import Score


def test_scores_are_those_of_the_checks_their_mean_and_whether_all_passed(journal: Journal):
    record(journal, planned(1))
    found, facts = journal.records("exp")[0], known(journal)
    bodies = scores.check_scores(found, known=facts)

    rubric, style = (score.value for score in found.scores if score.value is not None)
    values = {body["name"]: (body["value"], body["dataType"]) for body in bodies}
    assert values == {
        "rubric": (rubric, "NUMERIC"),
        "style": (style, "NUMERIC"),
        "score": (pytest.approx((rubric + 0.3 * style) / 1.3), "NUMERIC"),
        "passed": (int(rubric >= 0.5), "BOOLEAN"),
    }


def test_a_score_is_on_the_trials_root_at_the_trials_end(journal: Journal):
    record(journal, planned(1))
    found, facts = journal.records("exp")[0], known(journal)
    trace = ids.of_trial(found.trial)

    for body in scores.check_scores(found, known=facts):
        assert (body["traceId"], body["observationId"]) == (trace.id, trace.root)
        assert body["id"] == ids.score_id(trace, body["name"])
        assert scores.moment(runs.ended(found).ended_ms) == body["timestamp"]


def test_a_judges_score_is_the_mean_of_its_votes_so_far(journal: Journal):
    plan = planned(1)
    record(journal, plan, votes=1)
    facts = known(journal)
    first = scores.judge_score(journal.records("exp")[0], "judge", known=facts)
    for trial in plan.trials:
        journal.record_vote(trial, vote(trial, 2, why="less so"))
    second = scores.judge_score(journal.records("exp")[0], "judge", known=facts)

    assert (first["value"], second["value"]) == (0.8, pytest.approx(0.7))
    assert second["comment"] == "polite enough\n\nless so"
    fixed = ("id", "name", "timestamp", "traceId")
    assert [first[key] for key in fixed] == [second[key] for key in fixed]


@pytest.mark.parametrize(
    ("evaluator", "name"), [("score", "score_check"), ("passed", "passed_check"), ("x", "x")]
)
def test_an_evaluator_may_have_any_name(journal: Journal, evaluator: str, name: str):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        score = Score(evaluator=evaluator, value=0.25, passed=False, why="")
        journal.record(trial, answered(trial), [score])
    bodies = scores.check_scores(journal.records("exp")[0], known=known(journal))

    assert [body["name"] for body in bodies] == [name, "score", "passed"]
    assert len({body["id"] for body in bodies}) == 3
    assert bodies[0]["metadata"]["evaluator"] == evaluator


def test_a_judge_and_a_check_of_one_name_are_two_scores(journal: Journal):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    trial = plan.trials[0]
    journal.record(trial, answered(trial), [Score(evaluator="judge", value=0.25, why="")])
    journal.record_vote(trial, vote(trial))
    found, facts = journal.records("exp")[0], known(journal)

    judge = scores.judge_score(found, "judge", known=facts)
    assert judge["name"] == "judge_judge"
    assert judge["id"] not in {body["id"] for body in scores.check_scores(found, known=facts)}


def test_a_trial_that_nothing_scored_has_no_scores(journal: Journal):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        silent = Score(evaluator="silent", value=None, why="not gathered", weight=2.0)
        journal.record(trial, answered(trial), [silent])
    found, facts = journal.records("exp")[0], known(journal)

    assert scores.check_scores(found, known=facts) == []
    root = traces.answer_spans(found, run=run_of(found, facts), known=facts)[0]
    silent = root.attributes["langfuse.observation.metadata.unscored"]
    assert traces.unscored({"unscored": str(silent)}) == {"silent": 2.0}


def test_scores_are_what_the_sdk_sends(journal: Journal):
    from langfuse.api import CreateScoreRequest

    record(journal, planned(1), votes=1)
    found, facts = journal.records("exp")[0], known(journal)

    names = {
        getattr(field.metadata[0], "alias", name) if field.metadata else name
        for name, field in CreateScoreRequest.model_fields.items()
    }
    for body in scores.check_scores(found, known=facts):
        assert set(body) - names == set()
        assert CreateScoreRequest.model_validate(body).value == body["value"]
