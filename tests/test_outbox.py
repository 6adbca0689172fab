"""Commands and Langfuse: a server that is there, not there, or in the way."""

from __future__ import annotations

import json
import signal

import pytest
import servers
from conftest import greets, wait_for
from langfuse_project import ITEMS, OTEL, PUBLIC_KEY, SCORES, SECRET_KEY, Fault, Langfuse
from servers import Says

from lift.langfuse.wire import milliseconds

TRIGGERS = """
from lift import TriggerPrompt, TriggerPrompts

DATASET = TriggerPrompts(name="triggers", skill="greet", prompts=[
    TriggerPrompt(id="a", prompt="Greet Ada.", loads=True, why="w"),
    TriggerPrompt(id="b", prompt="Add a test.", loads=False, why="w"),
])
"""


def traces(server: Langfuse) -> list[str]:
    return [row["trace"] for row in server.spans if not row["parent"]]


def test_a_run_is_sent_and_its_link_printed(project, serve, langfuse):
    serve(greets)

    done = project.lift("--quick")

    assert done.returncode == 0, done.stderr
    assert len(traces(langfuse)) == len(set(traces(langfuse))) == 12
    assert f"{langfuse.url}/project/" in done.stderr
    assert "results?baseline=" in done.stderr


def test_the_same_command_again_sends_nothing(project, serve, langfuse):
    serve(greets)
    project.lift("--quick")
    writes = len(langfuse.writes())
    project.lift("--quick")

    assert len(langfuse.writes()) == writes


def test_a_push_with_nothing_to_send_says_so_and_prints_no_link(project, serve, langfuse):
    serve(greets)
    project.lift("run", "--only", "greet-0", "--experiment", "first")
    keys = {
        name: project.variables.pop(name) for name in list(project.variables) if "LANGF" in name
    }
    project.lift("run", "--only", "greet-1", "--experiment", "second")
    project.variables |= keys

    pushed, idle = project.lift("push"), project.lift("push")

    assert pushed.returncode == idle.returncode == 0, idle.stderr
    assert {line.partition(":")[0] for line in pushed.stdout.splitlines()} == {"second"}
    assert "results?baseline=" in pushed.stdout
    assert idle.stdout == "nothing to send\n"


def test_ctrl_c_while_sending_says_what_is_left(project, serve, langfuse):
    serve(greets)
    langfuse.faults.append(Fault("/api/public/", hang=True))
    process = project.start("run", "--only", "greet-0")
    assert process.stdout is not None
    assert any("2 of 2 trials answered" in line for line in iter(process.stdout.readline, ""))
    assert wait_for(lambda: langfuse.asked)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "every answer" in err
    assert "recorded" in err
    assert "lift push" in err
    assert "before anything was asked" not in err
    assert "Traceback" not in err
    langfuse.faults.clear()
    assert project.lift("push").returncode == 0


@pytest.mark.parametrize("command", [("lint",), ("static",), ("--quick", "--dry-run"), ("list",)])
def test_what_has_nothing_to_send_says_nothing_of_langfuse(project, serve, command):
    serve(greets)
    project.lift("run", "--only", "greet-0")

    done = project.lift(*command)

    assert "Langfuse" not in done.stdout + done.stderr


def test_without_keys_a_line_says_that_nothing_was_sent(project, serve):
    serve(greets)

    done = project.lift("--quick")

    assert done.stderr.count("nothing was sent to Langfuse: no keys are set") == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(OTEL, status=500), Fault(OTEL, status=400), Fault(SCORES, status=503),
        Fault(ITEMS, status=401), Fault("/api/public/projects", html=True),
        Fault(OTEL, reset=True, stored=True),
    ],
    ids=["500", "400", "503", "401", "html", "lost-reply"],
)  # fmt: skip
def test_a_server_that_fails_fails_no_run_and_push_sends_the_rest(project, serve, langfuse, fault):
    serve(greets)
    langfuse.faults.append(fault)

    done = project.lift("run", "--only", "greet-0")

    assert done.returncode == 0, done.stderr
    # what was stored although the reply was lost is found there, and not unsent
    assert ("unsent" in done.stderr) is not fault.stored
    assert "Traceback" not in done.stderr
    langfuse.faults.clear()
    pushed = project.lift("push")
    assert pushed.returncode == 0, (pushed.stdout, pushed.stderr)
    assert len(traces(langfuse)) == len(set(traces(langfuse))) == 2
    assert {score["name"] for score in langfuse.scores.values()} >= {"rubric", "passed"}


def test_a_server_that_is_not_there_costs_a_run_nothing_but_a_line(project, serve):
    serve(greets)
    project.sends_to(f"http://127.0.0.1:{servers.refused_port()}")

    done = project.lift("run", "--only", "greet-0")

    assert done.returncode == 0
    assert "unsent" in done.stderr
    assert project.lift("push").returncode == 3


