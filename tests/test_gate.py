"""The gate: what is accepted, what is not and why, and what is written down either way."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from servers import Says

from lift.errors import BaselineError, ResultError, UsageError
from lift.gate import Baseline, Best, Candidate, raised, rule
from lift.gating import gate
from lift.settings import read
from lift.verdict import Claim, Verdict

MODEL = "claude-sonnet-5-5"


def asking(score: float = 0.8, without: float | None = 0.5, **more: Any) -> Candidate:
    claim = Claim(
        model=MODEL, verdict=more.pop("verdict", Verdict.HELPS), scope=None, delta=None, low=None,
        high=None, p=more.pop("p", 0.01), items=9, repeats=3, moved=9, says="s", then="t",
    )  # fmt: skip
    partial, canned = more.pop("partial", False), more.pop("canned", False)
    best = Best(score=score, without=without, dataset_hash="d", evaluator_hash="e", **more)
    return Candidate(model=MODEL, claim=claim, best=best, partial=partial, canned=canned)


def known(score: float = 0.7, **more: Any) -> Baseline:
    best = Best(score=score, **({"dataset_hash": "d", "evaluator_hash": "e"} | more))
    return Baseline(item="s", best={MODEL: best})


@pytest.mark.parametrize(
    ("candidate", "baseline", "reasons"),
    [
        (asking(), Baseline(item="s"), []),
        (asking(0.5), Baseline(item="s"), ["not higher than without the skill"]),
        (asking(0.8), known(0.7), []),
        (asking(0.7), known(0.7), ["not higher than the best"]),
        (asking(0.6), known(0.7), ["not higher than the best"]),
        (asking(0.8, 0.9), known(0.7), ["not higher than without the skill"]),
        (asking(0.6, 0.9), known(0.7), ["the best", "without the skill"]),
        (asking(partial=True), known(), ["partial"]),
        (asking(verdict=Verdict.INVALID), known(), ["invalid"]),
        (asking(canned=True), known(), ["canned demo replies prove nothing"]),
        (asking(trigger_rate=0.7), known(trigger_rate=0.8), ["trigger rate fell"]),
        (asking(trigger_rate=0.8), known(trigger_rate=0.8), []),
        (asking(), known(trigger_rate=0.8), []),
        (asking(), known(dataset_hash="other"), ["another dataset: ask what"]),
        (asking(), known(evaluator_hash="other"), ["another evaluator: ask what"]),
    ],
)
def test_every_condition_that_does_not_hold_is_named(candidate, baseline, reasons):
    ruling = rule(candidate, baseline)

    assert ruling.accepted is not bool(reasons)
    assert len(ruling.reasons) == len(reasons)
    assert [r for r, given in zip(reasons, ruling.reasons, strict=True) if r not in given] == []


def test_confident_wants_a_small_p_too():
    assert rule(asking(p=0.2), known()).accepted
    assert not rule(asking(p=0.2), known(), confident=True).accepted


@pytest.mark.parametrize(("p", "says"), [(0.2, "p = 0.200"), (None, "no test"), (0.05, "")])
def test_where_means_alone_decide_it_is_said_that_it_may_be_chance(p: float | None, says: str):
    notes = [one for one in rule(asking(p=p), known()).notes if "it may be chance" in one]

    assert [says in one for one in notes] == [True] * bool(says)
    assert not any("chance" in one for one in rule(asking(p=p), known(), confident=True).notes)


def test_rebase_replaces_a_record_of_other_items():
    ruling = rule(asking(0.6), known(0.9, dataset_hash="other"), rebase=True)

    assert ruling.accepted
    assert ruling.before == 0.9
    assert "not held against the record, 0.9000" in ruling.notes[0]


def test_another_models_record_is_left_alone():
    other = Baseline(item="s", best={"m": Best(score=0.99)})

    assert rule(asking(), other).accepted
    assert set(raised(other, asking()).best) == {"m", MODEL}


@pytest.fixture
def pages(project) -> Path:
    folder = project.root / "docs"
    folder.mkdir()
    (folder / "testing.md").write_text("x")
    return folder


def run(project, serve, right: int, *args: str) -> None:
    """Run it so that so many of the ten items are right with the skill, and none without."""

    def script(body, _attempt):
        number = int(body["messages"][0]["content"].split()[-1].strip("."))
        taught = len(body["system"]) == 2
        return Says("hello()" if taught and number < right else "hm")

    serve(script)
    done = project.lift("--full", "--repeats", "3", "--json", *args)
    assert done.returncode == 0, done.stderr


def baseline(project) -> dict[str, Any]:
    return json.loads((project.root / "datasets" / "baselines" / "greet.json").read_text())


def test_records_go_up_and_the_ledger_shows_every_attempt(project, serve, pages):
    record = ("gate", "--record", "--pr", "12", "--pages", "testing")
    run(project, serve, 6)
    assert project.lift(*record).returncode == 0
    assert baseline(project)["schema"] == "skill-eval-baseline/1"
    first = baseline(project)["best"][MODEL]["score"]
    run(project, serve, 6, "--again")
    equal = project.lift(*record)
    assert equal.returncode == 1
    assert "not higher than the best" in equal.stdout
    run(project, serve, 9, "--again")
    assert project.lift(*record, "--json").returncode == 0

    assert baseline(project)["best"][MODEL]["score"] > first
    ledger = (project.root / "datasets" / "baselines" / "ledger.md").read_text()
    rows = [line for line in ledger.splitlines() if "| greet |" in line]
    assert ["accepted" in row for row in rows] == [True, False, True]
    assert all("| 12 | testing |" in row for row in rows)


def test_an_edited_dataset_is_told_from_the_one_that_was_recorded(project, serve, pages):
    record = ("gate", "--record", "--pr", "12", "--pages", "testing")
    run(project, serve, 6)
    assert project.lift(*record).returncode == 0
    path = project.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace("Greet person", "Please greet person"), "utf-8")
    run(project, serve, 9)

    edited = project.lift("gate")

    assert edited.returncode == 1
    assert "recorded with another dataset: ask what" in edited.stdout
    path.write_text(path.read_text().replace('["hello("]', '["hello(", "()"]'), "utf-8")
    run(project, serve, 9)
    assert "another dataset and evaluator" in project.lift("gate").stdout


def test_a_result_with_reused_answers_says_so(project, serve):
    run(project, serve, 6)
    project.skill.write_text(project.skill.read_text() + "Be kind.\n", "utf-8")
    project.lift("--full", "--repeats", "3", "--out", "result.json")

    says = "30 answers of the experiment came from earlier runs; --no-cache asks for new ones"
    assert says in project.lift("gate").stdout
    assert says in project.lift("gate", "greet", "result.json").stdout


def test_without_record_nothing_is_written(project, serve):
    run(project, serve, 6)

    assert project.lift("gate").returncode == 0
    assert not (project.root / "datasets" / "baselines").exists()


def test_a_result_file_is_ruled_on_without_the_journal(project, serve):
    run(project, serve, 6, "--out", "result.json")
    (project.root / ".lift" / "journal.db").unlink()

    assert project.lift("gate", "greet", "result.json").returncode == 0


BEST = {"score": 0.9, "without": 0.5}
CLAIM = json.loads(asking().claim.model_dump_json())
CANDIDATE = {"model": MODEL, "best": BEST, "claim": CLAIM}
REAL = {"canned": False, "skill": "greet"}


def ruled(folder: Path, item: str) -> dict[str, Any]:
    """What the gate says of the result in a folder."""
    file = folder / "result.json"
    return gate(read(folder, {}, {}), item, file, recording=None, confident=False, rebase=False)


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ([], "not a result"),
        ({}, "'experiment' is missing"),
        ({"experiment": {}, "candidates": [CANDIDATE]}, "'canned' is missing"),
        ({"experiment": {"canned": False}, "candidates": []}, "'skill' is missing"),
        ({"experiment": REAL}, "'candidates' is missing"),
        ({"experiment": REAL, "candidates": []}, "nothing to rule on"),
        ({"experiment": REAL, "candidates": None}, "not a result"),
        ({"experiment": REAL, "candidates": [{}]}, "model: Field required"),
        ({"experiment": REAL, "candidates": [CANDIDATE | {"best": {}}]}, "best.score"),
        ({"experiment": REAL, "candidates": [CANDIDATE | {"claim": {}}]}, "claim."),
        *(
            (
                {"experiment": REAL, "candidates": [CANDIDATE | {"best": BEST | {field: value}}]},
                f"best.{field}: Input should be",
            )
            for field in ("score", "without", "trigger_rate")
            for value in (float("nan"), float("inf"), -0.1, 1.1, "x")
        ),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path, result, says):
    (tmp_path / "result.json").write_text(json.dumps(result))

    with pytest.raises(ResultError, match=re.escape(says)) as refused:
        ruled(tmp_path, "greet")

    assert refused.value.exit_code == 2


@pytest.mark.parametrize("text", ["", "[" * 100_000, "\xff", "{"])
def test_a_file_that_is_no_json_is_refused(tmp_path, text):
    (tmp_path / "result.json").write_bytes(text.encode("latin-1"))

    with pytest.raises(ResultError, match="not a result"):
        ruled(tmp_path, "greet")


def test_a_refused_file_is_one_clear_message(project):
    (project.root / "result.json").write_text('{"candidates": []}')

    done = project.lift("gate", "greet", "result.json")

    assert done.returncode == 2
    assert "not a result" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("item", ["../greet", "a/b", "..", ".hidden", "", "a b", "x" * 65, "a\nb"])
def test_an_item_that_is_no_name_is_refused(tmp_path, item):
    content = {"experiment": REAL, "candidates": [CANDIDATE]}
    (tmp_path / "result.json").write_text(json.dumps(content))

    with pytest.raises(UsageError, match="names no baseline") as refused:
        ruled(tmp_path, item)

    assert refused.value.exit_code == 2


def test_a_result_of_another_skill_is_refused(tmp_path):
    content = {"experiment": REAL, "candidates": [CANDIDATE]}
    (tmp_path / "result.json").write_text(json.dumps(content))

    with pytest.raises(UsageError, match="of 'greet', not of 'typo'") as refused:
        ruled(tmp_path, "typo")

    assert refused.value.exit_code == 2


def test_a_baseline_that_is_a_link_out_of_the_folder_is_refused(project, serve, pages):
    run(project, serve, 6)
    folder = project.root / "datasets" / "baselines"
    folder.mkdir()
    elsewhere = project.root / "elsewhere.json"
    elsewhere.write_text('{"schema": "skill-eval-baseline/1", "item": "greet", "best": {}}')
    (folder / "greet.json").symlink_to(elsewhere)
    before = elsewhere.read_text()

    done = project.lift("gate", "--record", "--pr", "1", "--pages", "testing")

    assert done.returncode == 2
    assert "names no baseline" in done.stderr
    assert elsewhere.read_text() == before


def test_a_page_outside_the_folder_of_pages_is_none(project, serve, pages):
    run(project, serve, 6)

    done = project.lift("gate", "--record", "--pr", "1", "--pages", "../skills/greet/SKILL")

    assert done.returncode == 2
    assert "there is no page" in done.stderr


def test_canned_replies_are_never_accepted(project, pages):
    demo = project.root / "datasets" / "demo"
    demo.mkdir()
    replies = {"with_skill": ["hello()"], "without_skill": ["hm"]}
    canned = {f"greet-{number}": replies for number in range(10)}
    (demo / "greetings.yaml").write_text(json.dumps(canned))
    done = project.lift("--full", "--repeats", "3", "--out", "result.json")
    assert done.returncode == 0, done.stderr

    record = ("--record", "--pr", "1", "--pages", "testing")
    for args in (record, ("greet", "result.json", *record)):
        refused = project.lift("gate", *args)
        assert refused.returncode == 1, refused.stderr
        assert "canned demo replies prove nothing" in refused.stdout
    assert not (project.root / "datasets" / "baselines" / "greet.json").exists()


def test_a_run_without_a_score_is_nothing_to_rule_on(project, serve):
    serve()
    text = (project.root / "datasets" / "greetings.py").read_text()
    odd = "class Bad(Rubric):\n    def score(self, evidence):\n        raise RuntimeError\n\n"
    text = text.replace("DATASET", f"{odd}DATASET", 1).replace("rubric=Rubric(", "rubric=Bad(")
    project.dataset(text)
    project.lift("--quick", "--out", "result.json")

    for args, code in (((), 3), (("greet", "result.json"), 2)):
        done = project.lift("gate", *args)
        assert done.returncode == code, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--record",), "needs --pr and --pages"),
        (("--record", "--pr", "1", "--pages", "nope"), "there is no page 'nope'"),
    ],
)
def test_recording_needs_what_it_names(project, serve, pages, args, says):
    run(project, serve, 6)

    done = project.lift("gate", *args)

    assert done.returncode == 2
    assert says in done.stderr


def test_two_repeats_are_too_few_to_record_unless_that_is_allowed(project, serve, pages):
    serve(lambda body, _attempt: Says("hello()" if len(body["system"]) == 2 else "hm"))
    project.lift("--quick")
    record = ("gate", "--record", "--pr", "1", "--pages", "testing")
    assert project.lift(*record).returncode == 2

    assert project.lift(*record, "--allow-noisy").returncode == 0
    assert "noisy" in (project.root / "datasets" / "baselines" / "ledger.md").read_text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not readable JSON"),
        ('{"schema": "skill-eval-baseline/2", "item": "s"}', "schema is 'skill-eval-baseline/2'"),
        ("[]", "schema is None"),
        ('{"schema": "skill-eval-baseline/1", "item": "other", "best": {}}', "about 'other'"),
        ('{"schema": "skill-eval-baseline/1", "item": "s", "best": {"m": {"score": 2}}}', "score"),
    ],
)
def test_a_bad_baseline_is_one_clear_error_and_left_as_it_is(tmp_path, text, says):
    from lift.baselines import read

    path = tmp_path / "s.json"
    path.write_text(text)

    with pytest.raises(BaselineError) as bad:
        read(path, "s")

    assert says in bad.value.what
    assert path.read_text() == text


def test_a_record_without_a_trigger_rate_reads_as_none(tmp_path):
    from lift.baselines import read

    text = {"schema": "skill-eval-baseline/1", "item": "s", "best": {"m": {"score": 0.5, "x": 1}}}
    (tmp_path / "s.json").write_text(json.dumps(text))

    assert read(tmp_path / "s.json", "s").best["m"].trigger_rate is None
