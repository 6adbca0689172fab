"""Secrets go, everything else stays."""

from __future__ import annotations

import copy
import json
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secrets_corpus import Case, aws, cases, fake, free, ordinary, pem, token

from lift.redact import KINDS, PLACEHOLDER, Redactor, found, redacted

CASES = cases()
MARKERS = sorted({marker for kind in KINDS for marker in kind.markers})
SECRETS = sorted({case.secret for case in CASES})
ONE, TWO = token("gh", "p_", fake(36, seed="1")), token("gh", "p_", fake(36, seed="2"))

# Texts that are likely to hold secrets, halves of them, what stands around them, and anything else.
pieces = st.sampled_from([*SECRETS, *MARKERS, "<github-token:1>", "-", "\\n", "=", ": ", "@", '"'])
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

    assert len(spelled) >= 3
    assert [case for case in spelled if redacted(case.text) != case.expected] == []


def test_the_corpus_has_many_kinds():
    assert len({case.kind for case in CASES}) >= 30


@pytest.mark.parametrize("text", ordinary(), ids=lambda text: text[:24])
def test_ordinary_text_is_unchanged(text: str):
    assert found(text) == []
    assert redacted(text) is text


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
    other = token("np", "m_", fake(36))

    assert document.value(ONE) == "<github-token:1>"
    assert document.value([other, ONE]) == ["<npm-token:2>", "<github-token:1>"]
    assert Redactor().value(other) == "<npm-token:1>"


def test_a_dicts_keys_are_masked_and_come_before_its_values():
    assert redacted({"a": ONE, TWO: 1}) == {"a": "<github-token:2>", "<github-token:1>": 1}


def test_a_placeholder_that_is_there_is_not_given_again():
    value = {ONE: 1, "<github-token:1>": 2}

    assert redacted(value) == {"<github-token:2>": 1, "<github-token:1>": 2}


@pytest.mark.parametrize("case", list(aws())[:1], ids=lambda case: case.kind)
def test_a_value_under_a_telling_key_is_masked(case: Case):
    hidden = redacted({"AWS_SECRET_ACCESS_KEY": case.secret, "sha1": case.secret})

    assert hidden == {"AWS_SECRET_ACCESS_KEY": "<aws-secret-key:1>", "sha1": case.secret}


@pytest.mark.parametrize("between", [":", "\n", ",", " and the secret ", '", "secret": "'])
def test_an_aws_secret_beside_its_key_id_is_masked(between: str):
    key_id, secret = token("AK", "IA", "Q" * 12, "2345"), fake(38) + "/+"

    assert redacted(key_id + between + secret) == f"<aws-access-key:1>{between}<aws-secret-key:2>"


def test_a_commit_beside_an_aws_key_id_is_no_secret():
    commit = fake(40, "0123456789abcdef")

    assert redacted(f"{token('AK', 'IA', 'Q' * 16)} {commit}").endswith(commit)


@pytest.mark.parametrize("between", ["", "-", "_", "\n"])
def test_a_secret_right_behind_another_is_masked(between: str):
    block = pem("PRIVATE KEY")
    key = token("AI", "za", fake(35))

    assert redacted(f"{block}{between}{key}") == f"<private-key:1>{between}<google-api-key:2>"


def test_of_two_that_overlap_no_part_is_left():
    login = token("sk", "_live_", fake(24))
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
def test_text_without_a_marker_is_unchanged(text: str):
    for marker in MARKERS:
        text = "".join(text.lower().split(marker))

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
