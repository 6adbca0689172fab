"""Sending while a run works: nothing waits for its end, and nothing is sent twice, whoever dies."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter

import pytest
from conftest import greets, power_cut, wait_for
from langfuse_project import ITEMS, OTEL, Fault, Langfuse

from lift.outbox import meanwhile

SECONDS = 60.0
"""After which a test stops waiting for what never comes."""


def roots(langfuse: Langfuse) -> Counter[str]:
    return Counter(span["trace"] for span in langfuse.spans if not span["parent"])


def holding(item: str, until: threading.Event):
    """A model that does not answer one item before the event."""

    def script(body, attempt):
        if f"person {item}." in str(body["messages"]):
            until.wait(SECONDS)
        return greets(body, attempt)

    return script


def test_trials_are_there_before_the_run_ends(project, serve, langfuse):
    arrived = threading.Event()
    serve(holding("9", arrived))
    process = project.start("--full", "--experiment", "e")

    early = wait_for(lambda: sum(roots(langfuse).values()) == 18)
    arrived.set()
    _, err = process.communicate(timeout=SECONDS)

    assert early, err
    assert process.returncode == 0, err
    assert len(roots(langfuse)) == sum(roots(langfuse).values()) == 20
    assert "Langfuse took 20 trials, 20 with scores, 0 votes" in err
    assert {id: len(versions) for id, versions in langfuse.versions.items()} == {
        f"greetings:greet-{number}": 1 for number in range(10)
    }


@pytest.mark.parametrize("by_power", [False, True], ids=["SIGTERM", "power cut"])
def test_what_a_run_that_dies_had_sent_is_not_sent_again(project, serve, langfuse, by_power):
    arrived = threading.Event()
    serve(holding("9", arrived))
    process = project.start("--full", "--experiment", "e")
    assert wait_for(lambda: roots(langfuse))
    if by_power:
        power_cut(process)
    else:
        process.terminate()
        time.sleep(1)  # the calls in flight have 5 s; the signal is to come before they end
    arrived.set()
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode != 0

    pushed = project.lift("push")

    assert pushed.returncode == 0, (err, pushed.stderr)
    assert sum(roots(langfuse).values()) == len(roots(langfuse)) >= 18
    before = len(langfuse.writes())
    assert project.lift("push").returncode == 0
    assert len(langfuse.writes()) == before


@pytest.mark.parametrize("path", [OTEL, "/api/public/scores", ITEMS])
def test_a_push_that_is_killed_is_done_again_and_doubles_nothing(project, serve, langfuse, path):
    langfuse.faults = [Fault("/api/public/projects", status=401)]
    serve(greets)
    project.lift("--full", "--experiment", "e")
    assert not langfuse.spans
    langfuse.faults = [Fault(path, method="POST", hang=True, stored=True)]
    process = project.start("push")
    assert wait_for(lambda: langfuse.writes(path))
    process.kill()
    process.communicate(timeout=SECONDS)
    langfuse.faults = []

    pushed = project.lift("push")

    assert pushed.returncode == 0, pushed.stderr
    assert sum(roots(langfuse).values()) == len(roots(langfuse)) == 20
    assert len(langfuse.spans) == 40
    assert set(Counter(score["name"] for score in langfuse.scores.values()).values()) == {20}
    assert {len(versions) for versions in langfuse.versions.values()} == {1}


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/api/public/", status=401), Fault(OTEL, status=500), Fault(OTEL, hang=True),
        Fault("/api/public/", html=True), Fault("/api/public/", reset=True),
    ],
    ids=["401", "500", "hang", "html", "reset"],
)  # fmt: skip
def test_a_server_that_fails_meanwhile_is_no_matter_to_the_run(project, serve, langfuse, fault):
    langfuse.faults = [fault]
    asked = threading.Event()
    serve(holding("9", asked))
    process = project.start("--full", "--experiment", "e")

    assert wait_for(lambda: any(a.path.startswith(fault.path) for a in langfuse.asked))
    asked.set()
    out, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 0, err
    assert "HELPS" in out
    assert "unsent" in err
    assert "Traceback" not in err


def test_a_server_that_hangs_is_not_asked_again_at_the_end(project, serve, langfuse):
    langfuse.faults = [Fault("/api/public/", hang=True)]
    old = threading.Event()
    serve(holding("9", old))
    process = project.start("--full", "--experiment", "e")
    assert wait_for(lambda: langfuse.asked)
    time.sleep(meanwhile.OLD_S + 0.5)
    old.set()
    _, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 0, err
    assert len(langfuse.asked) == 1
    assert "40 parts are unsent" in err
    assert "the server does not answer in time" in err


def test_what_is_left_at_the_end_goes_over_the_same_connection(project, serve, langfuse):
    arrived = threading.Event()
    serve(holding("9", arrived))
    process = project.start("--full", "--experiment", "e")
    assert wait_for(lambda: sum(roots(langfuse).values()) == 18)
    arrived.set()
    _, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 0, err
    assert sum(roots(langfuse).values()) == 20
    assert len([a for a in langfuse.asked if a.path == "/api/public/health"]) == 1


def test_an_interrupt_leaves_the_rest_for_push(project, serve, langfuse):
    never = threading.Event()
    serve(holding("9", never))
    process = project.start("--full", "--experiment", "e")
    assert wait_for(lambda: roots(langfuse))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    never.set()

    assert process.returncode == 130
    assert "lift push sends to Langfuse what it has not taken" in err