def test_a_push_gives_up_a_server_that_takes_nothing(project, serve, langfuse):
    serve(greets)
    langfuse.faults = [Fault("/api/public/", status=401)]
    for name in ("one", "two", "three", "four"):
        project.lift("--quick", "--experiment", name)

    pushed = project.lift("push")

    assert pushed.returncode == 3
    assert len(pushed.stdout.splitlines()) == 2
    assert "the server takes nothing: 2 experiments not tried" in pushed.stderr
    left = json.loads(project.lift("push", "--json").stdout)
    assert [one["unsent"] for one in left.values()] == [left["one"]["unsent"]] * 4


def test_one_key_without_the_other_is_said_before_anything_is_asked(project, serve):
    model = serve(greets)
    project.variables["LANGFUSE_PUBLIC_KEY"] = PUBLIC_KEY

    done = project.lift("--quick")

    assert done.returncode == 2
    assert "LANGFUSE_SECRET_KEY is not set" in done.stderr
    assert model.calls == []


def test_keys_from_one_place_and_an_address_from_another_are_refused(project, serve):
    serve(greets)
    (project.root / ".env").write_text("LANGFUSE_BASE_URL=http://127.0.0.1:1\n")
    project.variables |= {"LANGFUSE_PUBLIC_KEY": PUBLIC_KEY, "LANGFUSE_SECRET_KEY": SECRET_KEY}

    done = project.lift("push")

    assert done.returncode != 0
    assert project.lift("sync").returncode == 2


def test_compare_reads_back_what_was_sent(project, serve, langfuse, tmp_path):
    serve(greets)
    here = json.loads(project.lift("--full", "--json", "--experiment", "e").stdout)
    (project.root / ".lift").rename(tmp_path / "gone")

    done = project.lift("compare", "e", "--from", "langfuse", "--json")

    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    assert there["categories"] == here["categories"]
    assert there["items"] == here["items"]
    assert project.lift("compare", "--from", "langfuse").returncode == 2
    assert project.lift("compare", "nope", "--from", "langfuse").returncode == 2
    for period in ("x", "0d", "99999w", "-1d"):
        done = project.lift("compare", "e", "--from", "langfuse", "--since", period)
        assert done.returncode == 2


def test_sync_writes_what_differs_and_check_writes_nothing(project, langfuse):
    assert project.lift("sync", "--check").returncode == 1
    assert langfuse.writes() == []
    assert project.lift("sync").returncode == 0
    first = len(langfuse.writes(ITEMS))
    assert first == 10
    writes = len(langfuse.writes())
    assert project.lift("sync").returncode == 0
    assert project.lift("sync", "--check").returncode == 0
    assert len(langfuse.writes()) == writes
    path = project.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace("range(10)", "range(9)"), "utf-8")

    done = project.lift("sync")

    assert "1 archived" in done.stdout
    assert len(langfuse.writes(ITEMS)) == first + 1


def test_a_secret_reaches_neither_the_server_nor_the_terminal(project, serve, langfuse):
    planted = "ghp_" + "Ab1" * 12
    path = project.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace("Greet person", f"{planted} Greet"), "utf-8")
    serve(lambda *_: Says(f"hello() {planted}"))

    done = project.lift("--quick")

    outputs = [done.stdout, done.stderr]
    for command in (["show"], ["show", "greet-0"], ["list"], ["compare"]):
        outputs += [project.lift(*command).stdout, project.lift(*command, "--json").stdout]
    assert not any(planted in output for output in outputs)
    sent = json.dumps([[a.body for a in langfuse.asked], langfuse.spans], default=str)
    assert "hello()" in sent
    assert planted not in sent


def test_a_secret_in_an_exception_or_a_rationale_gets_nowhere(project, serve, langfuse):
    planted = "ghp_" + "Cd2" * 12
    path = project.root / "datasets" / "greetings.py"
    judged = path.read_text().replace("quick=", 'judge_criteria="Greets.", quick=')
    path.write_text(judged.replace('skill="greet",', 'skill="greet", judge=True,'), "utf-8")

    def script(body, _attempt):
        if "output_config" in body:
            return Says(json.dumps({"rationale": f"it has {planted}", "score": 3}))
        if "<skill" in json.dumps(body["system"]):
            return Says(f"bad {planted}", status=400)
        return Says("hello()")

    serve(script)
    outputs = [project.lift("run", "--only", "greet-0")]
    outputs += [project.lift("show", "greet-0"), project.lift("show", "greet-0", "--json")]

    assert not any(planted in done.stdout + done.stderr for done in outputs)
    assert any("it has <" in done.stdout for done in outputs)
    sent = json.dumps([[a.body for a in langfuse.asked], langfuse.spans], default=str)
    assert "it has " in sent
    assert planted not in sent


