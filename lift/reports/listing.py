"""Experiments and trials as the terminal lists them; nothing is compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from lift.backends.demo import NOTICE
from lift.errors import counted
from lift.journal import Experiment, Record
from lift.reports.screen import Panel, Table, plain, prose, rendered
from lift.schema import OLD_SKILL

if TYPE_CHECKING:
    from lift.against import Against


def experiments(found: Sequence[Experiment], *, width: int = 100, color: bool = False) -> str:
    """The experiments of a journal, the one that was started last first.

    Args:
        found: the experiments, the one that ran last first.
        width: of the terminal, in characters.
        color: whether escape codes may be used.
    """
    table = Table()
    unusual = any(OLD_SKILL in one.conditions for one in found)
    table.add_column("experiment", no_wrap=True)
    table.add_column("started (UTC)", no_wrap=True, spare=6)
    table.add_column("backend", no_wrap=True, spare=1)
    table.add_column("datasets", spare=2)
    if unusual:
        table.add_column("conditions", spare=3)
    table.add_column("answered", justify="right", spare=7)
    table.add_column("errors", justify="right", spare=5)
    table.add_column("cost", justify="right", spare=4)
    shown = sorted(found, key=lambda one: one.created_ms, reverse=True)
    for one in shown:
        table.add_row(
            one.name,
            f"{moment(one.created_ms):%Y-%m-%d %H:%M}",
            f"{one.backend} (canned)" if one.canned else one.backend,
            ", ".join(one.datasets),
            *([", ".join(one.conditions)] if unusual else []),
            f"{one.answered}/{one.planned}",
            str(one.errored or ""),
            _cost(one),
        )
    notes = [plain(f"ran last: {found[0].name}", "dim")] if shown[:1] != list(found[:1]) else []
    if any(one.canned for one in found):
        notes.append(Text(NOTICE, style="yellow"))
    return rendered([table, *notes], width=width, color=color)


def _cost(one: Experiment) -> str:
    """What it cost; with calls that broke off, and may have been billed, at most."""
    most = f" to {one.cost_usd + one.lost_usd:.4f}" if one.lost_usd else ""
    return f"${one.cost_usd:.4f}{most}"


def trials(
    rows: Iterable[dict[str, Any]],
    experiment: Experiment,
    *,
    width: int = 100,
    color: bool = False,
) -> str:
    """One line a trial: how it ended, what it scored and cost."""
    table = Table()
    for name in ("item", "condition", "model"):
        table.add_column(name, spare=3 if name == "model" and len(experiment.models) == 1 else 0)
    table.add_column("repeat", justify="right")
    table.add_column("status", no_wrap=True)
    table.add_column("score", justify="right")
    table.add_column("seconds", justify="right", spare=1)
    table.add_column("cost", justify="right", spare=2)
    for row in rows:
        score = row["score"]
        table.add_row(
            f"{row['dataset']}/{row['item']}",
            row["condition"],
            row["model"],
            str(row["repeat"]),
            row["status"],
            "" if score is None else f"{score:.2f}",
            f"{row['seconds']:.1f}",
            f"${row['cost_usd']:.4f}",
        )
    parts: list[RenderableType] = [heading(experiment), table]
    if known := reused(experiment):
        costs = "their cost here is what was paid for them then"
        parts.append(prose("\n".join([*known, costs]), "dim"))
    return rendered(parts, width=width, color=color)


def reused(experiment: Experiment) -> list[str]:
    """How many answers were given before, of each condition."""
    return [
        f"{one.condition}: {counted(one.answers, 'answer')} reused, the oldest of"
        f" {moment(one.since_ms):%Y-%m-%d}"
        for one in experiment.reused
    ]


def record(one: Record, *, width: int = 100, color: bool = False) -> str:
    """One trial in full."""
    trial, evidence = one.trial, one.evidence
    title = f"{trial.name} · {trial.model} · attempt {trial.attempt} · {one.status}"
    parts: list[RenderableType] = [Panel(prose(one.item["prompt"]), title=f"prompt · {title}")]
    if evidence is None:
        return rendered([*parts, Text("not asked yet")], width=width, color=color)
    if evidence.kept_ms:
        paid = f"{moment(evidence.kept_ms):%Y-%m-%d}, for ${evidence.kept_usd:.6f}"
        parts.append(Text(f"reused: it was answered on {paid}", "dim"))
    if evidence.canned:
        parts.append(Text(NOTICE, style="yellow"))
    if evidence.why:
        parts.append(plain(evidence.why, "red"))
    if evidence.reply:
        parts.append(Panel(prose(evidence.text), title=f"reply · {evidence.reply.model}"))
    for score in one.scores:
        value = "not scored" if score.value is None else f"{score.value:.2f}"
        outcome = {True: "pass", False: "fail", None: ""}[score.passed]
        parts.append(prose(f"{score.evaluator}: {value} {outcome} · {score.why}"))
    for vote in one.votes:
        value = "not cast" if vote.value is None else f"{vote.value:.2f}"
        parts.append(prose(f"{vote.evaluator} {vote.number} ({vote.model}): {value} · {vote.why}"))
    used = evidence.usage
    parts.append(
        Text(
            f"{used.total_input_tokens:,} tokens in ({used.cache_read_tokens:,} from the cache),"
            f" {used.output_tokens:,} out · ${evidence.cost_usd:.6f}"
            f" · {(evidence.ended_ms - evidence.started_ms) / 1000:.1f} s"
            f" · {moment(evidence.started_ms):%Y-%m-%d %H:%M:%S} UTC",
            style="dim",
        )
    )
    return rendered(parts, width=width, color=color)


def beside(
    records: Sequence[Record], experiment: Experiment, *, width: int = 100, color: bool = False
) -> str:
    """Trials of one item side by side: the prompt, then a column a condition."""
    grid = Table.grid(expand=True, padding=(0, 1))
    for _ in records:
        grid.add_column(ratio=1)
    grid.add_row(*(_answer(record) for record in records))
    prompt = Panel(prose(records[0].item["prompt"].strip()), title=records[0].trial.item)
    return rendered([heading(experiment), prompt, grid], width=width, color=color)


def _answer(one: Record) -> Panel:
    text = one.evidence.text if one.evidence else ""
    why = one.evidence.why if one.evidence else "not asked"
    lines = [
        f"{score.evaluator} {score.value:.2f}" for score in one.scores if score.value is not None
    ]
    title = " · ".join([one.trial.condition, one.status, *lines])
    return Panel(prose(text or why), title=title)


def heading(experiment: Experiment, against: Against | None = None) -> Text:
    """What stands above a report: the experiment, its models and datasets, and canned replies."""
    head = plain(experiment.name, "bold")
    models = ", ".join(experiment.models)
    if against:
        head.append_text(plain(f" − {against.experiment.name}"))
        if against.experiment.models != experiment.models:
            models += f" − {', '.join(against.experiment.models)}"
    head.append_text(plain(f"  {models} · {', '.join(experiment.datasets)}", "dim"))
    if experiment.canned or (against and against.experiment.canned):
        head.append(f"\n{NOTICE}", "yellow")
    return head


def moment(ms: int) -> datetime:
    """A Unix time in milliseconds, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)
