"""Masking ends, whatever a text is made of; that it is linear is what `--growth` measures."""

from __future__ import annotations

import runpy
from itertools import pairwise
from pathlib import Path

import pytest

from lift.redact import found
from lift.redact.corpus import cases

BENCHMARK = runpy.run_path(str(Path(__file__).parent.parent / "benchmarks" / "redaction.py"))
LENGTH = 12_000


@pytest.mark.parametrize("part", range(8))
def test_every_text_that_goes_on_and_on_ends(part: int):
    for unit in BENCHMARK["units"]()[part::8]:
        text = BENCHMARK["repeated"](unit, LENGTH)
        spans = found(text)

        assert all(0 <= span.start < span.end <= len(text) for span in spans), unit
        assert all(a.end <= b.start for a, b in pairwise(spans)), unit


def test_secrets_that_hide_each_other_end():
    chain_of_secrets = "".join(case.secret for case in cases()[::7]) * 20

    spans = found(chain_of_secrets)

    assert all(a.end <= b.start for a, b in pairwise(spans))