def test_a_static_review_is_one_trace_with_two_scores_and_sent_once(project, serve, langfuse):
    serve(lambda *_: Says(json.dumps({"reason": "so", "load": True})))
    project.dataset(TRIGGERS, "triggers")

    project.lift("static")
    project.lift("static")

    assert len(traces(langfuse)) == 1
    names = {score["name"]: score["value"] for score in langfuse.scores.values()}
    assert set(names) == {"lint_score", "activation_f1"}
    assert names["activation_f1"] == pytest.approx(2 / 3)


def test_a_review_whose_scores_were_lost_is_one_trace_all_the_same(project, serve, langfuse):
    serve(lambda *_: Says(json.dumps({"reason": "so", "load": True})))
    project.dataset(TRIGGERS, "triggers")
    langfuse.faults.append(Fault(SCORES, status=401))
    project.lift("static")
    langfuse.faults.clear()

    project.lift("static")

    (root,) = [span for span in langfuse.spans if not span["parent"]]
    began = {milliseconds(score["timestamp"]) for score in langfuse.scores.values()}
    assert began == {root["start_ns"] // 10**6}


def test_push_waits_until_all_can_be_read(project, serve, langfuse):
    serve(greets)
    project.lift("run", "--only", "greet-0", "--experiment", "e")
    langfuse.behind["/api/public/v3/scores"] = 1

    done = project.lift("push", "e", "--wait")

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("e: all of it can be read\n")


def test_push_names_what_cannot_be_read_in_time(project, serve, langfuse):
    serve(greets)
    project.lift("run", "--only", "greet-0", "--experiment", "e")
    langfuse.scores.clear()

    done = project.lift("push", "e", "--wait", "--timeout", "0")

    assert done.returncode == 3
    assert "cannot be read yet: greetings/greet-0 with_skill r1: score passed" in done.stdout
    told = json.loads(project.lift("push", "e", "--wait", "--timeout", "0", "--json").stdout)
    assert {"trial": "greetings/greet-0 with_skill r1", "what": "score rubric"} in told["e"][
        "missing"
    ]


def test_a_run_keeps_the_pages_of_its_pull_request_whoever_sends_it(project, serve, langfuse):
    serve(greets)
    langfuse.faults.append(Fault("/api/public/projects", status=401))
    project.variables |= {
        "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "acme/skills", "GITHUB_REF": "refs/pull/12/merge",
        "GITHUB_RUN_ID": "77",
    }  # fmt: skip
    project.lift("run", "--only", "greet-0", "--experiment", "e")
    langfuse.faults.clear()
    for name in [name for name in project.variables if name.startswith("GITHUB_")]:
        del project.variables[name]

    assert project.lift("push").returncode == 0
    for root in langfuse.roots():
        metadata = json.loads(root["attributes"]["langfuse.experiment.metadata"])
        assert metadata["langfuse.pr_url"] == "https://github.com/acme/skills/pull/12"
        assert metadata["langfuse.github_job_url"].endswith("/acme/skills/actions/runs/77")
        assert (metadata["provider"], metadata["model"]) == ("anthropic", "claude-sonnet-5-5")


def test_a_sync_that_is_killed_goes_on_and_writes_nothing_twice(project, langfuse):
    path = project.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace("range(10)", "range(400)"), "utf-8")
    process = project.start("sync", "--langfuse-limit", "6000")
    assert wait_for(lambda: len(langfuse.versions) >= 100)
    process.kill()
    process.communicate(timeout=60)
    written = len(langfuse.versions)
    assert 100 <= written < 400

    done = project.lift("sync", "--json")

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["greetings"]
    assert len(found["created"]) == 400 - written
    assert len(found["unchanged"]) == written
    assert {len(versions) for versions in langfuse.versions.values()} == {1}


def test_a_check_names_what_would_change(project, langfuse):
    project.lift("sync")
    path = project.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace("range(10)", "range(1, 11)"), "utf-8")

    done = project.lift("sync", "--check")

    assert done.returncode == 1
    assert "greetings:greet-10 would be created" in done.stderr
    assert "greetings:greet-0 would be archived" in done.stderr


def test_a_limit_that_is_none_is_refused(project, langfuse):
    done = project.lift("sync", "--langfuse-limit", "fast")

    assert done.returncode == 2
    assert "langfuse_limit cannot be 'fast'" in done.stderr
    assert langfuse.asked == []


def test_a_notebook_gets_frames(project, serve, langfuse):
    import lift

    serve(greets)
    project.lift("--full", "--experiment", "e")
    lines = [f"{name}={value}" for name, value in project.variables.items() if "FUSE" in name]
    (project.root / ".env").write_text("\n".join(lines), "utf-8")

    found = lift.pull("e", folder=project.root)

    assert len(found.trials) == 20
    assert set(found.scores["evaluator"]) == {"rubric"}
    assert found.annotations.empty
