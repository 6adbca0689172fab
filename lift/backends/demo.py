"""Canned replies that ship with the example datasets: no key, no network, no money."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from lift.backends import Meter
from lift.errors import BackendError, DatasetError
from lift.paths import inside
from lift.schema import Evidence, Label, Reply, Request, Status

NOTICE = "canned demo replies: they show the tool, and prove nothing about a skill"

JUDGE = "judge"
"""Key of an item's canned judgements, and the part of their labels."""

Replies = Mapping[Label, Sequence[str]]
"""What is asked, as its first repeat, → replies, one a repeat."""


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

    async def close(self) -> None:
        """Nothing is held open."""


def load(folder: Path, dataset: str) -> dict[Label, Sequence[str]]:
    """The canned replies of a dataset, from `demo/<dataset>.yaml` beside its module.

    Returns:
        Empty where the dataset has none.

    Raises:
        DatasetError: the file is not `item: condition: [reply, …]`, or leads out of the folder.
    """
    path = folder / "demo" / f"{dataset}.yaml"
    if not path.exists():
        return {}
    if not inside(path, folder):
        raise DatasetError(
            "the canned replies are a link that leads out of the datasets' folder",
            where=str(path),
            fix="put the file itself there",
        )
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(path.read_text("utf-8"), Loader=loader)
        return {
            label: replies
            for item, conditions in content.items()
            for label, replies in _item(dataset, item, conditions).items()
        }
    except (yaml.YAMLError, AttributeError, TypeError, UnicodeDecodeError) as bad:
        raise DatasetError(
            f"the canned replies are malformed: {bad}",
            where=str(path),
            fix="write item id, then condition, then a list of replies",
        ) from bad


def _item(dataset: str, item: str, conditions: dict[str, Any]) -> dict[Label, Sequence[str]]:
    replies: dict[Label, Sequence[str]] = {}
    for name, given in conditions.pop(JUDGE, {}).items():
        label = Label(dataset, item, name, part=JUDGE)
        replies[label] = [json.dumps(dict(vote)) for vote in given]
    for name, texts in conditions.items():
        replies[Label(dataset, item, name)] = _texts(texts)
    return replies


def _texts(texts: Any) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError("replies must be a list of texts")
    return tuple(texts)
