"""Secrets and personal data to be found, and ordinary texts to be left alone.

None stands in this file: each is put together when it is asked for, is made up, and opens nothing.
A shape is a text with `{93u}` for 93 characters of an alphabet; `⟦⟧` is where the secret goes.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterator
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

from lift.redact.shapes import HOLE, ORDINARY, SAID, SHAPES

ALPHABETS = {
    "a": ascii_letters + digits,
    "u": ascii_letters + digits + "-_",
    "b": ascii_letters + digits + "+/",
    "h": digits + "abcdef",
    "H": digits + "ABCDEF",
    "d": digits,
    "l": ascii_lowercase + digits,
    "U": ascii_uppercase + "234567",
    "A": ascii_letters,
    "p": ascii_letters + digits + "!*.~^",
}


class Case(NamedTuple):
    """A text with one secret in it."""

    kind: str
    text: str
    secret: str

    @property
    def expected(self) -> str:
        """What is to become of the text."""
        return self.text.replace(self.secret, f"<{self.kind}:1>")


def fake(length: int, alphabet: str = "a", seed: str = "") -> str:
    """Characters that are the same each time, with each sort of the alphabet among them.

    Args:
        length: how many.
        alphabet: one of ALPHABETS.
        seed: others have other characters.
    """
    letters = ALPHABETS[alphabet]
    chance = random.Random(f"{seed}{length}{alphabet}")
    sorts = (ascii_lowercase, ascii_uppercase, digits)
    musts = [chance.choice([c for c in sort if c in letters] or [""]) for sort in sorts]
    return ("".join(musts) + "".join(chance.choices(letters, k=length)))[:length]


def made(shape: str, seed: str = "") -> str:
    """A secret of a shape."""
    named = {"uuid": "{8h}-{4h}-{4h}-{4h}-{12h}", "jwt": jwt(), "-": "-" * 5, "bot": BOT}
    shape = re.sub(r"\{(uuid|jwt|-|bot)\}", lambda name: named[name[1]], shape)
    parts = re.split(r"\{(\d+)([a-zA-Z])\}", shape)
    for place in range(1, len(parts), 3):
        parts[place : place + 2] = fake(int(parts[place]), parts[place + 1], f"{seed}{place}"), ""
    return "".join(parts)


def encoded(value: object) -> str:
    """Base64url without padding."""
    text = json.dumps(value) if isinstance(value, dict) else str(value)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def jwt() -> str:
    """A token that says nothing of nobody."""
    head, body = {"alg": "HS256", "typ": "JWT"}, {"sub": "nobody", "iat": 1}
    return ".".join([encoded(head), encoded(body), fake(43, "u")])


BOT = encoded("1098765432109876543")


def pem(label: str, *, headers: str = "", lines: int = 6, end: bool = True) -> str:
    """A block of made-up lines in PEM's armour, whole or without its end."""
    body = "\n".join(fake(64, "b", seed=f"{label}{n}") for n in range(lines))
    dashes = "-" * 5
    foot = f"\n{dashes}END {label}{dashes}" if end else ""
    return f"{dashes}BEGIN {label}{dashes}\n{headers}{body}{foot}"


def _keys() -> Iterator[Case]:
    """Private keys in armour, whole and cut off."""
    old = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{fake(32, 'H')}\n\n"
    labels = ("RSA", "EC", "DSA", "OPENSSH", "ENCRYPTED", "SSH2 ENCRYPTED")
    blocks = [pem(f"{label} PRIVATE KEY") for label in labels]
    blocks += [pem("PRIVATE KEY"), pem("PRIVATE KEY", lines=1), pem("PGP PRIVATE KEY BLOCK")]
    blocks += [pem("RSA PRIVATE KEY", headers=old), pem("PRIVATE KEY").replace("\n", "\r\n")]
    blocks += [pem("PRIVATE KEY", end=False), pem("RSA PRIVATE KEY", headers=old, end=False)]
    blocks += [pem("PRIVATE KEY", end=False)[:-50], pem("PRIVATE KEY").partition("\n")[2]]
    blocks += [base64.b64encode(pem("PRIVATE KEY").encode()).decode(), putty()]
    for block in blocks:
        yield Case("private-key", f"Here:\n\n{block}", block)
        yield Case("private-key", f'KEY="{block}"', block)
        inner = json.dumps(block)[1:-1]
        yield Case("private-key", f'{{"type": "service_account", "private_key": "{inner}"}}', inner)
        twice = json.dumps(json.dumps(block))[3:-3]
        yield Case("private-key", f'"{{\\"key\\": \\"{twice}\\"}}"', twice)
    cut = pem("PRIVATE KEY", end=False)
    yield Case("private-key", f"{cut}\n\nThe log ends here. Nothing else.", cut)
    yield Case("private-key", f"{cut}\nMIIE…\n", f"{cut}\nMIIE")


