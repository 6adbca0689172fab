"""A Markdown text as the lint needs it: headings, links and fenced blocks, each with its line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# every repetition is bounded, so that no text takes long
TARGET = re.compile(
    r"""
    (?<!\\)\]\([ \t\n]{0,9}
    (?: <(?P<angled>[^<>\n]{0,2000})>
      | (?P<bare>(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.){0,500}\)){0,2000}) )
    (?:[ \t\n]{1,9}(?:"[^"]{0,500}"|'[^']{0,500}'|\([^()]{0,500}\)))?
    [ \t\n]{0,9}\)
    """,
    re.VERBOSE,
)
LINKED = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()]{0,2000}\)")
TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
NAMED = re.compile(r"""<[A-Za-z][^<>]{0,500}?\s(?:id|name)\s?=\s?["']([^"'<>]{1,200})["']""")
UNSPACED = re.compile(r"^#{1,6}[^\W\d_]", re.MULTILINE)
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
TICKS = re.compile(r"`+")


class Heading(NamedTuple):
    """A heading, as it is written."""

    level: int
    text: str
    line: int
    nested: bool
    """Whether it is inside a list or a quote."""


class Link(NamedTuple):
    """A link or an image."""

    target: str
    line: int


class Page(NamedTuple):
    """What a Markdown text consists of."""

    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    fences: int
    """Number of fenced code blocks."""
    unspaced: tuple[Link, ...]
    """Lines that look like a heading and are none, for want of a space."""
    anchors: frozenset[str]
    """What a link to a place in the text may name, in lower case."""


def read(text: str, first_line: int = 1) -> Page:
    """The parts of a text, as CommonMark and GitHub's tables have them.

    Args:
        text: with LF line ends.
        first_line: of the file, where the text starts.
    """
    references: dict[str, Any] = {}
    tokens = _parser().parse(text, references)
    headings: list[Heading] = []
    links: list[Link] = []
    unspaced: list[Link] = []
    for token, before in zip(tokens[1:], tokens, strict=False):
        if token.type != "inline" or token.map is None:
            continue
        line = token.map[0] + first_line
        links += _links(token.content, line)
        if before.type == "heading_open":
            headings.append(Heading(int(before.tag[1]), token.content, line, before.level > 0))
        elif before.type == "paragraph_open":
            unspaced += _unspaced(token.content, line)
    links += _definitions(references, first_line)
    return Page(
        headings=tuple(headings),
        links=tuple(sorted(links, key=lambda link: link.line)),
        fences=sum(token.type == "fence" for token in tokens),
        unspaced=tuple(unspaced),
        anchors=frozenset((*_slugs(headings), *_named(tokens))),
    )


def slug(heading: str) -> str:
    """The anchor that GitHub gives to a heading, before it tells equal ones apart."""
    pieces, last = [], 0
    for start, stop in _code_spans(heading):
        pieces += [_bare(heading[last:start]), heading[start:stop]]
        last = stop
    text = "".join((*pieces, _bare(heading[last:])))
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _bare(text: str) -> str:
    return TAG.sub("", LINKED.sub(r"\1", text))


def _slugs(headings: Sequence[Heading]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for heading in headings:
        name = slug(heading.text)
        yield f"{name}-{seen[name]}" if seen[name] else name
        seen[name] += 1


def _named(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("inline", "html_block"):
            yield from (name.lower() for name in NAMED.findall(token.content))


def _links(content: str, line: int) -> Iterator[Link]:
    text = _without_code(content)
    ends = [match.start() for match in re.finditer("\n", text)]
    for match in TARGET.finditer(text):
        target = match["angled"] if match["bare"] is None else match["bare"]
        yield Link(ESCAPE.sub(r"\1", target), line + bisect_right(ends, match.start()))


def _definitions(found: dict[str, Any], first_line: int) -> Iterator[Link]:
    """The targets of `[name]: target` lines."""
    references = found.get("references", {})
    for definition in (*references.values(), *found.get("duplicate_refs", ())):
        yield Link(definition["href"], definition["map"][0] + first_line)


def _unspaced(content: str, line: int) -> Iterator[Link]:
    lines = content.split("\n")
    for number, text in enumerate(lines):
        if UNSPACED.match(text):
            yield Link(text, line + number)


def _without_code(text: str) -> str:
    """The text with spaces in place of its code spans."""
    pieces, last = [], 0
    for start, stop in _code_spans(text):
        pieces += [text[last:start], re.sub(r"[^\n]", " ", text[start:stop])]
        last = stop
    return "".join((*pieces, text[last:]))


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where code spans start and stop: at backticks, and the next run of as many."""
    runs = [match.span() for match in TICKS.finditer(text)]
    places: defaultdict[int, list[int]] = defaultdict(list)
    for start, end in runs:
        places[end - start].append(start)
    last = 0
    for start, end in runs:
        same = places[end - start]
        after = bisect_right(same, start)
        if start >= last and after < len(same):
            last = same[after] + end - start
            yield start, last


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only who reads Markdown pays for it

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser
