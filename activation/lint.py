"""Is a skill well-formed: findings with their lines, a score, and who would load it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from activation import body, consumers, document, fields, frontmatter, links, markdown
from activation.consumers import Acceptance
from activation.contents import Contents, look
from activation.rules import Finding, Problem, failed, finding, printable, score
from lift.schema import Noun, Unit


class LintReport(Noun):
    """What the lint says of a skill."""

    skill: str
    """Name of the folder, or of the single file without its suffix."""
    findings: tuple[Finding, ...]
    """The main file's by line, then those of other files."""
    failed: tuple[str, ...]
    """The rules that do not hold, and those that cannot hold because of them."""
    score: Unit
    """The share of the rules that hold, by weight."""
    consumers: tuple[Acceptance, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(found for found in self.findings if found.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return tuple(found for found in self.findings if found.severity == "warning")


def lint(path: Path) -> LintReport:
    """What is wrong with a skill; nothing is raised, whatever there is at the path.

    Args:
        path: a folder with SKILL.md, that SKILL.md, or a single command or agent file.
    """
    return check(look(path))


def check(contents: Contents) -> LintReport:
    """What is wrong with a skill that was looked at."""
    found = dict.fromkeys(finding(p, file=contents.file) for p in _problems(contents))
    findings = sorted(found, key=lambda f: (f.file != contents.file, f.file, f.line))
    failing = failed({found.rule for found in findings})
    return LintReport(
        skill=printable(contents.name),
        findings=tuple(findings),
        failed=failing,
        score=score(failing),
        consumers=consumers.predicted(contents),
    )


def _problems(contents: Contents) -> Iterator[Problem]:
    if contents.data is None:
        yield Problem("skill-file", contents.problem, fix=contents.fix)
        return
    yield from document.problems(contents.data, cut=contents.cut)
    text = document.read(contents.data)
    if missing := document.frontmatter_problem(text):
        yield missing
    if text.block is not None:
        front = frontmatter.read(text.block, document.BLOCK_LINE)
        yield from fields.problems(front, folder=contents.name, lines=text.lines)
    page = markdown.read(text.body, text.body_line)
    yield from body.problems(text, page)
    yield from links.problems(contents, page)
