"""The dataset modules to Langfuse."""

from __future__ import annotations

from collections.abc import Sequence

from lift.dataset import discover
from lift.langfuse import datasets
from lift.outbox.project import required
from lift.redact import redacted
from lift.resolve import named
from lift.settings import Config


def sync(
    config: Config, names: Sequence[str], *, check: bool, force: bool
) -> dict[str, datasets.Synced]:
    """Make the datasets in Langfuse like the modules; dataset name → what was done.

    Args:
        config: names the project and the modules' folder.
        names: of datasets; all where empty.
        check: only say what would be written.
        force: write over what was edited in the UI.

    Raises:
        SettingError: no keys are set.
        DatasetError: a module does not load, or a name is unknown.
        LangfuseError: it cannot be read or written.
    """
    folder = config.path("datasets_dir")
    found = discover(folder)
    chosen = named(found, names, str(folder)) if names else found
    with required(config) as to:
        return {
            one.name: datasets.sync(to, one, redact=redacted, check=check, force=force)
            for one in chosen
        }
