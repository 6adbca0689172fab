"""What the lint asks of the text below the frontmatter, links aside."""

from __future__ import annotations

from collections.abc import Iterator

from activation.document import Document
from activation.markdown import Page
from activation.rules import Problem, beginning

MOST_LINES = 500
HIGHEST_FIRST = 2
"""The lowest level that a text's first heading may have."""


def problems(document: Document, page: Page) -> Iterator[Problem]:
    """What is wrong with the body of a skill."""
    if not document.body.strip():
        yield Problem(
            "body", "there is no text", len(document.lines), "write what the skill should teach"
        )
        return
    yield from _length(document)
    if not page.fences:
        yield Problem(
            "code-block",
            "the text has no fenced code block",
            document.body_line,
            "show at least one example between lines of three backticks",
        )
    yield from _headings(page)


def _length(document: Document) -> Iterator[Problem]:
    count = len(document.body.rstrip("\n").split("\n"))
    if count > MOST_LINES:
        yield Problem(
            "body-length",
            f"the text has {count} lines, more than {MOST_LINES}",
            document.body_line + MOST_LINES,
            "move parts of it into files that it links to",
        )


def _headings(page: Page) -> Iterator[Problem]:
    for text, line in page.unspaced:
        yield Problem(
            "headings",
            f"{beginning(text)!r} is no heading",
            line,
            "put a space after the number signs",
        )
    titles, previous = 0, 0
    for level, text, line, nested in page.headings:
        if not text.strip():
            yield Problem("headings", "a heading is empty", line, "give it a text, or remove it")
        if nested:
            continue
        titles += level == 1
        if level == 1 and titles > 1:
            what = f"{beginning(text)!r} is another heading of level 1"
            yield Problem("headings", what, line, "keep one, and lower the others")
        if level > (previous + 1 if previous else HIGHEST_FIRST):
            came = f"level {previous}" if previous else "nothing"
            what = f"{beginning(text)!r} has level {level} and comes after {came}"
            yield Problem("headings", what, line, "leave out no level")
        previous = level
