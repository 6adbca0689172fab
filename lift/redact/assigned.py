"""Secrets that a name gives away: `API_SECRET = "…"`, in code, shell, YAML, JSON, XML or prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import ascii_letters, digits
from typing import NamedTuple

from lift.redact.kinds import Kind, Text, compiled, line_before
from lift.redact.words import PATH, literal, password, secretive, stands_for

QUOTE = r"""(?>(?:\\{0,7}["'`]|&quot;|%22)?)"""
TYPE = r"(?>(?:[ \t]{0,3}:?[ \t]{1,3}[A-Za-z][\w.\[\]]{0,30}+(?=[ \t]{0,3}:?=[^=]))?)"
LABEL = rf"{QUOTE}(?i:value){QUOTE}\s{{0,9}}+[:=]\s{{0,9}}+"
SIGN = r"(?:=>|:=|==?(?!=)|[:,>|(]|%3[AaDd])"
IS = (  # from a name to its value: a sign, a label in between, or blanks alone
    rf"{QUOTE}(?>(?:\[[0-9]*\]|[\])])?){TYPE}\*{{0,2}}"
    rf"(?>[ \t]{{0,20}}+{SIGN}\*{{0,2}}\s{{0,20}}+(?>(?:{LABEL}|[|>][+-]?\n\s{{1,20}}+)?)|"
    rf"(?>(?:\s|\\{{1,8}}[nrt]|\#){{1,24}}){LABEL}|"
    rf"[ \t]{{1,3}}(?:is|was):?[ \t]{{1,3}}|[ \t]{{1,4}})"
)
QUOTES, WORD = ('"', "'", "`"), ascii_letters + digits + "_-"
SIGNS = re.compile("[=:,>|(]|%3|(?i:value)")

BARE = r"""(?:[^\s"'`<>\\,;&|(){}\[\]=:%]|%(?!2[026Cc]|3[AaDd])[0-9A-Fa-f]{2})"""
STICKS = re.compile(r"""[^\s"'`<>\\,;&|(){}\[\]]*+""")
VALUE = (  # in quotes, up to what closes them; else a run
    r"""(?:\\{0,7}"([^"\n\\]{1,200}+)(?=\\{0,7}")|\\{0,7}'([^'\n\\]{1,200}+)(?=\\{0,7}')|"""
    rf"""`([^`\n\\]{{1,200}}+)(?=`)|(?:&quot;|%22|\\{{0,7}}["'`])?((?>{BARE}+)=*+))"""
)
RUN = 4
"""The group of a value without quotes."""
AFTER = (
    "(?i:s?(?:[_-]?(?:key|token|value|string|text|base|id|b64|base64|prod|dev|test|live|staging|"
    "[0-9]{1,2})){0,2}s?)"
)
PASSWORD = "(?i:word|wd|phrase|code|wort|e)?"

KEYS = (
    "api app access secret private auth signing encryption encrypt master shared account license "
    "licence service admin webhook consumer client storage subscription ssh deploy session server "
    "function functions host anon role jwt hmac crypto cipher rest security write root aes"
)
KEY_BEFORE = re.compile(rf"(?i)(?:{'|'.join(KEYS.split())})[-_. ]?\Z")
NOT_TOKENS = re.compile(r"(?i)(?:next|page|continuation|sync|cancellation|public[-_]?key)[-_. ]?\Z")
PASS_BEFORE = re.compile(r"(?i)(?:user|db|smtp|my|admin|root|sql|ftp|mail|ldap|redis|proxy)\Z")

ACCESS = (
    r"(?<![A-Za-z])(?i:host(?:name|addr)?|server|data source|user(?:name|id| id)?|uid|dbname|"
    r"database|initial catalog|port|sslmode|account(?:name)?|endpoint|login)"
)
CONNECTION = re.compile(
    rf"{ACCESS}=[^\s;&,\"'=]{{1,90}}(?:[\s;&]|,(?!\s))+"
    rf"(?:[^\n\"'(]{{0,60}}(?:[\s;&]|,(?!\s)))?\Z"
)
NETRC = re.compile(r"(?:machine\s+\S{1,99}\s+|default\s+)login\s+\S{1,99}\s+\Z")
GOES_ON = re.compile(rf";\s?{ACCESS}\s?=")
NAME = re.compile(r"[\w.-]{1,40}\Z")
BACK = 160
"""So far back is looked for the rest of a connection."""

SET = re.compile("[A-Z0-9_]+=")
BESIDE = re.compile("(?!--)[^0-9]*[0-9]")
"""What a password has that no sign says to be one."""
SHORTEST, SHORTEST_TOKEN, SHORTEST_BESIDE = 8, 12, 16
"""Lengths of secrets, of tokens and keys, and of those that no sign says to be values."""


class Value(NamedTuple):
    """What follows a name."""

    text: str
    word: str
    """What the name ends in."""
    named: int
    """Where the word is."""
    start: int
    end: int
    value: str
    between: str
    """What is between the word and the value."""

    @property
    def signed(self) -> bool:
        """Whether a sign says that it is the name's value."""
        return SIGNS.search(self.between) is not None

    @property
    def listed(self) -> bool:
        """Whether it only comes after the name: `get(password, user)`."""
        quoted = self.between[-1:] in QUOTES
        if "," in self.between:
            return not quoted or self.between.lstrip(WORD)[:1] not in (*QUOTES, "\\")
        return "(" in self.between and not quoted

    @property
    def called(self) -> bool:
        """Whether it is a name in code: something is called, or looked up."""
        return self.text[self.end : self.end + 1] in ("(", "[") and self.value[-1:].isalnum()

    @property
    def is_set(self) -> bool:
        """Whether a variable of the environment is set to it, and it is more than a word."""
        if len(self.value) < SHORTEST or not SET.fullmatch(self.text, self.named, self.start):
            return False
        mixed = re.search("[0-9]", self.value) and re.search("[A-Za-z]", self.value)
        return bool(mixed) and not stands_for(self.value) and PATH.fullmatch(self.value) is None

    @property
    def connects(self) -> bool:
        """Whether it is part of how to connect to something."""
        before = self.text[max(0, self.named - BACK) : self.named]
        if not self.signed:
            return NETRC.search(before) is not None
        if GOES_ON.match(self.text, self.end):
            return True
        before = NAME.sub("", line_before(self.text, self.named, BACK))
        return before.endswith(("?", "&")) or (
            "=" in before and CONNECTION.search(before) is not None
        )


def _assigned(
    text: Text, word: str, rest: str, accepts: Callable[[Value], bool]
) -> Iterator[tuple[int, int]]:
    at = text.folded.find(word)
    while at >= 0:
        done = at + len(word)
        if _names(text, at, word) and (match := compiled(rest).match(text.text, done)):
            start, end = match.span(match.lastindex or 0)
            run = match.lastindex == RUN
            done = end if run else start  # what is in quotes may have names in it
            value, between = text.text[start:end], text.text[at + len(word) : start]
            if accepts(Value(text.text, word, at, start, end, value, between)):
                done = _sticking(text.text, end) if run else end
                yield start, done
        at = text.folded.find(word, done)


def _sticking(text: str, end: int) -> int:
    """Where a value ends that has no quotes, but for the full stop of a sentence."""
    sticks = STICKS.match(text, end)
    end = sticks.end() if sticks else end
    return end - (text[end - 1] in ".…" and not text[end : end + 1].strip())


def _names(text: Text, at: int, word: str) -> bool:
    """Whether a name of something secret may end in the word that is there."""
    before = line_before(text.text, at, 16)
    if word == "key":
        return KEY_BEFORE.search(before) is not None
    if word == "token":
        return NOT_TOKENS.search(before) is None
    if word in ("pass", "auth", "pw"):
        camel = before[-1:].islower() and text.text[at].isupper()
        whole = text.folded.startswith(("password", "passwd", "passphrase", "passcode"), at)
        inside = before[-1:].isalpha() and not camel
        return whole or not inside or PASS_BEFORE.search(before) is not None
    return True


def _is_password(found: Value) -> bool:
    if found.listed:
        return False
    if found.connects:
        return literal(found.value)
    if found.signed:
        return not found.called and (password(found.value) or found.is_set)
    return secretive(found.value, shortest=SHORTEST) and BESIDE.match(found.value) is not None


def _is_secret(found: Value) -> bool:
    shortest = SHORTEST_TOKEN if found.word in ("token", "key", "auth") else SHORTEST
    if not found.signed:
        shortest = SHORTEST_BESIDE
    if found.called or found.listed:
        return False
    if secretive(found.value, shortest=shortest):
        return True
    return found.word == "secret" and len(found.value) >= SHORTEST_TOKEN and password(found.value)


def _kind(name: str, words: str, rest: str, accepts: Callable[[Value], bool]) -> Kind:
    found = tuple(words.split())

    def find(text: Text) -> Iterator[tuple[int, int]]:
        for word in found:
            yield from _assigned(text, word, rest, accepts)

    return Kind(name, found, find)


KINDS = (
    _kind(
        "password", "pass pwd pw kennwort contraseña", PASSWORD + AFTER + IS + VALUE, _is_password
    ),
    _kind("secret", "secret token key auth credential", AFTER + IS + VALUE, _is_secret),
)
