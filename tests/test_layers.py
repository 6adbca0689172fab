"""Imports point down only, and each SDK is imported in one place."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import greets

ROOT = Path(__file__).parent.parent

LAYERS = {
    "lift.errors": 0,
    "lift.daemons": 0,
    "lift.schema": 0,
    "lift.github": 0,
    "lift.paths": 0,
    "lift.files": 0,
    "lift.yaml": 0,
    "lift.pyproject": 1,
    "lift.modules": 1,
    "lift.network": 1,
    "lift.credentials": 1,
    "lift.settings": 2,
    "lift.conditions": 1,
    "lift.revisions": 2,
    "lift.pricing": 1,
    "lift.skill": 1,
    "lift.evaluators": 1,
    "lift.dataset": 2,
    "lift.plan": 3,
    "lift.names": 4,
    "lift.frames": 3,
    "lift.journal": 4,
    "lift.budget": 4,
    "lift.worklist": 4,
    "lift.backends": 4,
    "lift.runner": 6,
    "lift.judging": 5,
    "lift.resolve": 5,
    "lift.grouping": 4,
    "lift.comparing": 5,
    "lift.ahead": 5,
    "lift.tables": 6,
    "lift.forecast": 6,
    "lift.prepare": 7,
    "lift.perform": 8,
    "lift.ordered": 8,
    "lift.batching": 9,
    "lift.langfuse": 6,
    "lift.redact": 1,
    "lift.stats": 1,
    "lift.replies": 5,
    "lift.review": 9,
    "lift.outbox": 10,
    "lift.against": 6,
    "lift.results": 8,
    "lift.verdict": 6,
    "lift.detecting": 7,
    "lift.diagnostics": 6,
    "lift.measures": 6,
    "lift.thresholds": 3,
    "lift.agreement": 3,
    "lift.labels": 5,
    "lift.judged": 11,
    "lift.suggesting": 7,
    "lift.advice": 9,
    "lift.gate": 7,
    "lift.baselines": 8,
    "lift.gating": 9,
    "activation": 6,
    "lift.reports": 10,
    "lift.doctor": 11,
    "lift.api": 11,
    "lift.cli": 12,
    "lift": 13,
}

ONLY_IN = {
    "anthropic": "lift.backends",
    "httpx2": "lift.backends",
    "httpx": "lift.langfuse",
    "langfuse": "lift.langfuse",
    "opentelemetry": "lift.langfuse",
    "sqlite3": "lift.journal",
    "phonenumbers": "lift.redact",
    "stdnum": "lift.redact",
    "dotenv": "lift.settings",
    "rich": ("lift.reports", "lift.cli"),
}


def modules() -> dict[str, Path]:
    paths = [*ROOT.glob("lift/**/*.py"), *ROOT.glob("activation/**/*.py")]
    return {dotted(path): path for path in paths}


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def unit(name: str) -> str:
    """The part of the layout a module belongs to: `lift.cli` of `lift.cli.run`."""
    return next((n for n in (".".join(name.split(".")[:2]), name.split(".")[0]) if n in LAYERS), "")


def test_every_module_has_a_layer():
    assert [name for name in modules() if not unit(name)] == []


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_point_down(name: str):
    if name == "lift":  # its names are resolved lazily; see the test below
        return
    targets = {unit(target) for target in imports(modules()[name]) if unit(target)}
    targets -= {unit(name), "lift"}  # `lift` is the version

    assert {t for t in targets if LAYERS[t] >= LAYERS[unit(name)]} == set()


@pytest.mark.parametrize("sdk", sorted(ONLY_IN))
def test_a_foreign_package_is_imported_in_its_place_only(sdk: str):
    homes = ONLY_IN[sdk]
    strangers = [
        name
        for name, path in modules().items()
        if any(target.split(".")[0] == sdk for target in imports(path))
        and not name.startswith(homes)
    ]

    assert strangers == []


@pytest.mark.parametrize("name", ["rich.table", "rich.panel"])
def test_what_reads_strings_as_markup_is_imported_in_one_place_only(name: str):
    users = [n for n, path in modules().items() if any(t.startswith(name) for t in imports(path))]

    assert users == ["lift.reports.screen"]


HEAVY = [
    "anthropic", "langfuse", "pandas", "phonenumbers", "pydantic", "rich", "sqlite3",
    "stdnum", "yaml",
]  # fmt: skip


@pytest.mark.parametrize("statement", ["import lift", "import lift.cli"])
def test_importing_loads_nothing_heavy(statement: str):
    code = f"import sys; {statement}; print(*set({HEAVY!r}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


ANALYSIS = ["numpy", "pandas", "scipy"]
LIGHT = [
    ("list",), ("lint", "skills/greet"), ("doctor",), ("push",), ("cache",),
]  # fmt: skip


def test_what_compares_nothing_does_not_load_what_compares(project, serve):
    serve(greets)
    assert project.lift("--quick").returncode == 0
    for args in LIGHT:
        code = f"""
import atexit, sys
from lift.cli import main
atexit.register(lambda: print("loaded", *set({ANALYSIS!r}) & set(sys.modules)))
main({args!r})
"""
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=project.root, env=project.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

        assert done.stdout.splitlines()[-1] == "loaded", args


def test_the_reports_load_while_answers_are_awaited():
    code = "from lift.cli.run import _load_reports as load; load(); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"pandas", "scipy.special", "lift.results", "lift.reports.terminal"} <= {
        *done.stdout.split()
    }


POSSESSIVE = re.compile(r"\)(?:[*+?]|\{[^\s{}]*\})\+[^\s+]")


@pytest.mark.parametrize("name", sorted(modules()))
def test_no_pattern_repeats_a_group_possessively(name: str):
    # Python before 3.11.5 matches `(?:…)*+` wrongly; an atomic group, `(?>(?:…)*)`, is the same
    strings = [
        node.value
        for node in ast.walk(ast.parse(modules()[name].read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]

    assert [text for text in strings if POSSESSIVE.search(text) and "\n" not in text] == []


def test_every_public_name_resolves():
    import lift

    assert [name for name in lift.__all__ if getattr(lift, name, None) is None] == []
