"""Bad input: one clear message, the right exit code, no traceback."""

from __future__ import annotations

import json
import os

import pytest
import servers
from refusals import refused
from servers import Says


def test_no_key(project):
    refused(project.lift("--quick", "--backend", "messages"), 3, "needs a key", "ANTHROPIC_API_KEY")


def test_no_key_and_nothing_canned(project):
    refused(project.lift("--quick"), 3, "none of these items has a canned reply")


def test_a_wrong_key(project, serve):
    model = serve(lambda *_: Says("invalid x-api-key", status=401))

    refused(project.lift("--quick"), 3, "refuses the key: invalid x-api-key", model.url)
    assert len(model.calls) <= 12


def test_a_model_without_a_price(project, serve):
    model = serve()

    refused(project.lift("--quick", "--model", "gpt-9"), 2, "no price for the model 'gpt-9'")
    assert model.calls == []


def test_a_model_the_server_does_not_know(project, serve):
    serve(lambda *_: Says("model: x", status=404))

    done = project.lift("--quick", "--model", "x", "--price", "1,2")
    refused(done, 3, "does not serve 'x'", "the name of the model")


def test_a_server_that_is_not_there(project):
    url = f"http://127.0.0.1:{servers.refused_port()}"
    project.variables |= {"ANTHROPIC_BASE_URL": url}

    refused(project.lift("--quick"), 3, "cannot be reached", url)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        *(
            (("--quick", "--skill"), path)
            for path in ("none", "a/none", "~nobody-at-all/x", "x" * 300)
        ),
        (("smoke", "--skill"), "none"),
        (("lint",), "none"),
        (("activation",), "x" * 300),
    ],
)
def test_a_skill_that_is_not_there(project, command, path):
    done = project.lift(*command, path)

    refused(done, 2, f"no such skill {path!r}", "there is greet")


def test_a_folder_that_is_no_skill(project):
    (project.root / "home").mkdir()

    refused(project.lift("--quick", "--skill", "home"), 2, "no SKILL.md in the folder")


@pytest.mark.parametrize("command", ["run", "smoke", "lint", "activation"])
def test_a_skill_that_a_dataset_is_about_and_that_is_not_there(project, command):
    project.skill.rename(project.skill.with_name("other.md"))
    project.skill.parent.rename(project.root / "skills" / "moved")

    done = project.lift(command)

    refused(done, 2, "no such skill 'greet', which the dataset greetings is about", "skills")


def test_names_that_steer_no_path(project, serve):
    model = serve()
    text = project.skill.read_text().replace("name: greet", 'name: "../../../greet"')
    project.skill.write_text(text, "utf-8")

    assert project.lift("--quick", "--dataset", "greetings").returncode == 0
    (known,) = json.loads(project.lift("list", "--json").stdout)
    assert known["experiment"]["skill"] == "greet"
    assert known["experiment"]["name"].startswith("greet-")
    assert not any("../" in str(body["system"]) for body in model.calls)


def test_a_skill_with_a_link_out_of_it(project, serve):
    model = serve()
    secret = project.root / "secret.txt"
    secret.write_text("the secret", "utf-8")
    (project.skill.parent / "leak.md").symlink_to(secret)
    project.skill.write_text(project.skill.read_text() + "[l](leak.md)", "utf-8")

    assert project.lift("--quick").returncode == 0
    assert not any("the secret" in str(body) for body in model.calls)
    project.skill.unlink()
    project.skill.symlink_to(secret)
    refused(project.lift("--quick"), 2, "leads out of the skill's folder")
    named = project.lift("--quick", "--skill", "skills/greet/SKILL.md")
    refused(named, 2, "leads out of the skill's folder")


def test_canned_replies_that_are_a_link_out_of_the_datasets(project):
    secret = project.root / "secret.yaml"
    secret.write_text("greet-0: {with_skill: [the secret], without_skill: [the secret]}", "utf-8")
    (project.root / "datasets" / "demo").mkdir()
    (project.root / "datasets" / "demo" / "greetings.yaml").symlink_to(secret)

    done = project.lift("--quick")

    refused(done, 2, "a link that leads out of the datasets' folder")
    assert "the secret" not in done.stdout + done.stderr


def test_a_dataset_with_a_syntax_error(project):
    path = project.dataset("DATASET = (\n")

    refused(project.lift("--quick"), 2, "syntax error", f"{path}:1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('id=f"greet-{number}"', 'id="one"'), ["id 'one' is used by items 1 and 2"]),
        (('rubric=Rubric(must_use=["hello("], must_not_use=["goodbye("]),', ""), ["no checks"]),
        (('must_use=["hello("]', "must_use=5"), ["must_use"]),
        (('category="short" if number % 2 else "long"', 'category="Not Good"'), ["category"]),
    ],
)
def test_a_bad_item(project, change, words):
    path = project.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace(*change), "utf-8")

    refused(project.lift("--quick"), 2, *words, str(path))


