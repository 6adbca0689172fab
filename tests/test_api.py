"""What a notebook calls: it takes what the command takes, asks the same, and can be interrupted."""

from __future__ import annotations

import inspect
import json
import signal
import threading
from collections import Counter

import pytest
from conftest import Project, greets, interrupted_twice, wait_for
from servers import Says

import lift
from lift.cli.run import command

PLAIN = "import lift\n{}"
IN_A_LOOP = """
import asyncio, lift

async def cell():
    {}

asyncio.run(cell())
"""
IN_A_NOTEBOOK = """
import asyncio, lift

def cell():
    try:
        {}
    finally:
        loop.stop()

loop = asyncio.new_event_loop()
loop.call_soon(cell)
loop.run_forever()
"""
KINDS = pytest.mark.parametrize(
    "kind", [PLAIN, IN_A_LOOP, IN_A_NOTEBOOK], ids=["plain", "loop", "notebook"]
)


def statuses(project: Project) -> Counter[str]:
    rows = json.loads(project.lift("show", "--json").stdout)["trials"]
    return Counter(row["status"] for row in rows)


def test_it_takes_what_the_command_takes():
    names = {"datasets": "datasets", "categories": "category", "tags": "tag", "models": "model"}
    only_shown = {"full", "dry_run", "out", "as_json", "no_cache", "fail_on"}
    takes_hours = {"batch", "no_wait"}
    options = {names.get(parameter.name, parameter.name) for parameter in command.params}
    parameters = inspect.signature(lift.run).parameters

    assert options - only_shown - takes_hours == set(parameters) - {"folder"}
    assert all(one.kind is one.KEYWORD_ONLY for name, one in parameters.items() if name != "skill")


def test_every_parameter_is_documented():
    text = inspect.getdoc(lift.run) or ""

    assert [
        name for name in inspect.signature(lift.run).parameters if f"{name}: " not in text
    ] == []


@KINDS
def test_a_run_gives_frames(project, serve, kind):
    serve(greets)

    done = project.python(kind.format("print(lift.run('greet', quick=True).categories.to_json())"))

    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert list(table["delta"].values()) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        ("only='greet-7'", 2),
        ("only=['greet-7', 'greet-1*']", 4),
        ("category='short'", 10),
        ("category=('short', 'long')", 20),
        ("only='greet-7', repeats=3", 6),
        ("only='greet-7', model=['claude-sonnet-5-5', 'claude-haiku-5-5']", 4),
        ("datasets='greetings', quick=True, repeats=1", 6),
    ],
)
def test_filters_are_the_commands(project, serve, arguments, calls):
    model = serve(greets)

    done = project.python(f"import lift; lift.run('greet', {arguments})")

    assert done.returncode == 0, done.stderr
    assert len(model.calls) == calls


def test_experiments_are_named_and_asked_again(project, serve):
    model = serve(greets)
    named = "lift.run('greet', only='greet-0', experiment='e')"
    again = "lift.run('greet', only='greet-0', again=True)"

    done = project.python(f"import lift; {named}; {named}; {again}; {again}")

    assert done.returncode == 0, done.stderr
    assert (
        len(model.calls) == 4 or len(model.calls) == 6
    )  # two fresh ones within one second are one
    names = {one["experiment"]["name"] for one in json.loads(project.lift("list", "--json").stdout)}
    assert "e" in names
    assert len(names) == len(model.calls) / 2


def test_a_run_that_costs_much_needs_a_yes(project, serve):
    model = serve(greets)
    project.variables["LIFT_CONFIRM_ABOVE_USD"] = "0.01"

    refused = project.python("import lift; lift.run('greet')")

    assert refused.returncode == 1
    assert "UsageError: about $" in refused.stderr
    assert "pass yes=True" in refused.stderr
    assert model.calls == []
    assert project.python("import lift; lift.run('greet', yes=True)").returncode == 0


def test_the_ceiling_holds(project, serve):
    model = serve(lambda *_: Says("hello()", output_tokens=1000))

    done = project.python("import lift; lift.run('greet', max_tokens=1000, max_cost_usd=0.05)")

    assert "CeilingReached" in done.stderr
    assert len(model.calls) * 0.01002 <= 0.05


@KINDS
def test_an_interrupt_stops_the_run_and_keeps_every_answer(project, serve, kind):
    model = serve(lambda *_: Says("hello()", seconds=0.15))
    process = project.start_python(kind.format("lift.run('greet', concurrency=2)"))
    assert wait_for(lambda: len(model.calls) >= 5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert "Interrupted: interrupted by SIGINT; every answer so far is recorded" in err
    asked = len(model.calls)
    assert asked < 20
    assert statuses(project)["ok"] == asked
    project.lift("--full", "--concurrency", "2")
    assert len(model.calls) == 20


@pytest.mark.parametrize("kind", [IN_A_LOOP, IN_A_NOTEBOOK], ids=["loop", "notebook"])
def test_a_second_interrupt_cuts_the_calls_and_they_count(project, serve, kind):
    hold = threading.Event()
    model = serve(lambda *_: Says(seconds=hold.wait(30) * 0.0))
    process = project.start_python(kind.format("lift.run('greet')"))
    err = interrupted_twice(process, model)
    hold.set()

    assert "Interrupted" in err
    (known,) = json.loads(project.lift("list", "--json").stdout)
    assert known["experiment"]["lost_usd"] > 0


def test_a_terminated_notebook_settles_and_ends(project, serve):
    model = serve(lambda *_: Says("hello()", seconds=0.15))
    process = project.start_python(IN_A_NOTEBOOK.format("lift.run('greet', concurrency=2)"))
    assert wait_for(lambda: len(model.calls) >= 5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)

    assert process.returncode == -signal.SIGTERM
    assert statuses(project)["ok"] == len(model.calls) < 20


def test_an_interrupt_ends_the_waiting_for_another_process(project, serve):
    hold = threading.Event()
    model = serve(lambda *_: Says("hello()", seconds=hold.wait(60) * 0.0))
    other = project.start("--full")
    assert wait_for(lambda: len(model.calls) >= 2)
    module = project.root / "datasets" / "greetings.py"
    loaded = project.root / "loaded"
    module.write_text(f"{module.read_text()}\nopen({str(loaded)!r}, 'w').close()\n", "utf-8")
    process = project.start_python(IN_A_NOTEBOOK.format("lift.run('greet')"))
    assert wait_for(loaded.exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert "Interrupted: interrupted by SIGINT" in err
    hold.set()
    other.communicate(timeout=60)
    assert len(model.calls) == 20


def test_what_handled_signals_before_handles_them_again(project, serve):
    serve(greets)
    check = (
        "before = signal.getsignal(signal.SIGINT); lift.run('greet', quick=True); "
        "print(signal.getsignal(signal.SIGINT) is before)"
    )

    done = project.python(
        IN_A_NOTEBOOK.replace("import asyncio", "import signal, asyncio").format(check)
    )

    assert done.stdout.strip() == "True", done.stderr
