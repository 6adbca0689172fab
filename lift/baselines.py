"""Baselines and the ledger: read, written whole, and never half."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from lift.errors import BaselineError, visible
from lift.files import read_json, read_text
from lift.gate import SCHEMA, Baseline, Candidate, Ruling
from lift.redact import redacted

LEDGER = "ledger.md"
HEAD = """\
# Ledger

Every time a result was recorded or refused, one row.

| date | skill | model | PR | pages | before | after | outcome |
|---|---|---|---|---|---|---|---|
"""


def read(path: Path, item: str) -> Baseline:
    """The baseline in a file; one without any record where there is no file.

    Args:
        path: of the JSON file.
        item: the skill, or the suite's item, it should be about.

    Raises:
        BaselineError: the file is no baseline, of another schema, or about something else.
    """
    try:
        content = read_json(path)
    except FileNotFoundError:
        return Baseline(item=item)
    except (OSError, ValueError) as bad:
        why = bad.strerror if isinstance(bad, OSError) else bad
        raise BaselineError(
            f"the baseline is not readable JSON: {why}", where=str(path), fix="restore it from git"
        ) from bad
    found = content.get("schema") if isinstance(content, dict) else None
    if found != SCHEMA:
        named = repr(found) if isinstance(found, str | None) else "no text"
        raise BaselineError(
            f"the baseline's schema is {named:.80}, this lift knows {SCHEMA!r}",
            where=str(path),
            fix="update lift",
        )
    try:
        baseline = Baseline.model_validate(content)
    except ValidationError as bad:
        first = bad.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise BaselineError(f"{field}: {first['msg']}", where=str(path)) from bad
    if baseline.item != item:
        raise BaselineError(
            f"the baseline is about {baseline.item!r}, not {item!r}", where=str(path)
        )
    return baseline


def write(path: Path, baseline: Baseline) -> None:
    """Put a baseline into a file: all of it, or nothing."""
    content = baseline.model_dump(mode="json", by_alias=True)
    _replace(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def append(
    folder: Path,
    candidate: Candidate,
    ruling: Ruling,
    *,
    skill: str,
    pr: str,
    pages: Sequence[str],
    noisy: bool,
) -> None:
    """Add a row to the ledger.

    Args:
        folder: where the baselines are.
        candidate: what asked.
        ruling: what was said.
        skill: its name.
        pr: the pull request, as a number or an address.
        pages: names of the pages it cites.
        noisy: whether it was recorded with fewer repeats than it should have.
    """
    outcome = "accepted" if ruling.accepted else "rejected: " + "; ".join(ruling.reasons)
    cells = (
        candidate.best.date,
        skill,
        candidate.model,
        pr,
        ", ".join(pages),
        "–" if ruling.before is None else f"{ruling.before:.4f}",
        f"{ruling.after:.4f}",
        outcome + (" (noisy: too few repeats)" if noisy else ""),
    )
    row = " | ".join(visible(cell.replace("|", "/").replace("\n", " ")) for cell in cells)
    _replace(folder / LEDGER, f"{ledger(folder).rstrip()}\n| {redacted(row)} |\n")


def ledger(folder: Path) -> str:
    """The text of the ledger; its head where there is none.

    Args:
        folder: where the baselines are.

    Raises:
        BaselineError: it cannot be read.
    """
    try:
        return read_text(folder / LEDGER)
    except FileNotFoundError:
        return HEAD
    except OSError as bad:
        raise BaselineError(
            f"the ledger cannot be read: {bad.strerror}",
            where=str(folder / LEDGER),
            fix="restore it from git",
        ) from bad


def _replace(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as bad:
        raise BaselineError(
            f"cannot write: {bad.strerror}", where=str(path), fix="make it writable"
        ) from bad
