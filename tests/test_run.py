"""`lift run` from end to end: the real command, a real server on loopback, real signals."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time
from collections import Counter

import pytest
from conftest import greets, interrupted_twice, power_cut, wait_for
from servers import Says

SLOW_MODEL_S = 0.15


def asked(model) -> Counter[str]:
    """How often each call was made."""
    return Counter(json.dumps([b["system"], b["messages"]], sort_keys=True) for b in model.calls)


def cost(done) -> float:
    return json.loads(done.stdout)["experiment"]["cost_usd"]


def test_a_run_asks_scores_and_compares(project, serve):
    model = serve(greets)

    done = project.lift("--quick", "--json")

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    (everything,) = [row for row in result["categories"] if row["category"] == "all"]
    assert (everything["base"], everything["other"], everything["items"]) == (0.0, 1.0, 3)
    assert len(model.calls) == 3 * 2 * 2
    assert cost(done) == pytest.approx(12 * (10 * 2 + 5 * 10) / 1e6)
    assert "notice" not in result


def test_the_conditions_differ_in_the_skill_block_alone(project, serve):
    model = serve(greets)
    project.lift("run", "--only", "greet-0", "--json")
    without, skilled = sorted(model.calls, key=lambda body: len(body["system"]))

    assert skilled["system"][0]["text"] == without["system"][0]["text"]
    assert skilled["system"][1]["text"].startswith('<skill name="greet">\n# Greeting')
    keys = ("model", "max_tokens", "messages")
    assert [skilled[key] for key in keys] == [without[key] for key in keys]


def test_a_long_skill_is_written_to_the_prompt_cache_once(project, serve):
    project.skill.write_text(project.skill.read_text() + "More. " * 2000, "utf-8")
    model = serve(lambda body, attempt: Says("hello()", seconds=0.05))

    project.lift("--full")
    with_skill = [body for body in model.calls if len(body["system"]) == 2]

    assert all(body["system"][1]["cache_control"] for body in with_skill)
    assert [body.get("stream", False) for body in with_skill] == [True] + [False] * 9


def test_the_same_command_again_makes_no_call(project, serve):
    model = serve(greets)
    first = project.lift("--full", "--json")
    again = project.lift("--full", "--json")

    assert len(model.calls) == 20
    assert "20 already answered; 0 calls" in again.stderr
    assert json.loads(again.stdout)["categories"] == json.loads(first.stdout)["categories"]


def test_again_starts_a_fresh_experiment(project, serve):
    model = serve(greets)
    project.lift("run", "--only", "greet-0")
    done = project.lift("run", "--only", "greet-0", "--again")

    assert done.returncode == 0
    assert len(model.calls) == 4
    assert len(json.loads(project.lift("list", "--json").stdout)) == 2


def test_an_edited_skill_is_another_experiment(project, serve):
    serve(greets)
    project.lift("--quick")
    project.skill.write_text(project.skill.read_text() + "Be kind.", "utf-8")
    project.lift("--quick")

    assert len(json.loads(project.lift("list", "--json").stdout)) == 2


def test_ctrl_c_before_anything_is_asked_says_so(project, serve):
    model = serve(greets)
    loading = project.root / "loading"
    module = project.root / "datasets" / "greetings.py"
    slow = f"import time\nopen({str(loading)!r}, 'w').close()\ntime.sleep(60)\n"
    module.write_text(f"{module.read_text()}\n{slow}", "utf-8")
    process = project.start("--full")
    assert wait_for(loading.exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "interrupted before anything was asked" in err
    assert "Traceback" not in err
    assert model.calls == []


def test_ctrl_c_while_another_process_runs_says_that_nothing_is_lost(project, serve):
    hold = threading.Event()
    model = serve(lambda *_: Says("hello()", seconds=hold.wait(60) * 0.0))
    first = project.start("--full")
    assert wait_for(lambda: len(model.calls) >= 2)
    second = project.start("--full")
    assert second.stderr is not None
    lines = iter(second.stderr.readline, "")
    assert any("waiting for it to end" in line for line in lines)
    second.send_signal(signal.SIGINT)
    err = "".join(lines)
    second.communicate(timeout=30)
    hold.set()
    first.communicate(timeout=60)

    assert second.returncode == 130
    assert err.count("waiting for it to end") == 0
    assert "every answer so far is recorded" in err
    assert len(model.calls) == 20


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda process: process.send_signal(signal.SIGINT), 130),
        (lambda process: process.send_signal(signal.SIGTERM), 143),
        (lambda process: process.kill(), -9),
        (power_cut, -9),
    ],
    ids=["SIGINT", "SIGTERM", "SIGKILL", "power cut"],
)
def test_after_an_interrupt_what_was_answered_is_not_asked_again(project, serve, end, code):
    model = serve(lambda body, attempt: Says("hello()", seconds=SLOW_MODEL_S))
    process = project.start("--full", "--concurrency", "2")
    assert wait_for(lambda: len(model.calls) >= 5)
    end(process)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert "Traceback" not in err
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    answered = sum(row["status"] == "ok" for row in rows)
    assert 3 <= answered < 20
    in_flight = 2 if end is power_cut else 0

    done = project.lift("--full", "--concurrency", "2")

    assert done.returncode == 0, done.stderr
    assert len(asked(model)) == 20
    assert sum(asked(model).values()) <= 20 + in_flight


def test_two_processes_on_one_experiment_ask_nothing_twice(project, serve):
    model = serve(lambda body, attempt: Says("hello()", seconds=0.05))
    both = [project.start("--full", "--concurrency", "3") for _ in range(2)]
    outcomes = [process.communicate(timeout=60) for process in both]

    assert [process.returncode for process in both] == [0, 0], outcomes
    assert len(model.calls) == 20
    assert sorted("waiting for it" in err for _, err in outcomes) == [False, True]


def test_an_interrupt_says_what_is_waited_for_and_what_it_cost_not_to(project, serve):
    hold = threading.Event()
    model = serve(lambda body, attempt: Says(seconds=hold.wait(20) * 0.0))
    err = interrupted_twice(project.start("--full", "--concurrency", "2"), model)
    hold.set()

    assert "waiting up to 30 s for calls in flight" in err
    assert "calls that broke off count $0." in err
    known = json.loads(project.lift("list", "--json").stdout)[0]["experiment"]
    assert f"$0.0000 to {known['lost_usd']:.4f}\n" in project.lift("list").stdout


def test_an_interrupt_does_not_wait_for_calls_that_wait_for_their_turn(project, serve):
    def script(body: dict, attempt: int) -> Says:
        headers = (("retry-after", "25"),)
        return Says("hello()") if len(model.calls) < 4 else Says(status=429, headers=headers)

    model = serve(script)
    process = project.start("--full", "--concurrency", "2")
    assert wait_for(lambda: len(model.calls) >= 4)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert process.returncode == 130, err
    assert time.monotonic() - began < 10
    assert "broke off" not in err


def test_a_ceiling_that_may_come_first_is_told_of_before(project, serve):
    serve(greets)
    none = project.lift("--full", "--max-cost-usd", "0.05", "--dry-run")
    tight = project.lift("--full", "--max-cost-usd", "0.2", "--dry-run")
    wide = project.lift("--full", "--max-cost-usd", "5", "--dry-run")
    (usd,) = [float(found) for found in re.findall(r"about \$([\d.]+) \(", tight.stdout)]

    no_room = "--max-cost-usd leaves no room for a call that may cost $0.0821; the ceiling is $0.05"
    assert no_room in none.stderr
    assert usd < 0.2 < usd + 0.0821  # the last calls would not start
    assert "--max-cost-usd may come first: about $" in tight.stderr
    assert ", and a call starts only where $0.0821 fit; the ceiling is $0.20\n" in tight.stderr
    assert "--max-cost-usd" not in wide.stderr


def test_files_that_the_skill_names_and_the_model_is_not_shown_are_told_of(project):
    folder = project.skill.parent
    for name in ("api.md", "unnamed.md"):
        (folder / name).write_text("x", "utf-8")
    project.skill.write_text(project.skill.read_text() + "\nSee api.md.\n", "utf-8")

    done = project.lift("--full", "--dry-run")

    assert "the model is shown SKILL.md alone, not api.md\n" in done.stderr


def test_a_single_file_that_names_itself_hides_nothing(project):
    agent = project.root / "greet.md"
    agent.write_text("---\nname: greet\ndescription: d\n---\nThis is greet.md.\n", "utf-8")

    done = project.lift("--full", "--skill", "./greet.md", "--dry-run")

    assert done.returncode == 0, done.stderr
    assert "is shown" not in done.stderr


def test_no_cache_says_that_answers_given_before_stay(project, serve):
    serve(greets)
    project.lift("--full")
    project.lift("--full", "--experiment", "e")
    done = project.lift("--full", "--experiment", "e", "--no-cache")

    assert "20 answers of it came from equal requests before and stay; --again" in done.stderr


def test_a_second_interrupt_does_not_wait(project, serve):
    hold = threading.Event()
    model = serve(lambda body, attempt: Says(seconds=hold.wait(20) * 0.0))
    process = project.start("--full")
    err = interrupted_twice(process, model)
    hold.set()

    assert process.returncode == 130
    assert "run the same command again" in err


def end_at_once(process: subprocess.Popen[str], *, by_power: bool) -> None:
    if by_power:
        power_cut(process)
        return
    process.send_signal(signal.SIGINT)
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize("by_power", [False, True], ids=["interrupt", "power cut"])
def test_calls_cut_by_an_interrupt_count_towards_the_ceiling(project, serve, by_power):
    hold = threading.Event()
    model = serve(lambda *_: Says("hello()", output_tokens=1000, seconds=hold.wait(30) * 0.0))
    command = ("--full", "--max-tokens", "1000", "--concurrency", "2", "--max-cost-usd", "0.05")
    for cut in range(1, 4):
        process = project.start(*command)
        assert wait_for(lambda cut=cut: len(model.calls) >= min(2 * cut, 4))
        if process.poll() is None:
            end_at_once(process, by_power=by_power)
        process.communicate(timeout=30)
    hold.set()

    done = project.lift(*command)

    assert done.returncode == 4, done.stderr
    assert len(model.calls) * 0.01002 <= 0.05
    shown = json.loads(project.lift("compare", "--json").stdout or "{}")
    assert not shown or shown["experiment"]["lost_usd"] > 0.03


def test_one_item_that_is_never_answered_with_a_message_harms_no_other(project, serve):
    def script(body, attempt):
        bad = "person 4" in body["messages"][0]["content"]
        return Says(fields={"usage": None}) if bad else greets(body, attempt)

    serve(script)

    done = project.lift("--full")

    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    assert Counter(row["status"] for row in rows) == {"ok": 18, "errored": 2}
    assert {row["item"] for row in rows if row["status"] == "errored"} == {"greet-4"}


def test_a_reader_of_standard_error_may_go_away(project, serve):
    model = serve(lambda *_: Says("hello()", seconds=0.02))
    process = project.start("--full", "--concurrency", "1")
    process.stderr.close()
    with process.stdout:
        process.stdout.read()

    assert process.wait(timeout=60) == 0
    assert len(model.calls) == 20


def test_an_evaluator_that_raises_is_an_error_of_that_score_alone(project, serve):
    serve(greets)
    broken = """
