"""`lift doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, settings
from lift.cli.printed import print_json

if TYPE_CHECKING:
    from lift.doctor import Finding
    from lift.settings import Config


@click.command(name="doctor")
@click.option("--settings", "of_settings", is_flag=True, help="Print each setting and its origin.")
@settings("model", "journal")
@JSON
def command(config: Config, of_settings: bool, as_json: bool) -> None:
    """Look at versions, keys, servers, the journal and programs; each failure says what to do.

    Nothing is spent, and no key is shown. Exits 3 where something that is set up does not work.

    \b
    Examples:
      lift doctor
      lift doctor --settings
    """
    from lift.doctor import State
    from lift.doctor.examine import examine
    from lift.errors import CouldNotRun, counted

    if of_settings:
        _print_settings(config, as_json=as_json)
        return
    found = []
    for finding in examine(config):
        found.append(finding)
        if not as_json:
            _print(finding)
    if as_json:
        print_json([finding._asdict() for finding in found])
    if bad := [finding.name for finding in found if finding.state is State.FAILED]:
        raise CouldNotRun(
            f"{counted(len(bad), 'thing')} to mend", where=", ".join(bad), fix="see above"
        )


def _print(finding: Finding) -> None:
    from lift.redact import redacted

    shown = redacted(finding)
    click.echo(f"{shown.state:<6}  {shown.name:<16}  {shown.what}")
    if shown.fix:
        click.echo(f"{'':<26}fix: {shown.fix}")


def _print_settings(config: Config, *, as_json: bool) -> None:
    from lift.doctor.examine import settings as listed
    from lift.redact import redacted

    found = listed(config)
    if as_json:
        print_json(found)
        return
    for one in redacted(found):
        click.echo(f"{one['setting']:<24}  {one['value']:<32}  {one['from']}")
