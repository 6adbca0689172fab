"""Secrets out of any text or JSON-like value, before it leaves the machine.

`KINDS`, at the end, is the table of what counts as one. Its patterns are linear: fixed texts, edges
of runs, possessive runs, bounds. No kind has a greatest length: it takes in what sticks to it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from string import ascii_letters, digits
from typing import Any, NamedTuple, TypeVar, cast

T = TypeVar("T")
Check = Callable[[str], bool] | None

PLACEHOLDER = re.compile(r"<[a-z][a-z0-9-]*+:[0-9]++>")  # what stands where a secret was


class Found(NamedTuple):
    """One secret in a text: `text[start:end]`."""

    kind: str
    start: int
    end: int


class Kind(NamedTuple):
    """One row of the table. Of two rows that match at one place, the first wins."""

    name: str
    pattern: re.Pattern[str]
    """Group 1 is the secret; without groups, all of the match."""
    markers: tuple[str, ...]
    """Lower case; a text without any of them, in either case, has no secret of this kind."""
    check: Check
    """Tells a secret from ordinary text of the same shape."""


def redacted(value: T) -> T:
    """A copy of a text or JSON-like value with a placeholder in place of each secret.

    A placeholder is `<kind:number>`. Numbers count the secrets of one value over all kinds, from 1,
    as they first come up: depth first, a dict's keys before its values. The same secret gets the
    same placeholder; one that is there already stays as it is, and is not given to a secret. So
    placeholders say nothing about the secret, and are the same on every machine.

    Strings are masked in lists, tuples and dicts, keys too; anything else is returned as it is. A
    value under a telling key (`{"secret_key": …}`) counts as assigned to it.
    """
    return Redactor().value(value)


def found(text: str) -> list[Found]:
    """The secrets in a text, in order; they do not overlap."""
    spans = new = _pass(text)
    while any(
        text[s.start - 1 : s.start] in _LETTERS or text[s.end : s.end + 1] in _LETTERS for s in new
    ):  # a neighbour may have hidden the edge of another secret
        text = _replaced(text, new, lambda span: "<" * (span.end - span.start))
        spans = sorted(spans + (new := _pass(text)), key=lambda span: span.start)
    return spans


class Redactor:
    """Masks the parts of one document one by one; the numbers go on from part to part."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._number = 0

    def value(self, value: T) -> T:
        """What `redacted` returns, for one part of the document."""
        _rebuilt(value, self._seen)
        return cast("T", _rebuilt(value, self._masked))

    def _seen(self, text: str, _key: Any) -> str:
        self._taken.update(PLACEHOLDER.findall(text))
        return text

    def _masked(self, text: str, key: Any) -> str:
        lead = f"{key}: " if isinstance(key, str) and _TELLING.search(key) else ""
        whole = lead + text
        spans = [span for span in found(whole) if span.start >= len(lead)]
        hidden = _replaced(whole, spans, lambda s: self._name(whole[s.start : s.end], s.kind))
        return hidden[len(lead) :] if spans else text

    def _name(self, secret: str, kind: str) -> str:
        while secret not in self._names:
            self._number += 1
            if (name := f"<{kind}:{self._number}>") not in self._taken:
                self._names[secret] = name
        return self._names[secret]


def _pass(text: str) -> list[Found]:
    """Of two secrets that overlap the earlier wins; the later keeps what sticks out."""
    folded = text.lower()
    hits = sorted(
        (start, rank, end)
        for rank, kind in enumerate(KINDS)
        if any(marker in folded for marker in kind.markers)
        for match in kind.pattern.finditer(text)
        for start, end in [match.span(kind.pattern.groups)]
        if kind.check is None or kind.check(text[start:end])
    )
    spans, done = [], 0
    for start, rank, end in hits:
        if end > done:
            spans.append(Found(KINDS[rank].name, max(start, done), end))
            done = end
    return spans


def _replaced(text: str, spans: list[Found], new: Callable[[Found], str]) -> str:
    parts, done = [], 0
    for span in spans:
        parts += [text[done : span.start], new(span)]
        done = span.end
    return "".join([*parts, text[done:]]) if parts else text


