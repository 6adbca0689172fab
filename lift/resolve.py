"""Which skill, which datasets, which backend: from settings and names to the things meant."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Sequence
from pathlib import Path

from lift.backends import demo
from lift.dataset import AnyDataset, Dataset, Selection, discover
from lift.errors import CredentialError, DatasetError, SkillError
from lift.files import closed
from lift.paths import exists, expanded
from lift.settings import FLAG, Config, credential
from lift.skill import SKILL_FILE, Skill, load


def backend_name(config: Config, *, plan_only: bool = False) -> str:
    """Which backend answers: the one that is set, or what `auto` comes to.

    Args:
        config: names it.
        plan_only: nothing will be asked.

    Raises:
        CredentialError: messages is asked for and there is no key.
    """
    wanted = config.settings.backend
    known = credential(config)
    if wanted == "messages" and known is None and not plan_only:
        raise CredentialError(
            "the messages backend needs a key",
            where="environment and .env",
            fix="set ANTHROPIC_API_KEY, or use --backend demo",
        )
    if wanted != "auto":
        return wanted
    return "messages" if known else "demo"


def skill_and_datasets(config: Config, names: Sequence[str]) -> tuple[Skill, list[Dataset]]:
    """The skill to test, and the datasets that ask about it.

    Args:
        config: its `skill` is a name, a path, or empty for the only one there is.
        names: of datasets to use whatever skill they name; empty for all of the skill's.

    Raises:
        SkillError: it cannot be read, or cannot be told which one is meant.
        DatasetError: none of the datasets is for the skill, or a name is unknown.
    """
    datasets = discover(config.path("datasets_dir"))
    where = str(config.path("datasets_dir"))
    if names:
        datasets = named(datasets, names, where)
    skill = _skill(config, datasets)
    matching = datasets if names else [d for d in datasets if d.skill == skill.name]
    if not matching:
        known = ", ".join(f"{d.name} (for {d.skill})" for d in datasets) or "none at all"
        raise DatasetError(
            f"no dataset for the skill {skill.name!r}; there is {known}",
            where=where,
            fix="write one with that skill name, or choose one with --dataset NAME",
        )
    return skill, matching


def dataset_with(datasets: Sequence[Dataset], item: str) -> Dataset:
    """The dataset that has an item.

    Raises:
        DatasetError: none has.
    """
    for dataset in datasets:
        if any(one.id == item for one in dataset.items):
            return dataset
    ids = [one.id for dataset in datasets for one in dataset.items]
    near = difflib.get_close_matches(item, ids, n=3, cutoff=0.4) or ids[:3]
    raise DatasetError(
        f"no item {item!r}",
        where=", ".join(dataset.name for dataset in datasets),
        fix=f"nearest: {', '.join(near)}",
    )


def _skill(config: Config, datasets: Sequence[Dataset]) -> Skill:
    wanted = config.settings.skill
    if not wanted:
        names = sorted({dataset.skill for dataset in datasets})
        where = str(config.path("datasets_dir"))
        if not names:
            fix = "write one: a module that ends in DATASET = Dataset(...)"
            raise SkillError("no datasets", where=where, fix=fix)
        if len(names) > 1:
            raise SkillError(
                f"several skills have datasets: {', '.join(names)}",
                where=where,
                fix="choose one with --skill NAME",
            )
        wanted = names[0]
    return load(skill_path(config, wanted, datasets))


def skill_path(config: Config, wanted: str, datasets: Sequence[AnyDataset] = ()) -> Path:
    """Where a skill is: a name is looked up in skills_dir; anything else is a path.

    Args:
        config: names the folder.
        wanted: its name or a path.
        datasets: named in the error, where they are about it.

    Raises:
        SkillError: there is nothing.
    """
    folder = config.path("skills_dir")
    if "/" not in wanted and exists(folder / wanted / SKILL_FILE):
        return folder / wanted
    path = expanded(Path(wanted))
    from_flag = config.origins["skill"] == FLAG
    path = path if path.is_absolute() or from_flag else config.root / path
    if exists(path):
        return path
    for place in (folder / wanted / SKILL_FILE, path):
        why = closed(place)
        if why and why.errno != errno.ENAMETOOLONG:  # nothing has such a name
            raise SkillError(
                f"cannot look for the skill {wanted!r}: {why.strerror}",
                where=str(place),
                fix="give a path that can be read",
            )
    about = ", ".join(dataset.name for dataset in datasets if dataset.skill == wanted)
    there = ", ".join(sorted(one.parent.name for one in folder.glob(f"*/{SKILL_FILE}")))
    raise SkillError(
        f"no such skill {wanted!r}" + (f", which the dataset {about} is about" if about else ""),
        where=f"{path}, or {folder}",
        fix=f"there is {there}" if there else f"put it into {folder}, or give its path",
    )


def named(datasets: Sequence[Dataset], names: Sequence[str], where: str) -> list[Dataset]:
    """The datasets of these names.

    Raises:
        DatasetError: there is none of that name.
    """
    known = {dataset.name: dataset for dataset in datasets}
    for name in names:
        if name not in known:
            raise DatasetError(
                f"no dataset {name!r}", where=where, fix=f"there is {', '.join(known)}"
            )
    return [known[name] for name in dict.fromkeys(names)]


def answering(
    config: Config,
    datasets: Sequence[Dataset],
    selection: Selection,
    *,
    conditions: Sequence[str],
    plan_only: bool,
) -> tuple[str, Sequence[Dataset], tuple[str, ...]]:
    """The backend, what it can be asked of the datasets, and what a person should know.

    Args:
        config: names the backend.
        datasets: what is wanted.
        selection: of their items.
        conditions: under which they are asked.
        plan_only: nothing will be asked: where a key is missing, what it would be for is planned.

    Raises:
        CredentialError: there is neither a key nor a canned reply.
    """
    backend = backend_name(config, plan_only=plan_only)
    notices: tuple[str, ...] = ()
    if backend == "demo":
        try:
            datasets, notices = _canned_only(config, datasets, selection, conditions)
        except CredentialError:
            if not plan_only or config.settings.backend == "demo":
                raise
            backend = "messages"
    if backend == "messages" and credential(config) is None:
        notices = ("no key is set: asking this needs one",)
    return backend, datasets, notices


def _canned_only(
    config: Config, datasets: Sequence[Dataset], selection: Selection, conditions: Sequence[str]
) -> tuple[list[Dataset], tuple[str, ...]]:
    """The datasets cut down to items with canned replies, and a word about the others.

    An item has them where it has some under each of the conditions.

    Raises:
        CredentialError: no item has.
    """
    folder = config.path("datasets_dir")
    wanted, kept, known = 0, [], set[str]()
    for dataset in datasets:
        ids = [item.id for item in dataset.items]
        labels = demo.load(folder, dataset.name, items=ids)
        canned = {(one.item, one.condition) for one in labels if one.part != demo.JUDGE}
        known |= {condition for _, condition in canned}
        asked = [item for item in dataset.items if selection.takes(item)]
        items = tuple(
            item for item in asked if canned.issuperset((item.id, name) for name in conditions)
        )
        wanted += len(asked)
        if items:
            kept.append(dataset.model_copy(update={"items": items}))
    count = sum(len(dataset.items) for dataset in kept)
    demanded = config.settings.backend == "demo"
    if not count:
        lacking = f"none of these items has a canned reply for {' and '.join(conditions)}"
        raise CredentialError(
            lacking if demanded else f"no key is set, and {lacking}",
            where=", ".join(dataset.name for dataset in datasets),
            fix=("ask with another --backend, or " if demanded else "set ANTHROPIC_API_KEY, or ")
            + (
                f"ask with --conditions {','.join(sorted(known))} alone"
                if known and not known.issuperset(conditions)
                else "run lift --quick on the example datasets"
            ),
        )
    notices: tuple[str, ...] = (demo.NOTICE if demanded else f"no key is set: {demo.NOTICE}",)
    if count < wanted:
        notices += (f"{count} of {wanted} items have canned replies; the others are left out",)
    return kept, notices
