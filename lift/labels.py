"""People's labels: a CSV with a row a trial, and whether its answer passes."""

from __future__ import annotations

import csv
import errno
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lift.agreement import TrialId
from lift.errors import LabelError
from lift.evaluators.rubric import PASS_PERCENT
from lift.files import read_text
from lift.journal import Record
from lift.schema import Trial

LABEL = "label"
COLUMNS = (*TrialId._fields, LABEL)
READ_ONLY = ("prompt", "answer")
"""Beside them in a file to be labelled, for the person who does."""

PASS = frozenset({"pass", "passed", "yes", "true", "1", "right"})
FAIL = frozenset({"fail", "failed", "no", "false", "0", "wrong"})

DELIMITERS = ",;\t"
"""Of cells, as spreadsheets write them; the first where none is in the first line."""

LONGEST = 30_000
"""Characters of a cell; spreadsheets take a little more."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would run begins with one of these."""


def trial_id(trial: Trial) -> TrialId:
    """What tells the trial from the others of its experiment."""
    return TrialId(trial.dataset, trial.item, trial.condition, trial.model, trial.repeat)


def blank(records: Iterable[Record]) -> str:
    """A CSV of trials for a person to label; no score is in it, so that none sways them.

    Args:
        records: with secrets masked.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*COLUMNS, *READ_ONLY])
    for one in records:
        trial = trial_id(one.trial)
        answer = one.evidence.text if one.evidence else ""
        rows.writerow([*trial, "", _cell(str(one.item["prompt"])), _cell(answer)])
    return text.getvalue()


def read(path: Path, known: Sequence[TrialId]) -> dict[TrialId, bool]:
    """The labels in a CSV; rows with an empty label are left out.

    Args:
        path: of a file with the columns dataset, item, condition, repeat, label; and model, which
            may be missing where the experiment has one. Others are not read.
        known: the trials of the experiment.

    Raises:
        LabelError: a column is missing, a row names no trial or says neither pass nor fail, a trial
            is labelled twice and not alike, or nothing is labelled.
    """
    rows = _rows(path)
    models = {trial.model for trial in known}
    only = models.pop() if len(models) == 1 else ""
    trials, found = set(known), dict[TrialId, bool]()
    for line, row in rows:
        said = (row[LABEL] or "").strip().lower()
        if not said:
            continue
        where = f"{path}, line {line}"
        trial = _read_id(row, only, where)
        if trial not in trials:
            raise LabelError(
                f"there is no trial {' '.join(map(str, trial))}",
                where=where,
                fix="lift agreement EXPERIMENT --to-label FILE writes a file with those there are",
            )
        if said not in PASS | FAIL:
            raise LabelError(f"{said!r} is no label", where=where, fix="write pass or fail")
        if found.setdefault(trial, said in PASS) is not (said in PASS):
            raise LabelError("the trial is labelled twice, and not alike", where=where)
    if not found:
        raise LabelError("nothing is labelled", where=str(path), fix="write pass or fail in a row")
    return found


def of_annotations(rows: Iterable[Mapping[Any, Any]]) -> dict[TrialId, bool]:
    """The labels in annotations from Langfuse.

    A trial passes by its human_passed; where nobody gave that, if its human_verdict is "right";
    else if its human_rubric is 0.8 or more. Of several people the last one counts.

    Args:
        rows: of frames.ANNOTATIONS, in the order of their times.

    Raises:
        LabelError: none of them is such a label.
    """
    found: dict[TrialId, tuple[int, bool]] = {}
    for row in rows:
        said = _said(str(row["name"]), row)
        trial = TrialId(*(row[name] for name in TrialId._fields))
        if said is not None and said[0] <= found.get(trial, said)[0]:
            found[trial] = said
    if not found:
        raise LabelError(
            "nobody labelled a trial",
            where="Langfuse",
            fix="annotate some with human_passed, or label a file: lift agreement --to-label FILE",
        )
    return {trial: passes for trial, (_, passes) in found.items()}


def _said(name: str, row: Mapping[Any, Any]) -> tuple[int, bool] | None:
    """How little an annotation weighs against others of its trial, and whether it says pass."""
    if name == "human_passed":
        return 0, row["value"] == 1
    if name == "human_verdict":
        return 1, str(row["label"]).lower() in PASS
    if name == "human_rubric":
        return 2, 100 * row["value"] >= PASS_PERCENT
    return None


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Line number and cells of each row."""
    try:
        text = read_text(path)
    except OSError as bad:
        unreadable = bad.errno == errno.EILSEQ
        raise LabelError(
            f"the labels cannot be read: {bad.strerror}",
            where=str(path),
            fix="save it as UTF-8" if unreadable else "name a file that --to-label wrote",
        ) from bad
    head = text.partition("\n")[0]
    try:
        reader = csv.DictReader(
            io.StringIO(text), delimiter=max(DELIMITERS, key=head.count), strict=True
        )
        names = list(reader.fieldnames or ())
        missing = [n for n in COLUMNS if n not in names and n != "model"]
        twice = [n for n in COLUMNS if names.count(n) > 1]
        if missing or twice:
            wrong = f"there is no column {', '.join(missing)}" if missing else (
                f"there are two columns {', '.join(twice)}"
            )  # fmt: skip
            raise LabelError(
                wrong,
                where=str(path),
                fix=f"the first line names the columns: {','.join(COLUMNS)}",
            )
        return [(reader.line_num, row) for row in reader]
    except csv.Error as bad:
        raise LabelError(f"not a CSV file: {bad}", where=str(path)) from bad


def _read_id(row: Mapping[str, str | None], only_model: str, where: str) -> TrialId:
    cells = {name: (row.get(name) or "").strip() for name in TrialId._fields}
    try:
        repeat = int(cells["repeat"])
    except ValueError:
        raise LabelError(
            f"{cells['repeat']!r} is no repeat", where=where, fix="write a whole number from 1 on"
        ) from None
    return TrialId(
        cells["dataset"], cells["item"], cells["condition"], cells["model"] or only_model, repeat
    )


def _cell(text: str) -> str:
    """A text that fits a spreadsheet's cell, and that none takes for a formula."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n(cut here)"
    return f"'{cut}" if cut.startswith(FORMULA) else cut