from lift import Dataset, Item, Rubric
from lift.evaluators.rubric import Rubric as Base

class Bad(Base):
    def score(self, evidence):
        raise RuntimeError("odd")

DATASET = Dataset(name="greetings", skill="greet", items=[
    Item(id="a", category="c", prompt="Greet.", rubric=Bad(must_use=["hello("]), quick=True),
    Item(id="b", category="c", prompt="Greet b.", rubric=Rubric(must_use=["hello("]), quick=True),
])
"""
    project.dataset(broken)

    done = project.lift("--quick")

    assert "Traceback" not in done.stderr
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    assert [row["status"] for row in rows] == ["ok"] * 8


def test_a_model_named_twice_is_asked_once(project, serve):
    model = serve(greets)
    twice = ("--model", "claude-sonnet-5-5") * 2

    assert project.lift("--quick", *twice).returncode == 0
    assert len(model.calls) == 12


def test_the_ceiling_holds_and_a_higher_one_goes_on(project, serve):
    model = serve(lambda *_: Says("hello()", output_tokens=1000))
    command = ("--full", "--max-tokens", "1000", "--json")

    partial = project.lift(*command, "--max-cost-usd", "0.05")

    assert partial.returncode == 4, partial.stderr
    assert len(model.calls) * 0.01002 <= 0.05
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    assert Counter(row["status"] for row in rows) == {
        "ok": len(model.calls),
        "skipped": 20 - len(model.calls),
    }
    assert project.lift("compare").returncode == 3
    stuck = project.lift(*command, "--max-cost-usd", "0.05")
    assert stuck.returncode == 4

    done = project.lift(*command, "--max-cost-usd", "1")

    assert done.returncode == 0, done.stderr
    assert len(model.calls) == 20


def test_errored_trials_are_asked_again_by_the_next_run(project, serve):
    broken = True

    def script(body, attempt):
        bad = broken and "person 4" in body["messages"][0]["content"]
        return Says(status=400, text="odd") if bad else greets(body, attempt)

    model = serve(script)
    first = project.lift("--full")
    assert first.returncode == 3
    assert "only 90% of the with" in first.stderr
    broken = False
    before = len(model.calls)

    done = project.lift("--full")

    assert done.returncode == 0, done.stderr
    assert len(model.calls) - before == 2


def test_a_refusal_is_failed_and_graded(project, serve):
    serve(lambda *_: Says("", stop_reason="refusal"))

    done = project.lift("--quick", "--json")

    assert done.returncode == 0
    (everything,) = [r for r in json.loads(done.stdout)["categories"] if r["category"] == "all"]
    assert (everything["base"], everything["other"]) == (0, 0)


def test_under_faults_the_table_is_the_one_without(project, serve):
    def faulty(body, attempt):
        number = hash(body["messages"][0]["content"]) + len(body["system"])
        faults = (Says(status=529), Says(reset=True), Says(status=500), Says(sent=0.5))
        return greets(body, attempt) if attempt else faults[number % 4]

    serve(faulty)
    shaken = project.lift("--full", "--json", "--experiment", "shaken")
    serve(greets)
    calm = project.lift("--full", "--json", "--experiment", "calm")

    assert shaken.returncode == calm.returncode == 0, shaken.stderr
    assert json.loads(shaken.stdout)["categories"] == json.loads(calm.stdout)["categories"]
    assert json.loads(shaken.stdout)["experiment"]["lost_usd"] > 0


def test_a_category_that_was_not_measured_passes_no_limit(project, serve):
    module = project.root / "datasets" / "greetings.py"
    text = module.read_text().replace("range(10)", "range(20)")
    text = text.replace('"short" if number % 2 else "long"', '"odd" if number == 4 else "long"')
    module.write_text(text, "utf-8")

    def script(body, attempt):
        bad = "person 4" in body["messages"][0]["content"] and len(body["system"]) == 2
        return Says(status=400, text="odd") if bad else greets(body, attempt)

    serve(script)
    assert project.lift("--full").returncode == 0
    assert project.lift("compare").returncode == 0

    held = project.lift("compare", "--max-drop", "100%")

    assert held.returncode == 1, held.stderr
    assert "not measured: odd" in held.stderr
    assert "long" in held.stdout


def test_a_dry_run_asks_and_writes_nothing(project, serve):
    model = serve(greets)

    done = project.lift("--full", "--dry-run", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["calls"] == 20
    assert model.calls == []
    assert not (project.root / ".lift").exists()


@pytest.mark.parametrize("backend", [[], ["--backend", "messages"]])
def test_a_dry_run_needs_no_key(project, backend):
    done = project.lift("--full", "--dry-run", *backend)

    assert done.returncode == 0, done.stderr
    assert "20 trials; 20 calls, about $" in done.stdout
    assert "no key is set: asking this needs one" in done.stderr
    assert not (project.root / ".lift").exists()


def test_a_dry_run_of_canned_replies_alone_wants_some(project):
    done = project.lift("--full", "--dry-run", "--backend", "demo")

    assert done.returncode == 3
    assert "none of these items has a canned reply" in done.stderr


def test_an_expensive_run_needs_a_yes(project, serve):
    model = serve(greets)
    project.variables["LIFT_CONFIRM_ABOVE_USD"] = "0.01"

    refused = project.lift("--full")

    assert refused.returncode == 2
    assert "add --yes" in refused.stderr
    assert model.calls == []
    assert project.lift("--full", "--yes").returncode == 0


def test_a_fresh_experiment_that_was_cut_short_goes_on(project, serve):
    model = serve(greets)
    project.lift("--full")
    model.calls.clear()
    with project.start("--full", "--again", "--concurrency", "1") as cut:
        assert wait_for(lambda: len(model.calls) >= 3)
        cut.kill()

    done = project.lift("--full", "--again")
    another = project.lift("--full", "--again", "--json")

    assert done.returncode == 0, done.stderr
    names = [one["experiment"]["name"] for one in json.loads(project.lift("list", "--json").stdout)]
    assert len(names) == 3
    assert "already answered" in done.stderr
    assert json.loads(another.stdout)["experiment"]["name"] not in names[1:]


def test_an_interrupt_is_heeded_though_replies_wait_for_nothing(project):
    replies = "\n".join(
        f"greet-{n}:\n  with_skill: [hello()]\n  without_skill: [bye]" for n in range(10)
    )
    folder = project.root / "datasets" / "demo"
    folder.mkdir()
    (folder / "greetings.yaml").write_text(replies + "\n", "utf-8")

    def answered() -> int:
        known = project.lift("list", "--json")
        found = json.loads(known.stdout) if known.returncode == 0 else []
        return sum(one["experiment"]["answered"] for one in found)

    with project.start("--full", "--repeats", "300", "--concurrency", "1") as cut:
        assert wait_for(answered)
        cut.send_signal(signal.SIGINT)
        _, err = cut.communicate(timeout=60)

    assert cut.returncode == 130, err
    assert answered() < 6000


def test_the_comparison_can_be_held_against_a_largest_drop(project, serve):
    serve(lambda body, attempt: greets({**body, "system": body["system"][:1]}, attempt))
    project.lift("--quick")
    assert project.lift("compare", "--max-drop", "0").returncode == 0
    serve(lambda body, attempt: Says("goodbye()" if len(body["system"]) == 2 else "hello()"))
    project.lift("--quick", "--again")

    dropped = project.lift("compare", "--max-drop", "10%")

    assert dropped.returncode == 1
    assert "short (-1.00 from 1.00)" in dropped.stderr
