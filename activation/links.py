"""What the lint asks of links: that they lead somewhere, and nowhere outside the skill."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from activation import document, markdown
from activation.contents import Contents
from activation.markdown import Link, Page
from activation.rules import Problem, beginning

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+-]+:|//")
DRIVE = re.compile(r"[A-Za-z]:")
SKILL_DIR = "${CLAUDE_SKILL_DIR}/"
"""Stands for the skill's folder in Claude Code."""
MARKDOWN = (".md", ".markdown")
MOST_PAGES = 100
"""Of the Markdown files that links lead to, so many are looked at."""
SHOWN = 80
"""So many characters of a link are named in a message."""


class Target(NamedTuple):
    """A link's target, taken apart."""

    path: str
    """Relative to the page it is on; empty for the page itself."""
    anchor: str


class Pages:
    """The skill's Markdown files, each read once.

    Args:
        contents: of the skill.
        main: its main file, read.
    """

    def __init__(self, contents: Contents, main: Page) -> None:
        self._contents = contents
        self._read: dict[str, Page | None] = {contents.file: main}

    def page(self, path: str) -> Page | None:
        """A Markdown file of the skill; None where it is none, or cannot be read."""
        if path not in self._read:
            self._read[path] = self._page(path)
        return self._read[path]

    def _page(self, path: str) -> Page | None:
        if not path.lower().endswith(MARKDOWN) or len(self._read) > MOST_PAGES:
            return None
        data = self._contents.read(path)
        if data is None:
            return None
        text = document.read(data)
        return markdown.read(text.body, text.body_line)


def problems(contents: Contents, main: Page) -> Iterator[Problem]:
    """What is wrong with the links of a skill: of its main file, and of those they lead to."""
    for path in contents.outside:
        yield Problem(
            "links-inside",
            f"{path} is a link that leads out of the skill's folder",
            fix="put the file itself there",
            file=path,
        )
    pages = Pages(contents, main)
    waiting, known = [contents.file], {contents.file}
    while waiting:
        path = waiting.pop(0)
        page = pages.page(path)
        for link in page.links if page else ():
            yield from _problem(link, path, contents, pages)
            after = _resolved(link, path)
            if after not in known and pages.page(after):
                known.add(after)
                waiting.append(after)


def target(link: Link) -> Target | None:
    """Where in the skill a link leads; None where it leads elsewhere: the web, a mail address."""
    if SCHEME.match(link.target) and not link.target.lower().startswith("file:"):
        return None
    path, _, anchor = link.target.removeprefix(SKILL_DIR).partition("#")
    return Target(unquote(path.partition("?")[0]), unquote(anchor))


def _resolved(link: Link, page: str) -> str:
    """The path in the skill's folder that a link on a page leads to; the page where to none."""
    aim = target(link)
    if aim is None or not aim.path or "\0" in aim.path:
        return page
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), aim.path))


def _problem(link: Link, page: str, contents: Contents, pages: Pages) -> Iterator[Problem]:
    aim = target(link)
    if aim is None:
        return
    if not aim.path and not aim.anchor:
        if link.target != "#":
            yield Problem("links", "a link has no target", link.line, "name a file", page)
        return
    path = _resolved(link, page)
    if what := _outside(aim.path, path, contents):
        yield Problem("links-inside", what, link.line, "link to a file of the skill", page)
    elif aim.path and ("\0" in aim.path or not contents.holds(path)):
        what = f"the link {beginning(link.target, SHOWN)} leads to no file of the skill"
        yield Problem("links", what, link.line, "correct the path, or add the file", page)
    elif aim.anchor:
        yield from _anchor(aim.anchor, link, page, pages.page(path))


def _anchor(anchor: str, link: Link, page: str, aim: Page | None) -> Iterator[Problem]:
    name = anchor.lower()
    if aim is None or name in aim.anchors or name == "top":
        return
    near = min((other for other in aim.anchors if other.startswith(name)), default="")
    fix = f"write #{near}" if near else "name a heading as GitHub writes it"
    yield Problem(
        "anchors",
        f"the link {beginning(link.target, SHOWN)} leads to no heading",
        link.line,
        fix,
        page,
    )


def _outside(written: str, path: str, contents: Contents) -> str:
    """In what way a path leaves the skill; empty where it does not."""
    link = f"the link {beginning(written, SHOWN)}"
    if written.startswith(("/", "\\", "~", "file:")) or DRIVE.match(written):
        return f"{link} is an absolute path"
    if path == ".." or path.startswith("../"):
        return f"{link} leads out of the skill's folder"
    if written and "\0" not in written and contents.leaves(path):
        return f"{link} leads through a symbolic link out of the skill's folder"
    return ""
