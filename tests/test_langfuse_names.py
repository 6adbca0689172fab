"""Ids, names and metadata in Langfuse: derived, unmistakable, and read back as they went."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langfuse_trials import planned, vote

from lift.langfuse import ids, wire
from lift.langfuse import planned as plans
from lift.langfuse.ids import RunName
from lift.langfuse.links import Side, comparison_url, runs_url, sides

slugs = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)
models = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def test_a_runs_id_is_the_one_that_a_server_gave_it():
    known = ids.experiment_id("rig-project", "cmx29qg72000ag67dbzmexq4n", "proofres/with/r1")

    assert known == "35452b5f3f020505"


def test_a_trials_trace_id_is_the_one_that_the_sdk_makes_of_its_key():
    from langfuse import Langfuse

    (trial, *_) = planned().trials

    assert ids.of_trial(trial).id == Langfuse.create_trace_id(seed=trial.key)


def test_every_trial_attempt_and_vote_has_ids_of_its_own():
    trials = planned(models=("m1", "m2"), repeats=2).trials
    traces = [ids.of_trial(trial) for trial in trials]
    traces += [ids.of_trial(trial.model_copy(update={"attempt": 2})) for trial in trials]
    traces += [ids.of_vote(trial, vote(trial, number)) for trial in trials for number in (1, 2)]

    found = [id for trace in traces for id in trace]
    assert len(set(found)) == len(found) == 3 * 4 * len(trials)
    assert traces[0] == ids.of_trial(trials[0])


@pytest.mark.parametrize("id", ["", "0" * 32, "f" * 31, "F" * 32, "g" * 32, "٣" * 32])
def test_an_id_that_a_server_misreads_is_refused(id: str):
    with pytest.raises(ValueError, match="is not an id"):
        ids.checked(id, 32)


@given(
    slugs, st.sampled_from(["with_skill", "old_skill"]), st.just("") | models, st.integers(1, 99)
)
def test_a_runs_name_says_what_it_is(dataset: str, condition: str, model: str, repeat: int):
    parts = RunName(dataset, condition, model, repeat)

    assert ids.parsed(ids.run_name("exp", parts), "exp") == parts


@pytest.mark.parametrize("name", ["exp2/d/with_skill/r1", "exp/r1", "exp/d/with_skill/1", "exp"])
def test_another_name_is_no_run(name: str):
    assert ids.parsed(name, "exp") is None


def read_as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@given(st.text(), st.booleans())
def test_a_text_in_metadata_comes_back_whatever_the_server_does_with_it(text: str, parsed: bool):
    there = wire.flat({"key": text})["key"]

    assert wire.text(read_as_json(there) if parsed else there) == text


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(), st.booleans())
def test_a_number_in_metadata_comes_back_as_it_was(number: float, parsed: bool):
    there = wire.flat({"key": number})["key"]

    assert float(wire.text(read_as_json(there) if parsed else there)) == float(number)


@given(st.integers(0, 4_000_000_000_000))
def test_a_time_comes_back_to_the_millisecond(at_ms: int):
    assert wire.milliseconds(wire.moment(at_ms)) == at_ms


def test_a_time_without_a_zone_is_utc():
    assert wire.milliseconds("1970-01-01T00:00:01.5") == 1500


@given(st.text(st.characters()))
def test_every_text_can_be_stored(text: str):
    stored = wire.storable(text + "\0\ud800")

    stored.encode()
    assert "\0" not in stored


def test_a_long_text_is_cut_and_says_where_the_rest_is():
    text = wire.cut("ü" * 150_000)

    assert len(text.encode()) < 200_100
    assert text.endswith("[cut here, 300000 bytes in all; the journal has it whole: lift show]")
    assert wire.cut("ü" * 100_000) == "ü" * 100_000


places = st.builds(plans.Cell, slugs, st.sampled_from(["with_skill", "without_skill"]), models,
                   st.integers(1, 20), slugs)  # fmt: skip


@given(st.dictionaries(places, st.integers(1, 99), max_size=12))
def test_what_is_planned_comes_back_out_of_metadata(counts: dict[plans.Cell, int]):
    metadata = plans.metadata(plans.written(counts))

    assert plans.read(plans.from_metadata(metadata)) == Counter(counts)
    assert all(len(value) <= 180 for value in metadata.values())


def test_what_is_planned_is_short():
    rows = [trial.model_dump() for trial in planned(12, models=("m1", "m2"), repeats=3).trials]

    assert plans.written(plans.counted(rows)) == (
        "greetings|with_skill@m1,with_skill@m2,without_skill@m1,without_skill@m2|1,2,3"
        "|long=4,short=8"
    )


def test_a_plan_that_is_not_whole_plans_nothing():
    assert plans.read("greetings|with_skill@m1|1|long=") == Counter()


def test_the_missing_trials_are_those_that_other_runs_have():
    rows = [trial.model_dump() for trial in planned(4, repeats=2).trials]
    left = [row for row in rows if row["repeat"] == 1 or row["item"] != "greet-2"]

    missing = plans.missing(plans.counted(rows), left)

    assert [(row["item"], row["repeat"], row["status"]) for row in missing] == [
        ("greet-2", 2, "planned"),
        ("greet-2", 2, "planned"),
    ]


def test_missing_trials_that_nobody_names_are_counted():
    rows = [trial.model_dump() for trial in planned(4).trials]

    missing = plans.missing(plans.counted(rows), [row for row in rows if row["item"] == "greet-0"])

    assert Counter(row["item"] for row in missing) == {"?1": 4, "?2": 2}


def test_the_most_complete_run_is_the_baseline_and_of_several_the_one_without_the_skill():
    with_1, with_2, without_1 = (
        Side("with_skill", 1), Side("with_skill", 2), Side("without_skill", 1),
    )  # fmt: skip

    assert sides({with_1: 9, with_2: 9, without_1: 9}) == [without_1, with_1, with_2]
    assert sides({with_1: 9, with_2: 9, without_1: 8})[0] == with_1
    assert len(sides({Side("with_skill", number): 9 for number in range(1, 20)})) == 10


def test_a_link_leads_to_the_runs_side_by_side():
    url = urlsplit(comparison_url("https://host", "p 1", ["a", "b", "c"]))

    assert url.path == "/project/p%201/experiments/results"
    assert parse_qs(url.query) == {"baseline": ["a"], "c": ["b", "c"]}
    assert "filter=metadata%3BstringObject%3Bexperiment%3B%3D%3Bexp" in runs_url("h", "p", "exp")
