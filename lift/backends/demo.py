"""Canned replies that ship with the example datasets: no key, no network, no money."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from lift import files, yaml
from lift.backends import Meter
from lift.errors import BackendError, DatasetError
from lift.evaluators.judge import Said
from lift.paths import inside
from lift.schema import ConditionName, Evidence, Label, Reply, Request, Status

NOTICE = "canned demo replies: they show the tool, and prove nothing about a skill"

JUDGE = "judge"
"""Key of an item's canned judgements, and the part of their labels."""

Replies = Mapping[Label, Sequence[str]]
"""What is asked, as its first repeat, → replies, one a repeat."""

Texts = Annotated[list[str], Field(min_length=1)]
Votes = Annotated[list[Said], Field(min_length=1)]

ITEMS = TypeAdapter(dict[str, dict[str, Any]])
# "router" decides on trigger prompts: activation.probe.ROUTER
REPLIES = TypeAdapter(dict[ConditionName | Literal["router"], Texts])
VOTES = TypeAdapter(dict[ConditionName, Votes])


class Demo:
    """Answers from files; repeat N gets the N-th reply, and starts over after the last.

    Args:
        replies: what is asked → its canned replies.
        clock: the time, in milliseconds.
    """

    name = "demo"

    def __init__(self, replies: Replies, *, clock: Callable[[], int]) -> None:
        self.replies = replies
        self.clock = clock

    async def answer(
        self,
        request: Request,
        *,
        label: Label,
        meter: Meter,  # noqa: ARG002 - it costs nothing
        began: Callable[[], None] | None = None,
    ) -> Evidence:
        """The canned reply of what is asked."""
        if began:
            began()
        known = self.replies.get(label._replace(repeat=1, vote=1), ())
        if not known:
            raise BackendError(f"no canned reply for {label.dataset}/{label.item}")
        now = self.clock()
        return Evidence(
            status=Status.OK,
            reply=Reply(
                text=known[(label.repeat - 1) % len(known)],
                stop_reason="end_turn",
                model=f"demo ({request.model})",
            ),
            started_ms=now,
            ended_ms=now,
            canned=True,
        )

    def is_calling(self, task: asyncio.Task[Any]) -> bool:  # noqa: ARG002 - of the protocol
        """It never waits."""
        return True

    async def close(self) -> None:
        """Nothing is held open."""


def load(
    folder: Path, dataset: str, *, items: Collection[str] | None = None
) -> dict[Label, Sequence[str]]:
    """The canned replies of a dataset, from `demo/<dataset>.yaml` beside its module.

    Args:
        folder: of the dataset modules.
        dataset: its name.
        items: ids that may occur; any where None.

    Returns:
        Empty where the dataset has none.

    Raises:
        DatasetError: the file cannot be read, leads out of the folder, is not
            `item: condition: [reply, …]`, or has replies to an item that there is not.
    """
    path = folder / "demo" / f"{dataset}.yaml"
    if not inside(path, folder):
        raise DatasetError(
            "the canned replies are a link that leads out of the datasets' folder",
            where=str(path),
            fix="put the file itself there",
        )
    try:
        content = ITEMS.validate_python(yaml.load(files.read_text(path)))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as bad:
        raise DatasetError(
            f"the canned replies cannot be read: {bad.strerror}", where=str(path)
        ) from bad
    except (yaml.Malformed, ValidationError) as bad:
        raise _malformed(path, bad) from bad
    _check(path, content, items)
    return {
        label: replies
        for item, conditions in content.items()
        for label, replies in _item(path, Label(dataset, item), conditions).items()
    }


def _item(path: Path, item: Label, conditions: dict[str, Any]) -> dict[Label, Sequence[str]]:
    given = dict(conditions)
    try:
        votes = VOTES.validate_python(given.pop(JUDGE, {}))
        texts = REPLIES.validate_python(given)
    except ValidationError as bad:
        raise _malformed(path, bad, item.item) from bad
    replies: dict[Label, Sequence[str]] = {
        item._replace(condition=name, part=JUDGE): [vote.model_dump_json() for vote in cast]
        for name, cast in votes.items()
    }
    return replies | {item._replace(condition=name): said for name, said in texts.items()}


def _check(path: Path, content: Collection[str], items: Collection[str] | None) -> None:
    for item in content:
        if items is not None and item not in items:
            near = difflib.get_close_matches(item, items, n=1, cutoff=0.4)
            raise DatasetError(
                f"there are canned replies to {item!r}, which is no item of the dataset",
                where=str(path),
                fix=f"nearest: {near[0]}" if near else "remove them",
            )


def _malformed(path: Path, bad: ValueError, item: str = "") -> DatasetError:
    place = item
    if isinstance(bad, ValidationError):
        first = bad.errors(include_url=False)[0]
        said = first["msg"]
        parts = (str(part) for part in (item, *first["loc"]))
        place = ".".join(part for part in parts if part and "[" not in part)
    else:
        said = str(bad)
    return DatasetError(
        f"the canned replies are malformed: {said}",
        where=f"{path}, {place}" if place else str(path),
        fix="write item id, then condition, then a list of replies",
    )
