"""A static review as the terminal and as JSON show it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from activation.lint import LintReport
from activation.metrics import Rate
from lift.backends.demo import NOTICE
from lift.errors import counted
from lift.redact import redacted
from lift.reports.screen import Table, plain, rendered
from lift.review import Activation, Review

MOST_OF_A_RULE = 8
"""So many findings of a rule are shown; JSON has all."""

COLORS = {"error": "red", "warning": "yellow"}


def terminal(review: Review, *, width: int = 100, color: bool = False) -> str:
    """Findings with their lines, the scores, the confusion matrix and the misses."""
    review = _masked(review)
    parts: list[RenderableType] = [plain(review.skill, "bold")]
    if review.lint:
        parts += _lint(review.lint)
    if review.skipped:
        parts.append(plain(f"activation not asked: {review.skipped}", "yellow"))
    if review.activation:
        parts += _activation(review.activation)
    return rendered(parts, width=width, color=color)


def _masked(review: Review) -> Review:
    """The review with its texts masked, as one document; names that are ids stay."""
    findings = review.lint.findings if review.lint else ()
    misses = review.activation.misses if review.activation else ()
    skill, skipped, found, missed = redacted(
        (
            review.skill,
            review.skipped,
            [one.model_dump(include={"file", "message", "fix"}) for one in findings],
            [one.model_dump(include={"text", "reason", "why"}) for one in misses],
        )
    )
    update: dict[str, Any] = {"skill": skill, "skipped": skipped}
    if review.lint:
        changed = tuple(o.model_copy(update=n) for o, n in zip(findings, found, strict=True))
        update["lint"] = review.lint.model_copy(update={"findings": changed})
    if review.activation:
        said = tuple(o.model_copy(update=n) for o, n in zip(misses, missed, strict=True))
        update["activation"] = review.activation.model_copy(update={"misses": said})
    return review.model_copy(update=update)


def document(review: Review) -> str:
    """The review as JSON."""
    content: dict[str, Any] = review.model_dump(mode="json")
    if review.activation:
        rates = {
            name: rate._asdict() | {"interval": rate.interval._asdict()} if rate else None
            for name, rate in _rates(review.activation).items()
        }
        content["activation"] |= rates
        content["activation"]["invalid"] = review.activation.coverage.invalid or None
        if review.activation.canned:
            content["notice"] = NOTICE
    return json.dumps(redacted(content), indent=2, ensure_ascii=False, allow_nan=False)


def _lint(report: LintReport) -> list[RenderableType]:
    table = Table(show_header=False)
    shown: Counter[str] = Counter()
    for found in report.findings:
        shown[found.rule] += 1
        if shown[found.rule] > MOST_OF_A_RULE:
            continue
        table.add_row(
            f"{found.file}:{found.line}",
            Text(found.severity, style=COLORS[found.severity]),
            f"{found.message} ({found.rule}). {found.fix}",
        )
    for rule, count in shown.items():
        if count > MOST_OF_A_RULE:
            table.add_row("", "", f"and {count - MOST_OF_A_RULE} more of the rule {rule}")
    verdicts = {True: "yes", False: "no", None: "unknown"}
    accepts = [f"{one.consumer}: {verdicts[one.accepts]}" for one in report.consumers]
    errors = counted(len(report.errors), "error")
    warnings = counted(len(report.warnings), "warning")
    line = f"lint {report.score:.2f}: {errors}, {warnings}"
    return [table, Text(line, style="bold"), Text(f"accepted by {', '.join(accepts)}", "dim")]


def _activation(found: Activation) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(NOTICE, style="yellow")] if found.canned else []
    counts = found.confusion
    matrix = Table()
    for name in ("", "would load", "would not"):
        matrix.add_column(name, justify="right" if name else "left")
    matrix.add_row("should load", str(counts.true_positives), str(counts.false_negatives))
    matrix.add_row("near miss", str(counts.false_positives), str(counts.true_negatives))
    misses = Table(show_header=False)
    for miss in found.misses:
        kind = "did not load" if miss.should_load else "loaded"
        misses.add_row(miss.prompt, kind, f"{miss.reason} Yet: {miss.why}")
    rates = ", ".join(f"{name} {_rate(rate)}" for name, rate in _rates(found).items())
    line = f"activation: {rates}"
    invalid = f"INVALID: {found.coverage.invalid}"
    cost = f"{found.coverage.scored} of {found.coverage.planned} prompts decided by {found.model}"
    return [
        *parts,
        matrix,
        misses,
        Text(line, "bold"),
        *([plain(invalid, "bold red")] if found.coverage.invalid else []),
        plain(f"{cost} · ${found.cost_usd:.6f}", "dim"),
    ]


def _rates(found: Activation) -> dict[str, Rate | None]:
    counts = found.confusion
    return {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return "undefined"
    return f"{rate.value:.2f} [{rate.interval.low:.2f}, {rate.interval.high:.2f}]"
