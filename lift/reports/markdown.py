"""A comparison as Markdown: for a comment on a pull request."""

from __future__ import annotations

import html
from typing import Any

from lift.against import overlap
from lift.backends.demo import NOTICE
from lift.errors import visible
from lift.frames import (
    ALL,
    BASE,
    CATEGORY,
    DATASET,
    DELTA,
    ITEM,
    ITEMS,
    MODEL,
    OTHER,
)
from lift.journal import Experiment
from lift.redact import PLACEHOLDER, redacted
from lift.reports import findings, judges, listing
from lift.results import Result

LONGEST = 60_000
"""Characters; a comment on a pull request takes a little more."""
MOVED = 10
"""So many of the items that moved most are named."""


def comparison(result: Result) -> str:
    """The verdict, the table per category, and the items that moved most."""
    against = result.against
    since = f" − {_plain(against.experiment.name)}" if against else ""
    parts = [f"## {_plain(result.experiment.name)}{since}"]
    if result.experiment.canned or (against and against.experiment.canned):
        parts.append(f"> {NOTICE}")
    for one in result.every:
        parts += [_claim(claim) for claim in one.claims]
        evaluators = _plain("; ".join(findings.evaluators(one)))
        parts += [_table(one), evaluators, _judges(one), _moved(one), _findings(one)]
    parts.append(_bill(result))
    if against:
        parts.append(f"{_plain(overlap(against))}.")
    text = redacted("\n\n".join(part for part in parts if part)) + "\n"
    # Markdown would take a placeholder for a link or a tag
    text = PLACEHOLDER.sub(lambda name: html.escape(name[0]), text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 40]}\n\n(cut; see lift compare)\n"


def _claim(claim: Any) -> str:
    beside = f" {_plain(claim.beside)}." if claim.beside else ""
    return (
        f"**{claim.verdict}** ({_plain(claim.model)}): {_plain(claim.says)}.{beside}"
        f"\n\nNext: {_plain(claim.then)}."
    )


def _table(result: Result) -> str:
    compared = result.comparison
    rows = compared.fit(compared.categories)
    if rows.empty:
        return ""
    several = rows[MODEL].nunique() > 1
    head = [*(["model"] if several else []), "category", "items", compared.base, compared.other]
    lines = [_row([*head, "delta", "95 %"]), _row(["---"] * (len(head) + 2))]
    for row in rows.to_dict("records"):
        names = [row[MODEL]] if several else []
        names.append("**all**" if row[DATASET] == ALL else f"{row[DATASET]} / {row[CATEGORY]}")
        numbers = [str(row[ITEMS]), _number(row[BASE]), _number(row[OTHER])]
        lines.append(
            _row([*names, *numbers, _number(row[DELTA], sign=True), findings.interval(row)])
        )
    return "\n".join(lines)


def _judges(result: Result) -> str:
    lines = list(judges.summaries(result))
    known = map(judges.standing, judges.told(result)) if lines else ()
    return _plain("; ".join([*lines, *dict.fromkeys(known), *judges.uncast(result)]))


def _moved(result: Result) -> str:
    pairs = result.comparison.fit(result.comparison.deltas)
    order = pairs[DELTA].abs().sort_values(ascending=False, kind="stable").index
    rows = pairs.loc[order].head(MOVED).to_dict("records")
    moved = [row for row in rows if row[DELTA]]
    if not moved:
        return ""
    lines = [
        f"- `{row[DATASET]}/{row[ITEM]}` {row[DELTA]:+.2f} ({row[BASE]:.2f} to {row[OTHER]:.2f})"
        for row in moved
    ]
    return "\n".join(["Moved most:", "", *lines])


def _findings(result: Result) -> str:
    # what moved has a list of its own
    told = findings.lines(result.diagnostics.model_copy(update={"moved": ()}))
    return "\n".join(["Diagnostics:", "", *(f"- {_plain(line)}" for line in told)]) if told else ""


def _bill(result: Result) -> str:
    if result.against is None:
        reused = listing.reused(result.experiment)
        return _plain("; ".join([_paid(result.experiment, findings.failures(result)), *reused]))
    both = (result.experiment, result.against.experiment)
    return _plain("; ".join(f"{one.name}: {_paid(one)}" for one in both))


def _paid(one: Experiment, failed: str = "") -> str:
    errors = f", {one.errored} errored" if one.errored else ""
    return (
        f"{one.answered} of {one.planned} trials answered{errors}"
        f"{f', {failed}' if failed else ''} · ${one.cost_usd:.4f}"
    )


def _number(value: float, *, sign: bool = False) -> str:
    if value != value:
        return "–"
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Text that is no markup of its own, but for the marks put around it here."""
    one_line = visible(text.replace("\n", " "))
    return html.escape(one_line, quote=False).replace("|", "\\|")
