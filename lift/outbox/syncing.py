"""The dataset modules to Langfuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from lift.dataset import discover
from lift.langfuse import configs, datasets
from lift.langfuse.client import Connection
from lift.langfuse.datasets import Synced
from lift.langfuse.store import Told
from lift.outbox.project import required
from lift.redact import redacted
from lift.resolve import named
from lift.settings import Config

SCORE_CONFIGS = "score configs"

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
    """Make the datasets in Langfuse like the modules, and have it hold the score configs.

    Returns:
        Dataset name, or SCORE_CONFIGS → what was done.

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
        done[SCORE_CONFIGS] = _score_configs(to, check=check)
    return done


def _score_configs(to: Connection, *, check: bool) -> Synced:
    new = configs.missing(to) if check else configs.ensure(to)
    there = [config["name"] for config in configs.CONFIGS if config["name"] not in new]
    return Synced(created=tuple(new), unchanged=tuple(there))
