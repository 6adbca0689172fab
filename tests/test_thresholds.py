"""What a result must reach: how it is written, and what is said where it does not hold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from conftest import greets
from servers import Says

from lift.errors import SettingError
from lift.thresholds import Measured, Metric, Threshold, missed, parse


@pytest.mark.parametrize(
    ("text", "metric", "number", "of_base", "relative"),
    [
        ("rubric<0.8", Metric.RUBRIC, 0.8, False, False),
        (" Judge < .75 ", Metric.JUDGE, 0.75, False, False),
        ("rubric<-0.10", Metric.RUBRIC, -0.1, True, False),
        ("rubric<+0.1", Metric.RUBRIC, 0.1, True, False),
        ("rubric<-10%", Metric.RUBRIC, -0.1, True, True),
        ("cost>+50%", Metric.COST, 0.5, True, True),
        ("cost>0.05", Metric.COST, 0.05, False, False),
        ("latency>+2.5", Metric.LATENCY, 2.5, True, False),
        ("latency>30", Metric.LATENCY, 30, False, False),
        ("F1<0.85", Metric.F1, 0.85, False, False),
    ],
)
def test_a_threshold_is_a_value_or_a_change(
    text: str, metric: Metric, number: float, of_base: bool, relative: bool
):
    found = parse(text)

    assert found == Threshold(metric, pytest.approx(number), of_base, relative)
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a threshold"),
        ("rubric", "is not a threshold"),
        ("rubric<", "is not a threshold"),
        ("rubric<high", "is not a threshold"),
        ("rubric<nan", "is not a threshold"),
        ("rubric=0.8", "is not a threshold"),
        ("rubric<0.8 judge<0.5", "is not a threshold"),
        ("score<0.8", "unknown metric 'score'"),
        ("rubric>0.8", "would fail where rubric is good"),
        ("cost<0.1", "would fail where cost is good"),
        ("rubric<10%", "without a sign"),
        ("f1<-0.1", "has no base"),
        ("rubric<80", "rubric is 0 to 1"),
        ("judge<-5", "judge is 0 to 1"),
    ],
)
def test_a_malformed_threshold_is_refused_by_name(text: str, why: str):
    with pytest.raises(SettingError, match=why) as refused:
        parse(text)

    assert repr(text) in refused.value.what
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "base", "other", "says"),
    [
        ("rubric<0.8", 0.5, 0.72, "rubric is 0.72, wanted at least 0.8"),
        ("rubric<0.8", 0.5, 0.8 - 1e-12, ""),
        ("rubric<-0.1", 0.8, 0.65, "rubric is 0.65, wanted at least 0.7 (rubric<-0.1, base 0.8)"),
        ("rubric<-0.1", 0.8, 0.7, ""),
        ("rubric<-10%", 0.5, 0.44, "rubric is 0.44, wanted at least 0.45 (rubric<-10%, base 0.5)"),
        ("rubric<-10%", 0.5, 0.45, ""),
        ("rubric<+0.1", 0.5, 0.55, "rubric is 0.55, wanted at least 0.6 (rubric<+0.1, base 0.5)"),
        ("cost>0.01", 1.0, 0.02, "cost is $0.02, wanted at most $0.01"),
        ("cost>+50%", 0.02, 0.04, "cost is $0.04, wanted at most $0.03 (cost>+50%, base $0.02)"),
        ("cost>+50%", 0.02, 0.03, ""),
        ("latency>+2", 5, 8, "latency is 8 s, wanted at most 7 s (latency>+2, base 5 s)"),
        ("judge<0.5", math.nan, math.nan, "judge was not measured, judge<0.5 was asked for"),
        ("judge<0.5", math.nan, 0.6, ""),
        ("cost>+50%", math.nan, 0.6, "cost was not measured, cost>+50% was asked for"),
    ],
)
def test_what_does_not_hold_is_named_with_both_values(
    text: str, base: float, other: float, says: str
):
    threshold = parse(text)

    found = missed([threshold], {threshold.metric: Measured(base, other)})

    assert found == ([says] if says else [])


def slow_with_skill(body: dict, attempt: int) -> Says:
    said = greets(body, attempt)
    return replace(said, output_tokens=900 if "hello" in said.text else 100)


def test_a_run_and_a_comparison_fail_on_what_does_not_hold(project, serve):
    serve(slow_with_skill)

    ran = project.lift("--full", "--fail-on", "rubric<0.5", "--fail-on", "cost>+50%")
    again = project.lift("compare", "--fail-on", "rubric<0.5", "--fail-on", "latency>600")
    judged = project.lift("compare", "--fail-on", "judge<0.5", "--fail-on", "cost>0.0001")

    assert (ran.returncode, again.returncode, judged.returncode) == (1, 0, 1)
    assert "HELPS" in ran.stdout
    assert "Error: cost is $" in ran.stderr
    assert "wanted at most $" in ran.stderr
    assert "judge was not measured, judge<0.5 was asked for; cost is $" in judged.stderr


def test_thresholds_of_the_project_hold_until_the_command_line_has_its_own(project, serve):
    serve(greets)
    (project.root / "pyproject.toml").write_text(
        '[tool.lift.thresholds]\nrubric = 1.0\ncost = ["+1%", 5]\nf1 = 0.9\n', "utf-8"
    )
    project.lift("--full")

    held = project.lift("compare")
    fails = project.lift("compare", "--base", "with_skill", "--other", "without_skill")
    other = project.lift(
        "compare", "--base", "with_skill", "--other", "without_skill", "--fail-on", "rubric<0"
    )

    assert held.returncode == other.returncode == 0, held.stderr + other.stderr
    assert fails.returncode == 1
    assert "rubric is 0, wanted at least 1" in fails.stderr


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ('rubric = "10%"', "'rubric<10%'"),
        ("rubric = true", "'rubric<True'"),
        ("score = 0.5", "'score<0.5'"),
        ('cost = ["+10%", "much"]', "'cost>much'"),
        ("rubric = 80", "'rubric<80'"),
    ],
)
def test_a_malformed_table_is_refused_before_anything_is_asked(project, serve, table, named):
    model = serve(greets)
    (project.root / "pyproject.toml").write_text(f"[tool.lift.thresholds]\n{table}\n", "utf-8")

    done = project.lift("--full")

    assert done.returncode == 2
    assert named in done.stderr
    assert "[tool.lift.thresholds]" in done.stderr
    assert not model.calls


def test_a_threshold_in_the_environment_is_a_text(project, serve):
    serve(greets)
    project.variables["LIFT_THRESHOLDS"] = "rubric<0.9, judge<0.5"

    done = project.lift("--full")

    assert done.returncode == 1
    assert "judge was not measured" in done.stderr
    assert "rubric" not in done.stderr.split("Error:")[1]


@pytest.mark.parametrize(
    ("command", "text", "by"),
    [("compare", "f1<0.8", "lift activation"), ("activation", "rubric<0.8", "lift compare")],
)
def test_what_a_command_does_not_measure_is_refused(project, command: str, text: str, by: str):
    done = project.lift(command, "--fail-on", text)

    assert done.returncode == 2
    assert repr(text) in done.stderr
    assert by in done.stderr