def _rebuilt(value: Any, masked: Callable[[str, Any], str]) -> Any:
    """The value with its strings masked; without recursion, as JSON may be of any depth."""
    top: list[Any] = [None]
    todo: list[tuple[Any, Any, Any, Any]] = [(top, 0, value, None)]
    made: dict[int, Any] = {}
    tuples: list[tuple[Any, Any, Any]] = []
    while todo:
        parent, slot, item, key = todo.pop()
        if isinstance(item, str):
            parent[slot] = masked(item, key)
        elif not isinstance(item, dict | list | tuple):
            parent[slot] = item
        else:
            if id(item) not in made or isinstance(item, tuple):
                made[id(item)], children = _opened(item, masked)
                todo += reversed(children)
            parent[slot] = made[id(item)]
            if isinstance(item, tuple):
                tuples.append((parent, slot, getattr(item, "_make", tuple)))
    for parent, slot, make in reversed(tuples):
        parent[slot] = make(parent[slot])
    return top[0]


def _opened(item: Any, masked: Callable[[str, Any], str]) -> tuple[Any, list[Any]]:
    """A container like the item, still without values, and what goes into it."""
    if not isinstance(item, dict):
        parts = [None] * len(item)
        return parts, [(parts, slot, child, None) for slot, child in enumerate(item)]
    keys = [masked(key, None) if isinstance(key, str) else key for key in item]
    table = dict.fromkeys(keys)
    return table, [(table, new, item[old], old) for new, old in zip(keys, item, strict=True)]


# ---- checks
_WORD = "(?:[A-Za-z][a-z]{0,14}+|[A-Z]{1,15}+)"
_WORDS = re.compile(f"{_WORD}[0-9]{{0,4}}+(?>(?:[-_.]++(?>{_WORD}?)[0-9]{{0,4}}+)*)")
_VARIABLE = re.compile(r"\$\w+|\$?\{.*\}|\$\(.*|%[sdr]|%\(.*|\[.*\]|[*.…]+|x+|X+")


def _coined(secret: str) -> bool:
    """Not words alone: `your-api-key` and `MY_TOKEN` are no secrets."""
    return _WORDS.fullmatch(secret) is None


def _mixed(secret: str) -> bool:
    return all(re.search(part, secret) for part in ("[a-z]", "[A-Z]", "[^A-Za-z]"))


def _jwt(secret: str) -> bool:
    """Its first part is a JSON object."""
    head = secret.split(".", 1)[0]
    try:
        return isinstance(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))), dict)
    except (binascii.Error, ValueError, RecursionError):
        return False


def _pem(secret: str) -> bool:
    """Has a run of key material; an explanation of the format has none."""
    return re.search("[A-Za-z0-9+/=]{16}", secret) is not None


def _password(secret: str) -> bool:
    """Not a variable to be filled in, nor stars that stand for something."""
    return _VARIABLE.fullmatch(secret) is None


