"""[tool.lift] of a pyproject.toml, whatever else is in there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from lift.errors import SettingError
from lift.files import read_text

PYPROJECT = "pyproject.toml"

Value = str | int | float | dict[str, Any]

THRESHOLDS = "thresholds"
"""The setting that may be a table; `lift.thresholds` says what is in it."""


def read_table(folder: Path) -> dict[str, Value] | None:
    """Setting → value, those of [tool.lift.gate] as `gate_…`; None where there is no [tool.lift].

    A pyproject.toml that may not be read is none.

    Args:
        folder: that pyproject.toml is in.

    Raises:
        SettingError: the file is no TOML, or has something else in a table's or a value's place.
    """
    path = folder / PYPROJECT
    tool = _table(_content(path), "tool", path)
    table = _table(tool or {}, "lift", path)
    if table is None:
        return None
    gate = _table(table, "gate", path) or {}
    values = {name: value for name, value in table.items() if name != "gate"}
    values |= {f"gate_{name}": value for name, value in gate.items()}
    return {name: _value(name, value, path) for name, value in values.items()}


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except OSError as bad:
        raise SettingError(
            f"pyproject.toml cannot be read: {bad.strerror}",
            where=str(path),
            fix="put a UTF-8 file in its place",
        ) from bad
    except (ValueError, RecursionError) as bad:
        why = "it is nested too deep" if isinstance(bad, RecursionError) else bad
        raise SettingError(
            f"pyproject.toml is not valid TOML: {why}", where=str(path), fix="correct the file"
        ) from bad


def _table(parent: dict[str, Any], name: str, path: Path) -> dict[str, Any] | None:
    table = parent.get(name)
    if table is None or isinstance(table, dict):
        return table
    raise SettingError(
        f"{name} is not a table",
        where=str(path),
        fix="write [tool.lift], or [tool.lift.gate], and the settings below it",
    )


def _value(name: str, value: Any, path: Path) -> Value:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    if name == THRESHOLDS and isinstance(value, dict):
        return value
    raise SettingError(
        f"{name} is not a text or a number",
        where=f"[tool.lift] in {path}",
        fix=f'write {name} = "…", or a number',
    )
