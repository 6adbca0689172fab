"""The rubric: what a reply's code must use, must extend, and must not use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, overload

from pydantic import BeforeValidator, Field, field_validator, model_validator

from lift.evaluators.classes import is_named, superclasses
from lift.evaluators.code import Source, examined
from lift.schema import SETTLED, Evidence, Noun, Score, Slug, Text

PASS_PERCENT = 80
"""The share of checks that must hold for a reply to pass."""
EXCERPT_LENGTH = 80


class Pattern(Noun):
    """A regular expression, where a literal text is not enough; `^` and `$` match at each line."""

    pattern: Text
    ignore_case: bool = False

    @overload
    def __init__(self, pattern: str, *, ignore_case: bool = False) -> None: ...

    @overload
    def __init__(self, *, pattern: str, ignore_case: bool = False) -> None: ...

    def __init__(self, pattern: Any = None, **fields: Any) -> None:
        super().__init__(**fields if pattern is None else {"pattern": pattern, **fields})

    @model_validator(mode="after")
    def _compiles(self) -> Pattern:
        try:
            _ = self.regex
        except (re.error, OverflowError, RecursionError) as failed:
            raise ValueError(f"{self.pattern!r} is not a regular expression: {failed}") from failed
        return self

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled."""
        return _compiled(self.pattern, re.MULTILINE | (re.IGNORECASE if self.ignore_case else 0))


_compiled = lru_cache(maxsize=4096)(re.compile)

Entry = Text | Pattern


