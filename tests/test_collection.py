"""The tests are named alike wherever and whenever they are collected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_names_of_tests_depend_on_no_moment_and_no_order_of_a_set(request: pytest.FixtureRequest):
    """Workers of one run collect at different moments, with hash seeds of their own.

    One name that differs between two of them fails the whole run, now and then.
    """
    later = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [item.nodeid for item in request.session.items]
    assert set(here) <= set(later.stdout.splitlines())