def test_no_dataset_for_the_skill(project):
    project.skill.write_text("---\nname: other\n---\nText", "utf-8")

    done = project.lift("--quick", "--skill", "skills/greet")
    refused(done, 2, "no dataset for the skill 'other'", "greetings (for greet)", "--dataset")


def test_no_datasets_at_all(project):
    project.variables["LIFT_DATASETS_DIR"] = "nowhere"

    refused(project.lift("--quick"), 2, "no folder of datasets", "nowhere")


def test_several_skills_and_none_chosen(project):
    text = (project.root / "datasets" / "greetings.py").read_text()
    project.dataset(text.replace('"greet"', '"leave"').replace('"greetings"', '"others"'), "others")

    refused(project.lift("--quick"), 2, "several skills have datasets: greet, leave", "--skill")


def test_an_unknown_dataset(project):
    refused(project.lift("--full", "--dataset", "nope"), 2, "no dataset 'nope'", "greetings")


def test_filters_that_leave_nothing(project, serve):
    serve()
    refused(project.lift("--full", "--only", "nope"), 2, "leave no item", "greet-0", "categories")


@pytest.mark.parametrize("ceiling", ["0", "-1", "x"])
def test_a_ceiling_that_is_none(project, ceiling):
    refused(project.lift("--quick", "--max-cost-usd", ceiling), 2, "max_cost_usd cannot be")


def test_a_journal_that_cannot_be_written(project, serve):
    model = serve()
    (project.root / "file").write_text("x")

    refused(project.lift("--quick", "--journal", "file/journal.db"), 3, "journal")
    refused(project.lift("--quick", "--journal", "x" * 300), 2, "journal cannot be", "too long")
    assert model.calls == []


def test_a_journal_that_is_none(project, serve):
    model = serve()
    (project.root / "j.db").write_text("x" * 5000)

    refused(project.lift("--quick", "--journal", "j.db"), 3, "no journal", "j.db")
    assert model.calls == []


@pytest.mark.parametrize("command", ["compare", "list", "show"])
def test_nothing_has_run_yet(project, command):
    refused(project.lift(command), 3, "no journal here", "lift --quick")


def test_an_experiment_that_does_not_exist(project, serve):
    serve()
    project.lift("--quick", "--experiment", "morning")

    refused(project.lift("compare", "mornign"), 2, "no experiment 'mornign'", "nearest: morning")


def test_a_condition_that_does_not_exist(project, serve):
    serve()
    project.lift("--quick")

    refused(project.lift("compare", "--base", "old_skill"), 2, "has no condition 'old_skill'")


def test_an_item_that_does_not_exist(project, serve):
    serve()
    project.lift("--quick")

    refused(project.lift("show", "nope"), 2, "no such trial of 'nope'", "greet-0")


@pytest.mark.parametrize("name", ["", "a/b", "a b", "-a", "x" * 121])
def test_a_name_that_is_none(project, name):
    refused(project.lift("--quick", f"--experiment={name}"), 2, "no name for an experiment")


def test_what_a_model_says_cannot_steer_the_terminal(project, serve):
    serve(lambda *_: Says("\x1b[31mred\x07 \x9b2J"))
    project.lift("run", "--only", "greet-0")
    shown = project.lift("show", "greet-0").stdout

    assert "\\x1b[31mred" in shown
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}


def test_quick_and_full_at_once(project):
    done = project.lift("--quick", "--full")

    assert done.returncode == 2
    assert "exclude each other" in done.stderr


def test_filters_of_show_that_leave_nothing(project, serve):
    serve()
    project.lift("run", "--only", "greet-0")

    refused(project.lift("show", "--condition", "foo"), 2, "conditions: with_skill, without_skill")
    assert project.lift("show", "greetings/greet-0").returncode == 0


def test_a_name_that_stands_for_something_else(project, serve):
    serve()
    project.lift("--quick", "--experiment", "e")
    project.skill.write_text(project.skill.read_text() + "More.", "utf-8")

    refused(project.lift("--quick", "--experiment", "e"), 2, "with another condition", "--again")


@pytest.mark.parametrize(
    "args", [["--nope"], ["nope"], ["run", "--repeats", "0"], ["compare", "--max-drop"]]
)
def test_wrong_flags(project, args):
    done = project.lift(*args)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away(project, serve):
    serve()
    project.lift("--full")
    with project.start("show", "--json") as process:
        assert process.stdout is not None
        os.close(os.dup(process.stdout.fileno()))
        process.stdout.close()
        err = process.stderr.read() if process.stderr else ""

    assert process.returncode in (0, 141)
    assert "Traceback" not in err
