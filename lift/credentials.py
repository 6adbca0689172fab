"""Keys, addresses and headers as variables hold them: cleaned, or refused without being shown."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from lift.errors import SettingError

VISIBLE = re.compile(r"[!-~]+")
"""What keys and addresses consist of; anything else would be shown by a client's error."""
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*([\t -~]*)")
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.I)
LONGEST_HOST = 253
IPV6 = re.compile(r"\[([0-9a-f:.]+)\](?::[0-9]*)?", re.I)
IPV4 = re.compile(r"[0-9.]+")


class Variable(NamedTuple):
    """A variable that holds something to be careful with."""

    name: str
    value: SecretStr
    """Without white space at its ends, and not empty."""
    source: str
    """Where it was set."""

    @property
    def text(self) -> str:
        """The value in the clear."""
        return self.value.get_secret_value()


def key(variable: Variable) -> SecretStr:
    """The key that a variable holds.

    Raises:
        SettingError: it has characters that no key has.
    """
    if VISIBLE.fullmatch(variable.text):
        return variable.value
    raise _refused(
        variable, "white space or characters in it that no key has", "copy it anew, on one line"
    )


def address(variable: Variable) -> str:
    """The address of a server that a variable holds: http or https, with a host.

    Raises:
        SettingError: it is none, or it has a user, a query or a fragment.
    """
    if problem := _problem(variable.text):
        raise _refused(variable, problem, "write it like https://host or http://127.0.0.1:8080")
    return variable.text


def headers(variable: Variable) -> dict[str, SecretStr]:
    """The headers that a variable holds, one `Name: value` a line.

    Raises:
        SettingError: a line is no header.
    """
    found: dict[str, SecretStr] = {}
    for line in filter(None, map(str.strip, variable.text.split("\n"))):
        match = HEADER.fullmatch(line)
        if match is None:
            raise _refused(variable, "a line that is no header", "write one `Name: value` a line")
        found[match[1]] = SecretStr(match[2])
    return found


def _problem(url: str) -> str:
    """What an address has that it should not have; empty where it is fit for use."""
    if not VISIBLE.fullmatch(url):
        return "white space or characters in it that no address has"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "a host or a port that is none"
    if parts.scheme not in ("http", "https"):
        return "no http:// or https:// at its start"
    if parts.username is not None or parts.password is not None:
        return "a user name or a password in it"
    if not _is_host(parts) or port == 0:
        return "a host or a port that is none"
    return "a query or a fragment" if {"?", "#"} & set(url) else ""


def _is_host(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        if "[" in parts.netloc:
            literal = IPV6.fullmatch(parts.netloc)
            ipaddress.IPv6Address(literal[1] if literal else "")
        elif IPV4.fullmatch(host):
            ipaddress.IPv4Address(host)
        else:
            host.encode("ascii").decode("idna")
            labels = host.removesuffix(".").split(".")
            return len(host) <= LONGEST_HOST and all(map(LABEL.fullmatch, labels))
    except ValueError:
        return False
    return True


def _refused(variable: Variable, has: str, fix: str) -> SettingError:
    return SettingError(
        f"{variable.name} has {has}",
        where=f"{variable.name}, from the {variable.source}",
        fix=fix,
    )
