"""The `lift` command: the group, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from lift import __version__
from lift.cli import streams
from lift.cli.failures import ended
from lift.cli.interrupts import INTERRUPTED
from lift.errors import UsageError, visible

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
    "redact": "Show what would be masked of a text before it is sent or reported.",
    "doctor": "Say what is set up and what is not, and what to do about it.",
    "list": "List the experiments of the journal.",
    "show": "Show an experiment's trials, or all of one item.",
    "schema": "Print the JSON schema of a comparison, or of a baseline.",
    "cache": "Show or drop the answers that equal requests are given again.",
}
"""Command → the line that `lift --help` shows; each lives in a module of its own."""

BROKEN_PIPE = 141

COMPLETING = "_LIFT_COMPLETE"
"""Set by a shell that asks what a command line may go on with."""


class Group(click.Group):
    """Loads a command's module when it is used; options alone mean `lift run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """The commands, in the order a person meets them."""
        return [*COMMANDS]  # not list(): that may be the command's module

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or an error that names the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.4)
            what = f"did you mean {near[0]!r}?" if near else "lift --help lists them"
            ctx.fail(f"no command {name!r:.80}: {what}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click passes it
        """The commands with one line each; no module is loaded for it."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


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

    Without a key the example datasets run on canned replies. `lift COMMAND --help` tells more.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code; see the README for the codes."""
    try:
        code = _exit_code(sys.argv[1:] if args is None else args)
    except KeyboardInterrupt:  # one more, while the first is told of
        code = INTERRUPTED
    sys.exit(code)


def _exit_code(args: Sequence[str]) -> int:
    try:
        streams.ready()
        _check(args)
        group.main(args=[*args], prog_name="lift", standalone_mode=False)
        streams.flush()
    except (BrokenPipeError, SystemExit) as left:
        # click turns the first into the second, and ends a completion with it
        if COMPLETING in os.environ and isinstance(left, SystemExit):
            return int(left.code or 0)
        streams.give_up()
        return BROKEN_PIPE
    except BaseException as failed:  # noqa: BLE001 - nothing may end in a traceback
        return ended(failed)
    return 0


def _check(args: Sequence[str]) -> None:
    """Refuse arguments that can neither be printed nor kept.

    Raises:
        UsageError: one has control characters, or bytes that are no UTF-8.
    """
    for number, text in enumerate(args, 1):
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"argument {number} is not UTF-8", where=text)
        if visible(text) != text:
            raise UsageError(f"argument {number} has control characters", where=repr(text))
