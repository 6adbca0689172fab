"""Answers kept for equal requests: what did not change is not paid for again."""

from __future__ import annotations

import json
from collections.abc import Callable

from lift.backends import Backend, Meter
from lift.journal import Journal
from lift.schema import Evidence, Label, Request, Status, digest

MAX_AGE_DAYS = 7
"""An older answer is not used: behind the same name there may be another model by now."""

DAY_MS = 24 * 3600 * 1000


class Remembered:
    """A backend whose answers are kept, and given again to equal requests.

    Args:
        backend: asked where nothing is kept.
        journal: keeps them.
        clock: the time, in milliseconds.
        max_age_days: an older answer is not used; 0 uses none.
    """

    def __init__(
        self,
        backend: Backend,
        journal: Journal,
        *,
        clock: Callable[[], int],
        max_age_days: float = MAX_AGE_DAYS,
    ) -> None:
        self.backend = backend
        self.journal = journal
        self.clock = clock
        self.max_age_days = max_age_days

    @property
    def name(self) -> str:
        """The name of the backend behind it."""
        return self.backend.name

    async def answer(
        self,
        request: Request,
        *,
        label: Label,
        meter: Meter,
        began: Callable[[], None] | None = None,
    ) -> Evidence:
        """The kept answer at no cost, or a new one, which is kept if it is whole."""
        key = digest([self.name, request, label.repeat, label.part])
        since = self.clock() - int(self.max_age_days * DAY_MS)
        if self.max_age_days and (kept := self.journal.reply(key, since_ms=since)):
            if began:
                began()
            return kept.model_copy(update={"cost_usd": 0.0, "lost_usd": 0.0, "cached": True})
        evidence = await self.backend.answer(request, label=label, meter=meter, began=began)
        if evidence.status is Status.OK and _is_whole(request, evidence.text):
            self.journal.keep_reply(key, evidence, now_ms=self.clock())
        return evidence

    async def close(self) -> None:
        """Close the backend behind it."""
        await self.backend.close()


def _is_whole(request: Request, text: str) -> bool:
    """Whether an answer is worth keeping: JSON, where JSON was asked for."""
    if request.output_schema is None:
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
