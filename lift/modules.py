"""Dataset modules, run: what they define, or one error that says where they break."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import sys
import traceback
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

from pydantic import ValidationError

from lift.errors import DatasetError
from lift.files import read_bytes

ITEMS = ("Item", "TriggerPrompt")
"""Calls in a dataset module that an error names by their id."""


def defined(path: Path) -> Any:
    """Run a dataset module and return its DATASET; None where it has none.

    What it prints goes to standard error: it is no result of a command's.

    Raises:
        DatasetError: it cannot be read or run, or an item is malformed; the message names module,
            line, item and field.
    """
    # a name of its own: neither `datasets` nor any other importable name is shadowed
    name = f"lift_dataset_{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    source = _source(path)
    code = _compiled(path, source)
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, module.__dict__)
            return getattr(module, "DATASET", None)
    except ValidationError as bad:
        raise _malformed(path, source, bad) from bad
    except BaseException as bad:
        if type(bad) is KeyboardInterrupt:
            raise
        where = f"{path}:{_line(path, bad)}"
        if isinstance(bad, SyntaxError) and isinstance(bad.filename, str):  # of what it imports
            where = f"{bad.filename}:{bad.lineno or 1}"
        raise DatasetError(f"the module raised {_said(bad)}", where=where) from bad


def _source(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as bad:
        raise DatasetError(
            f"the module cannot be read: {bad.strerror}",
            where=str(path),
            fix="put a Python file in its place, or start its name with _",
        ) from bad


def _compiled(path: Path, source: bytes) -> CodeType:
    try:
        # not by the import system: its bytecode cache takes an edit within a second for none
        return compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as bad:
        where = f"{bad.filename or path}:{bad.lineno or 1}"
        raise DatasetError(f"syntax error: {bad.msg}", where=where, fix="correct it") from bad
    except (ValueError, RecursionError, MemoryError, OverflowError) as bad:
        raise DatasetError(
            f"the module is no Python: {_said(bad)}", where=str(path), fix="correct it"
        ) from bad


def _said(bad: BaseException) -> str:
    """An error's type and text; its type alone where the text cannot be had."""
    name = type(bad).__name__
    try:
        return f"{name}: {bad}".rstrip(": ")
    except BaseException:  # noqa: BLE001 - the module's own class makes the text
        return name


def _malformed(path: Path, source: bytes, bad: ValidationError) -> DatasetError:
    first = bad.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    line = _line(path, bad)
    item = _item_at(source, line)
    # pydantic names alternatives as well, by their types
    field = ".".join(str(part) for part in first["loc"] if "-" not in str(part))
    parts = [f"item {item!r}" if item else bad.title, f"field {field}" if field else ""]
    what = f"{', '.join(part for part in parts if part)}: {message}"
    return DatasetError(what, where=f"{path}:{line}", fix=_shown(first["input"]))


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float | bool | list | None):
        return f"it was given {value!r:.80}"
    return ""


def _line(path: Path, problem: BaseException) -> int:
    """The last line of the module on the way to the problem; 1 where it never got there."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return (lines[-1] or 1) if lines else 1


def _item_at(source: bytes, line: int) -> str:
    """The id in the Item(...) call, or its like, that covers a line; empty if it has none."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ITEMS:
            ids = [word.value for word in node.keywords if word.arg == "id"]
            covers = node.lineno <= line <= (node.end_lineno or node.lineno)
            if covers and ids and isinstance(ids[0], ast.Constant):
                return cast(str, ids[0].value)
    return ""
