"""Tables, panels and lines for a terminal: what stands in them is text, and never markup."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import rich.panel
import rich.table
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

from lift.errors import visible

LEAST = 13
"""Characters that a narrow terminal leaves a name in a line: `without_skill` has as many."""


def plain(text: str, style: str = "") -> Text:
    """One line from anywhere: brackets are brackets, and control characters are spelled out."""
    return Text(visible(text), style)


def prose(text: str, style: str = "") -> Text:
    """Lines from a model or a user, harmless to a terminal."""
    return Text(visible(text.replace("\r\n", "\n"), keep="\n\t"), style)


class Table(rich.table.Table):
    """A table without lines whose strings are plain, and whose numbers are whole at any width."""

    def __init__(self, **options: Any) -> None:
        self._spares: list[int] = []
        super().__init__(**{"box": None, "pad_edge": False, "header_style": "bold"} | options)

    def add_column(
        self, header: RenderableType = "", *args: Any, spare: int = 0, **options: Any
    ) -> None:
        """Add a column; a header that is a string is plain. Numbers are never cut, names fold.

        Args:
            header: above the column.
            args: as rich has them.
            spare: where there is no room, 1 is dropped before 2, and 0 never.
            options: as rich has them.
        """
        options.setdefault("overflow", "fold")
        options.setdefault("no_wrap", options.get("justify") == "right")
        self._spares.append(spare)
        super().add_column(_cell(header), *args, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row; cells that are strings are plain."""
        super().add_row(*(_cell(cell) for cell in cells), **options)

    def natural_width(self) -> int:
        """Characters that it takes where there is room for everything."""
        return _natural(self)

    def fitted(self, width: int) -> tuple[Table, int]:
        """The table with names folded, then without what is spare, and its width.

        It is wider than asked for where its numbers and names need that.
        """
        rooms = [_room(column) for column in self.columns]
        kept = list(range(len(rooms)))
        for index in sorted(kept, key=self._spare):
            if self._between(kept) + sum(rooms[n].least for n in kept) <= width:
                break
            if self._spare(index):
                kept.remove(index)
        widths = _shared([rooms[n] for n in kept], width - self._between(kept))
        fitted = copy.copy(self)
        fitted.columns = [
            replace(self.columns[index], width=room, no_wrap=False, _index=place)
            for place, (index, room) in enumerate(zip(kept, widths, strict=True))
        ]
        return fitted, self._between(kept) + sum(widths)

    def _between(self, kept: Sequence[int]) -> int:
        _, right, _, left = self.padding
        return (left + right) * max(0, len(kept) - 1)

    def _spare(self, index: int) -> int:
        return self._spares[index] if index < len(self._spares) else 0


@cache
def _endless() -> Console:
    return Console(width=10_000)


def _natural(part: RenderableType) -> int:
    return Measurement.get(_endless(), _endless().options, part).maximum


class _Room(NamedTuple):
    """Characters that a column needs, and those that it would take."""

    least: int
    most: int


def _room(column: rich.table.Column) -> _Room:
    header, *cells = map(_natural, (column.header, *column.cells))
    most = max(header, *cells, 0)
    return _Room(max(min(header, LEAST), *cells, 0) if column.no_wrap else min(most, LEAST), most)


def _shared(rooms: Sequence[_Room], width: int) -> list[int]:
    """The columns' widths: the widest give way first."""
    widths = [room.most for room in rooms]
    for _ in range(sum(widths) - width):
        folding = [n for n, room in enumerate(rooms) if widths[n] > room.least]
        if not folding:
            break
        widths[max(folding, key=widths.__getitem__)] -= 1
    return widths


class Panel(rich.panel.Panel):
    """A panel whose title is plain."""

    def __init__(self, content: RenderableType, *, title: str) -> None:
        super().__init__(content, title=plain(title))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As rich draws it, but a title that it would cut stands above."""
        title = self.title
        if isinstance(title, Text) and title.cell_len + 6 > options.max_width:
            yield title
            yield rich.panel.Panel(self.renderable)
        else:
            yield from super().__rich_console__(console, options)


def rendered(parts: Sequence[RenderableType], *, width: int, color: bool) -> str:
    """What rich makes of the parts, one below the other; no word of a line is broken."""
    console = Console(
        file=io.StringIO(),
        width=_endless().width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        for shown, room in _fitted(part, width):
            console.print(shown, width=room)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def _fitted(part: RenderableType, width: int) -> Iterator[tuple[RenderableType, int]]:
    """What to print, and how wide it gets: as the terminal, or wider where it must be."""
    if isinstance(part, Table) and not part.expand:
        table, taken = part.fitted(width)
        yield table, max(width, taken)
    elif isinstance(part, Text):
        for line in part.split(allow_blank=True):
            yield line, max(width, *map(cell_len, line.plain.split()), 0)
    else:
        yield part, width


def _cell(cell: Any) -> Any:
    return plain(cell) if isinstance(cell, str) else cell
