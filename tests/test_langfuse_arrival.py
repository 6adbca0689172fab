"""Waiting: until all of an experiment can be read, and what cannot is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langfuse_project import Fault, Langfuse
from langfuse_trials import connected, known, planned, record, sent

from lift.journal import Journal
from lift.langfuse import arrival
from lift.langfuse.arrival import Piece
from lift.langfuse.faults import Refused

ITEMS, OBSERVATIONS, SCORES = (
    f"/api/public/{name}" for name in ("experiment-items", "v2/observations", "v3/scores")
)


@pytest.fixture
def journal(journal: Journal) -> Journal:
    """Two items under both conditions, one of them errored, the other judged."""
    record(journal, planned(2), fails=lambda trial: trial.item == "greet-1", votes=1)
    return journal


def waited(journal: Journal, langfuse: Langfuse, *, seconds: float = 60.0) -> tuple[Any, str]:
    """What is missing in the end, and why the last look failed."""
    with connected(langfuse) as connection:
        wanted = arrival.awaited(connection, journal.records("exp"), known(journal))
        why = arrival.wait(connection, wanted, seconds=seconds)
    return wanted.missing, why


def test_what_can_be_read_is_not_waited_for(journal: Journal, langfuse: Langfuse):
    sent(journal, langfuse)
    before = len(langfuse.asked)

    assert waited(journal, langfuse) == ([], "")
    lists = [asked.path for asked in langfuse.asked[before:] if asked.path in (ITEMS, SCORES)]
    assert sorted(lists) == [ITEMS, SCORES]


@pytest.mark.parametrize("path", [ITEMS, OBSERVATIONS, SCORES])
def test_a_list_that_is_behind_is_asked_for_again(journal: Journal, langfuse: Langfuse, path: str):
    sent(journal, langfuse)
    langfuse.behind[path] = 3

    assert waited(journal, langfuse) == ([], "")
    assert langfuse.behind[path] == 0


def test_what_never_shows_is_named(journal: Journal, langfuse: Langfuse):
    sent(journal, langfuse)
    langfuse.spans = [s for s in langfuse.spans if s["name"] != "judge"]
    lost = next(id for id, score in langfuse.scores.items() if score["name"] == "style")
    trial = langfuse.scores.pop(lost)["metadata"]["condition"]

    missing, _why = waited(journal, langfuse, seconds=0)

    assert missing == sorted([
        Piece("greetings/greet-0 with_skill r1", "vote judge/1"),
        Piece("greetings/greet-0 without_skill r1", "vote judge/1"),
        Piece(f"greetings/greet-0 {trial} r1", "score style"),
    ])  # fmt: skip


def test_nothing_of_an_experiment_that_was_not_sent_can_be_read(
    journal: Journal, langfuse: Langfuse
):
    missing, why = waited(journal, langfuse, seconds=0)

    assert why == ""
    assert {piece.trial for piece in missing if piece.what == "trace"} == {
        f"greetings/greet-{n} {side}_skill r1" for n in (0, 1) for side in ("with", "without")
    }
    assert Piece("greetings/greet-1 with_skill r1", "score errored") in missing


def test_several_models_are_told_apart(tmp_path: Path, langfuse: Langfuse):
    with Journal(tmp_path / "two.db") as two:
        record(two, planned(1, models=("m1", "m2")))
        missing, _why = waited(two, langfuse, seconds=0)

    assert {piece.trial.rpartition(" ")[2] for piece in missing} == {"m1", "m2"}


@pytest.mark.parametrize("path", [ITEMS, OBSERVATIONS, SCORES])
@pytest.mark.parametrize(
    "fault", [Fault("", status=503, times=9), Fault("", reset=True, times=9)], ids=["503", "reset"]
)
def test_a_server_that_fails_for_a_while_is_asked_again(
    journal: Journal, langfuse: Langfuse, path: str, fault: Fault
):
    sent(journal, langfuse)
    langfuse.faults = [Fault(path, status=fault.status, reset=fault.reset, times=9)]

    assert waited(journal, langfuse) == ([], "")


def test_a_server_that_fails_to_the_end_says_why(journal: Journal, langfuse: Langfuse):
    sent(journal, langfuse)
    langfuse.faults = [Fault(SCORES, status=503)]

    missing, why = waited(journal, langfuse, seconds=0)

    assert {piece.what.split()[0] for piece in missing} == {"score"}
    assert "takes no more now" in why


def test_a_key_that_is_refused_is_no_reason_to_wait(journal: Journal, langfuse: Langfuse):
    sent(journal, langfuse)
    langfuse.faults = [Fault(SCORES, status=401)]

    with pytest.raises(Refused, match="refuses the key"):
        waited(journal, langfuse)


def test_a_server_without_a_list_of_observations_lacks_nothing_in_it(
    journal: Journal, langfuse: Langfuse
):
    sent(journal, langfuse)
    langfuse.faults = [Fault(OBSERVATIONS, status=404)]

    assert waited(journal, langfuse) == ([], "")


@pytest.mark.parametrize(
    ("address", "seconds"),
    [
        ("https://cloud.langfuse.com", 1200.0),
        ("https://us.cloud.langfuse.com", 1200.0),
        ("https://langfuse.example.org", 600.0),
        ("http://127.0.0.1:3000", 600.0),
        ("https://notlangfuse.com", 600.0),
    ],
)
def test_the_cloud_is_given_more_time(address: str, seconds: float):
    assert arrival.patience_s(address) == seconds
