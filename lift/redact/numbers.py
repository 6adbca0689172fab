"""Numbers of people: cards, bank accounts, social security, phones. By shape, then by their rules.

The libraries that know the rules are loaded when something has the shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lift.redact.kinds import Check, Kind, Text, after, edge, hits

EDGE, EDGE_OF_WORD = edge("[A-Za-z0-9_.+-]"), edge("[A-Za-z0-9_+]")
END = r"(?![A-Za-z0-9_]|[.,:-]?[0-9])"
GAP = "[ \u00a0\u2009\u202f-]"

CARD = (
    rf"[2-6](?<![0-9][2-6])(?:[0-9]{{3}}(?:"
    rf"(?P<gap>{GAP})[0-9]{{4}}(?P=gap)[0-9]{{4}}(?P=gap)[0-9]{{4}}(?:(?P=gap)[0-9]{{1,3}})?|"
    rf"(?P<wide>{GAP})[0-9]{{6}}(?P=wide)[0-9]{{4,5}})|[0-9]{{13,15}}){END}"
)
ISSUERS = re.compile(
    "4[0-9]{15}(?:[0-9]{3})?|5[1-5][0-9]{14}|"  # Visa, Mastercard
    "2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}|"
    "3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|"  # American Express, Diners Club
    "6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}(?:[0-9]{3})?|"  # Discover
    "35(?:2[89]|[3-8][0-9])[0-9]{12}|62[0-9]{14,17}|"  # JCB, UnionPay
    "220[0-4][0-9]{12}"  # Mir
)
"""How numbers of cards begin and how long they are."""
OTHER_ISSUERS = re.compile("(?:50|5[6-9]|6[0-9])[0-9]{14,17}")
"""Maestro: so many numbers begin so that only those in groups are looked at."""
DECIMAL = re.compile(r"[0-9][.-]\Z")
TABLE = re.compile(r"[0-9A-F]{4,5}\s\Z"), re.compile(r"\s[0-9A-F]{4,5}\s")
"""What is before and after where a table of numbers only looks like cards."""

IBAN = (
    r"[A-Z]{2}[0-9]{2}(?:[ \u00a0-]?[A-Z0-9]{4}){2,7}"
    r"(?:[ \u00a0-]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])"
)

SSN = rf"[0-9](?<![0-9][0-9])[0-9]{{2}}-[0-9]{{2}}-[0-9]{{4}}{END}"
SSN_WORDS = ("ssn", "social security", "social_security", "socialsecurity", "soc sec")
SSN_SAID = (
    r"[ _-]{0,2}(?i:number|no|nr|num|#)?\W{1,14}(?:is\s)?([0-9]{3}[ .-]?[0-9]{2}[ .-]?[0-9]{4})"
    + END
)

WORD = edge("[A-Za-z]")
NOT_IN_NUMBER = edge("[A-Za-z0-9_+.)\\]]")
DIGIT = "[ .()/\u00a0\u2009\u2011-]{0,3}[0-9]"
SIGNS = ("+", "%2b", "\\u002b", "00")
ABROAD = rf"[1-9](?:{DIGIT}){{6,14}}(?![0-9])"
THREE = "[2-9][0-9]{2}"
AMERICA = (
    rf"[2-9(1](?<![0-9][2-9(1])(?:(?<=1)(?P<long>[-. ]){THREE}(?P=long){THREE}(?P=long)|"
    rf"(?:(?<=1)[-. ]\({THREE}|(?<=\(){THREE})\)[-. ]?{THREE}[-. ]|"
    rf"(?<=[2-9])[0-9]{{2}}(?P<gap>[-.]){THREE}(?P=gap))[0-9]{{4}}{END}"
)
PHONE_WORDS = ("phone", "tel", "mobil", "cell", "fax", "whatsapp", "handy", "call", "dial", "sms")
SAID = (
    rf"\w{{0,12}}(?:[ _-](?i:number|no|nr|num))?[\"'\s:.=#)\\]{{1,14}}"
    rf"((?:[0-9]|\([0-9])(?:{DIGIT}){{7,14}})(?![0-9])"
)
REGIONS = ("GB", "DE", "FR", "IT", "NL", "BE", "CH", "AT", "IN", "AU", "JP", "SE", "IE", "ZA")
"""Whose numbers begin with 0 at home."""

GROUPS = re.compile("[^0-9A-Z]+")
MOST_TRIED = 4
"""So many groups may follow a number that are none of it."""


def _cards(text: Text) -> Iterator[tuple[int, int]]:
    def length(match: re.Match[str]) -> int:
        right = _is_card(match[0]) and not _is_among_numbers(text.text, *match.span())
        return len(match[0]) if right else 0

    return hits(text, CARD, EDGE_OF_WORD, length)


def _is_among_numbers(text: str, start: int, end: int) -> bool:
    """Whether it is the end of a larger number, or some numbers of a table."""
    before = text[max(0, start - 6) : start]
    left, right = TABLE
    in_table = left.search(before) is not None and right.match(text, end) is not None
    return in_table or DECIMAL.search(before) is not None


def _is_card(number: str) -> bool:
    digits = re.sub("[^0-9]", "", number)
    known = ISSUERS.fullmatch(digits) or (digits != number and OTHER_ISSUERS.fullmatch(digits))
    if not known or len(set(digits)) < 2:
        return False
    from stdnum import luhn

    return luhn.is_valid(digits)


def _ibans(text: Text) -> Iterator[tuple[int, int]]:
    return hits(text, IBAN, edge(), lambda match: _length(match[0], _is_iban))


def _is_iban(number: str) -> bool:
    from stdnum import iban

    return iban.is_valid(number.replace("\u00a0", " "), check_country=False)


def _ssns(text: Text) -> Iterator[tuple[int, int]]:
    return hits(text, SSN, EDGE, lambda match: _length(match[0], _is_ssn))


def _ssns_said(text: Text) -> Iterator[tuple[int, int]]:
    for word in SSN_WORDS:
        for match in after(text, word, SSN_SAID, before=WORD):
            if _is_ssn(re.sub("[^0-9]", "", match[1])):
                yield match.span(1)


def _is_ssn(number: str) -> bool:
    from stdnum.us import ssn

    return ssn.is_valid(number)


def _phones_abroad(text: Text) -> Iterator[tuple[int, int]]:
    for sign in SIGNS:
        for match in after(text, sign, ABROAD, before=NOT_IN_NUMBER):
            grouped = sign != "00" or GROUPS.search(match[0])
            if grouped and (length := _length(match[0], _is_abroad)):
                yield match.start() - len(sign), match.start() + length


def _phones_of_america(text: Text) -> Iterator[tuple[int, int]]:
    return hits(text, AMERICA, EDGE, lambda match: len(match[0]) if _is_of_america(match[0]) else 0)


def _phones_at_home(text: Text) -> Iterator[tuple[int, int]]:
    for word in PHONE_WORDS:
        for match in after(text, word, SAID, before="" if word == "phone" else WORD):
            if length := _length(match[1], _is_at_home):
                yield match.start(1), match.start(1) + length


def _is_abroad(number: str) -> bool:
    return _is_phone(f"+{number}")


def _is_of_america(number: str) -> bool:
    return _is_phone(number, "US")


def _is_at_home(number: str) -> bool:
    digits = re.sub("[^0-9]", "", number)
    if digits.startswith("00"):
        return _is_abroad(digits[2:])
    if digits.startswith("0"):
        return any(_is_phone(digits, region) for region in REGIONS)
    return len(digits) in (10, 11) and _is_phone(digits, "US")


def _is_phone(number: str, region: str | None = None) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _length(number: str, holds: Check) -> int:
    """How much of it is a number: all, or without some groups at the end; 0 where nothing is."""
    gaps = [gap.start() for gap in GROUPS.finditer(number)]
    for end in [len(number), *reversed(gaps[-MOST_TRIED:])]:
        if holds(number[:end]):
            return end
    return 0


ANY_DIGIT = tuple("0123456789")
KINDS = (
    Kind("iban", ANY_DIGIT, _ibans),
    Kind("card", ANY_DIGIT, _cards),
    Kind("ssn", ANY_DIGIT, _ssns),
    Kind("ssn", SSN_WORDS, _ssns_said),
    Kind("phone", SIGNS, _phones_abroad),
    Kind("phone", ANY_DIGIT, _phones_of_america),
    Kind("phone", PHONE_WORDS, _phones_at_home),
)
