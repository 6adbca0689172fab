"""The gate, given the settings: which result, which baseline, what is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lift import baselines
from lift.against import Recorded
from lift.errors import ExperimentError, Incomplete, ResultError, UsageError, counted
from lift.files import read_json
from lift.gate import FEWEST_REPEATS, Candidate, Ruling, raised, rule
from lift.journal import Journal
from lift.paths import exists, inside, is_name
from lift.results import Result, candidates, recorded, result
from lift.schema import WITH_SKILL, WITHOUT_SKILL
from lift.settings import Config


@dataclass(frozen=True)
class Recording:
    """What --record needs."""

    pr: str | None
    pages: str | None
    """Names with commas between them."""
    allow_noisy: bool


def gate(
    config: Config,
    name: str | None,
    file: Path | None,
    *,
    recording: Recording | None,
    confident: bool,
    rebase: bool,
) -> dict[str, Ruling]:
    """Rule on each model of a result; with a recording, raise the baseline and add ledger rows.

    Args:
        config: names journal, datasets and pages.
        name: of the experiment; of the skill or suite item where there is a file.
        file: a result that `lift run --out` wrote.
        recording: None only rules.
        confident: p ≤ 0.05 is wanted too.
        rebase: a record of other items, checks or exposure is replaced.

    Raises:
        UsageError: recording lacks something it needs, or a file is not what it should be.
        Incomplete: there is no score to rule on.
        ExperimentError: there is no such experiment.
    """
    item, found = _from_file(file) if file else _from_journal(config, name)
    if not found:
        error = ResultError if file else Incomplete
        raise error(
            "no item was scored under both conditions: there is nothing to rule on",
            where=str(file or name or "the last experiment"),
            fix="run it again; lift collect, where calls wait in batches",
        )
    pages = _pages(config, recording) if recording else []
    folder = config.path("datasets_dir") / "baselines"
    path = _baseline(folder, name if file and name is not None else item)
    if file and name != item:
        raise UsageError(
            f"the result is of {item!r}, not of {name!r}",
            where=str(file),
            fix=f"lift gate {item} {file}",
        )
    baseline = baselines.read(path, item)
    if recording and not recording.allow_noisy:
        _check_repeats(found)
    if recording:
        baselines.ledger(folder)
    rulings: dict[str, Ruling] = {}
    for candidate in found:
        ruling = rule(candidate, baseline, confident=confident, rebase=rebase)
        rulings[candidate.model] = ruling
        if recording:
            if ruling.accepted:
                baseline = raised(baseline, candidate)
                baselines.write(path, baseline)
            noisy = (candidate.best.repeats or 0) < FEWEST_REPEATS
            baselines.append(folder, candidate, ruling, skill=item, pr=recording.pr or "",
                             pages=pages, noisy=noisy)  # fmt: skip
    return rulings


def _baseline(folder: Path, item: str) -> Path:
    path = folder / f"{item}.json"
    if is_name(item) and inside(path, folder):
        return path
    raise UsageError(
        f"{item!r} names no baseline",
        where=str(folder),
        fix="name a skill (letters, digits, '.', '_', '-'); its file may be no link to elsewhere",
    )


def _from_journal(config: Config, name: str | None) -> tuple[str, list[Candidate]]:
    with Journal(config.path("journal"), create=False) as journal:
        result = _with_and_without(recorded(journal, name))
        return result.experiment.skill, candidates(journal, result)


def _with_and_without(found: Recorded) -> Result:
    """The comparison that the gate is about.

    Raises:
        ExperimentError: the experiment lacks one of the two conditions.
    """
    try:
        return result(found, base=WITHOUT_SKILL, other=WITH_SKILL)
    except ExperimentError as lacking:
        raise _other_conditions(lacking.what, lacking.where) from lacking


def _other_conditions(what: str, where: str) -> ExperimentError:
    return ExperimentError(
        f"the gate holds with_skill against without_skill: {what}",
        where=where,
        fix="run it with --conditions with_skill,without_skill; for an edit that made it worse,"
        " lift compare --max-drop",
    )


def _from_file(file: Path) -> tuple[str, list[Candidate]]:
    try:
        content: dict[str, Any] = read_json(file)
        sides = [content[side] for side in ("other", "base") if side in content]
        if sides not in ([], [WITH_SKILL, WITHOUT_SKILL]):
            raise _other_conditions(f"it has {' minus '.join(map(str, sides))}", str(file))
        canned = bool(content["experiment"]["canned"])
        skill = str(content["experiment"]["skill"])
        found = [Candidate.model_validate(one) for one in content["candidates"]]
    except (OSError, ValueError, KeyError, TypeError) as bad:
        raise ResultError(
            f"not a result that lift run --out wrote: {_why(bad)}",
            where=str(file),
            fix="write it again: lift run … --out FILE",
        ) from bad
    return skill, [one.model_copy(update={"canned": canned or one.canned}) for one in found]


def _why(bad: Exception) -> str:
    if isinstance(bad, ValidationError):
        first = bad.errors()[0]
        return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
    if isinstance(bad, OSError):
        return bad.strerror or str(bad)
    if isinstance(bad, TypeError):
        return "a list or a value stands where names are expected"
    return f"{bad} is missing" if isinstance(bad, KeyError) else str(bad)


def _pages(config: Config, recording: Recording) -> list[str]:
    if not recording.pr or not recording.pages:
        raise UsageError(
            "--record needs --pr and --pages",
            where="lift gate",
            fix="name the pull request, and the pages that the change cites",
        )
    names = [name.strip() for name in recording.pages.split(",") if name.strip()]
    folder = config.path("gate_pages_dir")
    for name in names:
        pages = [folder / f"{name}{suffix}" for suffix in ("", ".md")]
        if not any(exists(page) and page.is_file() and inside(page, folder) for page in pages):
            there = exists(folder)
            raise UsageError(
                f"there is no page {name!r}" if there else "there is no folder of pages to cite",
                where=str(folder),
                fix=("correct the name" if there else f"put {name}.md there")
                + ", or set pages_dir in [tool.lift.gate]",
            )
    return names


def _check_repeats(found: list[Candidate]) -> None:
    for candidate in found:
        if (candidate.best.repeats or 0) < FEWEST_REPEATS:
            raise UsageError(
                f"{counted(candidate.best.repeats or 0, 'repeat')} cannot be recorded:"
                f" {FEWEST_REPEATS} are needed",
                where=candidate.best.run,
                fix=f"run it with --repeats {FEWEST_REPEATS}, or add --allow-noisy",
            )
