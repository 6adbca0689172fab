"""Who would load or accept a skill: what is known of four programs that read SKILL.md.

What each says of 40 odd files was recorded; the tests compare. The rules of skills-ref and of
quick_validate are those of their published sources. Those of Claude Code and agnix are drawn from
the recordings alone: where a file has something that no recorded one has, nothing is predicted.
Claude Code is taken to read CRLF like LF. Of agnix only whether it can read the frontmatter is
known, not what its own rules find.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from activation import frontmatter
from activation.contents import Contents
from activation.fields import FORMAT_KEYS, LONGEST_DESCRIPTION, LONGEST_NAME, NAME
from activation.frontmatter import Entry, Frontmatter
from lift.schema import Noun
from lift.skill import FENCE, KEY_LINE

ConsumerName = Literal["Claude Code", "skills-ref", "quick_validate", "agnix"]

LONGEST_COMPATIBILITY = 500
RECOVERED = ("`", "[", "*")
"""What values open with that Claude Code was seen to read although they are no YAML."""
QUOTES = ('"', "'")
SAFE_TAGS = frozenset(
    {"!!binary", "!!bool", "!!float", "!!int", "!!map", "!!null", "!!omap", "!!pairs", "!!seq"}
    | {"!!set", "!!str", "!!timestamp"}
)
"""The tags that PyYAML's safe loader knows."""
NO_FRONTMATTER = "it finds no frontmatter"


class Acceptance(Noun):
    """What a program would make of a skill."""

    consumer: ConsumerName
    accepts: bool | None
    """None where nothing is known of a case like this."""
    why: str
    """Empty where it accepts."""


class Opinion(NamedTuple):
    """Whether a program accepts, and why not."""

    accepts: bool | None
    why: str = ""


ACCEPTED = Opinion(True)


def predicted(contents: Contents) -> tuple[Acceptance, ...]:
    """What each of the programs would make of a skill."""
    return tuple(
        Acceptance(consumer=name, accepts=opinion.accepts, why=opinion.why)
        for name, opinion in ((name, _opinion(name, contents)) for name in READERS)
    )


def _opinion(name: ConsumerName, contents: Contents) -> Opinion:
    if contents.data is None:
        return Opinion(None if contents.near else False, contents.problem)
    return READERS[name](contents.data, contents.name)


# ---- Claude Code


def _claude_code(data: bytes, _folder: str) -> Opinion:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if line.rstrip() == FENCE]
    if len(fences) < 2 or fences[0] != 0:
        return Opinion(False, NO_FRONTMATTER)
    block = "\n".join((*lines[1 : fences[1]], ""))
    front = frontmatter.read(block, 2)
    if front.broken:
        front, opening = _recovered(block)
        if front.broken and opening in QUOTES:
            return Opinion(False, f"it drops all fields: {front.broken.why}")
        if front.broken or opening not in RECOVERED:
            return Opinion(None, "no recorded file has YAML that is broken in this way")
    return _claude_code_fields(front)


def _claude_code_fields(front: Frontmatter) -> Opinion:
    if front.root != "mapping" or not {"name", "description"} <= front.entries.keys():
        return Opinion(None, "every recorded file has a name and a description")
    if _duplicates(front):
        return Opinion(None, "no recorded file has a key twice")
    for key in ("name", "description"):
        kind = front.entries[key].value.kind_1_2
        if kind in ("list", "number"):
            return Opinion(False, f"{key} must be a string")
        if kind in ("mapping", "boolean") or (key == "name" and kind == "null"):
            return Opinion(None, f"no recorded file has such a {key}")
    return ACCEPTED


def _recovered(block: str) -> tuple[Frontmatter, str]:
    """The block read with quotes around values that are no YAML; how the last of them opens."""
    lines, opening = block.split("\n"), ""
    for number, line in enumerate(lines):
        match = KEY_LINE.match(line)
        if not match or not frontmatter.read(f"{line}\n", 1).broken:
            continue
        opening = match[2][:1]
        if opening not in QUOTES:
            lines[number] = f"{match[1]}: {_quoted(match[2])}"
    return frontmatter.read("\n".join(lines), 2), opening


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


# ---- skills-ref and quick_validate


