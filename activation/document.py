"""A Markdown file with frontmatter as text, with the number of every line kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from activation.rules import Problem
from lift.skill import FENCE, LARGEST_BYTES

MARK = "\ufeff"
BLOCK_LINE = 2
"""Line of the file where the frontmatter's YAML starts, if there is any."""

LONE_CR = re.compile(rb"\r(?!\n)")
LINE_END = re.compile(rb"\r\n|\r|\n")


class Document(NamedTuple):
    """A file's text, split at its frontmatter; lines end in LF whatever the file has."""

    lines: tuple[str, ...]
    block: str | None
    """The YAML between the fences; None where there is no frontmatter."""
    body: str
    """The text after the frontmatter; all of it where there is none."""
    body_line: int
    """Line of the file where the body starts."""


def read(data: bytes) -> Document:
    """The text of a file; bytes that are no UTF-8 become U+FFFD."""
    text = data.decode("utf-8", "replace").removeprefix(MARK)
    lines = tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    closing = _closing(lines)
    if closing is None:
        return Document(lines, None, "\n".join(lines), 1)
    return Document(
        lines=lines,
        block="\n".join((*lines[1:closing], "")),
        body="\n".join(lines[closing + 1 :]),
        body_line=closing + 2,
    )


def problems(data: bytes, *, cut: bool) -> Iterator[Problem]:
    """What is wrong with the bytes of a file.

    Args:
        data: as they are on disk.
        cut: whether there were more.
    """
    if cut:
        yield Problem(
            "size",
            f"the file is larger than the {LARGEST_BYTES // 1024} KB that a prompt takes",
            fix="move parts of it into files that it links to",
        )
    if data.startswith(MARK.encode()):
        yield Problem("bom", "the file starts with a byte-order mark", fix="save it without one")
    yield from _undecoded(data, cut=cut)
    if lone := LONE_CR.search(data):
        yield Problem(
            "line-ends",
            "a line ends in a lone CR, which clients do not see as the end of a line",
            line_at(data, lone.start()),
            "save the file with LF line ends",
        )


def frontmatter_problem(document: Document) -> Problem | None:
    """Why a document has no frontmatter; None where it has."""
    if document.block is not None:
        return None
    first = document.lines[0].rstrip()
    fences = [number for number, line in enumerate(document.lines, 1) if line.rstrip() == FENCE]
    fix = "start the file with a line `---`, then name and description, then a line `---`"
    if first == FENCE:
        return Problem(
            "frontmatter",
            "the frontmatter is never closed",
            fix="end it with a line `---`" + (" instead of `...`" if _dots(document) else ""),
        )
    if fences and not any(line.strip() for line in document.lines[: fences[0] - 1]):
        return Problem("frontmatter", "a blank line stands before the frontmatter", fix="remove it")
    if set(first) == {"-"}:
        fix = "make the first line exactly three dashes"
    elif len(fences) > 1:
        fix = f"move what stands before line {fences[0]} below the frontmatter"
    return Problem("frontmatter", "the file does not start with frontmatter", fix=fix)


def line_at(data: bytes, position: int) -> int:
    """The line of the file, from 1, that a byte is in."""
    return 1 + len(LINE_END.findall(data[:position]))


def _closing(lines: tuple[str, ...]) -> int | None:
    if lines[0].rstrip() != FENCE:
        return None
    return next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)


def _dots(document: Document) -> bool:
    return any(line.rstrip() == "..." for line in document.lines)


def _undecoded(data: bytes, *, cut: bool) -> Iterator[Problem]:
    if (nul := data.find(b"\0")) >= 0:
        yield Problem(
            "encoding",
            "the file is binary or UTF-16: it has a NUL byte",
            line_at(data, nul),
            "save it as UTF-8 text",
        )
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as bad:
        if cut and bad.end == len(data) and bad.reason == "unexpected end of data":
            return  # the cut went through a character
        yield Problem(
            "encoding",
            f"byte {bad.start} of the file is no UTF-8",
            line_at(data, bad.start),
            "save it as UTF-8 text",
        )