# ---- parts of patterns
_LETTERS = {*ascii_letters, *digits, *"/+~._-"}  # what the edges of secrets look at
_HEX = "[0-9A-Fa-f]"
_ALNUM = "[A-Za-z0-9]"
_RUN = "[A-Za-z0-9_-]"
_B64 = "[A-Za-z0-9/+]"
_DOTTED = r"(?=[A-Za-z0-9_~+/=.-]{%d})[A-Za-z0-9_~+/=-]++(?>(?:\.[A-Za-z0-9_~+/=-]++)*)"
_QUOTE = r"""(?>(?:\\{0,3}["'`])?)"""
_IS = (  # from a name to its value: `=`, a colon, an argument's comma, `value:` on the next line
    rf"{_QUOTE}[\])]?+\s{{0,20}}+(?>(?:=>|:=|[:=>,])?)\s{{0,20}}+"
    rf"(?>(?:{_QUOTE}(?i:value){_QUOTE}\s{{0,9}}+[:=]\s{{0,9}}+)?){_QUOTE}"
)
_TELLING = re.compile(r"(?i)key|secret|token|auth")  # what the names before a value have in them
_LABEL = "[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)? ?-----?+"
_BREAK = r"""(?>(?:\s|\\{1,4}[nrt]|["'>#|*,]){1,40})"""
_PEM = (  # whole; or cut off: headers, lines of key material, the start of one more
    rf"-----? ?BEGIN {_LABEL}(?!-|BEGIN)(?:[^-]*+(?>(?:-(?!---)[^-]*+)*)-----? ?END {_LABEL}|"
    rf"(?>(?:{_BREAK}(?:Proc-Type|DEK-Info|Version|Comment):"
    rf"(?>(?:[A-Za-z0-9 ,.()]|-(?!-)){{0,99}}))*)"
    rf"(?>(?:{_BREAK}[A-Za-z0-9+/=]{{16,}}+)*)"
    rf"(?:{_BREAK}[A-Za-z0-9+/=]{{1,15}}+(?=\s*+(?:\Z|…|\.\.|[\"'`\\])))?)"
)
_AWS = "(?:AKIA|ASIA|ABIA|ACCA)"
_AWS_SECRET = rf"({_B64}{{40}})(?![A-Za-z0-9/+=])"
_AWS_NEAR = (  # an id, a few short words, and the secret
    rf"{_AWS}[A-Z0-9]{{16}}(?>(?:[^A-Za-z0-9/+<]{{1,16}}+{_B64}{{1,39}}+(?!{_B64})){{0,8}})"
    rf"[^A-Za-z0-9/+<]{{1,16}}+{_AWS_SECRET}"
)
_AZURE_KEY = rf"({_B64}{{86}}==|{_B64}{{43}}=(?!=))"
_DISCORD_HOOK = rf"webhooks[/\\]+([0-9]{{15,}}+[/\\]+{_RUN}{{60,}}+)"
_GITHUB = rf"(?:{_ALNUM}{{36,}}+|[0-9]++_eyJ{_RUN}++\.{_RUN}++\.{_RUN}++)"
_GITLAB = rf"{_RUN}{{20,}}+(?>(?:(?:\.[0-9a-z]{{2}})?\.[0-9a-z]{{9}}(?!{_ALNUM}))?)"
_SLACK_HOOK = r"slack\.com[/\\]+(?:services|workflows|triggers)[/\\]+([A-Za-z0-9/\\_-]{20,}+)"
_TELEGRAM = rf"(?<![0-9])[0-9]{{6,12}}+:(?=AA|A[A-Za-z_-]{{0,33}}[0-9]){_RUN}{{35,}}+"
_LOGIN = rf"(?i:authorization){_IS}(?i:%s)\s{{1,9}}+(?=({_DOTTED % 8}))"
_BEARER = rf"(?<![A-Za-z])(?i:bearer)\s{{1,9}}+(?=({_DOTTED % 20}))"
_URL = r""":[/\\]{2,4}[^\s/?#@:"'<>`]{0,256}+:([^\s/?#"'<>`]{1,256})@(?!sha[0-9]+:)"""


def _edge(start: str, before: str = _ALNUM) -> str:
    """`start`, not inside a word, or behind an escape (newline, `%3D`, a terminal's colour)."""
    escapes = (r"\\[bfnrt]", rf"%{_HEX}{{2}}", rf"\\u{_HEX}{{4}}", rf"\\x{_HEX}{{2}}", r"[0-9\[]m")
    return f"{start}(?:(?<!{before}{start})|{'|'.join(f'(?<={e}{start})' for e in escapes)})"


_SAFE = "[A-Za-z0-9_~.-]"
_AZURE = _edge(_SAFE + "{3}[0-9]Q~", _SAFE) + _SAFE + "{31,}+"
_DISCORD = rf"{_edge('[MNO][DTjz]', _RUN)}{_ALNUM}{{22,26}}+\.{_RUN}{{6}}\.{_RUN}{{27,}}+"
_JWT = rf"{_edge('eyJ', _RUN)}{_RUN}{{8,}}+\.{_RUN}{{4,}}+\.{_RUN}*+(?>(?:\.{_RUN}*+\.{_RUN}++)?)"


def _kind(name: str, pattern: str, markers: str, check: Check = None) -> Kind:
    return Kind(name, re.compile(pattern), tuple(markers.split()), check)


def _token(name: str, starts: str, rest: str, check: Check = None) -> list[Kind]:
    """A kind whose secrets begin with one of some fixed texts."""
    return [_kind(name, _edge(re.escape(s)) + rest, s.lower(), check) for s in starts.split()]


