"""`lift run --batch` and `lift collect`: the real command, a real server, kills at every place."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
from collections import Counter
from typing import Any

import pytest
import servers
from conftest import Project, greets, wait_for
from servers import Says

from lift.journal import Call, Entry
from lift.ordered import ready
from lift.schema import Trial

JUDGED = 'judge=True, skill="greet",'


@pytest.fixture
def judged(project: Project) -> Project:
    """The project's items have criteria, and the dataset asks for a judge."""
    path = project.root / "datasets" / "greetings.py"
    text = path.read_text("utf-8").replace("quick=", 'judge_criteria="Greets.", quick=')
    path.write_text(text.replace('skill="greet",', JUDGED), "utf-8")
    return project


def is_vote(body: dict[str, Any]) -> bool:
    return "output_config" in body


def judges(body: dict[str, Any], attempt: int) -> Says:
    """A model that greets, and a judge that gives 4 of 5."""
    vote = json.dumps({"rationale": "so", "score": 4})
    return Says(vote) if is_vote(body) else greets(body, attempt)


def person(body: dict[str, Any]) -> int:
    return int(body["messages"][0]["content"].split()[-1].rstrip("."))


def sizes(model: servers.Model) -> list[int]:
    return [len(batch.requests) for batch in model.batches]


def result(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def statuses(project: Project) -> Counter[str]:
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    return Counter(row["status"] for row in rows)


def journal(project: Project, statement: str) -> list[Any]:
    with sqlite3.connect(project.root / ".lift" / "journal.db") as db:
        rows = db.execute(statement).fetchall()
    db.close()
    return rows


def test_answers_by_batch_are_those_of_a_live_run_at_half_the_price(judged, serve):
    model = serve(judges)
    wanted = result(judged.lift("--full", "--json", "--experiment", "live"))
    assert len(model.calls) == 40
    batched = ("--full", "--batch", "--no-cache", "--experiment", "batched")

    done = judged.lift(*batched, "--json")

    told = result(done)
    assert len(model.calls) == 40
    assert sizes(model) == [20, 20]
    assert [is_vote(batch.requests[0]["params"]) for batch in model.batches] == [False, True]
    assert (told["categories"], told["judged"]) == (wanted["categories"], wanted["judged"])
    assert told["experiment"]["cost_usd"] == pytest.approx(wanted["experiment"]["cost_usd"] / 2)
    assert told["experiment"]["lost_usd"] == 0
    assert "40 of 40 calls ended" in done.stderr
    assert judged.lift(*batched).returncode == 0
    assert len(model.batches) == 2


def test_a_dry_run_shows_half_the_price_and_asks_nothing(project, serve):
    model = serve(greets)
    live = result(project.lift("--full", "--dry-run", "--json"))
    half = result(project.lift("--full", "--dry-run", "--json", "--batch"))

    assert half["calls"] == live["calls"]
    assert half["usd"] == pytest.approx(live["usd"] / 2)
    assert not (project.root / ".lift").exists()
    assert model.batches == []


def test_custom_ids_are_what_the_api_takes_and_never_the_same_twice(project, serve):
    model = serve(greets)
    model.fate = lambda _body, attempt: servers.EXPIRED if attempt < 2 else servers.SUCCEEDED
    assert project.lift("--full", "--batch").returncode == 0
    names = [one["custom_id"] for batch in model.batches for one in batch.requests]

    assert sizes(model) == [20, 20, 20]
    assert len(set(names)) == len(names)
    assert all(len(name) == 64 and name.isalnum() for name in names)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_cut_off_while_it_waits_what_was_submitted_is_collected_later(judged, serve, number):
    model = serve(judges)
    model.held = True
    process = judged.start("--full", "--batch")
    assert wait_for(
        lambda: model.batches and journal(judged, "SELECT 1 FROM batches WHERE name NOTNULL")
    )
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert "lift collect" in err
    model.held = False
    (judged.root / "datasets" / "greetings.py").unlink()

    told = result(judged.lift("collect", "--json"))

    assert sizes(model) == [20, 20]
    assert told["judged"]
    (everything,) = [row for row in told["categories"] if row["category"] == "all"]
    assert (everything["base"], everything["other"], everything["items"]) == (0, 1, 10)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("ended", [True, False])
def test_killed_while_it_submits_nothing_is_paid_twice_and_nothing_lost(
    project, serve, taken, ended
):
    model = serve(greets)
    hold, arrived = threading.Event(), threading.Event()

    def stall() -> None:
        arrived.set()
        hold.wait(60)
        if not taken:
            raise BrokenPipeError

    setattr(model, "after_taking" if taken else "before_taking", stall)
    process = project.start("--full", "--batch")
    assert arrived.wait(60)
    process.kill()
    process.communicate()
    hold.set()
    model.after_taking = model.before_taking = lambda: None
    model.held = not ended
    if not ended:
        assert project.lift("collect", "--no-wait").returncode == 0
        model.held = False

    done = project.lift("collect")

    assert done.returncode == 0, done.stderr
    assert sizes(model) == [20]
    assert statuses(project) == {"ok": 20}


def test_a_batch_that_was_taken_though_the_connection_broke_is_not_submitted_again(project, serve):
    model = serve(greets)
    model.loses = 1

    told = result(project.lift("--full", "--batch", "--json"))

    assert sizes(model) == [20]
    assert told["experiment"]["answered"] == 20


def test_a_batch_of_others_is_not_taken_for_ours(project, serve):
    model = serve(greets)
    assert project.lift("--full", "--batch", "--experiment", "others").returncode == 0
    journal(project, "UPDATE batches SET name = 'unknown'")  # as if another machine had made it
    model.refuses = [Says(status=500)]

    done = project.lift("--full", "--batch", "--no-cache", "--experiment", "ours")

    assert done.returncode == 0, done.stderr
    assert sizes(model) == [20, 20]
    assert statuses(project) == {"ok": 20}


@pytest.mark.parametrize(
    "refusal", [Says(status=429, headers=(("retry-after", "0"),)), Says(status=500),
                Says(status=529), Says(reset=True), Says(body=b"<html>"), Says(sent=0.5)], ids=repr,
)  # fmt: skip
def test_what_is_refused_for_a_while_is_tried_again(project, serve, refusal):
    model = serve(greets)
    model.refuses = [refusal] * 2
    process = project.start("--full", "--batch")
    assert wait_for(lambda: model.batches)
    model.refuses = [refusal] * 2  # of the looks that follow

    _, err = process.communicate(timeout=120)

    assert process.returncode == 0, err
    assert sizes(model) == [20]


def test_what_an_entry_may_end_as(project, serve):
    once = (servers.ERRORED, servers.EXPIRED, servers.MISSING, servers.GARBLED, servers.NO_JSON)
    model = serve(greets)

    def fate(body: dict[str, Any], attempt: int) -> str:
        fates = dict(enumerate(once)) if not attempt else {}
        fates |= {5: servers.ERRORED, 6: servers.INVALID, 7: servers.CANCELED}
        return fates.get(person(body), servers.SUCCEEDED)

    model.fate = fate

    done = project.lift("--full", "--batch")

    assert done.returncode == 3
    assert "INVALID" in done.stdout
    # those without an answer again, and the one that never has one three times more
    assert sizes(model) == [20, 12, 2, 2]
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    assert {r["item"] for r in rows if r["status"] == "errored"} == {
        "greet-5",
        "greet-6",
        "greet-7",
    }
    shown = project.lift("show", "--json", "greet-6").stdout
    whys = {t["evidence"]["why"] for t in json.loads(shown)["trials"]}
    assert whys == {"invalid_request_error: odd"}
    lost = journal(project, "SELECT item, sum(lost_usd) > 0 FROM latest JOIN attempts ON trial = id"
                            " GROUP BY item ORDER BY item")  # fmt: skip
    assert [item for item, some in lost if some] == ["greet-2", "greet-3", "greet-4"]
    model.fate = servers.Model.fate

    assert project.lift("--full", "--batch").returncode == 0
    assert sizes(model)[4:] == [6]


def test_a_refusal_is_failed_and_graded(project, serve):
    serve(lambda *_: Says("", stop_reason="refusal"))

    assert project.lift("--quick", "--batch").returncode == 0
    assert statuses(project) == {"failed": 12}


def test_a_vote_that_cannot_be_read_is_no_score_and_asked_by_the_next_command_alone(judged, serve):
    model = serve(lambda body, attempt: Says("5!") if is_vote(body) else greets(body, attempt))
    first = result(judged.lift("--quick", "--batch", "--json"))
    assert first["judged"] == []
    assert sizes(model) == [12, 12]
    model.script = judges

    second = result(judged.lift("--quick", "--batch", "--json"))

    assert second["judged"]
    assert sizes(model) == [12, 12, 12]
    costs = [one["experiment"]["cost_usd"] for one in (first, second)]
    assert costs[1] - costs[0] == pytest.approx(12 * (10 * 0.1 + 5 * 0.5) / 2e6)


def test_results_that_are_taken_in_twice_cost_once(judged, serve):
    model = serve(judges)
    before = result(judged.lift("--quick", "--batch", "--json"))
    # as a kill between recording an outcome and closing its entry leaves it
    journal(judged, "UPDATE entries SET done_ms = NULL")
    journal(judged, "UPDATE batches SET collected = 0")

    after = result(judged.lift("collect", "--json"))

    assert after == before
    assert sizes(model) == [12, 12]


def test_no_wait_submits_and_leaves(project, serve):
    model = serve(greets)
    model.held = True

    left = result(project.lift("--full", "--batch", "--no-wait", "--json"))
    looked = project.lift("collect", "--no-wait")

    assert left["in_batches"] == 20
    assert looked.returncode == 0
    assert "20 calls left for batches; lift collect goes on with them" in looked.stderr
    assert looked.stdout == ""
    waits = project.lift("compare").stdout
    assert "lift collect fetches 20 calls that wait in batches" in " ".join(waits.split())
    assert "for calls that broke off or wait in batches" in " ".join(waits.split())
    assert "lift collect fetches 20 calls" in project.lift("report").stdout
    assert json.loads(project.lift("compare", "--json").stdout)["experiment"]["in_batches"] == 20
    model.held = False
    assert result(project.lift("collect", "--no-wait", "--json"))["experiment"]["answered"] == 20
    assert sizes(model) == [20]


def test_a_run_that_asks_what_waits_for_a_batch_says_what_that_costs(project, serve):
    model = serve(greets)
    model.held = True
    project.skill.write_text(project.skill.read_text("utf-8") + "x" * 8000, "utf-8")
    project.lift("--full", "--batch", "--no-wait")
    assert sum(sizes(model)) == 11  # one writes the prompt cache; the others wait to read it
    done = project.lift("--full", "--dry-run")

    assert "11 trials in a batch: lift collect\n" in done.stderr
    assert "9 calls waiting for a batch will be made now instead, at twice its price" in done.stderr
    assert "; 9 calls, about" in done.stdout
    assert "instead" not in project.lift("--full", "--batch", "--dry-run").stderr


def test_another_judge_waits_for_the_votes_in_a_batch(judged, serve):
    model = serve(judges)

    def hold_votes() -> None:
        model.held = any(is_vote(one["params"]) for one in model.batches[-1].requests)

    model.after_taking = hold_votes
    judged.lift("--full", "--batch", "--no-wait")
    while not model.held:
        judged.lift("collect", "--no-wait")
    same = judged.lift("judge")
    other = judged.lift("judge", "--judge-model", "claude-sonnet-5")
    run = judged.lift("--full", "--judge-model", "claude-sonnet-5")

    assert same.returncode == 0
    assert "20 calls wait in batches: lift collect" in same.stderr
    for refused in (other, run):
        assert refused.returncode == 2
        assert "20 votes of claude-haiku-5-5 in a batch" in refused.stderr
    assert model.calls == []
    model.held = False
    judges_of = json.loads(judged.lift("collect", "--json").stdout)["judges"]
    assert [(one["model"], one["votes"]) for one in judges_of] == [("claude-haiku-5-5", 20)]


def test_collecting_goes_on_with_every_experiment_that_waits(project, serve):
    model = serve(greets)
    for name in ("one", "two"):
        project.lift("--full", "--batch", "--no-wait", "--no-cache", "--experiment", name)

    done = project.lift("collect")

    assert done.returncode == 0, done.stderr
    assert [name in done.stdout for name in ("one", "two")] == [True, True]
    nothing = project.lift("collect")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert "nothing of any experiment goes by batch" in nothing.stderr
    assert sizes(model) == [20, 20]


def test_two_processes_collect_nothing_twice(judged, serve):
    model = serve(judges)
    model.held = True
    judged.lift("--full", "--batch", "--no-wait")
    both = [judged.start("collect") for _ in range(2)]
    model.held = False
    outcomes = [process.communicate(timeout=120) for process in both]

    assert [process.returncode for process in both] == [0, 0], outcomes
    assert sizes(model) == [20, 20]


def test_a_live_run_asks_nothing_that_is_in_a_batch(judged, serve):
    model = serve(judges)
    model.held = True
    judged.lift("--full", "--batch", "--no-wait", "--experiment", "e", "--category", "short")

    live = judged.lift("--full", "--experiment", "e")

    assert live.returncode == 3
    assert "10 trials in a batch: lift collect" in live.stderr
    assert len(model.calls) == 20
    nothing = judged.lift("--full", "--experiment", "e", "--category", "short")
    assert nothing.returncode == 3
    assert len(model.calls) == 20
    model.held = False
    assert result(judged.lift("collect", "--json"))["experiment"]["answered"] == 20
    assert sizes(model) == [10, 10]


def test_votes_that_are_in_a_batch_are_not_asked_live(judged, serve):
    model = serve(judges)
    judged.lift("--quick", "--no-judge", "--experiment", "e")
    model.held = True
    judged.lift("--quick", "--batch", "--no-wait", "--experiment", "e")
    assert sizes(model) == [12]

    assert judged.lift("--quick", "--experiment", "e").returncode == 0
    assert judged.lift("judge", "e").returncode == 0

    assert len(model.calls) == 12
    model.held = False
    assert result(judged.lift("collect", "--json"))["judged"]


def test_answers_of_equal_requests_are_used_before_anything_is_submitted(judged, serve):
    model = serve(judges)
    judged.lift("--full", "--only", "greet-1", "--only", "greet-2")
    before = len(model.calls)

    told = result(judged.lift("--full", "--batch", "--json"))

    assert len(model.calls) == before == 8
    assert sizes(model) == [16, 16]
    assert sum(one["answers"] for one in told["experiment"]["reused"]) == 4
    assert judged.lift("--full", "--experiment", "live").returncode == 0
    assert len(model.calls) == before


def test_the_ceiling_holds_in_chunks_and_a_higher_one_goes_on(project, serve):
    model = serve(lambda *_: Says("hello()", output_tokens=1000))
    worst_usd = 0.00503
    command = ("--full", "--max-tokens", "1000", "--batch")

    partial = project.lift(*command, "--max-cost-usd", "0.05")

    assert partial.returncode == 4, partial.stderr
    # each costs nearly its worst case
    assert sizes(model) == [9]
    assert 10 * worst_usd > 0.05
    assert statuses(project) == {"ok": 9, "skipped": 11}
    assert project.lift(*command, "--max-cost-usd", "0.05").returncode == 4
    assert sizes(model) == [9]

    done = project.lift(*command, "--max-cost-usd", "0.2")

    assert done.returncode == 0, done.stderr
    assert sizes(model) == [9, 11]


def test_what_does_not_fit_yet_follows_when_others_turn_out_cheap(project, serve):
    model = serve(greets)
    model.held = True
    command = ("--full", "--max-tokens", "1000", "--batch", "--max-cost-usd", "0.03")
    first = project.lift(*command, "--no-wait")
    assert first.returncode == 0, first.stderr
    assert sizes(model) == [5]
    spent = json.loads(project.lift("list", "--json").stdout)[0]["experiment"]
    assert 0.024 < spent["lost_usd"] <= 0.03
    model.held = False

    done = project.lift("collect", "--json")  # under the ceiling that was given to the order

    assert sizes(model) == [5, 5, 5, 5]
    assert result(done)["experiment"]["lost_usd"] == 0


def test_the_last_dollars_are_not_spent_call_by_call(project, serve):
    model = serve(lambda *_: Says("hello()", output_tokens=700))
    command = ("--full", "--repeats", "3", "--max-tokens", "1000", "--batch")

    partial = project.lift(*command, "--max-cost-usd", "0.1")

    assert partial.returncode == 4, partial.stderr
    assert "the next 4 calls may cost" in partial.stderr
    assert sizes(model) == [19, 6]


def test_one_call_writes_a_prefix_before_the_others_read_it(project, serve):
    project.skill.write_text(project.skill.read_text() + "More. " * 2000, "utf-8")
    model = serve(greets)
    assert project.lift("--full", "--batch").returncode == 0
    with_skill = [
        [len(one["params"]["system"]) == 2 for one in batch.requests] for batch in model.batches
    ]

    assert with_skill == [[True], [False] * 10, [True] * 9]
    lives = {
        one["params"]["system"][-1].get("cache_control", {}).get("ttl")
        for batch in (model.batches[0], model.batches[2])
        for one in batch.requests
    }
    assert lives == {"1h"}


def test_another_server_is_not_asked_for_the_batches_of_the_first(project, serve):
    first = serve(greets)
    project.lift("--full", "--batch", "--no-wait")
    second = serve(greets)

    for command in (("collect",), ("--full", "--batch")):
        done = project.lift(*command)
        assert done.returncode == 3
        assert first.url in done.stderr
    assert (second.calls, second.batches) == ([], [])


def test_batches_that_the_server_has_no_more_can_be_given_up(project, serve):
    model = serve(greets)
    project.lift("--full", "--batch", "--no-wait")
    model.batches.clear()

    stuck = project.lift("collect")
    assert stuck.returncode == 3
    assert "does not have the batch msgbatch_0" in stuck.stderr
    assert project.lift("collect", "--give-up").returncode == 3
    assert statuses(project) == {"errored": 20}

    assert project.lift("--full").returncode == 0
    assert len(model.calls) == 20


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (Says("bad key", status=401), "refuses the key"),
        (Says("no such path", status=404), "has no Message Batches"),
        (Says("too many", status=400), "too many"),
        (Says("no money", status=402), "cannot pay"),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
def test_what_the_server_does_not_take_stops_the_run_and_can_be_asked_live(
    project, serve, refusal, words
):
    model = serve(greets)
    model.refuses = [refusal]

    refused = project.lift("--full", "--batch")

    assert refused.returncode == 3
    assert words in refused.stderr
    assert project.lift("--full").returncode == 0
    assert (len(model.calls), model.batches) == (20, [])


def test_a_key_that_the_server_repeats_is_not_shown(project, serve):
    key = "sk-" + "fake-" + "1" * 12
    model = serve(greets)
    project.variables["ANTHROPIC_API_KEY"] = key
    model.fate = lambda _body, _attempt: servers.INVALID
    model.says_of_errors = key

    done = project.lift("--quick", "--batch")

    assert done.returncode == 3
    assert "<key>" in done.stderr
    (text,) = journal(project, "SELECT group_concat(why) FROM attempts")[0]
    assert key not in done.stderr + done.stdout + text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--quick", "--batch", "--backend", "demo"), "canned demo replies do not go by batch"),
        (("--quick", "--no-wait"), "--no-wait goes with --batch"),
        (("collect", "nothing"), "no experiment"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_refused(project, serve, arguments, words):
    serve(greets)
    project.lift("--quick", "--experiment", "some")

    done = project.lift(*arguments)

    assert done.returncode == 2
    assert words in done.stderr


def test_an_evaluator_that_a_journal_cannot_hold_is_refused_before_anything_is_asked(
    project, serve
):
    model = serve(greets)
    project.dataset("""
from lift import Dataset, Item, Rubric

class Own(Rubric):
    pass

DATASET = Dataset(name="greetings", skill="greet", items=[
    Item(id="a", category="c", prompt="Greet 1.", rubric=Own(must_use=["hello("]), quick=True),
])
""")

    done = project.lift("--quick", "--batch")

    assert done.returncode == 2
    assert "greetings/a" in done.stderr
    assert model.batches == []


def entry(
    number: int, prefix: str | None, *, batch: int | None = None, done: bool = False
) -> Entry:
    trial = Trial(
        experiment="e", dataset="d", item=f"i{number}", category="c", condition="with_skill",
        model="m", repeat=1, item_hash="h", condition_hash="h",
    )  # fmt: skip
    call = Call(trial.key, "answer", 1)
    return Entry(number, call, trial, "m", prefix, 0.1, 0.0, 0, batch, "", 1 if done else None)


@pytest.mark.parametrize(
    ("entries", "warm", "first", "rest"),
    [
        ([entry(1, None), entry(2, None)], set(), [], [1, 2]),
        ([entry(1, "p"), entry(2, "p"), entry(3, "q"), entry(4, None)], set(), [1], [3, 4]),
        ([entry(1, "p", batch=1), entry(2, "p"), entry(3, None)], set(), [], [3]),
        ([entry(1, "p", batch=1), entry(2, "p")], {"p"}, [], [2]),
        ([entry(1, "p", batch=1, done=True), entry(2, "p"), entry(3, "p")], set(), [2], []),
        ([entry(1, "p", batch=1, done=True), entry(2, "p"), entry(3, "p")], {"p"}, [], [2, 3]),
    ],
)
def test_nobody_goes_before_the_prefix_is_written(entries, warm, first, rest):
    found = ready(entries, warm)

    assert [[one.id for one in group] for group in found] == [first, rest]
