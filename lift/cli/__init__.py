"""The `lift` command: the group, and the one place where an error becomes a message."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from lift import __version__
from lift.cli.interrupts import INTERRUPTED
from lift.cli.notes import note
from lift.errors import LiftError

COMMANDS = {
    "run": "Ask a skill's datasets with and without the skill, score and compare.",
    "smoke": "Ask one prompt, and show both answers side by side.",
    "compare": "Show what the skill changed, per category.",
    "report": "Write a report: Markdown for a pull request, or JSON.",
    "gate": "Accept or reject a result: higher than the best recorded, and than without.",
    "judge": "Ask the judge for the votes that an experiment lacks.",
    "collect": "Take in what batches have answered, and hand over what is left.",
    "agreement": "Hold the judge of an experiment against people's labels.",
    "static": "Review a skill: lint, and whether it fires when it should.",
    "lint": "Lint a skill: frontmatter, description, headings, links.",
    "activation": "Ask whether a skill fires when it should.",
    "sync": "Make the datasets in Langfuse like the modules.",
    "push": "Send what Langfuse has not taken.",
    "list": "List the experiments of the journal.",
    "show": "Show an experiment's trials, or all of one item.",
    "cache": "Show or drop the answers that equal requests are given again.",
}
"""Command → the line that `lift --help` shows; each lives in a module of its own."""

BROKEN_PIPE = 141


class Group(click.Group):
    """Loads a command's module when it is used; options alone mean `lift run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """The commands, in the order a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click passes it
        """The command, from its module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"lift.cli.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`lift --quick …` is `lift run --quick …`."""
        if args and args[0].startswith("-") and args[0] not in ("--help", "-h", "--version"):
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click passes it
        """The commands with one line each; no module is loaded for it."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Group,
    invoke_without_command=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="lift")
def group() -> None:
    """Tell whether an agent skill measurably helps.

    \b
    Examples:
      lift --quick                     ask five items with and without the skill
      lift --full --skill path/to/it   every item, another skill folder in its place
      lift compare                     the last experiment again, per category

    Without a key everything runs on canned demo replies. `lift COMMAND --help` tells more.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code; see the README for the codes."""
    sys.exit(_exit_code(args))


def _exit_code(args: Sequence[str] | None) -> int:
    try:
        group.main(args=args, prog_name="lift", standalone_mode=False)
        sys.stdout.flush()
    except LiftError as failed:
        from lift.redact import redacted

        note(f"Error: {redacted(str(failed))}")
        return failed.exit_code
    except click.ClickException as failed:
        failed.show()
        return failed.exit_code
    except (click.Abort, KeyboardInterrupt) as stopped:
        # click turns Ctrl-C into an Abort, as it does a question that is answered with no
        pressed = isinstance(stopped.__cause__ or stopped, KeyboardInterrupt)
        note(f"{'interrupted' if pressed else 'stopped'} before anything was asked")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # what reads our output is gone (click turns that into SystemExit, and nothing else into
        # it): nothing more may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return 0
