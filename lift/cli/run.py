"""`lift run`, also spelled `lift --quick` and `lift --full`."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from lift.cli.costs import YES, about, confirmed
from lift.cli.notes import note
from lift.cli.options import FAIL_ON, JSON, NO_CACHE, NO_WAIT, settings
from lift.cli.printed import print_left
from lift.errors import LiftError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lift.detecting import Detectable
    from lift.prepare import Prepared
    from lift.results import Result
    from lift.settings import Config
    from lift.thresholds import Threshold


@click.command(name="run")
@click.option("--quick", is_flag=True, help="The quick items, each asked twice.")
@click.option("--full", is_flag=True, help="Every item, asked once.  [default]")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="Only this dataset.")
@click.option("--only", multiple=True, metavar="ID", help="Only these items; * is a wildcard.")
@click.option("--category", "categories", multiple=True, metavar="NAME", help="Only these.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only items with such a tag.")
@click.option("--model", "models", multiple=True, metavar="ID", help="Model; again for several.")
@click.option(
    "--conditions",
    default="with_skill,without_skill",
    show_default=True,
    metavar="NAMES",
    help="What is compared; old_skill=REV-or-PATH is the skill as it was.",
)
@click.option(
    "--repeats",
    "--runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How often each is asked.",
)
@click.option("--experiment", metavar="NAME", help="Name it, instead of by what is asked.")
@click.option("--again", is_flag=True, help="A fresh experiment, once the last one is answered.")
@click.option("--judge/--no-judge", default=None, help="Judge all, or none; else as datasets say.")
@click.option("--batch", is_flag=True, help="By Message Batches: half price, within a day.")
@NO_WAIT
@click.option("--dry-run", is_flag=True, help="Print calls, cost and what it can show, and stop.")
@click.option("--out", type=click.Path(), metavar="FILE", help="Write the result there, as JSON.")
@FAIL_ON
@YES
@settings(
    "skill", "backend", "max_cost_usd", "concurrency", "max_tokens", "effort", "judge_model",
    "judge_votes", "deadline_s", "cache_max_age", "price", "journal",
)  # fmt: skip
@NO_CACHE
@JSON
def command(
    config: Config,
    quick: bool,
    full: bool,
    no_wait: bool,
    dry_run: bool,
    yes: bool,
    out: str | None,
    fail_on: tuple[str, ...],
    as_json: bool,
    **wanted: Any,
) -> None:
    """Ask a skill's datasets with and without the skill, score and compare.

    The same command again asks only what is not answered yet: after Ctrl-C, a crash or the
    ceiling it goes on, and when all is there it costs nothing.

    \b
    Examples:
      lift --quick
      lift --full --skill path/to/skill --max-cost-usd 5
      lift run --dataset micro_tasks --category grid --repeats 3
      lift --full --conditions old_skill=main,with_skill
      lift --full --dry-run
      lift --full --batch
    """
    from lift.cli.outliving import outlive
    from lift.cli.printed import check_out
    from lift.cli.sending import sending
    from lift.prepare import prepare
    from lift.thresholds import asked

    if quick and full:
        raise click.UsageError("--quick and --full exclude each other")
    if no_wait and not wanted["batch"]:
        raise click.UsageError("--no-wait goes with --batch")
    thresholds = asked(config, fail_on)
    check_out(out)
    prepared = prepare(config, _wanted(quick=quick, plan_only=dry_run, **wanted))
    for notice in prepared.notices if not (dry_run and as_json) else ():
        note(notice)
    if dry_run:
        _print_plan(config, prepared, as_json=as_json)
        return
    note(_plan_line(prepared))
    tell = partial(_tell_detectable, config, prepared)
    told = confirmed(prepared.plan.experiment, prepared.estimate, config, yes=yes, tell=tell)
    if wanted["batch"] and not told:
        tell()
    if prepared.plan.backend == "messages" and prepared.estimate.calls and not wanted["batch"]:
        outlive()
    name = prepared.plan.experiment
    with sending(config, name):
        meanwhile = _load_reports if told else partial(_load_reports, tell)
        left = _done(config, prepared, meanwhile, batch=wanted["batch"], wait=not no_wait)
        if left:
            print_left(name, left, as_json=as_json)
            return
        result = _print_result(config, prepared, out=out, as_json=as_json)
    _check(result, thresholds)


def _done(
    config: Config, prepared: Prepared, meanwhile: Callable[[], None], *, batch: bool, wait: bool
) -> int:
    """Do what is left of a plan; how many calls are still in batches then."""
    from lift.cli.progress import Looks, watching

    if not batch:
        from lift.perform import perform

        with watching(prepared, config) as watcher:
            perform(config, prepared, watcher, meanwhile=meanwhile)
        return 0
    from lift import batching

    batching.order(config, prepared, Looks())
    name = prepared.plan.experiment
    (found,) = batching.collect(config, [name], Looks(), wait=wait)
    if found.stopped:
        raise found.stopped
    return found.left


def _wanted(*, quick: bool, **wanted: Any) -> Any:
    from lift.conditions import parse
    from lift.dataset import Selection
    from lift.prepare import Wanted

    selection = Selection(
        quick=quick,
        only=wanted.pop("only"),
        categories=wanted.pop("categories"),
        tags=wanted.pop("tags"),
    )
    conditions = parse(wanted.pop("conditions"))
    return Wanted(selection=selection, conditions=conditions, **wanted)


def _plan_line(prepared: Prepared) -> str:
    plan, estimate = prepared.plan, prepared.estimate
    answered = len(plan.trials) - len(prepared.left) - prepared.in_batches
    line = f"{plan.experiment}: {counted(len(plan.trials), 'trial')}"
    if answered:
        line += f", {answered} already answered"
    if prepared.in_batches:
        line += f", {prepared.in_batches} in a batch"
    if prepared.reused:
        line += f", {prepared.reused} answered before by an equal request"
    return f"{line}; {counted(estimate.calls, 'call')}, {about(estimate)}"


def _detectables(config: Config, prepared: Prepared) -> list[Detectable]:
    """What the plan can show; nothing where replies are canned, which prove nothing."""
    from lift.detecting import detectables
    from lift.journal import Journal
    from lift.paths import exists

    if prepared.plan.backend == "demo":
        return []
    path = config.path("journal")
    if not exists(path):
        return detectables(None, prepared.plan)
    with Journal(path, create=False) as journal:
        return detectables(journal, prepared.plan)


def _showing(config: Config, prepared: Prepared) -> list[str]:
    from lift.detecting import sentences

    return sentences(_detectables(config, prepared))


def _tell_detectable(config: Config, prepared: Prepared) -> None:
    """Say what the plan can show; that this cannot be told is no reason to stop."""
    if prepared.estimate.calls:
        with suppress(LiftError):
            for line in _showing(config, prepared):
                note(line)


def _print_plan(config: Config, prepared: Prepared, *, as_json: bool) -> None:
    if not as_json:
        click.echo(_plan_line(prepared))
        for line in _showing(config, prepared) if prepared.estimate.calls else ():
            click.echo(line)
        return
    from lift.cli.printed import print_json

    plan = prepared.plan
    content = {
        "experiment": plan.experiment,
        "backend": plan.backend,
        "notices": prepared.notices,
        "trials": len(plan.trials),
        "answered": len(plan.trials) - len(prepared.left) - prepared.in_batches,
        "reused": prepared.reused,
        "in_batches": prepared.in_batches,
        **prepared.estimate.model_dump(),
        "spent_usd": prepared.spent_usd,
        "detectable": [one.model_dump() for one in _detectables(config, prepared)],
    }
    print_json(content)


def _check(result: Result, thresholds: Sequence[Threshold]) -> None:
    from lift.results import check

    check(result, thresholds)


def _load_reports(then: Callable[[], None] = lambda: None) -> None:
    """Import what the result is made with: it takes as long as many an answer.

    Args:
        then: what needs it, too.
    """
    import importlib

    for name in ("lift.results", "lift.reports.json", "lift.reports.terminal"):
        importlib.import_module(name)
    from lift.stats.distributions import special

    special()
    then()


def _print_result(config: Config, prepared: Prepared, *, out: str | None, as_json: bool) -> Result:
    from lift.cli.printed import print_comparison, write_out
    from lift.journal import Journal
    from lift.reports import json
    from lift.results import candidates, compared

    with Journal(config.path("journal"), create=False) as journal:
        result = compared(journal, prepared.plan.experiment, plan=prepared.plan)
        if out:
            asking = candidates(journal, result)
            write_out(out, json.comparison(result, asking) + "\n")
    print_comparison(result, as_json=as_json)
    return result