KINDS: tuple[Kind, ...] = (
    _kind("private-key", _PEM, "private", _pem),
    *_token("anthropic-key", "sk-ant-", _RUN + "{20,}+", _coined),
    *_token("langfuse-key", "sk-lf- pk-lf-", _RUN + "{16,}+", _coined),
    *_token("openrouter-key", "sk-or-", _RUN + "{20,}+", _coined),
    *_token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _RUN + "{20,}+", _coined),
    *_token("openai-key", "sk-", "(?=[A-Za-z]*+[0-9]|[A-Za-z]{32})[A-Za-z0-9]{20,}+" + _RUN + "*+"),
    *_token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _GITHUB),
    *_token("github-token", "github_pat_", "[A-Za-z0-9_]{36,}+", _coined),
    *_token("gitlab-token", "glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat-", _GITLAB, _coined),
    *_token("gitlab-token", "glft- glimt- glagent- gloas- glffct- GR1348941", _GITLAB, _coined),
    _kind("aws-access-key", _edge(_AWS) + "[A-Z0-9]{16}[A-Za-z0-9]*+", "akia asia abia acca"),
    _kind("aws-secret-key", f"(?i:secret[_-]?(?:access[_-]?)?key){_IS}{_AWS_SECRET}", "secret"),
    _kind("aws-secret-key", _AWS_NEAR, "akia asia abia acca", _mixed),
    _kind("aws-session-token", f"(?i:session[_-]?token){_IS}({_B64}{{100,}}+=*+)", "session"),
    *_token("google-api-key", "AIza", _RUN + "{35,}+"),
    *_token("google-oauth-token", "ya29.", _DOTTED % 20),
    *_token("google-oauth-token", "1//0", _RUN + "{40,}+"),
    *_token("google-oauth-secret", "GOCSPX-", _RUN + "{20,}+", _coined),
    _kind("azure-client-secret", _AZURE, "q~"),
    _kind("azure-storage-key", f"(?i:(?:account|access|storage)[_-]?key){_IS}{_AZURE_KEY}", "key"),
    _kind("azure-sas", "sig=(?<![A-Za-z]sig=)([A-Za-z0-9%/+_-]{40,}+=*+)", "sig="),
    *_token("slack-token", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{20,}+", _coined),
    *_token("slack-token", "xapp-", "[A-Za-z0-9-]{20,}+", _coined),
    _kind("slack-webhook", _SLACK_HOOK, "slack.com"),
    *_token("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", "[A-Za-z0-9]{16,}+", _coined),
    *_token("stripe-webhook-secret", "whsec_", "[A-Za-z0-9/+=]{24,}+"),
    *_token("npm-token", "npm_", "[A-Za-z0-9]{36,}+"),
    *_token("pypi-token", "pypi-Ag", _RUN + "{50,}+"),
    *_token("huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{30,}+"),
    *_token("sendgrid-key", "SG.", rf"{_RUN}{{16,}}+\.{_RUN}{{32,}}+"),
    *_token("twilio-key", "SK AC", "[0-9a-f]{32}[A-Za-z0-9]*+"),
    _kind("twilio-token", rf"(?i:auth[_-]?token){_IS}([0-9a-f]{{32}}{_ALNUM}*+)", "auth"),
    _kind("telegram-token", _TELEGRAM, ":a"),
    _kind("discord-token", _DISCORD, "."),
    _kind("discord-webhook", _DISCORD_HOOK, "webhooks"),
    *_token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[A-Za-z0-9]{40,}+"),
    *_token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", "[A-Za-z0-9]{32,}+"),
    _kind(
        "sentry-dsn", rf"://({_HEX}{{32}}(?>(?::{_HEX}{{32}})?))@[A-Za-z0-9.:-]{{3,99}}+/", "://"
    ),
    *_token("sentry-token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_-]{40,}+"),
    _kind("jwt", _JWT, "eyj", _jwt),
    _kind("basic-credentials", _LOGIN % "basic", "authorization", _coined),
    _kind("bearer-token", _LOGIN % "bearer|token|apikey", "authorization", _coined),
    _kind("bearer-token", _BEARER, "bearer", _coined),
    _kind("url-password", _URL, r":// :\/\/", _password),
)
"""A new kind is a row: its name, what it looks like, what must be there, and a check if needed."""