def _stored(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Entries = Annotated[Sequence[Entry], BeforeValidator(_stored)]


class Rubric(Noun):
    """Full marks if a reply's code uses and extends what it must, and nothing it must not.

    Looks at the code blocks where the reply has any, else at its whole text; comments do not
    count. A literal is found however its tokens are spaced, or broken into lines.
    """

    kind: Literal["rubric"] = "rubric"
    name: Slug = "rubric"
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    must_use: Entries = ()
    must_extend: Entry | None = None
    """The superclass of a class in the reply, by its simple or qualified name."""
    must_not_use: Entries = ()
    """One hit fails the reply, whatever its value."""

    @field_validator("must_use", "must_not_use")
    @classmethod
    def _are_different(cls, entries: Sequence[Entry]) -> Sequence[Entry]:
        for index, entry in enumerate(entries):
            if entry in entries[:index]:
                raise ValueError(f"{_quoted(entry)} is there twice")
        return entries

    @field_validator("must_extend")
    @classmethod
    def _is_a_name(cls, entry: Entry | None) -> Entry | None:
        if isinstance(entry, str) and not re.fullmatch(r"[\w$]+(?:(?:\.|::|\\)[\w$]+)*", entry):
            raise ValueError(f"{_quoted(entry)} is not the name of a class: give one, or a Pattern")
        return entry

    @model_validator(mode="after")
    def _has_checks_that_can_hold(self) -> Rubric:
        if not self._count:
            raise ValueError("a rubric needs at least one check")
        for entry in self.must_use:
            if entry in self.must_not_use:
                raise ValueError(f"{_quoted(entry)} is in must_use and in must_not_use")
        return self

    @property
    def _count(self) -> int:
        return len(self.must_use) + (self.must_extend is not None) + len(self.must_not_use)

    def score(self, evidence: Evidence) -> Score:
        """The share of the checks that hold; each entry is one check."""
        if evidence.status not in SETTLED:
            why = f"not scored: {evidence.why or evidence.status.value}"
            return self._score(value=None, passed=None, why=why)
        if not evidence.text.strip():
            why = f"0 of {self._count} checks hold: the reply is empty"
            return self._score(value=0, passed=False, why=why)
        return self._graded(self._findings(evidence.text), refused=_refused(evidence))

    def checked(self, evidence: Evidence) -> tuple[Checked, ...]:
        """Each of its checks, and whether it holds; none where the trial is not graded."""
        if evidence.status not in SETTLED:
            return ()
        if not evidence.text.strip():
            return tuple(one._replace(holds=False) for one in self._checked(""))
        if _refused(evidence):
            return tuple(
                one._replace(holds=one.holds and one.kind != MUST_NOT_USE)
                for one in self._checked(evidence.text)
            )
        return self._checked(evidence.text)

    def _score(self, *, value: float | None, passed: bool | None, why: str) -> Score:
        return Score(
            evaluator=self.name, weight=self.weight, value=value, passed=passed, why=_line(why)
        )

    def _checked(self, text: str) -> tuple[Checked, ...]:
        sources = examined(text)
        texts = [source.text for source in sources]
        superclass = () if self.must_extend is None else (self.must_extend,)
        hits = [(entry, _hit(entry, texts)) for entry in self.must_not_use]
        return (
            *(Checked(MUST_USE, e, holds=bool(_hit(e, texts))) for e in self.must_use),
            *(Checked(MUST_EXTEND, e, holds=_extends(e, sources)) for e in superclass),
            *(
                Checked(MUST_NOT_USE, e, holds=not hit, found=_excerpt(hit) if hit else "")
                for e, hit in hits
            ),
        )

    def _findings(self, text: str) -> Findings:
        broken = [one for one in self._checked(text) if not one.holds]
        return Findings(
            [one.says for one in broken if one.kind != MUST_NOT_USE],
            [f"{one.says} in: {one.found}" for one in broken if one.kind == MUST_NOT_USE],
        )

    def _graded(self, findings: Findings, *, refused: bool) -> Score:
        missing, forbidden = findings
        broken = len(self.must_not_use) if refused else len(forbidden)
        held = self._count - len(missing) - broken
        reasons = [
            *(["the model refused"] if refused else []),
            *([f"missing {', '.join(missing)}"] if missing else []),
            *(f"forbidden {hit}" for hit in forbidden),
        ]
        share = f"{held} of {self._count} checks hold"
        if held == self._count:
            share = f"all {held} checks hold" if held > 1 else "the one check holds"
        why = ": ".join([share, *(["; ".join(reasons)] if reasons else [])])
        passed = not forbidden and 100 * held >= PASS_PERCENT * self._count
        return self._score(value=held / self._count, passed=passed, why=why)


MUST_USE, MUST_EXTEND, MUST_NOT_USE = "must_use", "must_extend", "must_not_use"


class Checked(NamedTuple):
    """One check of a rubric, and whether it holds."""

    kind: str
    """must_use, must_extend or must_not_use."""
    entry: Entry
    holds: bool
    found: str = ""
    """The line that has what is forbidden; empty elsewhere."""

    @property
    def says(self) -> str:
        """What is looked for, in words."""
        extends = "a class that extends " if self.kind == MUST_EXTEND else ""
        return f"{extends}{_quoted(self.entry)}"

    def is_in(self, text: str) -> bool:
        """Whether a text has what is looked for; for a superclass its name is enough."""
        return _hit(self.entry, [text]) is not None


class Findings(NamedTuple):
    """What keeps a reply from full marks, in words."""

    missing: list[str]
    forbidden: list[str]


_TOKEN = re.compile(
    r"(?P<string>\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'(?:[^'\\]|\\.)*(?:'|\Z))|(?P<word>[\w$]+)|[^\w\s$]"
)
_WORDS = re.compile(r"[\w$]+")


@lru_cache(maxsize=4096)
def literal(text: str) -> re.Pattern[str]:
    """What finds a literal in code.

    Whitespace is free beside punctuation, needed between two words, and as it stands in quotes.
    A word at either edge is a whole word.
    """
    pieces: list[str] = []
    after_word = False
    for token in _TOKEN.finditer(text.strip()):
        is_word = token.lastgroup == "word"
        if pieces:
            pieces.append(r"\s++" if after_word and is_word else r"\s*+")
        pieces.append(re.escape(token[0]))
        after_word = is_word
    if re.match(r"\s*[\w$]", text):  # looks back from the word's end: the search is faster so
        pieces[0] += rf"(?<![\w$]{pieces[0]})"
    if re.search(r"[\w$]\s*\Z", text):
        pieces.append(r"(?![\w$])")
    return re.compile("".join(pieces))


def _refused(evidence: Evidence) -> bool:
    return evidence.reply is not None and evidence.reply.stop_reason == "refusal"


def _hit(entry: Entry, texts: Iterable[str]) -> re.Match[str] | None:
    regex = entry.regex if isinstance(entry, Pattern) else literal(entry)
    return next((hit for text in texts if (hit := regex.search(text))), None)


def _extends(entry: Entry, sources: Iterable[Source]) -> bool:
    simple_name = "" if isinstance(entry, Pattern) else _WORDS.findall(entry)[-1]
    written = [
        superclass
        for source in sources
        if "class" in source.written and simple_name in source.written
        for superclass in superclasses(source.bare, source.syntax)
    ]
    if isinstance(entry, Pattern):
        return any(entry.regex.search(superclass) for superclass in written)
    return any(is_named(superclass, entry) for superclass in written)


def _excerpt(hit: re.Match[str]) -> str:
    """The line of a hit, or what fits of it."""
    text = hit.string
    start = text.rfind("\n", 0, hit.start()) + 1
    end = text.find("\n", hit.end())
    end = end if end >= 0 else len(text)
    if end - start > 2 * EXCERPT_LENGTH:
        start = max(start, hit.start() - EXCERPT_LENGTH // 4)
    line = _line(text[start : min(end, start + 4 * EXCERPT_LENGTH)])
    return line if len(line) <= EXCERPT_LENGTH else f"{line[: EXCERPT_LENGTH - 1]}…"


def _quoted(entry: Entry) -> str:
    return f"/{entry.pattern}/" if isinstance(entry, Pattern) else f'"{entry}"'


def _line(text: str) -> str:
    """The text on one line, with control characters spelled out."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
