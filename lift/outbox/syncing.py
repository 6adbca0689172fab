"""The dataset modules to Langfuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from lift.dataset import discover
from lift.langfuse import datasets
from lift.langfuse.datasets import Synced
from lift.langfuse.store import Told
from lift.outbox.project import required
from lift.redact import redacted
from lift.resolve import named
from lift.settings import Config

Counting = Callable[[str], AbstractContextManager[Told]]
"""Who is told how many items of a dataset are written."""


def sync(
    config: Config,
    names: Sequence[str],
    *,
    check: bool,
    force: bool,
    counting: Counting,
) -> dict[str, Synced]:
    """Make the datasets in Langfuse like the modules; dataset name → what was done.

    Args:
        config: names the project and the modules' folder.
        names: of datasets; all where empty.
        check: only say what would be written.
        force: write over what was edited in the UI.
        counting: told of each dataset.

    Raises:
        SettingError: no keys are set.
        DatasetError: a module does not load, or a name is unknown.
        LangfuseError: it cannot be read or written.
    """
    folder = config.path("datasets_dir")
    found = discover(folder)
    chosen = named(found, names, str(folder)) if names else found
    done = {}
    with required(config) as to:
        for one in chosen:
            with counting(one.name) as told:
                done[one.name] = datasets.sync(
                    to, one, redact=redacted, check=check, force=force, told=told
                )
    return done