def putty() -> str:
    """A key file of PuTTY."""
    lines = "\n".join(fake(64, "b", seed=f"putty{n}") for n in range(4))
    return (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: a key\n"
        f"Public-Lines: 2\n{lines[:129]}\nPrivate-Lines: 2\n{lines[130:]}\n"
        f"Private-MAC: {fake(64, 'h')}"
    )


def _card(start: str, length: int, sizes: tuple[int, ...] = (), gap: str = "") -> str:
    """A number that ends in the right digit."""
    body = start + fake(length - len(start) - 1, "d", start)
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(body))]
    whole = body + str(-sum(number // 10 + number % 10 for number in doubled) % 10)
    parts, at = [], 0
    for size in sizes:
        parts.append(whole[at : at + size])
        at += size
    return gap.join(parts) or whole


def _iban(country: str, bank: str, gap: str = "") -> str:
    """An account number with the right check digits."""
    number = int("".join(str(int(letter, 36)) for letter in f"{bank}{country}00"))
    whole = f"{country}{98 - number % 97:02}{bank}"
    return gap.join(whole[at : at + 4] for at in range(0, len(whole), 4)) if gap else whole


def _personal() -> Iterator[tuple[str, str]]:
    """Personal data, of nobody."""
    for name in ("jane.doe", "j_doe+news", "o'brien", "jürgen", "x"):
        yield "email", f"{name}@contoso{'-mail' if name == 'x' else ''}.com"
    yield "email", "billing@mail.fabrikam.co.uk"
    for start, length in (
        ("4", 16),
        ("51", 16),
        ("2221", 16),
        ("37", 15),
        ("6011", 16),
        ("36", 14),
    ):
        yield "card", _card(start, length)
    yield "card", _card("4", 16, (4, 4, 4, 4), " ")
    yield "card", _card("55", 16, (4, 4, 4, 4), "-")
    yield "card", _card("34", 15, (4, 6, 5), " ")
    for country, bank in (("DE", "370400440532013000"), ("GB", "NWBK60161331926819"),
                          ("FR", "20041010050500013M02606"), ("NO", "86011117947")):  # fmt: skip
        yield "iban", _iban(country, bank)
        yield "iban", _iban(country, bank, " ")
    for number in ("123-45-6789", "001-01-0001", "665-12-3456", "899-99-9999"):
        yield "ssn", number
    for number in ("+1 415 555 0132", "+14155550132", "+44 20 7946 0958", "+49 (0)30 23125 678",
                   "+33 1 23 45 67 89", "+91 98765 43210", "(415) 555-0132", "415-555-0132",
                   "1-800-555-0199", "415.555.0132"):  # fmt: skip
        yield "phone", number
    for address in ("93.184.216.34", "52.14.88.101", "2607:f8b0:4005:805::200e",
                    "2a00:1450:4001:0:0:0:0:68"):  # fmt: skip
        yield "ip", address


def put(secret: str) -> Iterator[str]:
    """Ways to write a secret that needs nothing around it."""
    yield secret
    yield f"The key is {secret}, do not share it."
    yield f'client = Client("{secret}")  # from the console'
    yield json.dumps({"name": "x", "value": secret, "note": "a\nb"}, ensure_ascii=False)
    yield f"export SOME_NAME={secret}\nexport OTHER=1\n"
    yield f"curl 'https://api.example.com/v1/items?q={secret}&page=2'"
    yield json.dumps({"log": f"started\n{secret}\tok"}, ensure_ascii=False)
    yield f"\x1b[32m{secret}\x1b[0m"
    yield f"值{secret}é"
    yield f"<p>{secret}</p>\n- `{secret}`\n> {secret}: twice"


def free() -> list[tuple[str, str]]:
    """Kind and secret, of those that need nothing around them."""
    shapes = [line.split(" ", 1) for line in SHAPES.strip().splitlines()]
    return [*((kind, made(shape)) for kind, shape in shapes), *_personal()]


def cases() -> list[Case]:
    """Every secret in every spelling."""
    spelled = [Case(kind, text, secret) for kind, secret in free() for text in put(secret)]
    for kind, shape, *texts in SAID:
        secret = made(shape, kind)
        spelled += [Case(kind, text.replace(HOLE, secret), secret) for text in texts]
    return [*spelled, *_keys()]


def ordinary() -> list[str]:
    """Texts with nothing in them that is to be found."""
    noise = random.Random(7)
    image = base64.b64encode(noise.randbytes(60_000)).decode()
    certificate = f"{pem('CERTIFICATE')}\n{pem('PUBLIC KEY')}"
    hashes = "\n".join(noise.randbytes(20).hex() for _ in range(2_000))
    numbers = " ".join(str(noise.randrange(10**15, 10**16) * 10) for _ in range(2_000))
    made = [f"![x](data:image/png;base64,{image})", certificate, hashes, numbers]
    return [*ORDINARY.strip().splitlines(), *made]
