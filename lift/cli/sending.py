"""What a command that asks something does about Langfuse, meanwhile and at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.errors import Interrupted, LiftError

if TYPE_CHECKING:
    from lift.outbox.meanwhile import Meanwhile
    from lift.settings import Config


@contextmanager
def sending(config: Config, experiment: str) -> Iterator[None]:
    """Send the experiment while the block works, and what is left when it ends.

    It ends well or with an error; after an interrupt what is left stays for `lift push`. In the
    block everything is recorded as it comes, so that Ctrl-C loses nothing. Keys that do not fit
    together are an error before the block begins.

    Args:
        config: names the Langfuse project.
        experiment: its name.
    """
    from lift.outbox.meanwhile import Meanwhile
    from lift.settings import langfuse_keys

    if langfuse_keys(config) is None:
        with _recorded():
            yield
        note("nothing was sent to Langfuse: no keys are set")
        return
    with _recorded(), Meanwhile(config, experiment, elsewhere()) as meanwhile:
        try:
            with _recorded():
                yield
        except Interrupted:
            note("lift push sends to Langfuse what it has not taken")
            raise
        except LiftError:
            _send_rest(meanwhile)
            raise
        _send_rest(meanwhile)


def _recorded() -> AbstractContextManager[None]:
    return told("every answer so far is recorded", fix="run the same command again: it goes on")


def elsewhere() -> Callable[[], None]:
    """Says, the first time it is called, that another process has to be waited for."""
    said: list[str] = []

    def say() -> None:
        if not said:
            said.append("another lift sends this experiment: waiting for it to end")
            note(said[0])

    return say


def _send_rest(meanwhile: Meanwhile) -> None:
    what = "every answer is recorded, but Langfuse has not taken all"
    with told(what, fix="lift compare shows them, lift push sends the rest"):
        delivery = meanwhile.finish()
    for line in delivery.lines if delivery else ():
        note(line)
