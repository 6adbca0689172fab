"""`lift smoke`: one prompt, two answers side by side."""

from __future__ import annotations

import json

from conftest import greets


def test_one_prompt_is_asked_under_both_conditions(project, serve):
    model = serve(greets)

    done = project.lift("smoke")

    assert done.returncode == 0, done.stderr
    assert len(model.calls) == 2
    shown = [line for line in done.stdout.splitlines() if "goodbye();" in line]
    assert "hello();" in shown[0]
    assert "Greet person 0." in done.stdout


def test_an_item_can_be_chosen(project, serve):
    model = serve(greets)
    done = project.lift("smoke", "greet-7", "--json")

    assert {t["item"] for t in json.loads(done.stdout)["trials"]} == {"greet-7"}
    assert "person 7" in json.dumps(model.calls)


def test_it_is_asked_anew_each_time_and_listed(project, serve):
    model = serve(greets)
    project.lift("smoke")
    (name,) = [e["experiment"]["name"] for e in json.loads(project.lift("list", "--json").stdout)]

    assert name.startswith("greet-smoke-2")
    assert len(model.calls) == 2


def test_it_is_not_the_last_experiment_where_there_is_another(project, serve):
    serve(greets)
    project.lift("smoke")
    (only,) = [e["experiment"]["name"] for e in json.loads(project.lift("list", "--json").stdout)]
    shown = json.loads(project.lift("show", "--json").stdout)
    assert shown["experiment"]["name"] == only
    project.lift("--quick", "--experiment", "e")
    project.lift("smoke")

    for command in (["compare"], ["show"], ["judge"]):
        found = json.loads(project.lift(*command, "--json").stdout)
        assert found["experiment"]["name"] == "e", command
    assert "e " in project.lift("report").stdout
    assert project.lift("show", "--experiment", only).returncode == 0


def test_an_unknown_item_names_the_nearest(project, serve):
    serve()
    done = project.lift("smoke", "greet7")

    assert done.returncode == 2
    assert "no item 'greet7'" in done.stderr
    assert "greet-7" in done.stderr
