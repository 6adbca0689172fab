"""Class declarations in source code: the superclasses they name."""

from __future__ import annotations

import re
from collections.abc import Iterator

# `X.class`, `X::class` and `@class` are no declarations. A class without a name is an
# expression, so it follows something that takes a value ("your class extends X" is prose).
_CLASS = re.compile(
    r"class(?<![\w$.:@-]class)\s++(?:(?P<name>(?!extends\b)[\w$]+)\s*+|(?=extends\b))"
)
_TAKES_VALUE = re.compile(r"(?:[=(,\[?:>]|\b(?:default|return|yield|await))\Z")
_BEFORE_BASES = re.compile(
    r"(?:@[\w.]+|(?:constructor|private|protected|internal|public|final)\b)\s*+"
)
_EXTENDS = re.compile(r"extends\b")
_MODIFIERS = re.compile(
    r"\s*+(?>(?:(?:@[\w.]+(?>(?:\([^()]*+\))?)|(?:public|private|protected|virtual)\b)\s*+)*)"
)
_NAME = re.compile(r"(?:\\\s*+)?[\w$]+(?>(?:\s*+(?:\.|::|\\)\s*+[\w$]+)*)")
_MORE_NAME = re.compile(r"\s*+(?:\.|::)\s*+[\w$]+")
_QUALIFIER = re.compile(r"[.:\\\s]+")
_SPACE = re.compile(r"\s*+")
_BRACKETS = {
    "<": re.compile(r"[-=]>|[<>]"),
    "(": re.compile(r"[()]"),
    "[": re.compile(r"[\[\]]"),
}
_ARGUMENT_MARK = re.compile(r"[()\[\]{},]")
_KEYWORD_OR_STAR = re.compile(r"\w+\s*=|\*")


def superclasses(source: str, syntax: str) -> list[str]:
    """The superclasses of the classes that a source declares, as they are written there.

    A list after a colon names its class by a constructor call (Kotlin); where nothing in the
    list is called (C#, Swift), any of it may be the superclass.

    Args:
        source: without comments, and with every string empty.
        syntax: a name in SYNTAXES; `plain` is read as Python and as the others.
    """
    found: list[str] = []
    for header in _headers(source):
        if syntax in {"python", "plain"}:
            found += _arguments(header)
        if syntax != "python":
            found += _bases(header)
    return found


def is_named(written: str, wanted: str) -> bool:
    """Whether a superclass as written is the wanted one, as far as both are qualified."""
    ours, theirs = _path(written), _path(wanted)
    common = min(len(ours), len(theirs))
    return ours[-common:] == theirs[-common:]


def _path(name: str) -> list[str]:
    """The parts of a qualified name, without type arguments."""
    pieces, position = [], 0
    while opening := re.compile(r"[<(\[]").search(name, position):
        pieces.append(name[position : opening.start()])
        position = _closed(name, opening.start())
    return [part for part in _QUALIFIER.split("".join([*pieces, name[position:]])) if part]


def _headers(source: str) -> Iterator[str]:
    """What follows the name of each class that is declared, at most to the next class."""
    classes = list(_CLASS.finditer(source))
    starts = [*(found.start() for found in classes), len(source)]
    for found, end in zip(classes, starts[1:], strict=True):
        header = source[found.end() : end]
        before = source[max(0, found.start() - 40) : found.start()].rstrip()
        if found["name"] or _TAKES_VALUE.search(before):
            yield header[_type_parameters(header) :]


def _type_parameters(header: str) -> int:
    """Where a class's type parameters end; 0 where there are none."""
    return _closed(header, 0) if header.startswith(("<", "[")) else 0


def _closed(text: str, position: int) -> int:
    """Where the bracket at the position is closed; the text's end if it never is."""
    depth = 0
    for bracket in _BRACKETS[text[position]].finditer(text, position):
        if len(bracket[0]) == 1:
            depth += 1 if bracket[0] in "<([" else -1
        if not depth:
            return bracket.end()
    return len(text)


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _bases(header: str) -> list[str]:
    """The superclass after `extends`, or the types after a colon."""
    position = _after_space(header, 0)
    while position < len(header):
        if extends := _EXTENDS.match(header, position):
            return [name for name, _ in _types(header, extends.end())][:1]
        if header[position] == ":":
            types = list(_types(header, position + 1))
            return [name for name, called in types if called] or [name for name, _ in types]
        if header[position] == "(":
            position = _after_space(header, _closed(header, position))
        elif word := _BEFORE_BASES.match(header, position):
            position = word.end()
        else:
            break
    return []


def _types(header: str, position: int) -> Iterator[tuple[str, bool]]:
    """The types of a list, each as written and with whether its constructor is called."""
    while (modifiers := _MODIFIERS.match(header, position)) and (
        name := _NAME.match(header, modifiers.end())
    ):
        end = _type_end(header, name.end())
        position = _after_space(header, end)
        called = header.startswith("(", position)
        yield header[name.start() : end], called
        if called:
            position = _after_space(header, _closed(header, position))
        if not header.startswith(",", position):
            return
        position += 1


def _type_end(header: str, end: int) -> int:
    """Where a type ends, its type arguments and inner types included."""
    while True:
        position = _after_space(header, end)
        if header.startswith(("<", "["), position):
            end = _closed(header, position)
        elif more := _MORE_NAME.match(header, end):
            end = more.end()
        else:
            return end


def _arguments(header: str) -> list[str]:
    """The bases of a Python class."""
    position = _after_space(header, 0)
    if not header.startswith("(", position):
        return []
    inside = header[position + 1 : _closed(header, position) - 1]
    parts, depth, last = [], 0, 0
    for mark in _ARGUMENT_MARK.finditer(inside):
        if mark[0] == "," and not depth:
            parts.append(inside[last : mark.start()].strip())
            last = mark.end()
        elif mark[0] != ",":
            depth += 1 if mark[0] in "([{" else -1
    parts.append(inside[last:].strip())
    return [part for part in parts if part and not _KEYWORD_OR_STAR.match(part)]
