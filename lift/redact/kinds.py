"""What a kind of secret is, and the ways to find one: behind a fixed text, or by a search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

Check = Callable[[str], bool]
"""Tells a secret from ordinary text of the same shape."""

Places = Iterable[tuple[int, int]]
"""Where secrets begin and end in a text."""


class Text(NamedTuple):
    """A text to be searched."""

    text: str
    folded: str
    """The same in lower case, character for character."""


class Kind(NamedTuple):
    """One kind of secret. Of two kinds that match at one place, the earlier in the table wins."""

    name: str
    marks: tuple[str, ...]
    """Lower case; a text without any of them, in either case, has no secret of this kind."""
    find: Callable[[Text], Places]


def text_of(text: str) -> Text:
    """The text, ready to be searched."""
    folded = text.lower()
    if len(folded) != len(text):  # a few letters become two
        folded = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    return Text(text, folded)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when it is first needed: most texts need few of them."""
    return re.compile(pattern)


# ---- parts of patterns
HEX = "[0-9A-Fa-f]"
ALNUM = "[A-Za-z0-9]"
RUN = "[A-Za-z0-9_-]"
BASE64 = "[A-Za-z0-9/+]"
DOTTED = r"(?=[A-Za-z0-9_~+/=.-]{%d})[A-Za-z0-9_~+/=-]++(?>(?:\.[A-Za-z0-9_~+/=-]++)*)"
ESCAPES = (
    *(r"\\[bfnrt]", rf"\\u{HEX}{{4}}", rf"\\x{HEX}{{2}}", f"%{HEX}{{2}}"),
    *(r"\[m", r"[\[;][0-9]m", r"[\[;][0-9]{2}m"),
)
"""What a letter may be the end of: newline and the like, `%3D`, a terminal's colour. No word has
their first characters, so that a word has one edge."""


def edge(before: str = ALNUM) -> str:
    """A pattern for a place that is not inside a word.

    Args:
        before: what a word is made of; one character.
    """
    return f"(?:(?<!{before})|{'|'.join(f'(?<={escape})' for escape in ESCAPES)})"


BREAK = re.compile(r"\n|\\{1,8}[nrt]")


def line_before(text: str, end: int, most: int) -> str:
    """What stands before a place on its line; a newline may be escaped.

    Args:
        text: to be looked at.
        end: the place.
        most: characters to look at.
    """
    return BREAK.split(text[max(0, end - most) : end])[-1]


# ---- ways to find
def led(name: str, starts: str, rest: str, check: Check | None = None, before: str = ALNUM) -> Kind:
    """A kind whose secrets begin with a fixed text, at the edge of a word.

    Args:
        name: of the kind.
        starts: the fixed texts, with spaces between.
        rest: what follows them. Its group is the secret; without groups, all with the start.
        check: of what follows the start, if needed.
        before: what must not stand before it.
    """
    found, begin = starts.split(), edge(before)

    def find(text: Text) -> Iterator[tuple[int, int]]:
        for start in found:
            for match in after(text, start, rest, before=begin, folded=False):
                first, last = match.span(match.lastindex or 0)
                if check is None or check(text.text[first:last]):
                    yield first if match.lastindex else match.start() - len(start), last

    return Kind(name, tuple(start.lower() for start in found), find)


def named(name: str, words: str, rest: str, check: Check | None = None) -> Kind:
    """A kind that a word gives away, in upper or lower case, anywhere.

    Args:
        name: of the kind.
        words: in lower case, with spaces between.
        rest: what follows the word; its group is the secret.
        check: of the secret, if needed.
    """
    found = tuple(words.split())

    def find(text: Text) -> Iterator[tuple[int, int]]:
        for word in found:
            for match in after(text, word, rest):
                first, last = match.span(match.lastindex or 0)
                if check is None or check(text.text[first:last]):
                    yield first, last

    return Kind(name, found, find)


def inside(name: str, mark: str, offset: int, pattern: str, before: str = ALNUM) -> Kind:
    """A kind with a fixed text in the middle of its secrets, which begin at the edge of a word.

    Args:
        name: of the kind.
        mark: the fixed text.
        offset: where in them it is.
        pattern: the secret.
        before: what must not stand before it.
    """
    begin = edge(before)

    def find(text: Text) -> Iterator[tuple[int, int]]:
        at = text.text.find(mark)
        while at >= 0:
            done, start = at + len(mark), max(0, at - offset)
            at_edge = compiled(begin).match(text.text, start)
            if at_edge and (match := compiled(pattern).match(text.text, start)):
                yield match.span()
                done = max(done, match.end())
            at = text.text.find(mark, done)

    return Kind(name, (mark.lower(),), find)


def searched(name: str, marks: str, pattern: str, check: Check | None = None) -> Kind:
    """A kind that is searched for in texts that have one of some fixed texts.

    Args:
        name: of the kind.
        marks: the fixed texts, in lower case, with spaces between.
        pattern: its group is the secret; without groups, all of the match.
        check: of the secret, if needed.
    """

    def find(text: Text) -> Iterator[tuple[int, int]]:
        for match in compiled(pattern).finditer(text.text):
            start, end = match.span(match.lastindex or 0)
            if check is None or check(text.text[start:end]):
                yield start, end

    return Kind(name, tuple(marks.split()), find)


def after(
    text: Text, word: str, rest: str, *, before: str = "", folded: bool = True
) -> Iterator[re.Match[str]]:
    """What follows a fixed text, wherever it stands; the scan goes on behind what was looked at.

    Args:
        text: to be searched.
        word: the fixed text.
        rest: a pattern for what follows.
        before: a pattern for the place where the fixed text is.
        folded: whether it may be in upper or lower case; then it is given in lower case.
    """
    where = text.folded if folded else text.text
    at = where.find(word)
    while at >= 0:
        done = at + len(word)
        at_edge = not before or compiled(before).match(text.text, at)
        match = compiled(rest).match(text.text, done) if at_edge else None
        if match:
            yield match
            done = max(done, match.end())
        at = where.find(word, done)


def hits(
    text: Text, pattern: str, before: str, length: Callable[[re.Match[str]], int]
) -> Iterator[tuple[int, int]]:
    """Places of what looks like the pattern, is at an edge and holds.

    Args:
        text: to be searched.
        pattern: of a bounded length; it should begin with a set of characters.
        before: a pattern for the place where it begins.
        length: how much of a match holds; 0 where nothing does.
    """
    found, at = compiled(pattern), 0
    while match := found.search(text.text, at):
        at = match.start() + 1
        if compiled(before).match(text.text, match.start()) and (size := length(match)):
            at = match.start() + size
            yield match.start(), at
