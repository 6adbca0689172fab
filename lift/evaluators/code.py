"""The code in a reply: its fenced blocks, and source without its comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lift.evaluators.syntaxes import LANGUAGES, SYNTAXES, Syntax, guessed, is_code

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

COMMENT, STRING, CODE = "comment", "string", "code"
Span = tuple[str, int, int]
"""COMMENT or STRING, where it starts, where it ends."""


class Source(NamedTuple):
    """One text that a rubric looks at, as it was written."""

    written: str
    syntax: str
    """A name in SYNTAXES; `plain` for prose."""

    @property
    def text(self) -> str:
        """The source without its comments."""
        return without_comments(self.written, self.syntax)

    @property
    def bare(self) -> str:
        """The source without its comments, and with every string empty."""
        return without_strings(self.written, self.syntax)


def examined(text: str) -> tuple[Source, ...]:
    """What a rubric looks at: the reply's code blocks where it has any, else all of its text.

    A text without a fenced block is read as prose, where nothing is a comment, unless all of it
    is evidently source code.
    """
    if blocks := code_blocks(text):
        return tuple(Source(body, LANGUAGES.get(name) or guessed(body)) for name, body in blocks)
    syntax = guessed(text)
    return (Source(text, syntax if is_code(without_comments(text, syntax), syntax) else "plain"),)


# --- Fenced blocks

_OPENING = re.compile(r"^(`{3,}+(?=[^`\n]*$)|~{3,}+)([^\n]*)$", re.MULTILINE)
_DOUBT = re.compile(r"^(?:[ \t>*+\-\d.)]*+<|[ \t>*+\-\d.)]++(?:```|~~~))", re.MULTILINE)
_NAME = re.compile(r"[\w+#-]+")


def code_blocks(text: str) -> tuple[tuple[str, str], ...]:
    """The language and the text of each fenced block, as CommonMark reads them.

    The language is the first word of the info string in lower case, without what decorates it
    (`{.java}`), or the suffix of a file's name; empty where there is none.
    """
    if "```" not in text and "~~~" not in text:
        return ()
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    found = _flush_blocks(text)
    if found is None:
        found = _parsed_blocks(text)
    return tuple((_language(info), body) for info, body in found)


def _flush_blocks(text: str) -> list[tuple[str, str]] | None:
    """The blocks of a text whose fences are all flush left; None where only a parser can tell.

    A list or a quote ends at a fence that is flush left; only HTML could hide one.
    """
    found, position = [], 0
    while opening := _OPENING.search(text, position):
        if _DOUBT.search(text, position, opening.start()):
            return None
        closing = _closing(opening[1]).search(text, opening.end())
        end, position = closing.span() if closing else (len(text), len(text))
        found.append((opening[2], text[opening.end() + 1 : end]))
    return None if _DOUBT.search(text, position) else found


@lru_cache(maxsize=64)
def _closing(fence: str) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}+[ \t]*+$", re.MULTILINE)


def _parsed_blocks(text: str) -> list[tuple[str, str]]:
    return [(token.info, token.content) for token in _parser().parse(text) if token.type == "fence"]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # importing it takes longer than most scores

    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _language(info: str) -> str:
    word, *_ = info.strip().lower().lstrip("{. ").split(maxsplit=1) or [""]
    name = _NAME.match(word.removeprefix("language-"))
    suffix = word.rstrip("}").rpartition(".")[2]
    if suffix in LANGUAGES and (not name or name[0] not in LANGUAGES):
        return suffix
    return name[0] if name else ""


# --- Comments and strings


def without_comments(source: str, syntax: str) -> str:
    """The source with whitespace in place of each comment.

    In Python a triple-quoted string that is a statement of its own, such as a docstring, counts
    as a comment.

    Args:
        source: any text; what no compiler would accept is read as far as it makes sense.
        syntax: a name in SYNTAXES.
    """
    if not any(mark in source for mark in SYNTAXES[syntax].marks):
        return source
    return _replaced(source, [span for span in spans(source, syntax) if span[0] == COMMENT])


def without_strings(source: str, syntax: str) -> str:
    """The source with whitespace in place of each comment, and each string empty."""
    return _replaced(source, spans(source, syntax))


def _replaced(source: str, found: list[Span]) -> str:
    pieces, last = [], 0
    for kind, start, end in found:
        blank = "\n" * source.count("\n", start, end) or " "
        pieces += [source[last:start], blank if kind == COMMENT else '""']
        last = end
    return "".join([*pieces, source[last:]])


_TRIPLE = re.compile(r"[rbuRBU]{0,2}(?:\"\"\"|''')")


def spans(source: str, syntax: str) -> list[Span]:
    """Where the comments and strings are, in order; code in a string's hole is neither."""
    found = list(_Scan(source, SYNTAXES[syntax]).spans())
    if syntax == "python" and _TRIPLE.search(source):
        return _with_docstrings(source, found)
    return found


