"""Options that commands share, made from the settings they set."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

NO_CACHE = click.option("--no-cache", is_flag=True, help="Use no answer that was given before.")
FAIL_ON = click.option(
    "--fail-on",
    multiple=True,
    metavar="THRESHOLD",
    help="Exit 1 where that is so, as METRIC<0.8; again for several.",
)
NO_WAIT = click.option("--no-wait", is_flag=True, help="Look once; lift collect gets the rest.")


LONGEST_PERIOD_DIGITS = 4
"""Longer ones reach back before there was anything."""


class Period(click.ParamType[timedelta]):
    """A number of hours, days or weeks."""

    name = "period"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """The period."""
        match = re.fullmatch(r"0*([1-9]\d*)([hdw])", str(value).strip())
        if match is None:
            self.fail(f"{value!r:.80} is no period; write 12h, 90d or 8w", param, ctx)
        unit = {"h": "hours", "d": "days", "w": "weeks"}[match[2]]
        if len(match[1]) > LONGEST_PERIOD_DIGITS:
            self.fail(f"{value!r:.80} is too long; 5200w is a century", param, ctx)
        return timedelta(**{unit: int(match[1])})


SINCE = click.option(
    "--since",
    type=Period(),
    default="30d",
    show_default=True,
    metavar="PERIOD",
    help="How far back to look in Langfuse: 12h, 90d.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def settings(*names: str) -> Callable[[Command], Command]:
    """Options for these settings; the command gets `config`, with everything else read.

    Args:
        names: of settings, each a flag; a flag that is not given leaves the setting alone.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def configured(**options: Any) -> Any:
            from lift.settings import read

            flags = {name: options.pop(name) for name in names}
            if options.pop("no_cache", False):
                flags["cache_max_age"] = 0
            config = read(_here(), os.environ, flags)
            return command(config=config, **options)

        result: Any = configured
        for name in reversed(names):
            result = _option(name)(result)
        return result  # type: ignore[no-any-return]

    return decorate


def _here() -> Path:
    from lift.errors import CouldNotRun

    try:
        return Path.cwd()
    except OSError as gone:
        raise CouldNotRun(
            f"the current folder cannot be found: {gone.strerror}", fix="change to another"
        ) from gone


class Number(click.FloatRange):
    """A number within bounds; NaN and infinity, which not every bound keeps out, are none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def _option(name: str) -> Callable[[Any], Any]:
    return click.option(f"--{name.replace('_', '-')}", name, help=HELP[name], metavar=METAVAR[name])


HELP = {
    "skill": "Skill to test: its name, or the path of another folder to put in its place.",
    "backend": "What answers: messages, demo, or auto (messages if there is a key).",
    "model": "Model that answers.",
    "effort": "Effort passed to the model.",
    "max_tokens": "Longest answer in tokens, thinking included.",
    "judge_model": "Model that judges.",
    "judge_votes": "Votes of the judge on each trial, 1 to 9.",
    "max_cost_usd": "Cost ceiling of the experiment in US dollars; above 0.",
    "concurrency": "Calls in flight at most.",
    "deadline_s": "Seconds after which a trial without an answer is errored.",
    "cache_max_age": "Days for which an answer to an equal request is used again.",
    "price": "Price of a model that is not in the table, in $ per million tokens.",
    "journal": "The journal's file.",
    "langfuse_limit": "Requests a minute: a number, none, or a plan: hobby, core, pro.",
}
METAVAR = {
    "skill": "NAME|PATH",
    "backend": "NAME",
    "model": "ID",
    "effort": "LEVEL",
    "max_tokens": "N",
    "judge_model": "ID",
    "judge_votes": "N",
    "max_cost_usd": "USD",
    "concurrency": "N",
    "deadline_s": "SECONDS",
    "cache_max_age": "DAYS",
    "price": "IN,OUT",
    "journal": "FILE",
    "langfuse_limit": "LIMIT",
}


WIDEST = 500
"""Characters of a line; no screen has more."""


def screen() -> dict[str, Any]:
    """Width and colour for a report: those of the terminal that standard output is."""
    import shutil
    import sys

    return {
        "width": min(max(30, shutil.get_terminal_size((100, 24)).columns), WIDEST),
        "color": sys.stdout.isatty() and "NO_COLOR" not in os.environ,
    }
