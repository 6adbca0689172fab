"""E-mail and IP addresses, but for those kept for examples or for networks of one's own.

`office@example.com`, 192.0.2.1, 10.0.0.7 and ::1 belong to nobody, and stay.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from string import ascii_letters, digits

from lift.redact.kinds import HEX, Kind, Text, compiled, edge, hits, line_before

LETTER = "A-Za-z0-9\u00c0-\u024f"
NAMES = frozenset({*ascii_letters, *digits, *"._+'~-", *map(chr, range(0xC0, 0x250))})
"""What the names of mailboxes are made of."""
LONGEST_NAME = 64
ESCAPED = re.compile(
    rf"(?<=\\)(?:[bfnrt]|u{HEX}{{4}}|x{HEX}{{2}})|(?<=%){HEX}{{2}}|(?<=\[)[0-9]{{1,2}}m"
)
"""What begins before a name, and is none of it: `\\n`, `%20`, a terminal's colour."""
SIGNS = ("@", "%40", r"\u0040", "&#64;", "&commat;")
DOMAIN = (
    rf"((?:[{LETTER}][{LETTER}-]{{0,62}}\.){{1,16}}([A-Za-z]{{2,24}}|xn--[A-Za-z0-9-]{{2,59}}))"
    r"(?![A-Za-z0-9_@]|\.[A-Za-z0-9])"
)
RESERVED = re.compile(
    r"(?i:(?:.*\.)?(?:example\.(?:com|net|org|edu)|example|test|invalid|localhost|local|"
    r"localdomain|internal|arpa|onion))"
)
"""RFC 2606, 6761, 6762, 7686 and ICANN's `internal`: names that nobody can have."""
FILES = (
    "bat class cjs conf config csh css csv deb dll dylib exe gif git gradle gz htm html ico ini "
    "jar java jpeg jpg js json jsx kt less lock log mjs mount patch pdf php png rb rpm scss "
    "service slice socket svg swift target tar tgz timer toml ts tsx txt war webp whl xml yaml "
    "yml"
)
"""Ends of file names: `logo@2x.png`."""
NOBODY = re.compile(
    r"(?i:git|hg|svn|(?:.*[._+-])?no-?reply|do-?not-?reply|this|super|return|break)"
)
"""Who has no mailbox: `git@host`, in addresses of repositories; `this@Outer`, in Kotlin."""
VERSION = re.compile(r"(?:[0-9]+\.){2,}[A-Za-z]+")
"""Of a package: `hibernate@7.1.2.Final`."""
IN_URL = re.compile(r"(?:://|:\\/\\/)[^\s/@]*\Z")

OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = (
    rf"[0-9](?<![0-9][0-9])[0-9]{{0,2}}\.{OCTET}\.{OCTET}\.{OCTET}"
    r"(?![A-Za-z0-9_]|\.[0-9]|[-+.][A-Za-z])(?=(:[0-9]{2,5}|/[0-9]{1,2}(?![0-9]))?)"
)
OF_A_VERSION = re.compile(
    r"(?i:\bv|ver|version|release|build|rev|revision|[=<>~!^]=|[~^]|[a-z]/|[\w.-]+:[\w.-]+:|"
    r"(?:chapter|section|clause|figure|table|§))[\"'\s:=(]{0,4}\Z"
)
BESIDE_A_HOST = re.compile(
    r"(?i:(?:\b|_)(?:from|via|over|inet|bind|listen|connect(?:ed|ing)?|://|=)|://|@)"
    r"[\"'\s:=(,\[]{0,4}\Z"
)
NEAR_A_HOST = re.compile(
    r"(?i:(?<![a-z])(?:ips?|ipv4|ip_?addr(?:ess(?:es)?)?|addr(?:ess(?:es)?)?|hosts?|hostname|client|"
    r"remote|peer|servers?|ping|ssh|dns|resolver|nameservers?|gateway|subnet|forwarded|src|dst|"
    r"source|destination|proxy)(?![a-z]))"
)
LINE_OF_A_LOG = re.compile(r" - \S{1,40} \[")
LARGEST_OF_A_VERSION = 20
"""Where the first number is below it, or none after the first is above, it is a version unless
something says that it is an address."""

IPV6 = (
    rf"[23]{HEX}{{3}}(?>(?::{{1,2}}{HEX}{{1,4}}){{0,7}})(?:::)?"
    rf"(?![A-Za-z0-9_]|:[0-9A-Fa-f:]|\.[0-9])"
)


def _emails(text: Text) -> Iterator[tuple[int, int]]:
    for sign in SIGNS:
        at = text.folded.find(sign)
        while at >= 0:
            done = at + len(sign)
            start = _start(text.text, at)
            domain = compiled(DOMAIN).match(text.text, done) if start < at else None
            if domain:
                if _is_somebodys(text.text, start, at, domain):
                    yield start, domain.end()
                done = domain.end()
            at = text.folded.find(sign, done)


def _start(text: str, at: int) -> int:
    """Where the name begins that ends at the sign; the sign itself where there is none."""
    start = at
    while start and at - start < LONGEST_NAME and text[start - 1] in NAMES:
        start -= 1
    escape = ESCAPED.match(text, start)
    start = escape.end() if escape else start
    return at - len(text[start:at].lstrip(".+'~-"))


def _is_somebodys(text: str, start: int, at: int, domain: re.Match[str]) -> bool:
    return not (
        text[at - 1] == "."
        or NOBODY.fullmatch(text, start, at)
        or RESERVED.fullmatch(domain[1])
        or VERSION.fullmatch(domain[1])
        or domain[2].lower() in FILES.split()
        or IN_URL.search(text, max(0, start - 80), start)
    )


def _ipv4(text: Text) -> Iterator[tuple[int, int]]:
    def length(match: re.Match[str]) -> int:
        before = line_before(text.text, match.start(), 40)
        if not _is_somewhere(match[0]) or OF_A_VERSION.search(before):
            return 0
        first, *others = map(int, match[0].split("."))
        large = first > LARGEST_OF_A_VERSION < max(others)
        logged = LINE_OF_A_LOG.match(text.text, match.end())
        right = large or match[1] or logged or _is_of_a_host(before)
        return len(match[0]) if right else 0

    return hits(text, IPV4, edge("[A-Za-z0-9_.+-]"), length)


def _is_of_a_host(before: str) -> bool:
    return (BESIDE_A_HOST.search(before) or NEAR_A_HOST.search(before)) is not None


def _ipv6(text: Text) -> Iterator[tuple[int, int]]:
    def length(match: re.Match[str]) -> int:
        return len(match[0]) if _is_somewhere(match[0]) else 0

    return hits(text, IPV6, edge("[A-Za-z0-9_:.]"), length)


def _is_somewhere(address: str) -> bool:
    """Whether it is an address in the internet, of one machine."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return found.is_global and not found.is_multicast


KINDS = (
    Kind("email", SIGNS, _emails),
    Kind("ip", tuple(map(".{}".format, range(10))), _ipv4),
    Kind("ip", ("2", "3"), _ipv6),
)
