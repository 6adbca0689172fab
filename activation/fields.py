"""What the lint asks of the frontmatter's fields."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from activation.frontmatter import Entry, Frontmatter
from activation.rules import Problem, beginning
from activation.verbs import opens_with_verb

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
RESERVED = ("anthropic", "claude")
XML_TAG = re.compile(r"</?[A-Za-z][^<>]*>")

FORMAT_KEYS = frozenset(
    {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
)
"""The keys of the Agent Skills format."""
CLIENT_KEYS = frozenset(
    {
        "agent",
        "argument-hint",
        "arguments",
        "context",
        "disable-model-invocation",
        "effort",
        "hooks",
        "model",
        "paths",
        "shell",
        "user-invocable",
        "when_to_use",
    }
)
"""Keys that Claude Code reads beside them."""

ZERO_WIDTH_NON_JOINER, ZERO_WIDTH_JOINER = "\u200c", "\u200d"

AS = {
    "number": "a number",
    "boolean": "true or false",
    "date": "a date",
    "list": "a list",
    "mapping": "a mapping",
}


def problems(front: Frontmatter, *, folder: str, lines: tuple[str, ...]) -> Iterator[Problem]:
    """What is wrong with the fields.

    Args:
        front: the frontmatter.
        folder: name of the skill's folder.
        lines: of the file.
    """
    yield from _yaml(front)
    yield from _marks(front)
    yield from _keys(front)
    yield from _name(front, folder)
    yield from _description(front, lines)


def _yaml(front: Frontmatter) -> Iterator[Problem]:
    if front.broken:
        why, line = front.broken
        keys = [key for key, e in front.entries.items() if e.line <= line <= e.last_line]
        where, fix = "", "correct the line"
        for key in keys:
            where = f", in `{key}`"
            fix = f"put the value of `{key}` in quotes, or below `{key}: >-`"
        yield Problem("yaml", f"the frontmatter is no YAML{where}: {why}", line, fix)
    elif front.root != "mapping":
        what = "empty" if front.root == "empty" else f"a {front.root}"
        yield Problem("yaml", f"the frontmatter is {what}, not `key: value` lines", 2)


def _marks(front: Frontmatter) -> Iterator[Problem]:
    for mark in front.marks:
        if mark.what == "duplicate key":
            yield Problem(
                "yaml-keys", f"the key `{mark.detail}` occurs twice", mark.line, "remove one"
            )
        elif mark.what != "flow":
            yield Problem(
                "yaml-extras",
                f"the YAML {mark.what} `{mark.detail}` is not read by every client",
                mark.line,
                "write the value out",
            )


def _keys(front: Frontmatter) -> Iterator[Problem]:
    for entry in front.entries.values():
        if entry.key not in FORMAT_KEYS | CLIENT_KEYS:
            yield Problem(
                "unknown-keys",
                f"no client is known to read the key `{entry.key}`",
                entry.line,
                "move it below `metadata`, or remove it",
            )


def _text(front: Frontmatter, key: str) -> Entry | Problem:
    """The entry of a key that must be a text, or what is wrong with it."""
    entry = front.entries.get(key)
    if entry is None:
        return Problem(key, f"there is no `{key}`", 1, f"add a line `{key}: …`")
    kinds = {entry.value.kind, entry.value.kind_1_2} - {"text", "null"}
    if kinds:
        fix = "put it in quotes" if entry.value.shape == "scalar" else "write one text"
        return Problem(key, f"the {key} is {AS[min(kinds)]} to YAML", entry.line, fix)
    if not entry.value.text.strip() or "null" in (entry.value.kind, entry.value.kind_1_2):
        return Problem(key, f"the {key} is empty", entry.line, f"write the {key}")
    return entry


def _name(front: Frontmatter, folder: str) -> Iterator[Problem]:
    entry = _text(front, "name")
    if isinstance(entry, Problem):
        yield entry
        return
    name, line = entry.value.text.strip(), entry.line
    if len(name) > LONGEST_NAME:
        what = f"the name has {len(name)} characters, {LONGEST_NAME} are allowed"
        yield Problem("name-form", what, line, "shorten it")
    if not NAME.fullmatch(name):
        what = "only lower-case letters, digits and single hyphens between them make a name"
        yield Problem("name-form", f"{what}, not {name:.80}", line, "write it like `pdf-forms`")
    for word in RESERVED:
        if word in name.lower():
            what = f"the name has the reserved word `{word}` in it"
            yield Problem("name-reserved", what, line, "leave the word out")
    if name != folder:
        what = f"the name is {name:.80}, the folder's name is {folder}"
        yield Problem("name-folder", what, line, "give both one name")


def _description(front: Frontmatter, lines: tuple[str, ...]) -> Iterator[Problem]:
    entry = _text(front, "description")
    if isinstance(entry, Problem):
        yield entry
        return
    text = entry.value.text.strip()
    if len(text) > LONGEST_DESCRIPTION:
        what = f"the description has {len(text)} characters, {LONGEST_DESCRIPTION} are allowed"
        yield Problem("description-length", what, entry.line, "shorten it")
    if tag := XML_TAG.search(text):
        what = f"the description has the XML tag {tag[0]:.40} in it"
        fix = "name the element without angle brackets"
        yield Problem("description-tags", what, _line_of(tag[0], entry, lines), fix)
    if mark := _hidden(text):
        name = f"U+{ord(mark):04X} ({unicodedata.name(mark, 'no name')})"
        what = f"the description has an invisible character in it: {name}"
        yield Problem("description-hidden", what, _line_of(mark, entry, lines), "remove it")
    if not opens_with_verb(text):
        what = f"the description opens with {_first_word(text)!r}, which is no verb the lint knows"
        fix = "start with what the skill does (`Generates …`), or with `Use when …`"
        yield Problem("description-opening", what, entry.line, fix)


def _line_of(text: str, entry: Entry, lines: tuple[str, ...]) -> int:
    """The line of an entry that has a text in it; its first where none shows it."""
    numbers = range(entry.line, entry.last_line + 1)
    return next((n for n in numbers if text in "".join(lines[n - 1 : n])), entry.line)


def _hidden(text: str) -> str:
    """The first character without width or looks; empty where there is none.

    Joiners count only beside ASCII: scripts and emoji need them.
    """
    for before, mark, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if unicodedata.category(mark) != "Cf":
            continue
        joins = mark in (ZERO_WIDTH_NON_JOINER, ZERO_WIDTH_JOINER)
        if not joins or before.isascii() or after.isascii():
            return mark
    return ""


def _first_word(text: str) -> str:
    return beginning(text.split(maxsplit=1)[0])
