"""What a command that asked something does about Langfuse at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.errors import Interrupted, LiftError

if TYPE_CHECKING:
    from lift.settings import Config


@contextmanager
def sent_at_the_end(config: Config, experiment: str) -> Iterator[None]:
    """Send the experiment when the block ends, well or with an error; not after an interrupt.

    In the block everything is recorded as it comes, so that Ctrl-C loses nothing.
    Keys that do not fit together are an error before the block begins.

    Args:
        config: names the Langfuse project.
        experiment: its name.
    """
    from lift.settings import langfuse_keys

    wanted = langfuse_keys(config) is not None
    try:
        with told("every answer so far is recorded", fix="run the same command again: it goes on"):
            yield
    except Interrupted:
        if wanted:
            note("nothing more was sent to Langfuse: lift push sends it")
        raise
    except LiftError:
        if wanted:
            _send(config, experiment)
        raise
    if wanted:
        _send(config, experiment)
    else:
        note("nothing was sent to Langfuse: no keys are set")


def _send(config: Config, experiment: str) -> None:
    from lift.journal import Journal
    from lift.outbox import deliver
    from lift.paths import exists

    if not exists(config.path("journal")):
        return

    what = "every answer is recorded, but Langfuse has not taken all"
    with (
        told(what, fix="lift compare shows them, lift push sends the rest"),
        Journal(config.path("journal"), create=False) as journal,
    ):
        for line in deliver(config, journal, experiment).lines:
            note(line)
