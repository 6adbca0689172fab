"""Private keys in whatever armour, whole or cut off at either end."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import zip_longest

from lift.redact.kinds import BASE64, RUN, Kind, Text, compiled, led, searched
from lift.redact.words import coined

NAME = "private-key"

LABEL = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?+"
MARK = f"-----? ?(?:(BEGIN)|END) {LABEL}"
LETTERS = "[A-Za-z0-9+/=]"
BREAK = r"""(?>(?:\s|\\{1,8}[nrt]|["'>#|*,+]){1,40})"""
HEADERS = (
    rf"(?>(?:{BREAK}(?:Proc-Type|DEK-Info|Version|Comment|Charset):"
    rf"(?>(?:[A-Za-z0-9 ,.()/:@]|-(?!-)){{0,99}}))*)"
)
CUT_OFF = (  # headers, lines of key material, the start of one more
    rf"{HEADERS}(?>(?:{BREAK}{LETTERS}{{16,}}+)*)"
    rf"(?:{BREAK}{LETTERS}{{1,15}}+(?=\s*+(?:\Z|…|\.\.|[\"'`\\])))?"
)
WORDS = re.compile(f"{LETTERS}+")
MATERIAL = 16
"""The least characters of a line of key material, but for the last."""

BEGUN = "LS0tLS1CRUdJTi"
"""Base64 of `-----BEGIN`."""
PUTTY = (
    rf"[0-9]: ?[a-z0-9-]++(?>(?:{BREAK}(?:(?:Encryption|Comment|Key-Derivation|Argon2-[A-Za-z]++|"
    rf"Public-Lines|Private-Lines|Private-MAC|Private-Hash):[^\n\r\\\"'`<>]{{0,200}}+|"
    rf"{LETTERS}{{{MATERIAL},}}+|{LETTERS}{{4,}}+(?={BREAK}Private-)))+)"
)
PARTS = rf"<(?:D|P|Q|DP|DQ|InverseQ)>\s*+({BASE64}{{20,}}+={{0,2}})"
JWK = (
    r"""\\{0,7}["'](?:d|p|q|dp|dq|qi|k)\\{0,7}["']\s{0,9}+:\s{0,9}+"""
    rf"""\\{{0,7}}["']({RUN}{{20,}}+)"""
)


def _blocks(text: Text) -> Iterator[tuple[int, int]]:
    """Blocks between `BEGIN` and `END`, and what is left of one where either is missing."""
    marks = list(compiled(MARK).finditer(text.text))
    done = 0
    for mark, after in zip_longest(marks, marks[1:]):
        if mark[1]:
            end = _end(text.text, mark.end(), after)
            if _has_material(text.text[mark.end() : end]):
                yield mark.start(), end
                done = end
        elif mark.end() > done and (start := _back(text.text, done, mark.start())) < mark.start():
            yield start, mark.end()
        done = max(done, mark.end())


def _end(text: str, start: int, after: re.Match[str] | None) -> int:
    """Where the block ends that begins before `start`: with its mark, or as far as it goes."""
    if after and not after[1] and _is_block(text[start : after.start()]):
        return after.end()
    match = compiled(CUT_OFF).match(text, start)
    return match.end() if match else start


def _is_block(text: str) -> bool:
    """Whether most of it is key material: two marks may also be named in a longer text."""
    material = sum(len(word) for word in WORDS.findall(text) if len(word) >= MATERIAL)
    return material >= len("".join(text.split())) / 2


def _back(text: str, done: int, end: int) -> int:
    """Where the lines of key material begin that end at a mark."""
    # an escaped newline is none of the line behind it
    lines = re.sub(r"\\{1,8}[nrt]", lambda escape: " " * len(escape[0]), text[done:end])
    start, last = end, True
    for word in reversed(list(WORDS.finditer(lines))):
        long = len(word[0]) >= MATERIAL
        between = lines[word.end() : start - done]
        if not (long or last) or not re.fullmatch(BREAK, between):
            break
        start, last = done + word.start(), False
    return start if _has_material(text[start:end]) else end


def _has_material(text: str) -> bool:
    """Whether there is key material; an explanation of the format has none."""
    return any(
        len(word) >= MATERIAL and re.search("[0-9+/=]", word) for word in WORDS.findall(text)
    )


def _holds_a_key(text: str) -> bool:
    """Whether it is base64 of a private key in armour, behind the first letters of it."""
    whole = BEGUN + text
    try:
        return b"PRIVATE KEY" in base64.b64decode(whole[: len(whole) // 4 * 4][:120])
    except (binascii.Error, ValueError):
        return False


KINDS = (
    Kind(NAME, ("private key",), _blocks),
    led(NAME, BEGUN, f"{BASE64}{{40,}}+={{0,2}}", _holds_a_key),
    led(NAME, "PuTTY-User-Key-File-", PUTTY, _has_material),
    searched(NAME, "<rsakeyvalue> &lt;rsakeyvalue&gt;", PARTS),
    searched(NAME, "kty\" kty' kty\\", JWK, coined),
    led("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{40,}+"),
)
