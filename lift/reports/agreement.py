"""A judge held against people's labels, as the terminal and as JSON show it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from lift.agreement import Agreement
from lift.backends.demo import NOTICE
from lift.redact import redacted
from lift.reports.judges import kappa, weakness
from lift.reports.screen import Table, plain, rendered


def terminal(
    found: Sequence[Agreement], *, canned: bool, width: int = 100, color: bool = False
) -> str:
    """Kappa, what either passes, and the table of both; for each judge."""
    parts: list[RenderableType] = [Text(NOTICE, style="yellow")] if canned else []
    for one in found:
        parts += [
            plain(f"{one.judge} {one.model} and people: {kappa(one)}", "bold"),
            _table(one),
            Text(f"pass by the judge: {one.judge_passes:.0%}, by people: {one.people_pass:.0%}"),
        ]
        if one.is_weak:
            parts.append(plain(weakness(one), "yellow"))
    return rendered(parts, width=width, color=color)


def document(found: Sequence[Agreement], *, canned: bool) -> str:
    """The agreements as JSON."""
    content: dict[str, Any] = {"agreements": [one.model_dump(mode="json") for one in found]}
    if canned:
        content["notice"] = NOTICE
    return json.dumps(redacted(content), indent=2, ensure_ascii=False, allow_nan=False)


def _table(one: Agreement) -> Table:
    table = Table()
    for name in ("", "people: pass", "people: fail"):
        table.add_column(name, justify="right" if name else "left")
    table.add_row("judge: pass", str(one.both_pass), str(one.only_judge))
    table.add_row("judge: fail", str(one.only_people), str(one.both_fail))
    return table