_NESTED = re.compile(r"/\*|\*/")
_REGEX = re.compile(r"/(?>(?:[^/\\\[\r\n]++|\\[^\r\n]|\[(?>(?:[^\]\\\r\n]++|\\[^\r\n])*)\])+)/")
# What a value may follow: an operator or a keyword, and not the `<` of a closing tag.
_BEFORE_VALUE = re.compile(
    r"(?:^|[^\w$)\]}\"'`<]|(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw"
    r"|new|yield|await|instanceof))$"
)


class _Scan:
    """One pass over a source. Open holes are on a stack of its own, so depth has no limit."""

    def __init__(self, source: str, syntax: Syntax) -> None:
        self.source = source
        self.syntax = syntax
        self.holes: list[tuple[re.Pattern[str], int]] = []
        """For each open hole: the body of the string around it, and the braces open in it."""
        self.before = ""
        """The last characters of code before the token."""
        self.broken_to = 0
        """Where the line ends in which a regular expression was not closed."""

    def spans(self) -> Iterator[Span]:
        """The comments and strings, in order."""
        end, looks_back = 0, "slash" in self.syntax.token.groupindex
        while found := self._token().search(self.source, end):
            start = found.start()
            if looks_back:
                self.before = self.source[end:start].rstrip()[-12:] or self.before
            kind, end = self._ended(found)
            if kind != CODE:
                yield kind, start, end
            if kind != COMMENT:
                self.before = self.source[end - 1]

    def _token(self) -> re.Pattern[str]:
        return self.syntax.in_hole if self.holes else self.syntax.token

    def _ended(self, found: re.Match[str]) -> tuple[str, int]:
        """What the token is, and where it ends."""
        match found.lastgroup:
            case "comment" if self.syntax.nests and found[0] == "/*":
                return COMMENT, self._nested(found.end())
            case "comment":
                return COMMENT, found.end()
            case "string":
                return STRING, found.end()
            case "open":
                return STRING, self._string(self.syntax.bodies[found["open"]], found.end())
            case "brace":
                return self._brace(found[0], found.end())
            case "slash":
                return self._slash(found.start())
        return CODE, found.end()

    def _nested(self, position: int) -> int:
        depth = 1
        for mark in _NESTED.finditer(self.source, position):
            depth += 1 if mark[0] == "/*" else -1
            if not depth:
                return mark.end()
        return len(self.source)

    def _string(self, body: re.Pattern[str], position: int) -> int:
        found = body.match(self.source, position)
        if found and found.lastgroup == "hole":
            self.holes.append((body, 0))
        return found.end() if found else position

    def _brace(self, brace: str, position: int) -> tuple[str, int]:
        if not self.holes:
            return CODE, position
        body, depth = self.holes.pop()
        if brace == "}" and not depth:
            return STRING, self._string(body, position)
        self.holes.append((body, depth + (1 if brace == "{" else -1)))
        return CODE, position

    def _slash(self, position: int) -> tuple[str, int]:
        if position < self.broken_to or not _BEFORE_VALUE.search(self.before):
            return CODE, position + 1
        if found := _REGEX.match(self.source, position):
            return STRING, found.end()
        line_end = self.source.find("\n", position)
        self.broken_to = line_end if line_end >= 0 else len(self.source)
        return CODE, position + 1


_STATEMENT_END = re.compile(r"[ \t\f]*+(?:[\r\n#;]|\Z)")


def _with_docstrings(source: str, found: list[Span]) -> list[Span]:
    """The spans, with each triple-quoted string that is a whole statement as a comment."""
    marked, depth, last = [], 0, 0
    for kind, start, end in found:
        gap = source[last:start]
        depth = max(0, depth + sum(map(gap.count, "([{")) - sum(map(gap.count, ")]}")))
        line = gap.rstrip(" \t\f")
        starts = line.endswith("\n") and not line.endswith(("\\\n", "\\\r\n"))
        alone = not depth and (starts or not (line or last))
        whole = alone and _TRIPLE.match(source, start) and _STATEMENT_END.match(source, end)
        marked.append((COMMENT if whole else kind, start, end))
        last = end
    return marked
