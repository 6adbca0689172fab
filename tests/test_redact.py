"""Secrets go, everything else stays."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lift.redact import PLACEHOLDER, Redactor, found, redacted
from lift.redact.corpus import cases, fake, free, made, ordinary, pem
from lift.redact.evaluation import evaluated
from lift.redact.scan import KINDS

ROOT = Path(__file__).parent.parent
CASES = cases()
MARKS = sorted({mark for kind in KINDS for mark in kind.marks})
SECRETS = sorted({case.secret for case in CASES})
ONE, TWO = made("ghp_{36a}", "1"), made("ghp_{36a}", "2")

# Texts that are likely to hold secrets, halves of them, what stands around them, and anything else.
PIECES = [*SECRETS, *MARKS, "<github-token:1>", "-", "\\n", "=", ": ", "@", '"']


def piece(number: int) -> str:
    return PIECES[number]


pieces = st.integers(0, len(PIECES) - 1).map(piece)
texts = st.lists(pieces | st.text(max_size=8), max_size=8).map("".join)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
values: st.SearchStrategy[Any] = st.recursive(
    scalars | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(texts, inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("kind", sorted({kind.name for kind in KINDS}))
def test_every_secret_of_the_corpus_is_masked_and_nothing_else(kind: str):
    spelled = [case for case in CASES if case.kind == kind]

    assert [case for case in spelled if redacted(case.text) != case.expected] == []


def test_the_corpus_has_many_kinds_in_many_spellings():
    spellings = Counter(case.kind for case in CASES)

    assert len(spellings) >= 100
    assert min(spellings.values()) >= 3


def test_the_corpus_is_found_in_full_and_raises_no_false_alarm():
    found = evaluated()

    assert (found.missed, found.alarms) == ((), ())
    assert (found.recall, found.precision) == (1.0, 1.0)


@pytest.mark.parametrize("text", ordinary(), ids=lambda text: text[:24])
def test_ordinary_text_is_unchanged(text: str):
    assert found(text) == []
    assert redacted(text) is text


@pytest.mark.parametrize("folder", ["skills", "datasets", "docs", "lift/stats", "activation"])
def test_what_the_project_is_made_of_is_unchanged(folder: str):
    files = [path for path in sorted((ROOT / folder).rglob("*.*")) if path.suffix != ".pyc"]
    alarms = {path.name: found(path.read_text("utf-8")) for path in files if path.is_file()}

    assert {name: spans for name, spans in alarms.items() if spans} == {}


def quoted(text: str) -> str:
    return json.dumps({"log": f"a\n{text}\nb"}, ensure_ascii=False)


WRAPPED: dict[str, Callable[[str], str]] = {
    "JSON": quoted,
    "JSON in JSON": lambda text: json.dumps(quoted(text), ensure_ascii=False),
    "code": repr,
    "block": lambda text: "a:\n  b: |\n    " + text.replace("\n", "\n    "),
    "comment": lambda text: "\n".join(f"# {line}" for line in text.splitlines()),
    "fence": lambda text: f"- x\n\n```\n{text}\n```\n",
    "table": lambda text: f"| a | {text} | b |",
    "markup": lambda text: f"<td>{text}</td>",
    "sentence": lambda text: f"See ({text}), please.",
    "carriage returns": lambda text: f"x\r\n{text}\r\ny",
}


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_no_secret_is_left_whatever_it_is_wrapped_in(wrapping: str):
    left = []
    for case in CASES:
        text = WRAPPED[wrapping](case.text)
        if case.secret in text and case.secret in redacted(text):
            left.append(case)

    assert left == []


def test_what_is_found_says_kind_and_place():
    text = f"a {ONE}\nb {TWO}"

    spans = found(text)

    assert [(span.kind, text[span.start : span.end]) for span in spans] == [
        ("github-token", ONE),
        ("github-token", TWO),
    ]


def test_the_same_secret_gets_the_same_placeholder():
    value = {"first": ONE, "second": [TWO, f"again {ONE}"], "third": (TWO,)}

    assert redacted(value) == {
        "first": "<github-token:1>",
        "second": ["<github-token:2>", "again <github-token:1>"],
        "third": ("<github-token:2>",),
    }


def test_numbers_go_on_over_kinds_and_parts_of_a_document():
    document = Redactor()
    other = made("npm_{36a}")

    assert document.value(ONE) == "<github-token:1>"
    assert document.value([other, ONE]) == ["<npm-token:2>", "<github-token:1>"]
    assert Redactor().value(other) == "<npm-token:1>"


def test_a_dicts_keys_are_masked_and_come_before_its_values():
    assert redacted({"a": ONE, TWO: 1}) == {"a": "<github-token:2>", "<github-token:1>": 1}


def test_a_placeholder_that_is_there_is_not_given_again():
    value = {ONE: 1, "<github-token:1>": 2}

    assert redacted(value) == {"<github-token:2>": 1, "<github-token:1>": 2}


@pytest.mark.parametrize(
    ("key", "shape", "kind"),
    [
        ("AWS_SECRET_ACCESS_KEY", "{40b}", "aws-secret-key"),
        ("api_secret", "{20a}", "secret"),
        ("password", "p\"{4a}'9(x)", "password"),
        ("phone", "4155550132", "phone"),
        ("ssn", "219099998", "ssn"),
    ],
)
def test_a_value_under_a_telling_key_is_masked(key: str, shape: str, kind: str):
    value = made(shape)

    assert redacted({key: value, "sha1": value}) == {key: f"<{kind}:1>", "sha1": value}
    assert redacted({key: [value]}) == {key: [f"<{kind}:1>"]}


@pytest.mark.parametrize("apart", [1, 3000, 9000, 40_000])
def test_a_secret_whose_edge_another_hides_is_found_wherever_they_are(apart: int):
    pair = made("access-sandbox-{uuid}", "1") + made("hvs.{90u}", "2")
    text = (" x" * apart + " ").join(["", pair, "", pair, ""])

    assert [span.kind for span in found(text)] == ["plaid-token", "vault-token"] * 2
    assert redacted(text) == text.replace(pair, "<plaid-token:1><vault-token:2>")


def test_a_value_that_a_label_beside_it_names_is_masked():
    value = made("{20a}")

    assert redacted([{"name": "API_KEY", "value": value}]) == [
        {"name": "API_KEY", "value": "<secret:1>"}
    ]


@pytest.mark.parametrize("between", [":", "\n", ",", " and the secret ", '", "secret": "'])
def test_an_aws_secret_beside_its_key_id_is_masked(between: str):
    key_id, secret = made("AKIA{16U}"), fake(38) + "/+"

    assert redacted(key_id + between + secret) == f"<aws-access-key:1>{between}<aws-secret-key:2>"


def test_a_commit_beside_an_aws_key_id_is_no_secret():
    commit = fake(40, "h")

    assert redacted(f"{made('AKIA{16U}')} {commit}").endswith(commit)


@pytest.mark.parametrize("between", ["", "-", "_", "\n"])
def test_a_secret_right_behind_another_is_masked(between: str):
    block = pem("PRIVATE KEY")
    key = made("AIza{35a}")

    assert redacted(f"{block}{between}{key}") == f"<private-key:1>{between}<google-api-key:2>"


def test_of_two_that_overlap_no_part_is_left():
    login = made("sk_live_{24a}")
    text = f"https://user:{login}{'-' * 3}x@example.com"

    hidden = redacted(text)

    assert login not in hidden
    assert "x@" not in hidden


def test_a_secret_of_many_lines_in_a_list_is_masked_once():
    value = [pem("RSA PRIVATE KEY"), json.dumps({"key": pem("RSA PRIVATE KEY")})]

    assert redacted(value)[0] == "<private-key:1>"
    assert json.loads(redacted(value)[1]) == {"key": "<private-key:2>"}


def test_types_are_kept_and_the_input_is_not_changed():
    class Mode(StrEnum):
        FAST = "fast"

    class Pair(NamedTuple):
        left: str
        right: Any

    value = {"pair": Pair(ONE, [ONE, None]), "mode": Mode.FAST, 3: (1.5, True, b"x"), "at": {1}}
    before = copy.deepcopy(value)

    hidden = redacted(value)

    assert value == before
    assert hidden["pair"] == Pair("<github-token:1>", ["<github-token:1>", None])
    assert isinstance(hidden["pair"], Pair)
    assert hidden["mode"] is Mode.FAST
    assert (hidden[3], hidden["at"]) == ((1.5, True, b"x"), {1})


def test_depth_and_cycles_are_no_reason_to_fail():
    deep: Any = ONE
    for _ in range(20_000):
        deep = [deep]
    round_trip: dict[str, Any] = {"secret": ONE}
    round_trip["self"] = round_trip

    hidden = redacted(deep)
    for _ in range(20_000):
        (hidden,) = hidden

    assert hidden == "<github-token:1>"
    assert redacted(round_trip)["self"]["self"]["secret"] == "<github-token:1>"


def test_half_a_surrogate_pair_is_no_reason_to_fail():
    assert redacted(f"\ud83d{ONE}\ude00") == "\ud83d<github-token:1>\ude00"


@pytest.mark.parametrize("length", [1, 7, 20])
def test_a_secret_cut_short_is_no_secret(length: int):
    whole = [secret for kind, secret in free() if kind in {"github-token", "npm-token"}]

    assert [part for part in (secret[:length] for secret in whole) if found(part)] == []


@given(texts)
def test_masking_twice_changes_nothing_more(text: str):
    once = redacted(text)

    assert redacted(once) == once
    assert found(once) == []


@given(texts)
def test_what_is_not_a_secret_stays_in_place(text: str):
    spans = found(text)
    kept = [text[a.end : b.start] for a, b in pairwise(spans)]

    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(part in redacted(text) for part in kept)


@given(st.text())
def test_text_without_a_mark_is_unchanged(text: str):
    for mark in MARKS:
        text = "".join(text.lower().split(mark))

    assert redacted(text) is text


def shape(value: Any) -> Any:
    """A value with its strings blotted out."""
    if isinstance(value, dict):
        return {"dict": [(isinstance(key, str), shape(item)) for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [type(value), *map(shape, value)]
    return str if isinstance(value, str) else value


@given(values)
def test_structure_is_kept(value: Any):
    before = copy.deepcopy(value)

    hidden = redacted(value)

    assert shape(hidden) == shape(value)
    assert value == before
    assert redacted(hidden) == hidden


@given(st.lists(st.sampled_from(sorted(free())), min_size=1, max_size=6))
def test_no_secret_is_left_in_a_value_of_many(secrets: list[tuple[str, str]]):
    value = {"steps": [{"text": f"before {secret} after"} for _, secret in secrets]}

    masked = [step["text"] for step in redacted(value)["steps"]]

    for (kind, secret), text in zip(secrets, masked, strict=True):
        assert secret not in text
        assert PLACEHOLDER.sub(kind, text) == f"before {kind} after"
