"""Is it made up, or is it words? What tells a secret from a name or an example of one."""

from __future__ import annotations

import re
from itertools import pairwise

WORDY = 0.6
"""Where so many of the letters are in words, it is words."""

SHORTEST_WORD = 4
LONGEST_EXAMPLE = 40
"""So many x stand for something that is to be filled in."""
MOST_DIGITS = 2
"""A shorter one counts by itself, with so many digits behind it: `v2`, `key10`."""
FOLLOWS = (
    "abcdgilmnprstuy baeilou caehiklortu daeios eacdefgilmnprstvx fefio gaeirs haeio "
    "iabcdefglmnoprstvz ke ladeilostuy maeimopu nacdegiost ocdglmnoprstuvw paeiloprt qu "
    "racdegimnorstuy sacehiopstu taehiorstuy uaelmnprst vaei wa yp ze"
)
"""A letter, and those that follow it in most words."""
PAIRS = frozenset(row[0] + second for row in FOLLOWS.split() for second in row[1:])
COMMON = 0.5
"""Where so many of a run's pairs are among them, it is a word, or a piece of one."""

PART = re.compile("[A-Za-z0-9]+")
LETTERS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
NUMBERS = re.compile("[0-9]+")
DIGITS = re.compile(
    "(?=[^a-fA-F]*[a-fA-F])(?:[0-9A-Fa-f]{32,}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
)
"""Many hex digits, or a UUID."""
LONG_PART, MANY_NUMBERS = 16, 3

VARIABLE = re.compile(r"\$\w+|[$#]?\{.*|\$\(.*|%[sdrv]|%\(.*|\[.*\]|<.*|&lt;.*|[*.…•#_-]+|x+|X+")
"""What is filled in later, or stands for something."""

STANDS_FOR = re.compile("(?i)your|change.?me|place.?holder|replace|redacted|insert|<|>")
NUMERIC = re.compile(
    r"[0-9.,:/TZ+_-]*+|v?[0-9]++(?>(?:\.[0-9]++)+)[a-z0-9.+-]*+|[0-9]{4}-[0-9]{2}-[0-9]{2}.*+"
)
"""Numbers, versions and dates."""
PATH = re.compile(
    r"(?:\.{1,2}|~)/.*|(?:/[\w.-]{1,20}){2,}/?|[A-Za-z]:\\.*|[a-z][a-z0-9+.-]*://.*|[\w.-]+(?:/[a-z._-]{3,}){2,}"
)
SORTS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9_.-]")))
LEAST_SORTS, SHORTEST_PASSWORD = 3, 8
AROUND = re.compile(r"[\s/]")
LETTER, TURNS = re.compile("[A-Za-z]"), re.compile("[a-z][A-Z]|[A-Z][A-Z][a-z]")
NAME = re.compile(r"[A-Za-z_][A-Za-z_.:>-]*[0-9]{0,4}")
"""How variables and keys are called."""


def coined(text: str) -> bool:
    """Whether it is made up of characters, not of words as `your-api-key` and `MY_TOKEN` are."""
    if DIGITS.fullmatch(text):
        return True
    letters = in_words = 0
    for part in PART.findall(text):
        runs = LETTERS.findall(part)
        count = sum(map(len, runs))
        letters += count
        if len(part) >= LONG_PART and len(NUMBERS.findall(part)) >= MANY_NUMBERS:
            continue
        in_words += sum(len(run) for run in runs if _is_word(run, alone=len(runs) == 1, of=part))
    return in_words < WORDY * letters


def _is_word(run: str, *, alone: bool, of: str) -> bool:
    low = run.lower()
    if set(low) == {"x"} and len(low) <= LONGEST_EXAMPLE:
        return True
    if len(low) < SHORTEST_WORD:
        return alone and of.startswith(run) and len(of) - len(run) <= MOST_DIGITS
    pairs = [first + second in PAIRS for first, second in pairwise(low)]
    return sum(pairs) >= COMMON * len(pairs)


def varied(text: str) -> bool:
    """Whether it ends in more than what examples are filled with: `ghp_xxxxxxxx`, `AKIA0000`."""
    return not set(text[-12:].lower()) <= set("x*.-_0")


def literal(text: str) -> bool:
    """A value that stands there: not a variable to be filled in, nor stars that stand for it."""
    return VARIABLE.fullmatch(text) is None


def secretive(text: str, *, shortest: int, distinct: int = 5) -> bool:
    """Whether a value is one that nobody would guess: neither words, nor a number, path or name.

    Args:
        text: the value.
        shortest: length of such a value.
        distinct: how many different characters it has at least.
    """
    if len(text) < shortest or len(set(text)) < distinct or not _mixed(text):
        return False
    ordinary = NUMERIC.fullmatch(text) or PATH.fullmatch(text)
    return not ordinary and not stands_for(text) and coined(text)


def stands_for(text: str) -> bool:
    """Whether a value says that another is to be put in its place."""
    return VARIABLE.fullmatch(text) is not None or STANDS_FOR.search(text) is not None


def password(text: str) -> bool:
    """Whether a value is a password: secretive, or of three sorts of characters."""
    if secretive(text, shortest=6, distinct=4):
        return True
    found = sum(sort.search(text) is not None for sort in SORTS)
    if len(text) < SHORTEST_PASSWORD or found < LEAST_SORTS or AROUND.search(text):
        return False
    return not (stands_for(text) or NAME.fullmatch(text) or NUMERIC.fullmatch(text))


def _mixed(text: str) -> bool:
    """Letters with digits or signs among them, or letters in upper and lower case at random."""
    if NUMBERS.search(text) and LETTER.search(text):
        return True
    turns = len(TURNS.findall(text))
    return turns >= len(text) / (8 if len(text) >= LONG_PART else 5)