def _skills_ref(data: bytes, folder: str) -> Opinion:
    text = _text(data)
    if text is None:
        return Opinion(False, "it crashes on text that is no UTF-8")
    parts = text.split(FENCE, 2)
    if len(parts) < 3 or parts[0]:
        return Opinion(False, NO_FRONTMATTER)
    front = frontmatter.read(parts[1], 1)
    if front.broken:
        return Opinion(False, front.broken.why)
    if front.marks:
        return Opinion(False, f"StrictYAML takes no {front.marks[0].what}")
    if front.root != "mapping":
        return Opinion(False, "the frontmatter is no mapping")
    tools = front.entries.get("allowed-tools")
    if tools and tools.value.shape == "mapping":
        return Opinion(False, "allowed-tools must be a text or a list")
    return _checked(front, lambda name: _skills_ref_name(name, folder), typed=False)


def _skills_ref_name(name: str, folder: str) -> str:
    name = unicodedata.normalize("NFKC", name)
    if name != unicodedata.normalize("NFKC", folder):
        return "the name is not the folder's"
    hyphens = name.startswith("-") or name.endswith("-") or "--" in name
    letters = all(letter.isalnum() or letter == "-" for letter in name)
    return "" if name == name.lower() and letters and not hyphens else "the name is malformed"


def _quick_validate(data: bytes, _folder: str) -> Opinion:
    text = _text(data)
    if text is None:
        return Opinion(False, "it crashes on text that is no UTF-8")
    match = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    if not match:
        return Opinion(False, NO_FRONTMATTER)
    front = frontmatter.read(match[1], 2)
    if front.broken:
        return Opinion(False, front.broken.why)
    tags = {mark.detail for mark in front.marks if mark.what == "tag"} - SAFE_TAGS
    if tags:
        return Opinion(False, f"it knows no tag {min(tags)}")
    if front.root != "mapping":
        return Opinion(False, "the frontmatter is no mapping")
    opinion = _checked(front, _quick_validate_name, typed=True)
    if opinion.accepts and re.search("[<>]", front.entries["description"].value.text):
        return Opinion(False, "the description has angle brackets")
    return opinion


def _quick_validate_name(name: str) -> str:
    return "" if NAME.fullmatch(name) else "the name is malformed"


def _checked(front: Frontmatter, name_problem: Callable[[str], str], *, typed: bool) -> Opinion:
    """What the two validators have in common.

    Args:
        front: a mapping.
        name_problem: what is wrong with a name; empty where nothing is.
        typed: whether `123` is a number and `yes` a boolean, as in YAML 1.1, or a text.
    """
    if unknown := sorted(front.entries.keys() - FORMAT_KEYS):
        return Opinion(False, f"it knows no key {unknown[0]!r}")
    limits = {"name": LONGEST_NAME, "description": LONGEST_DESCRIPTION}
    if "compatibility" in front.entries:
        limits["compatibility"] = LONGEST_COMPATIBILITY
    for key, longest in limits.items():
        if why := _text_problem(key, front.entries.get(key), longest, typed=typed):
            return Opinion(False, why)
    why = name_problem(front.entries["name"].value.text.strip())
    return Opinion(False, why) if why else ACCEPTED


def _text_problem(key: str, entry: Entry | None, longest: int, *, typed: bool) -> str:
    if entry is None:
        return f"there is no {key}"
    value = entry.value
    if value.shape != "scalar" or (typed and value.kind != "text"):
        return f"{key} must be a string"
    if not typed and not value.text.strip():
        return f"{key} is empty"
    return f"{key} is too long" if len(value.text.strip()) > longest else ""


# ---- agnix


def _agnix(data: bytes, _folder: str) -> Opinion:
    text = _text(data.removeprefix(b"\xef\xbb\xbf"))
    if text is None:
        return Opinion(False, "it cannot read text that is no UTF-8")
    opening, _, rest = text.lstrip().partition(FENCE)
    block, closing, _ = rest.partition(f"\n{FENCE}")
    if opening or not closing:
        return Opinion(False, NO_FRONTMATTER)
    front = frontmatter.read(block, 1)
    if front.broken:
        return Opinion(False, front.broken.why)
    shapes = {key: entry.value.shape for key, entry in front.entries.items()}
    if shapes.get("description") == "list":
        return Opinion(False, "description must be a string")
    odd = {shapes.get("name", "missing"), shapes.get("description", "missing")} - {"scalar"}
    if front.root != "mapping" or odd or _duplicates(front):
        return Opinion(None, "no recorded file has fields like these")
    return ACCEPTED


def _duplicates(front: Frontmatter) -> bool:
    return any(mark.what == "duplicate key" for mark in front.marks)


def _text(data: bytes) -> str | None:
    """The text as Python reads a text file; None where it is no UTF-8."""
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


READERS: Mapping[ConsumerName, Callable[[bytes, str], Opinion]] = {
    "Claude Code": _claude_code,
    "skills-ref": _skills_ref,
    "quick_validate": _quick_validate,
    "agnix": _agnix,
}
