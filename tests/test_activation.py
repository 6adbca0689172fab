"""Activation: the prompts, the question about them, and what is made of the answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import servers
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError
from scipy.stats import binom

from activation import probe
from activation.metrics import Confusion, confusion, coverage, misses
from activation.probe import Choice, Entry, Outcome, jobs, listed, outcomes, read
from activation.prompts import TriggerPrompt, TriggerPrompts, discover
from lift.backends import Backend, demo
from lift.backends.messages import Messages
from lift.budget import Budget
from lift.dataset import discover as discover_items
from lift.dataset import load as load_dataset
from lift.errors import CeilingReached, DatasetError, SkillError
from lift.pricing import price_of
from lift.runner import Run
from lift.schema import Evidence, Label, Status
from lift.settings import Credential
from lift.skill import load

ROOT = Path(__file__).parent.parent
DATASETS = ROOT / "datasets"
SKILL = ROOT / "skills" / "vaadin-playwright-test"
(EXAMPLES,) = discover(DATASETS)

ENTRY = Entry(name="greet", description="Use when greeting somebody.")

MODULE = """from lift import TriggerPrompt, TriggerPrompts
DATASET = TriggerPrompts(name="p", skill="greet", prompts=[
    TriggerPrompt(id="hello", prompt="Say hello.", loads=True, why="a greeting"),
    TriggerPrompt(id="bye", prompt="Say goodbye.", loads=False, why="no greeting"),
])
"""


def clock() -> int:
    return 1_000


def prompt(name: str, *, loads: bool = True) -> TriggerPrompt:
    return TriggerPrompt(id=name, prompt=f"Do {name}.", loads=loads, why=f"why {name}")


def prompts(*names: str) -> TriggerPrompts:
    return TriggerPrompts(name="p", skill="greet", prompts=[prompt(name) for name in names])


def outcome(loads: bool, *votes: bool | None, name: str = "x") -> Outcome:
    """What became of a prompt that was decided by these votes."""
    evidence = Evidence(status=Status.OK)
    return Outcome(
        prompt=prompt(name, loads=loads),
        choices=tuple(
            Choice(
                prompt=name,
                number=number,
                load=vote,
                reason=f"vote {number}",
                model="m",
                prompt_hash="h",
                evidence=evidence,
            )
            for number, vote in enumerate(votes, 1)
        ),
    )


def ask(
    asked: TriggerPrompts, script: servers.Script, *, ceiling_usd: float = 1.0, votes: int = 1
) -> tuple[tuple[Outcome, ...], list[dict[str, Any]]]:
    """The outcomes of prompts with a scripted model, and the bodies of the calls."""

    async def run(backend: Backend) -> None:
        try:
            work = Run(opened=lambda: backend, budget=Budget(ceiling_usd), clock=clock)
            await work.all(jobs(asked, ENTRY, choices.append, votes=votes), workers=4)
        finally:
            await backend.close()

    choices: list[Choice] = []
    with servers.serving(script) as model:

        async def go() -> None:
            credential = Credential(base_url=model.url, api_key=SecretStr("k"))
            prices = {probe.MODEL: price_of(probe.MODEL)}
            await run(Messages(credential, prices=prices, concurrency=4, deadline_s=5, clock=clock))

        try:
            asyncio.run(go())
        except* CeilingReached:
            pass
    return outcomes(asked, choices), model.calls


def says(load: Any, reason: str = "because") -> servers.Says:
    return servers.Says(text=json.dumps({"reason": reason, "load": load}))


# ---- The prompts


def test_there_are_as_many_near_misses_as_prompts_that_should_load():
    counts = Counter(each.loads for each in EXAMPLES.prompts)

    assert counts[True] == counts[False] >= 22
    assert len({each.prompt for each in EXAMPLES.prompts}) == len(EXAMPLES.prompts)
    assert EXAMPLES.skill == load(SKILL).name


def test_prompt_datasets_and_trigger_prompts_do_not_get_in_each_others_way(tmp_path: Path):
    (tmp_path / "p.py").write_text(MODULE, "utf-8")

    assert discover_items(tmp_path) == []
    assert [each.name for each in discover(tmp_path)] == ["p"]
    assert isinstance(load_dataset(tmp_path / "p.py"), TriggerPrompts)
    assert EXAMPLES.name not in {dataset.name for dataset in discover_items(DATASETS)}


def test_a_bad_trigger_prompt_is_named_with_its_line(tmp_path: Path):
    path = tmp_path / "p.py"
    path.write_text(MODULE.replace(', why="no greeting"', ""), "utf-8")

    with pytest.raises(DatasetError, match="'bye', field why") as refused:
        discover(tmp_path)

    assert refused.value.where == f"{path}:4"


def test_two_prompts_cannot_have_one_id():
    with pytest.raises(ValidationError, match="id 'a' is used by 2 prompts"):
        prompts("a", "a")


def test_every_prompt_has_a_canned_reply_and_a_few_of_them_are_wrong():
    canned = demo.load(DATASETS, EXAMPLES.name)
    backend = demo.Demo(canned, clock=clock)
    choices: list[Choice] = []
    work = Run(opened=lambda: backend, budget=Budget(1.0), clock=clock)

    asyncio.run(work.all(jobs(EXAMPLES, listed(load(SKILL)), choices.append), workers=2))
    found = outcomes(EXAMPLES, choices)

    assert set(canned) == {Label(EXAMPLES.name, each.id, probe.ROUTER) for each in EXAMPLES.prompts}
    assert coverage(found).unscored == ()
    assert {(miss.prompt, miss.should_load) for miss in misses(found)} == {
        ("issue-with-test", True),
        ("review-the-test", True),
        ("testbench", False),
    }
    assert all(choice.evidence.canned for choice in choices)


# ---- The question


def test_the_model_sees_what_a_client_lists_and_the_prompt_as_data():
    _, (body,) = ask(prompts("a"), lambda _body, _attempt: says(True))
    (system,) = body["system"]
    listing = [line for line in system["text"].splitlines() if line.startswith("- ")]

    assert body["model"] == "claude-haiku-5-5"
    assert "- greet: Use when greeting somebody." in listing
    assert len(listing) == 1 + len(probe.NEIGHBOURS)
    assert listing == sorted(listing)
    assert "skill `greet`" in system["text"]
    first, text, last = body["messages"][0]["content"].splitlines()
    assert text == "Do a."
    assert first.removeprefix("[request ") == last.removeprefix("[end of request ")
    assert "cache_control" not in system


def test_the_reason_comes_before_the_decision():
    _, (body,) = ask(prompts("a"), lambda _body, _attempt: says(True))
    schema = body["output_config"]["format"]["schema"]

    assert list(schema["properties"]) == schema["required"] == ["reason", "load"]
    assert schema["additionalProperties"] is False


def test_a_description_is_cut_where_the_client_cuts_it():
    entry = Entry(name="long", description="x" * 1_535 + "yz")

    assert str(entry) == f"- long: {'x' * 1_535}y"


def test_when_to_use_stands_behind_the_description(tmp_path: Path):
    path = tmp_path / "SKILL.md"
    path.write_text("---\nname: a\ndescription: Does a.\nwhen_to_use: On b.\n---\nText", "utf-8")

    assert listed(load(tmp_path)) == Entry(name="a", description="Does a. On b.")


@pytest.mark.parametrize("line", ["", "description: d\ndisable-model-invocation: true"])
def test_a_skill_that_no_client_lists_is_not_asked_about(tmp_path: Path, line: str):
    (tmp_path / "SKILL.md").write_text(f"---\nname: a\n{line}\n---\nText", "utf-8")

    with pytest.raises(SkillError, match=r"no client lists|no model sees"):
        listed(load(tmp_path))


# ---- The answers


def test_an_answer_is_a_decision_with_its_reason():
    def script(body: dict[str, Any], _attempt: int) -> servers.Says:
        return says("Do a." in body["messages"][0]["content"], "so it is")

    found, _ = ask(prompts("a", "b"), script)

    assert [(each.prompt.id, each.loads, each.reason) for each in found] == [
        ("a", True, "so it is"),
        ("b", False, "so it is"),
    ]
    assert found[0].choices[0].evidence.cost_usd > 0


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (servers.Says(text="I would load it."), "cannot be read: 'I would load it.'"),
        (servers.Says(text='{"reason": "r"}'), "cannot be read"),
        (says("true"), "cannot be read"),
        (says(1), "cannot be read"),
        (servers.Says(text='{"reason": "cut', stop_reason="max_tokens"), "cut off at max_tokens"),
        (servers.Says(text="", stop_reason="refusal"), "the model refused"),
        (servers.Says(text="no", status=400), "HTTP 400: no"),
    ],
)
def test_what_cannot_be_read_or_was_not_answered_is_unscored(reply: servers.Says, why: str):
    found, _ = ask(prompts("a"), lambda _body, _attempt: reply)

    assert found[0].loads is None
    assert why in found[0].reason
    assert confusion(found).scored == 0
    assert misses(found) == ()
    assert coverage(found).share == 0


def test_what_the_ceiling_left_out_is_unscored():
    found, calls = ask(prompts("a", "b"), lambda _body, _attempt: says(True), ceiling_usd=1e-6)

    assert calls == []
    assert [each.loads for each in found] == [None, None]
    assert {each.choices[0].evidence.status for each in found} == {Status.SKIPPED}


def test_several_votes_are_several_calls():
    answers = iter([True, False, True])

    found, calls = ask(prompts("a"), lambda _body, _attempt: says(next(answers)), votes=3)

    assert len(calls) == 3
    assert sorted(choice.number for choice in found[0].choices) == [1, 2, 3]
    assert found[0].loads is True


@pytest.mark.parametrize(
    ("votes", "loads", "reason"),
    [
        ([True], True, "vote 1"),
        ([False, True, True], True, "vote 2"),
        ([None, False, None], False, "vote 2"),
        ([True, False], None, "as many votes for loading as against"),
        ([None], None, "vote 1"),
        ([], None, "it was not asked"),
    ],
)
def test_most_votes_decide(votes: Sequence[bool | None], loads: bool | None, reason: str):
    decided = outcome(True, *votes)

    assert (decided.loads, decided.reason) == (loads, reason)


def test_a_vote_cast_again_replaces_the_first():
    first, second = (outcome(True, load, name="a").choices[0] for load in (None, True))

    (found,) = outcomes(prompts("a"), [first, second])

    assert found.choices == (second,)


@given(st.text(), st.booleans())
def test_a_reply_is_read_back(reason: str, load: bool):
    assert read(json.dumps({"reason": reason, "load": load})) == (load, reason)


@given(st.text())
def test_no_other_reply_is_a_decision(text: str):
    assert read(text)[0] is None


# ---- The numbers

# hand-computed: 8 of 10 prompts loaded rightly, 8 of 9 that should load did
EIGHT = Confusion(true_positives=8, false_positives=2, false_negatives=1, true_negatives=9)


def test_prompts_are_counted_by_what_should_have_happened():
    found = [
        *[outcome(True, True)] * 3,
        *[outcome(False, True)] * 2,
        outcome(True, False),
        *[outcome(False, False)] * 4,
        outcome(True, None),
        outcome(False, True, False),
    ]

    assert confusion(found) == Confusion(
        true_positives=3, false_positives=2, false_negatives=1, true_negatives=4
    )
    assert coverage(found).planned == 12
    assert coverage(found).share == pytest.approx(10 / 12)
    assert [why for _, why in coverage(found).unscored] == [
        "vote 1",
        "as many votes for loading as against",
    ]


@pytest.mark.parametrize(
    ("decided", "of", "invalid"),
    [(20, 20, ""), (19, 20, ""), (18, 20, "only 18 of 20"), (0, 2, "only 0 of 2")],
)
def test_too_few_decisions_mean_nothing(decided: int, of: int, invalid: str):
    found = coverage([outcome(True, True if n < decided else None) for n in range(of)])

    assert found.invalid.startswith(invalid)
    assert bool(found.invalid) is bool(invalid)


@pytest.mark.parametrize("command", ["activation", "static"])
def test_an_activation_with_too_few_decisions_is_printed_and_invalid(project, serve, command):
    broken = True

    def script(body: dict[str, Any], _attempt: int) -> servers.Says:
        bad = broken and "goodbye" in body["messages"][0]["content"]
        return servers.Says(status=400, text="odd") if bad else says(True)

    model = serve(script)
    project.dataset(MODULE, "p")
    done = project.lift(command, "--json", "--min-f1", "0.9")
    assert done.returncode == 3, done.stderr
    assert "activation is invalid: only 1 of 2 prompts were decided (HTTP 400: odd)" in done.stderr
    assert json.loads(done.stdout)["activation"]["invalid"].startswith("only 1 of 2")
    assert "INVALID: only 1 of 2" in project.lift(command).stdout
    broken, before = False, len(model.calls)

    again = project.lift(command, "--json")

    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["activation"]["invalid"] is None
    assert len(model.calls) - before == 1


@pytest.mark.parametrize("command", ["activation", "static"])
def test_without_a_key_the_missing_replies_and_the_key_are_named(project, command: str):
    project.dataset(MODULE, "p")

    done = project.lift(command)

    assert done.returncode == 3
    assert "set ANTHROPIC_API_KEY, or write the replies that are missing" in done.stderr


@pytest.mark.parametrize("command", ["activation", "static"])
def test_a_review_that_misses_a_threshold_says_what_it_measured(project, serve, command: str):
    serve(lambda *_: says(True))
    project.dataset(MODULE, "p")

    done = project.lift(command, "--min-f1", "0.9", "--fail-on", "precision<0.6")
    held = project.lift(command, "--min-f1", "0.66", "--fail-on", "recall<1")

    assert (done.returncode, held.returncode) == (1, 0), held.stderr
    assert "precision is 0.5, wanted at least 0.6; f1 is 0.6667, wanted at least 0.9" in done.stderr


def test_a_miss_has_both_reasons():
    (miss,) = misses([outcome(True, True), outcome(False, True, name="bad")])

    assert miss.prompt == "bad"
    assert miss.text == "Do bad."
    assert (miss.should_load, miss.why, miss.reason) == (False, "why bad", "vote 1")


def test_precision_recall_and_f1_are_what_a_pocket_calculator_says():
    precision, recall, f1 = EIGHT.precision, EIGHT.recall, EIGHT.f1
    assert precision
    assert recall
    assert f1

    assert precision.value == pytest.approx(0.8)
    assert precision.interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert recall.value == pytest.approx(8 / 9)
    assert recall.interval == pytest.approx((0.5650, 0.9801), abs=1e-4)
    assert f1.value == pytest.approx(16 / 19)
    assert f1.value == pytest.approx(2 * 0.8 * (8 / 9) / (0.8 + 8 / 9))
    # 8 of 11 is in (0.3903, 0.9398) by Clopper and Pearson; 2s / (1 + s) of both ends
    assert f1.interval == pytest.approx((0.5614, 0.9690), abs=1e-4)


@pytest.mark.parametrize(
    ("counts", "undefined"),
    [
        ((0, 0, 5, 5), {"precision"}),
        ((0, 5, 0, 5), {"recall", "f1"}),
        ((0, 0, 0, 5), {"precision", "recall", "f1"}),
        ((0, 0, 0, 0), {"precision", "recall", "f1"}),
        ((0, 2, 3, 5), set()),
    ],
)
def test_what_is_undefined_is_none(counts: tuple[int, int, int, int], undefined: set[str]):
    names = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    found = Confusion(**dict(zip(names, counts, strict=True)))

    assert {n for n in ("precision", "recall", "f1") if getattr(found, n) is None} == undefined


@given(*[st.integers(0, 60)] * 4)
def test_f1_and_its_interval_stay_between_0_and_1(tp: int, fp: int, fn: int, tn: int):
    f1 = Confusion(true_positives=tp, false_positives=fp, false_negatives=fn, true_negatives=tn).f1

    if f1:
        assert 0 <= f1.interval.low <= f1.value <= f1.interval.high <= 1


def test_the_interval_of_f1_covers_what_it_says():
    """With 26 + 26 prompts, whose numbers are fixed, it is sure enough and not much too wide."""
    n, should, near_miss = 26, 0.9, 0.1
    truth = 2 * should / (2 * should + near_miss + 1 - should)
    covered = 0.0
    for hits in range(n + 1):
        for alarms in range(n + 1):
            chance = binom.pmf(hits, n, should) * binom.pmf(alarms, n, near_miss)
            f1 = Confusion(
                true_positives=hits,
                false_positives=alarms,
                false_negatives=n - hits,
                true_negatives=n - alarms,
            ).f1
            if f1 and f1.interval.low <= truth <= f1.interval.high:
                covered += float(chance)

    assert 0.95 <= covered <= 0.99
