"""Tables, panels and lines for a terminal: what stands in them is text, and never markup."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import rich.panel
import rich.table
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.text import Text

from lift.errors import visible


def plain(text: str, style: str = "") -> Text:
    """One line from anywhere: brackets are brackets, and control characters are spelled out."""
    return Text(visible(text), style)


def prose(text: str, style: str = "") -> Text:
    """Lines from a model or a user, harmless to a terminal."""
    return Text(visible(text.replace("\r\n", "\n"), keep="\n\t"), style)


class Table(rich.table.Table):
    """A table whose strings are plain."""

    def add_column(self, header: RenderableType = "", *args: Any, **options: Any) -> None:
        """Add a column; a header that is a string is plain. Numbers are never cut, names fold."""
        options.setdefault("overflow", "fold")
        options.setdefault("no_wrap", options.get("justify") == "right")
        super().add_column(_cell(header), *args, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row; cells that are strings are plain."""
        super().add_row(*(_cell(cell) for cell in cells), **options)

    def natural_width(self) -> int:
        """Characters that it takes where there is room for everything."""
        console = Console(width=10_000)
        return Measurement.get(console, console.options, self).maximum


class Panel(rich.panel.Panel):
    """A panel whose title is plain."""

    def __init__(self, content: RenderableType, *, title: str) -> None:
        super().__init__(content, title=plain(title))


def rendered(parts: Sequence[RenderableType], *, width: int, color: bool) -> str:
    """What rich makes of the parts, one below the other."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def _cell(cell: Any) -> Any:
    return plain(cell) if isinstance(cell, str) else cell
