"""What looks like personal data and is nobody's stays; what is somebody's goes."""

from __future__ import annotations

import pytest

from lift.redact import redacted


@pytest.mark.parametrize(
    "address",
    [
        "office@example.com", "a@b.example", "x@y.test", "root@localhost", "me@host.local",
        "git@github.com", "noreply@github.com", "icon@2x.png",
        "pkg@1.2.3", "hibernate@7.1.2.Final", "this@Outer.finish",
    ],
)  # fmt: skip
def test_mail_of_nobody_stays(address: str):
    assert redacted(f"See {address}, or ask.") == f"See {address}, or ask."


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.9", "192.168.1.20", "169.254.169.254",
        "192.0.2.1", "198.51.100.7", "203.0.113.9", "255.255.255.0", "224.0.0.251", "100.64.0.1",
        "::1", "fe80::1", "fd00::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_of_ones_own_and_of_examples_stay(address: str):
    assert redacted(f"client ip {address} connected") == f"client ip {address} connected"


@pytest.mark.parametrize(
    "version",
    ["v1.2.3.4", "version 93.184.2.34", "1.2.3.4", "Chrome/99.0.48.51", "a:b:24.5.1.30",
     "==52.0.1.88", "9.5.172.21", "1.3.101.112"],
)  # fmt: skip
def test_versions_are_no_addresses(version: str):
    assert redacted(f"uses {version} now") == f"uses {version} now"


@pytest.mark.parametrize(
    "text",
    ["ping 1.2.3.4", "http://1.2.3.4:80/", "1.2.3.4:8080", "host=1.2.3.4", "from 9.5.172.21",
     '9.5.172.21 - - [10/Oct/2026:13:55:36] "GET /"', "93.184.216.34"],
)  # fmt: skip
def test_something_beside_them_makes_addresses_of_small_numbers(text: str):
    assert "<ip:1>" in redacted(text)


NUMBERS = {
    "social security number": (
        "000-12-3456", "666-12-3456", "900-12-3456", "123-00-4567", "123-45-0000", "078-05-1120",
        "1123-45-6789", "123-45-67890",
    ),
    "card": (
        "4111111111111112", "4111 1111 1111 1112", "1234567812345670", "0.4111111111111111",
        "41111111111111111", "a4111111111111111", "4111-1111-1111-111",
    ),
    "account": ("DE89370400440532013001", "XX89370400440532013000", "DE89 3704"),
    "phone": (
        "555-123-4567", "123-456-7890", "+1 555 123", "1.410 570 5830", "2026-11-30", "+0200",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("what", "number"), [(what, number) for what, some in NUMBERS.items() for number in some]
)
def test_what_cannot_be_such_a_number_stays(what: str, number: str):
    assert redacted(f"no. {number}!") == f"no. {number}!", what


@pytest.mark.parametrize(
    "text",
    ["Ada Lovelace wrote it", "Dr. Maria da Silva, born in Lisbon", "name: Jürgen Müller"],
)
def test_personal_names_are_not_touched(text: str):
    assert redacted(text) == text


@pytest.mark.parametrize(
    "value",
    ["${PASSWORD}", "$PASSWORD", "{{ password }}", "<your password>", "********", "your-password-1",
     "changeme123", "%s", "xxxxxxxx", "None", "string"],
)  # fmt: skip
def test_what_stands_for_a_password_stays(value: str):
    for text in (f"password = {value}", f'password: "{value}"', f"export DB_PASSWORD={value}"):
        assert redacted(text) == text


@pytest.mark.parametrize(
    "value", ["os.environ['P1']", "getPassword1()", "user.password", "args[1]"]
)
def test_code_that_gets_a_password_stays(value: str):
    assert redacted(f"password = {value}") == f"password = {value}"
