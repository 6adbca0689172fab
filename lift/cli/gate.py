"""`lift gate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="gate")
@click.argument("experiment", required=False)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--record", is_flag=True, help="Raise the baseline if accepted; a ledger row anyway.")
@click.option("--pr", metavar="PR", help="The pull request; --record needs it.")
@click.option("--pages", metavar="NAMES", help="Pages it cites, with commas; --record needs them.")
@click.option("--strict/--confident", default=True, help="Means alone [default], or p ≤ 0.05 too.")
@click.option("--rebase", is_flag=True, help="Record anew where items, checks or exposure changed.")
@click.option("--allow-noisy", is_flag=True, help="Record with fewer than 3 repeats.")
@settings("journal")
@JSON
def command(
    config: Config,
    experiment: str | None,
    file: Path | None,
    record: bool,
    pr: str | None,
    pages: str | None,
    strict: bool,
    rebase: bool,
    allow_noisy: bool,
    as_json: bool,
) -> None:
    """Accept or reject EXPERIMENT (the last by default), or ITEM with the result in FILE.

    Accepted is what scores higher than the best recorded for its model, and higher than without
    the skill; equal is a reject, and so is a partial or invalid run. FILE is written by
    `lift run --out FILE`, for the skill that ITEM names. --record writes the baseline and the row
    of the ledger into baselines/ in the datasets' folder; --pages are files in docs/.

    \b
    Examples:
      lift gate
      lift gate vaadin-playwright-test-1a2b3c4d --record --pr 12 --pages testing
      lift gate vaadin-playwright-test result.json --confident
    """
    from lift.cli.printed import print_json
    from lift.errors import ThresholdMissed, visible
    from lift.gating import Recording, gate

    recording = Recording(pr=pr, pages=pages, allow_noisy=allow_noisy) if record else None
    rulings = gate(
        config, experiment, file, recording=recording, confident=not strict, rebase=rebase
    )
    if as_json:
        content = {model: ruling.model_dump(mode="json") for model, ruling in rulings.items()}
        print_json(content)
    for model, ruling in rulings.items() if not as_json else ():
        before = "no record" if ruling.before is None else f"best {ruling.before:.4f}"
        word = "accepted" if ruling.accepted else "rejected"
        click.echo(f"{word}: {visible(model)} {ruling.after:.4f} ({before})")
        for line in (*ruling.reasons, *ruling.notes):
            click.echo(f"  {visible(line)}")
    if record and not as_json:
        click.echo(f"written to {config.settings.datasets_dir}/baselines")
    failed = [f"{model}: {'; '.join(r.reasons)}" for model, r in rulings.items() if not r.accepted]
    if failed:
        raise ThresholdMissed("rejected", where=" · ".join(failed))
