"""Servers that are not as they should be: the run has its result, and a person is told."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from conftest import greets
from langfuse_project import OLD, SECRET_KEY, Fault, Langfuse
from servers import Says

from lift.langfuse.wire import LONGEST_TEXT_BYTES


def too_old(langfuse: Langfuse) -> None:
    langfuse.version = OLD


def wrong_key(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/v2", status=401)]


def no_project(langfuse: Langfuse) -> None:
    langfuse.projects = []


def a_page(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/", html=True)]


def no_v4(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/experiment-items", status=404)]


def fast(langfuse: Langfuse) -> None:
    langfuse.ahead_s = 600


def slow(langfuse: Langfuse) -> None:
    langfuse.ahead_s = -600


@pytest.mark.parametrize(
    ("odd", "told", "whole"),
    [
        (too_old, "is older than 4.59: scores take its older route", True),
        (wrong_key, "Langfuse refuses the key", False),
        (no_project, "the key belongs to no project", False),
        (a_page, "not the Langfuse API", False),
        (no_v4, "this Langfuse has no experiments", False),
        (fast, "Langfuse took 2 trials", True),
        (slow, "Langfuse took 2 trials", True),
    ],
)
def test_the_run_ends_with_its_result(
    project, serve, langfuse, odd: Callable[[Langfuse], None], told: str, whole: bool
):
    serve(greets)
    odd(langfuse)
    done = project.lift("run", "--only", "greet-0", "--experiment", "e")
    back = project.lift("compare", "e", "--from", "langfuse") if whole else None

    assert done.returncode == 0, done.stderr
    assert "with_skill minus without_skill" in done.stdout
    assert told in " ".join(done.stderr.split())
    assert ("lift push sends them" in done.stderr) is not whole
    assert SECRET_KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert back is None or back.returncode == 0


def test_a_reply_of_5_mb_is_cut_there_and_whole_here(project, serve, langfuse):
    serve(lambda *_: Says("hello() " + "x" * 5_000_000))
    done = project.lift("run", "--only", "greet-0", "--experiment", "e")
    # masking so much takes a slow machine longer than a run waits for
    pushed = project.lift("push")

    assert done.returncode == pushed.returncode == 0, (done.stderr, pushed.stderr)
    assert len(langfuse.spans) == 4
    for span in langfuse.spans:
        output = span["attributes"]["langfuse.observation.output"]
        assert LONGEST_TEXT_BYTES < len(output) < LONGEST_TEXT_BYTES + 200
        assert output.endswith("the journal has it whole: lift show]")
    shown = json.loads(project.lift("show", "greet-0", "--json").stdout)
    assert len(json.dumps(shown)) > 10_000_000
