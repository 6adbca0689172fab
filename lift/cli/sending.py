"""What a command that asked something does about Langfuse at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lift.cli.notes import note
from lift.errors import Interrupted, LiftError

if TYPE_CHECKING:
    from lift.settings import Config


@contextmanager
def sent_at_the_end(config: Config, experiment: str) -> Iterator[None]:
    """Send the experiment when the block ends, well or with an error; not after an interrupt.

    Keys that do not fit together are an error before the block begins.

    Args:
        config: names the Langfuse project.
        experiment: its name.
    """
    from lift.settings import langfuse_keys

    wanted = langfuse_keys(config) is not None
    try:
        yield
    except Interrupted:
        if wanted:
            note("nothing more was sent to Langfuse: lift push sends it")
        raise
    except LiftError:
        _send(config, experiment)
        raise
    _send(config, experiment)


def _send(config: Config, experiment: str) -> None:
    from lift.settings import langfuse_keys

    if langfuse_keys(config) is None:
        note("nothing was sent to Langfuse: no keys are set")
        return
    if not config.path("journal").exists():
        return
    from lift.journal import Journal
    from lift.outbox import deliver

    with Journal(config.path("journal"), create=False) as journal:
        for line in deliver(config, journal, experiment).lines:
            note(line)
