"""Frontmatter as its YAML has it: each field with its line, and what a reader may stumble on.

Only events are read and nothing is ever built from them, so that a tag runs no code, an alias is
never expanded and no nesting is too deep.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import yaml

from lift.skill import KEY_LINE

Kind = Literal["text", "number", "boolean", "date", "null", "list", "mapping"]
Root = Literal["mapping", "list", "text", "empty"]
Quirk = Literal["duplicate key", "tag", "anchor", "alias", "flow"]

DEEPEST = 50
BLOCK_SCALAR = re.compile(r"[|>][-+\d]*")
QUOTED = re.compile(r"^([\"'])(.*)\1$")
CORE = "tag:yaml.org,2002:"
KINDS: dict[str, Kind] = {
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "null": "null",
    "timestamp": "date",
}
NUMBER_1_2 = re.compile(
    r"0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)"
    r"|\.(nan|NaN|NAN)"
)
BOOLEAN_1_2 = re.compile(r"true|True|TRUE|false|False|FALSE")
NULL_1_2 = re.compile(r"~|null|Null|NULL|")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Value(NamedTuple):
    """What a key stands for."""

    shape: Literal["scalar", "list", "mapping"]
    text: str
    """Of a scalar; empty for the others."""
    plain: bool
    """Whether the scalar is written without quotes, so that its look decides what it is."""
    tag: str

    @property
    def kind(self) -> Kind:
        """What it is to a reader of YAML 1.1, such as PyYAML."""
        if self.shape != "scalar":
            return self.shape
        if self.tag or not self.plain:
            return KINDS.get(self.tag.removeprefix(CORE), "text")
        return KINDS.get(_resolved(self.text).removeprefix(CORE), "text")

    @property
    def kind_1_2(self) -> Kind:
        """What it is to a reader of YAML 1.2, such as JavaScript's and Rust's."""
        if self.shape != "scalar" or self.tag or not self.plain:
            return self.kind
        if NUMBER_1_2.fullmatch(self.text):
            return "number"
        if BOOLEAN_1_2.fullmatch(self.text):
            return "boolean"
        return "null" if NULL_1_2.fullmatch(self.text) else "text"


class Entry(NamedTuple):
    """A key with its value, and the lines of the file they are on."""

    key: str
    value: Value
    line: int
    last_line: int


class Mark(NamedTuple):
    """Something that not every reader of YAML takes."""

    what: Quirk
    detail: str
    line: int


class Broken(NamedTuple):
    """Why it is no YAML."""

    why: str
    line: int


class Frontmatter(NamedTuple):
    """A block of YAML, read."""

    root: Root
    entries: Mapping[str, Entry]
    """Top-level key → its last entry; where the YAML is broken, as its lines stand."""
    marks: tuple[Mark, ...]
    broken: Broken | None


def read(block: str, first_line: int) -> Frontmatter:
    """The fields of a block of YAML.

    Args:
        block: lines that end in LF.
        first_line: where it starts in the file.
    """
    reader = _Reader(block, first_line)
    reader.run()
    if reader.broken:
        entries = {entry.key: entry for entry in _as_it_stands(block, first_line)}
        return Frontmatter("mapping", entries, (), reader.broken)
    return Frontmatter(reader.root, reader.entries, tuple(reader.marks), None)


class _Open:
    """A list or a mapping whose end has not come."""

    def __init__(self, shape: str) -> None:
        self.mapping = shape == "mapping"
        self.keys: set[str] = set()
        self.key: yaml.ScalarEvent | None = None
        """Set between a key and its value."""


class _Stop(Exception):
    def __init__(self, why: str, mark: Any) -> None:
        super().__init__(why)
        self.mark = mark


class _Reader:
    def __init__(self, block: str, first_line: int) -> None:
        self.block = block
        self.first_line = first_line
        self.root: Root = "empty"
        self.entries: dict[str, Entry] = {}
        self.marks: list[Mark] = []
        self.broken: Broken | None = None
        self._ends = [match.start() for match in re.finditer("\n", block)]
        self._open: list[_Open] = []
        self._anchors: dict[str, Value] = {}
        self._documents = 0

    def run(self) -> None:
        try:
            for event in yaml.parse(self.block, Loader=_Loader):
                self._take(event)
        except _Stop as stopped:
            self.broken = Broken(str(stopped), self._line(stopped.mark))
        except yaml.MarkedYAMLError as bad:
            self.broken = Broken(_said(bad), self._line(_place(bad, len(self.block))))
        except yaml.YAMLError:  # a character that YAML does not take
            odd = yaml.reader.Reader.NON_PRINTABLE.search(self.block)
            what = f"the character U+{ord(odd[0]):04X}" if odd else "a character"
            position = odd.start() if odd else 0
            self.broken = Broken(f"{what} may not stand in it", self._line_at(position))

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _Stop("a second YAML document starts in it", event.start_mark)
        elif isinstance(event, yaml.AliasEvent):
            self._mark("alias", f"*{event.anchor}", event)
            if event.anchor not in self._anchors:
                raise _Stop(f"nothing is anchored as &{event.anchor}", event.start_mark)
            self._node(event, self._anchors[event.anchor])
        elif isinstance(event, yaml.ScalarEvent):
            plain = not event.style
            self._node(event, Value("scalar", event.value, plain, event.tag or ""))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._collection(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()

    def _collection(self, event: yaml.CollectionStartEvent) -> None:
        shape: Literal["list", "mapping"] = (
            "mapping" if isinstance(event, yaml.MappingStartEvent) else "list"
        )
        if event.flow_style:
            self._mark("flow", shape, event)
        self._node(event, Value(shape, "", False, event.tag or ""))
        self._open.append(_Open(shape))
        if len(self._open) > DEEPEST:
            raise _Stop(f"it is nested more than {DEEPEST} deep", event.start_mark)

    def _node(self, event: Any, value: Value) -> None:
        """A key, a value, an entry of a list, or the root."""
        if not isinstance(event, yaml.AliasEvent):
            self._decorations(event, value)
        if not self._open:
            self.root = "text" if value.shape == "scalar" else value.shape
            if value.shape == "scalar" and value.kind == "null":
                self.root = "empty"
        elif self._open[-1].mapping:
            self._key_or_value(self._open[-1], event, value)

    def _decorations(self, event: Any, value: Value) -> None:
        if event.anchor:
            self._mark("anchor", f"&{event.anchor}", event)
            self._anchors[event.anchor] = value
        if event.tag:
            self._mark("tag", event.tag.replace(CORE, "!!", 1), event)

    def _key_or_value(self, parent: _Open, event: Any, value: Value) -> None:
        if parent.key is None:
            if value.shape != "scalar":
                raise _Stop("a key of it is no text", event.start_mark)
            if value.text in parent.keys:
                self._mark("duplicate key", value.text, event)
            parent.keys.add(value.text)
            parent.key = event if isinstance(event, yaml.ScalarEvent) else _named(event, value)
            return
        if len(self._open) == 1:
            line, end = self._line(parent.key.start_mark), self._line(event.end_mark)
            key = parent.key.value
            self.entries[key] = Entry(key, value, line, max(line, end))
        parent.key = None

    def _mark(self, what: Quirk, detail: str, event: Any) -> None:
        self.marks.append(Mark(what, detail, self._line(event.start_mark)))

    def _line(self, mark: Any) -> int:
        return self._line_at(mark.index)

    def _line_at(self, position: int) -> int:
        # not mark.line: YAML ends lines at U+2028 too, editors do not
        position = min(position, max(len(self.block) - 1, 0))
        return self.first_line + bisect_right(self._ends, position - 1)


def _named(event: yaml.AliasEvent, value: Value) -> yaml.ScalarEvent:
    """A key that is an alias, as the text it stands for."""
    return yaml.ScalarEvent(None, None, (True, False), value.text, event.start_mark, event.end_mark)


def _place(bad: yaml.MarkedYAMLError, end: int) -> Any:
    """Where the problem is: where it begins, if nothing but the end of the block tells it."""
    if bad.context_mark and (bad.problem_mark is None or bad.problem_mark.index >= end):
        return bad.context_mark
    return bad.problem_mark


def _said(bad: yaml.MarkedYAMLError) -> str:
    return " ".join(part for part in (bad.problem, bad.context) if part)


def _resolved(text: str) -> str:
    resolver: Any = yaml.resolver.Resolver()
    return str(resolver.resolve(yaml.ScalarNode, text, (True, False)))


def _as_it_stands(block: str, first_line: int) -> Iterator[Entry]:
    """The top-level `key: value` lines of what is no YAML; a block scalar with its lines."""
    lines = block.split("\n")
    for number, line in enumerate(lines):
        match = KEY_LINE.match(line)
        if not match:
            continue
        key, text, last = match[1], QUOTED.sub(r"\2", match[2]), number
        if not text or BLOCK_SCALAR.fullmatch(text):
            last = _last_indented(lines, number)
            text = " ".join(part.strip() for part in lines[number + 1 : last + 1]).strip()
        yield Entry(
            key, Value("scalar", text, not text, ""), first_line + number, first_line + last
        )


def _last_indented(lines: list[str], start: int) -> int:
    last = start
    while last + 1 < len(lines) and lines[last + 1].startswith((" ", "\t")):
        last += 1
    return last
