"""Diagnostics as advice, by text and without a model: what fails, and what the skill says of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lift.dataset import Item
from lift.diagnostics import Diagnostics, ModelItem
from lift.errors import counted
from lift.evaluators.rubric import MUST_NOT_USE, Checked, Pattern, Rubric
from lift.schema import Evidence, Many, Noun

MOST = 10
"""So many failing checks are advised on, those that fail most often."""
NAMED = 3
"""Items and headings in a sentence."""


class Section(NamedTuple):
    """The text below a heading, up to the next one."""

    heading: str
    """With those above it, but for the title; empty where there is none."""
    text: str


class Answer(NamedTuple):
    """One graded trial."""

    item: str
    content: Item
    is_other: bool
    """True under the condition that is measured, False under the base."""
    evidence: Evidence


class Suggestion(Noun):
    """One piece of advice."""

    says: str
    check: str = ""
    """What it is about, where that is a check of a rubric."""
    items: Many[str] = ()
    headings: Many[str] = ()
    """Those of the skill whose sections have what the check looks for."""


class _Tally(NamedTuple):
    """How one check went."""

    check: Checked
    items: tuple[str, ...]
    """Where it failed under the condition that is measured."""
    failed: int
    """Answers under that condition."""
    answers: int
    ever_held: bool
    """In any answer, under either condition."""


def sections(body: str) -> list[Section]:
    """The sections of a skill, told apart as CommonMark has it: no heading is in a code block."""
    from markdown_it import MarkdownIt

    tokens, lines = MarkdownIt().parse(body), body.splitlines()
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    names: list[str] = []
    start = 0
    for token, inside in itertools.pairwise(tokens):
        if token.type == "heading_open" and token.map:
            found.append(Section(" > ".join(names), "\n".join(lines[start : token.map[0]])))
            level = int(token.tag[1:])
            above = [*(one for one in above if 1 < one[0] < level), (level, inside.content)]
            names, start = [name for _, name in above], token.map[1]
    found.append(Section(" > ".join(names), "\n".join(lines[start:])))
    return [one for one in found if one.heading or one.text.strip()]


def suggestions(
    found: Diagnostics, answers: Iterable[Answer], skill: Sequence[Section]
) -> list[Suggestion]:
    """What to do about an experiment's items and checks, most pressing first.

    Args:
        found: of its comparison.
        answers: under both conditions.
        skill: that the measured condition shows; none where it shows none.
    """
    failing = sorted(
        (tally for tally in _tallies(answers) if tally.failed),
        key=lambda tally: (-tally.failed, tally.check.says),
    )
    return [*(_of_check(tally, skill) for tally in failing[:MOST]), *_of_items(found)]


def _tallies(answers: Iterable[Answer]) -> list[_Tally]:
    went: dict[tuple[str, str], list[tuple[Answer, Checked]]] = {}
    for answer in answers:
        if not answer.evidence.text.strip():  # it has nothing, whatever was looked for
            continue
        for rubric in answer.content.checks:
            for check in rubric.checked(answer.evidence) if isinstance(rubric, Rubric) else ():
                went.setdefault((check.kind, check.says), []).append((answer, check))
    return [_tally(each) for each in went.values()]


def _tally(went: Sequence[tuple[Answer, Checked]]) -> _Tally:
    ours = [(answer, check) for answer, check in went if answer.is_other]
    failed = [answer for answer, check in ours if not check.holds]
    return _Tally(
        check=went[0][1],
        items=tuple(dict.fromkeys(answer.item for answer in failed)),
        failed=len(failed),
        answers=len(ours),
        ever_held=any(check.holds for _, check in went),
    )


def _of_check(tally: _Tally, skill: Sequence[Section]) -> Suggestion:
    check = tally.check
    forbidden = check.kind == MUST_NOT_USE
    headings = _headings(check, skill)
    verb = "use what is forbidden," if forbidden else "lack"
    says = f"{tally.failed} of {tally.answers} answers {verb} {check.says} ({_few(tally.items)})"
    if skill:
        says += f": {_of_skill(check, headings, skill)}"
    if not tally.ever_held:
        says += "; it holds in no answer of either side, so the check itself may be wrong"
    return Suggestion(says=says, check=check.says, items=tally.items, headings=headings)


def _of_skill(check: Checked, headings: Sequence[str], skill: Sequence[Section]) -> str:
    """What the skill says of a check that fails, and what follows."""
    forbidden = check.kind == MUST_NOT_USE
    if headings:
        then = "does it warn, or teach it?" if forbidden else "say it plainer there, or show it"
        return f"the skill has it under {_few(headings, quoted=True)}; {then}"
    word = _word(check)
    near = [one.heading for one in skill if word and word in one.text]
    if near:
        return f"the skill has {word} under {_few(near, quoted=True)}, and no more of it"
    return f"SKILL.md never mentions it{'; say what to use instead' if forbidden else ''}"


def _headings(check: Checked, skill: Sequence[Section]) -> tuple[str, ...]:
    found = [one.heading for one in skill if check.is_in(one.heading) or check.is_in(one.text)]
    return tuple(dict.fromkeys(found))


def _word(check: Checked) -> str:
    """The longest word that what is looked for spells out; empty where it spells none."""
    entry = check.entry
    text = entry
    if isinstance(entry, Pattern):
        # escapes such as \\b, classes, counts and the heads of groups are no text
        text = re.sub(
            r"\\[A-Za-z]|\[(?:\\.|[^\]])*\]|\{[^}]*\}|\(\?[^)]*?[:=!>]", " ", entry.pattern
        )
    words = re.findall(r"[^\W\d][\w$]{2,}", str(text))
    return max(words, key=len, default="")


def _of_items(found: Diagnostics) -> list[Suggestion]:
    advice: list[tuple[Sequence[ModelItem], str]] = [
        (
            found.dead,
            "0 in every answer of both sides; read one: the rubric may miss what is right",
        ),
        (found.saturated, "perfect without the skill too, so nothing it adds shows: ask for more"),
        (found.flaky, "repeats disagree: more --repeats, or a prompt that says what it wants"),
    ]
    told = []
    for concerned, says in advice:
        if items := tuple(dict.fromkeys(one.item for one in concerned)):
            told.append(Suggestion(says=f"{_few(items)}: {says}", items=items))
    for one in found.undiscerning:
        told.append(
            Suggestion(
                says=f"{one.evaluator} of {one.dataset} tells no difference in {one.items} items:"
                " sharpen it, or leave it out"
            )
        )
    for each in found.failed:
        cut, refused = (
            sum(count for why, count in each.reasons.items() if word in why)
            for word in ("max_tokens", "refused")
        )
        if cut:
            says = f"{counted(cut, f'{each.condition} answer')} cut off: raise --max-tokens"
            told.append(Suggestion(says=says))
        if refused:
            says = f"{counted(refused, f'{each.condition} answer')} refused: reword the prompt"
            told.append(Suggestion(says=says))
    return told


def _few(names: Sequence[str], *, quoted: bool = False) -> str:
    shown = [f'"{name}"' if quoted else name for name in names[:NAMED]]
    return f"{', '.join(shown)}{', …' if len(names) > NAMED else ''}"
