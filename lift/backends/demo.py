"""Canned replies that ship with the example datasets: no key, no network, no money."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from lift.backends import Meter
from lift.errors import BackendError, DatasetError
from lift.schema import Evidence, Reply, Request, Status, Trial

NOTICE = "canned demo replies: they show the tool, and prove nothing about a skill"

Replies = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Item id → condition → replies, one a repeat."""


class Demo:
    """Answers from files; repeat N gets the N-th reply, and starts over after the last.

    Args:
        replies: dataset name → its canned replies.
        clock: the time, in milliseconds.
    """

    name = "demo"

    def __init__(self, replies: Mapping[str, Replies], *, clock: Callable[[], int]) -> None:
        self.replies = replies
        self.clock = clock

    async def answer(
        self,
        trial: Trial,
        request: Request,
        *,
        meter: Meter,  # noqa: ARG002 - it costs nothing
        began: Callable[[], None] | None = None,
    ) -> Evidence:
        """The canned reply of the trial's item, condition and repeat."""
        if began:
            began()
        known = self.replies.get(trial.dataset, {}).get(trial.item, {}).get(trial.condition, ())
        if not known:
            raise BackendError(f"no canned reply for {trial.name}")
        now = self.clock()
        return Evidence(
            status=Status.OK,
            reply=Reply(
                text=known[(trial.repeat - 1) % len(known)],
                stop_reason="end_turn",
                model=f"demo ({request.model})",
            ),
            started_ms=now,
            ended_ms=now,
            canned=True,
        )

    async def close(self) -> None:
        """Nothing is held open."""


def load(folder: Path, dataset: str) -> Replies:
    """The canned replies of a dataset, from `demo/<dataset>.yaml` beside its module.

    Returns:
        Empty where the dataset has none.

    Raises:
        DatasetError: the file is not `item: condition: [reply, …]`.
    """
    path = folder / "demo" / f"{dataset}.yaml"
    if not path.exists():
        return {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(path.read_text("utf-8"), Loader=loader)
        return {
            item: {name: _texts(texts) for name, texts in conditions.items()}
            for item, conditions in content.items()
        }
    except (yaml.YAMLError, AttributeError, TypeError, UnicodeDecodeError) as bad:
        raise DatasetError(
            f"the canned replies are malformed: {bad}",
            where=str(path),
            fix="write item id, then condition, then a list of replies",
        ) from bad


def _texts(texts: Any) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError("replies must be a list of texts")
    return tuple(texts)
