"""A judge held against people's labels: from a file, to kappa, to what a comparison says."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Project, greets
from langfuse_project import Langfuse
from servers import Says

from lift.agreement import Judgement, TrialId, agreements
from lift.errors import LabelError
from lift.labels import of_annotations, read

MODULE = '''"""Greetings that are judged."""

from lift import Dataset, Item, Rubric

DATASET = Dataset(
    name="greetings",
    skill="greet",
    judge=True,
    items=[
        Item(
            id=f"greet-{number}",
            category="c",
            prompt=f"Greet person {number}.",
            rubric=Rubric(must_use=["hello("]),
            judge_criteria=f"It greets person {number}.",
        )
        for number in range(4)
    ],
)
'''


def trial(item: str, repeat: int = 1, condition: str = "with_skill") -> TrialId:
    return TrialId("d", item, condition, "m", repeat)


def judgement(item: str, value: float, prompt: str = "p") -> Judgement:
    return Judgement(trial(item), "judge", "j", prompt, value)


def test_a_judge_and_people_are_counted_by_what_either_passes():
    people = {trial("a"): True, trial("b"): True, trial("c"): False, trial("d"): False}
    values = {"a": 1.0, "b": 0.6, "c": 0.8, "d": 0.2, "unlabelled": 1.0}

    (found,) = agreements(
        people, [judgement(i, v, f"of {i}") for i, v in values.items()], experiment="e"
    )

    one = found.agreement
    assert (one.both_pass, one.only_people, one.only_judge, one.both_fail) == (1, 1, 1, 1)
    assert (one.n, one.items, one.judge_passes, one.people_pass) == (4, 4, 0.5, 0.5)
    assert one.kappa == pytest.approx(0)
    assert one.is_weak
    assert found.prompt_hashes == {"of a", "of b", "of c", "of d"}


def test_perfect_agreement_is_one_and_its_interval_has_a_width():
    people = {trial(f"i{n}"): n % 2 == 0 for n in range(10)}
    said = [judgement(f"i{n}", 1.0 if n % 2 == 0 else 0.0) for n in range(10)]

    (found,) = agreements(people, said, experiment="e")

    assert found.agreement.kappa == 1
    assert found.agreement.low is not None
    assert found.agreement.low < 0.5
    assert not found.agreement.is_weak


def test_one_label_throughout_gives_no_kappa():
    (found,) = agreements({trial("a"): True}, [judgement("a", 1.0)], experiment="e")

    assert found.agreement.kappa is None
    assert found.agreement.is_weak


def test_each_judge_is_held_against_the_labels_for_itself():
    said = [judgement("a", 1.0), judgement("a", 0.0)._replace(model="k")]

    found = agreements({trial("a"): True}, said, experiment="e")

    assert [(one.agreement.model, one.agreement.both_pass) for one in found] == [("j", 1), ("k", 0)]


# ---- Labels

KNOWN = [trial("a"), trial("b"), trial("b", 2)]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "dataset,item,condition,model,repeat,label\nd,a,with_skill,m,1,pass\nd,b,with_skill,m,2,FAIL\n",
        "dataset,item,condition,repeat,label\nd,a,with_skill,1,yes\nd,b,with_skill,2,no\n",
        "dataset\titem\tcondition\trepeat\tlabel\nd\ta\twith_skill\t1\tpass\nd\tb\twith_skill\t2\tno\n",
        "\ufeffdataset;item;condition;repeat;label\nd;a;with_skill;1;1\nd;b;with_skill;2;0\n",
        (
            'label,repeat,condition,item,dataset,answer\npass,1,with_skill,a,d,"x,\ny"\n'
            "fail,2,with_skill,b,d,z\n,1,with_skill,b,d,not labelled yet\n"
        ),
    ],
)
def test_labels_are_read_as_spreadsheets_write_them(tmp_path: Path, text: str):
    assert read(written(tmp_path, text), KNOWN) == {trial("a"): True, trial("b", 2): False}


HEAD = "dataset,item,condition,model,repeat,label\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no column dataset, item"),
        ("dataset,item,condition,repeat\nd,a,with_skill,1\n", "no column label"),
        (HEAD, "nothing is labelled"),
        (f"label,{HEAD}pass,d,a,with_skill,m,1,fail\n", "two columns label"),
        (HEAD + "d,a,with_skill,m,1,\n", "nothing is labelled"),
        (HEAD + "d,z,with_skill,m,1,pass\n", "no trial d z with_skill m 1"),
        (HEAD + "d,a,with_skill,m,one,pass\n", "'one' is no repeat"),
        (HEAD + "d,a,with_skill,m,1,maybe\n", "'maybe' is no label"),
        (HEAD + "d,a,with_skill,m,1,pass\nd,a,with_skill,m,1,fail\n", "labelled twice"),
        (HEAD + "d,a,with_skill\n", "nothing is labelled"),
        (HEAD + 'd,a,with_skill,m,1,"pass\n', "not a CSV"),
    ],
)
def test_a_file_that_is_no_labels_is_refused(tmp_path: Path, text: str, why: str):
    with pytest.raises(LabelError, match=why) as refused:
        read(written(tmp_path, text), KNOWN)

    assert refused.value.exit_code == 2


def test_a_line_that_is_wrong_is_named(tmp_path: Path):
    path = written(tmp_path, HEAD + "d,a,with_skill,m,1,pass\nd,b,with_skill,m,1,hm\n")

    with pytest.raises(LabelError) as refused:
        read(path, KNOWN)

    assert refused.value.where.endswith("labels.csv, line 3")


@pytest.mark.parametrize("data", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path, data: bytes | None):
    path = tmp_path / "labels.csv"
    if data:
        path.write_bytes(data)

    with pytest.raises(LabelError, match="cannot be read"):
        read(path, KNOWN)


def annotation(name: str, value: float, item: str = "a", label: str = "") -> dict[str, Any]:
    return {**trial(item)._asdict(), "name": name, "value": value, "label": label}


def test_annotations_are_labels_and_the_plainest_one_counts():
    rows = [
        annotation("human_rubric", 1.0),
        annotation("human_passed", 0.0),
        annotation("human_verdict", float("nan"), label="right"),
        annotation("human_verdict", float("nan"), item="b", label="partly right"),
        annotation("human_rubric", 0.8, item="c"),
        annotation("human_passed", 0.0, item="d"),
        annotation("human_passed", 1.0, item="d"),
        annotation("something_else", 1.0, item="e"),
    ]

    assert of_annotations(rows) == {
        trial("a"): False, trial("b"): False, trial("c"): True, trial("d"): True
    }  # fmt: skip


def test_annotations_without_a_label_are_refused():
    with pytest.raises(LabelError, match="nobody labelled"):
        of_annotations([annotation("something_else", 1.0)])


# ---- The command


def judging(body: dict[str, Any], attempt: int) -> Says:
    """A model that greets; asked to judge, it passes whoever says hello to an even person."""
    if "output_config" not in body:
        return greets(body, attempt)
    asked, answer = (block["text"] for block in body["messages"][0]["content"])
    good = "hello" in answer and any(f"person {n}." in asked for n in (0, 2))
    return Says(json.dumps({"rationale": "r", "score": 5 if good else 1}))


IN_AND_OUT = ("input", "output")


@pytest.fixture
def judged(project: Project, serve: Any) -> Project:
    project.dataset(MODULE)
    serve(judging)
    done = project.lift("--full")
    assert done.returncode == 0, done.stderr
    return project


def label(project: Project, passes: Any) -> None:
    project.lift("agreement", "--to-label", "labels.csv")
    path = project.root / "labels.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "label": "pass" if passes(row) else "fail"} for row in rows)


def test_an_unvalidated_judge_is_told_of_where_its_scores_are(judged: Project):
    shown, written = judged.lift("compare").stdout, judged.lift("report").stdout

    assert "judge claude-haiku-5-5: +0.40 (0.20 to 0.60) on 4 items" in shown
    assert "never held against people's labels" in shown
    assert "never held against people's labels" in written


def test_a_judge_that_people_agree_with_is_told_with_its_kappa(judged: Project):
    label(judged, lambda row: "hello" in row["answer"] and row["item"] in ("greet-0", "greet-2"))

    done = judged.lift("agreement", "--labels", "labels.csv")
    found = json.loads(judged.lift("agreement", "--labels", "labels.csv", "--json").stdout)
    shown = judged.lift("compare").stdout
    (one,) = json.loads(judged.lift("compare", "--json").stdout)["judges"]

    assert done.returncode == 0, done.stderr
    assert "kappa 1.00 [" in done.stdout
    assert "pass by the judge: 25%, by people: 25%" in done.stdout
    assert found["agreements"][0]["both_fail"] == 6
    assert "against people: kappa 1.00" in shown
    assert "never" not in shown
    assert (one["votes"], one["prompts"], one["validated"]) == (8, 4, 4)
    assert one["agreement"]["kappa"] == 1


def test_a_judge_that_people_disagree_with_is_a_hint_at_most(judged: Project):
    label(judged, lambda row: "hello" in row["answer"] and row["item"] in ("greet-1", "greet-3"))

    done = judged.lift("agreement", "--labels", "labels.csv")

    assert done.returncode == 0
    assert "below 0.4" in done.stdout
    assert "below 0.4" in judged.lift("compare").stdout


def test_what_people_annotated_in_langfuse_is_as_good_as_a_file(
    judged: Project, langfuse: Langfuse
):
    judged.lift("push")
    for root in langfuse.roots():
        asked, answer = (root["attributes"][f"langfuse.observation.{of}"] for of in IN_AND_OUT)
        passes = "hello" in answer and any(f"person {n}." in asked for n in (0, 2))
        langfuse.annotate(root, "human_passed", int(passes), "BOOLEAN")

    done = judged.lift("agreement", "--from", "langfuse")
    found = json.loads(judged.lift("agreement", "--from", "langfuse", "--json").stdout)

    assert done.returncode == 0, done.stderr
    assert "kappa 1.00 [" in done.stdout
    assert found["agreements"][0]["both_fail"] == 6
    assert "against people: kappa 1.00" in judged.lift("compare").stdout


def test_where_nobody_annotated_anything_that_is_said(judged: Project, langfuse: Langfuse):
    judged.lift("push")

    done = judged.lift("agreement", "--from", "langfuse")

    assert langfuse.roots()
    assert done.returncode == 2
    assert "nobody labelled a trial" in done.stderr


@pytest.mark.parametrize(
    "args",
    [(), ("--labels", "a.csv", "--from", "langfuse"), ("--labels", "a.csv", "--to-label", "b.csv")],
)
def test_labels_come_from_one_place(project: Project, args: tuple[str, ...]):
    done = project.lift("agreement", *args)

    assert done.returncode == 2
    assert "give one of" in done.stderr


def test_labels_of_some_items_say_on_how_many_criteria_they_are(judged: Project):
    label(judged, lambda row: "hello" in row["answer"] and row["item"] == "greet-0")
    path = judged.root / "labels.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if "greet-1" not in line), "utf-8")

    judged.lift("agreement", "--labels", "labels.csv")

    assert "on 3 of 4 criteria" in judged.lift("compare").stdout


def test_criteria_that_changed_are_not_validated_any_more(judged: Project):
    label(judged, lambda row: "hello" in row["answer"])
    judged.lift("agreement", "--labels", "labels.csv")
    judged.dataset(MODULE.replace("It greets", "It politely greets"))

    shown = judged.lift("--full").stdout

    assert "never held against people's labels" in shown


def test_what_is_to_be_labelled_has_no_score_and_is_never_written_over(judged: Project):
    first = judged.lift("agreement", "--to-label", "labels.csv")
    text = (judged.root / "labels.csv").read_text("utf-8")
    second = judged.lift("agreement", "--to-label", "labels.csv")

    assert first.returncode == 0
    assert "8 trials" in first.stderr
    assert text.startswith("dataset,item,condition,model,repeat,label,prompt,answer\n")
    assert "hello();" in text
    assert "0.2" not in text
    assert second.returncode == 2
    assert (judged.root / "labels.csv").read_text("utf-8") == text


def test_an_answer_is_no_formula_in_a_spreadsheet(project: Project, serve: Any):
    project.dataset(MODULE)
    serve(lambda body, n: judging(body, n) if "output_config" in body else Says("=1+1"))
    project.lift("--full")

    project.lift("agreement", "--to-label", "labels.csv")

    assert ",'=1+1\n" in (project.root / "labels.csv").read_text("utf-8")


@pytest.mark.parametrize("args", [(), ("--labels", "a.csv", "--to-label", "b.csv")])
def test_one_of_labels_and_to_label_is_given(project: Project, args: tuple[str, ...]):
    assert project.lift("agreement", *args).returncode == 2


def test_without_a_judge_there_is_nothing_to_label(project: Project, serve: Any):
    serve(greets)
    project.lift("--full")

    done = project.lift("agreement", "--to-label", "labels.csv")

    assert done.returncode == 2
    judged = project.lift("judge")
    assert "give items judge_criteria" in done.stderr
    assert (judged.returncode, "give items judge_criteria" in judged.stderr) == (0, True)
    assert not (project.root / "labels.csv").exists()
