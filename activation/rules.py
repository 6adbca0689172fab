"""The rules of the lint, what each weighs, and what is said where one does not hold."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from lift.redact import redacted
from lift.schema import Noun

Severity = Literal["error", "warning"]

SHOWN = 40
"""So many characters of a text are named in a message."""

WEIGHTS: dict[Severity, int] = {"error": 3, "warning": 1}


class Rule(NamedTuple):
    """One thing that is asked of a skill."""

    severity: Severity
    """Error: a client drops the skill or a part of it, or a limit of the format is broken."""
    about: str
    """What holds where the rule holds."""
    needs: str = ""
    """The rule without which this one cannot hold either; empty where there is none."""

    @property
    def weight(self) -> int:
        """Its share of the score, relative to the others."""
        return WEIGHTS[self.severity]


RULES = {
    "skill-file": Rule("error", "there is a SKILL.md that can be read"),
    "size": Rule("error", "the file fits into a prompt", "skill-file"),
    "encoding": Rule("error", "the file is UTF-8 text", "skill-file"),
    "line-ends": Rule("error", "lines end in LF or CRLF", "skill-file"),
    "bom": Rule("warning", "the file has no byte-order mark", "skill-file"),
    "frontmatter": Rule("error", "YAML stands between two lines `---` at the top", "skill-file"),
    "yaml": Rule("error", "the frontmatter is a YAML mapping", "frontmatter"),
    "yaml-keys": Rule("error", "no key of the frontmatter occurs twice", "yaml"),
    "yaml-extras": Rule("warning", "the frontmatter has no tags and no anchors", "yaml"),
    "unknown-keys": Rule("warning", "every key of the frontmatter is a known one", "frontmatter"),
    "name": Rule("error", "the name is a text", "frontmatter"),
    "name-form": Rule("error", "the name has lower-case letters, digits and hyphens", "name"),
    "name-reserved": Rule("error", "the name has no reserved word in it", "name"),
    "name-folder": Rule("warning", "the name is that of the folder", "name"),
    "description": Rule("error", "the description is a text", "frontmatter"),
    "description-length": Rule("error", "the description is not too long", "description"),
    "description-tags": Rule("error", "the description has no XML tags", "description"),
    "description-hidden": Rule("error", "no character of it is invisible", "description"),
    "description-opening": Rule("warning", "it opens with a verb or `Use when`", "description"),
    "body": Rule("error", "there is a text after the frontmatter", "skill-file"),
    "body-length": Rule("warning", "the text is not too long", "body"),
    "code-block": Rule("warning", "the text has a fenced code block", "body"),
    "headings": Rule("warning", "headings are well formed", "body"),
    "links": Rule("error", "links lead to files that are there", "body"),
    "anchors": Rule("warning", "links lead to headings that are there", "body"),
    "links-inside": Rule("error", "nothing leads out of the skill's folder", "skill-file"),
}


class Problem(NamedTuple):
    """Where a rule does not hold."""

    rule: str
    message: str
    line: int = 1
    """In the file, from 1; 1 also where it is about the file as a whole."""
    fix: str = ""
    file: str = ""
    """Path in the skill's folder; empty for its main file."""


class Finding(Noun):
    """Where a rule does not hold, as it is reported."""

    rule: str
    severity: Severity
    message: str
    file: str
    """Path in the skill's folder."""
    line: Annotated[int, Field(ge=1)]
    """1 also where it is about the file as a whole."""
    fix: str


def finding(problem: Problem, *, file: str) -> Finding:
    """A problem as it is reported.

    Args:
        problem: of any rule.
        file: the skill's main file.
    """
    return Finding(
        rule=problem.rule,
        severity=RULES[problem.rule].severity,
        message=printable(problem.message),
        file=printable(problem.file or file),
        line=problem.line,
        fix=printable(problem.fix),
    )


def failed(broken: Collection[str]) -> tuple[str, ...]:
    """The rules that do not hold: those that were broken, and those that need one of them."""
    failing: set[str] = set()
    for name, rule in RULES.items():  # a rule comes after the one it needs
        if name in broken or rule.needs in failing:
            failing.add(name)
    return tuple(name for name in RULES if name in failing)


def score(failing: Collection[str]) -> float:
    """The share of the rules that hold, by weight; each counts once, 0 to 1."""
    total = sum(rule.weight for rule in RULES.values())
    return 1 - sum(RULES[name].weight for name in failing) / total


def beginning(text: str, most: int = SHOWN) -> str:
    """The beginning of what a skill's author wrote; masked before it is cut.

    Half of a secret would not be known for one any more.

    Args:
        text: to be named in a message.
        most: characters of it.
    """
    return redacted(text)[:most]


def printable(text: str) -> str:
    """The text without lone surrogates, as file names that are no UTF-8 bring them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
