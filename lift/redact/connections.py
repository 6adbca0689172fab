"""Secrets in the ways to connect: addresses, headers, cookies, command lines, cloud accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lift.redact.assigned import IS, QUOTE
from lift.redact.kinds import (
    ALNUM,
    BASE64,
    DOTTED,
    Kind,
    Text,
    after,
    led,
    line_before,
    named,
    searched,
)
from lift.redact.words import coined, literal, secretive

OPEN = rf"{IS}{QUOTE}"
SECRET = rf"({BASE64}{{40}})(?![A-Za-z0-9/+=])"
NEAR = (  # the rest of an id, a few short words, and the secret
    rf"[A-Z0-9]{{16}}(?>(?:[^A-Za-z0-9/+<]{{1,16}}+{BASE64}{{1,39}}+(?!{BASE64})){{0,8}})"
    rf"[^A-Za-z0-9/+<]{{1,16}}+{SECRET}"
)
ACCOUNT_KEY = rf"({BASE64}{{86}}==|{BASE64}{{43}}=(?!=))"
BEARER = rf"(?<![A-Za-z](?i:bearer))\s{{1,9}}+(?=({DOTTED % 20}))"
DIGEST = rf"{OPEN}(?i:digest)\s[^\n]{{0,200}}?(?i:response)=\\{{0,7}}\"([0-9a-f]{{32,}}+)"
SCHEMES = "bearer|token|apikey|api-key|key|ssws|splunk|genie-?key|oauth|jwt|app-token|hmac"

USER = r"""[^\s/?#@:"'<>`]{0,256}+:"""
URL = rf"""[/\\]{{0,2}}{USER}([^\s/?#"'<>`]{{1,256}})@(?!sha[0-9]+:)"""
HOST = r"""(?:\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,128})(?::[0-9]{1,5})?(?:[/?,;\s"'`)\]\\]|\Z)"""
ADDRESS = rf"""{USER}([^\s"'<>`@]{{0,200}}?[/?#][^\s"'<>`@]{{0,56}})@(?={HOST})"""
DATABASES = (
    "postgres:// postgresql:// mysql:// mariadb:// redis:// rediss:// mongodb:// mongodb+srv:// "
    "amqp:// amqps:// mssql:// sqlserver:// clickhouse:// ftp:// sftp:// smtp:// smtps:// ldap:// "
    "ldaps:// nats:// mqtt:// mqtts:// neo4j:// bolt:// cassandra:// snowflake:// kafka:// "
    "mysql+pymysql:// postgresql+psycopg:// postgresql+psycopg2:// postgresql+asyncpg://"
)
PORT = re.compile("[0-9]{1,5}[/?#]")

PAIR = r"[^\s=;,\"'<>\\]{1,80}=[^\s;\"'<>\\]++"
COOKIES = (
    rf"""[sS]?\\{{0,7}}["']?\]?\s{{0,3}}[:=,]\s{{0,3}}\\{{0,7}}["']?({PAIR}(?>(?:;\s?{PAIR})*))"""
)
COOKIE = r"=([A-Za-z0-9%._+/-]{16,}+=*+)"

IDENTIFIED = r"""(?i:identified\s{1,3}by\s{1,3}(?:password\s{1,3})?["']([^"'\n]{1,128})["'])"""
WORD = r"""(?:\\{0,7}["']([^"'\s\\]{1,128})|([^\s"'`,$\\<][^\s"'`$\\<]{0,127}))"""
COMMANDS = (  # option, what the command before it is, what follows
    (" -u", "curl|wget|http", rf"[= ]?\\{{0,7}}[\"']?[^\s:\"'$]{{1,128}}:{WORD}"),
    (" --user", "curl|wget|http", rf"[= ]\\{{0,7}}[\"']?[^\s:\"'$]{{1,128}}:{WORD}"),
    (" -p", "mysql|mysqldump|mariadb|mysqladmin", WORD),
    (" -p", "sshpass|docker login|podman login|mongosh?|az login|oc login", rf" ?{WORD}"),
    (" -a", "redis-cli", rf" {WORD}"),
    (" -w", "ldapsearch|ldapmodify", rf" {WORD}"),
)


BACK = 200
"""So far before an option its command may be."""


def _login(schemes: str) -> str:
    return rf"{OPEN}(?i:{schemes})\s{{1,9}}+(?=({DOTTED % 8}))"


def _mixed(secret: str) -> bool:
    return all(re.search(part, secret) for part in ("[a-z]", "[A-Z]", "[^A-Za-z]"))


def _password(text: str) -> bool:
    return literal(text) and PORT.match(text) is None


def _cookies(text: str) -> bool:
    values = [pair.partition("=")[2] for pair in text.split(";")]
    return any(secretive(value, shortest=12) for value in values)


def _commands(text: Text) -> Iterator[tuple[int, int]]:
    """Passwords on command lines."""
    for option, command, rest in COMMANDS:
        for match in after(text, option, rest, folded=False):
            start, end = match.span(match.lastindex or 0)
            line = line_before(text.text, match.start(), BACK)
            if re.search(rf"(?:{command})(?![A-Za-z])", line) and literal(text.text[start:end]):
                yield start, end


KINDS = (
    named("aws-secret-key", "secretkey secret_key secret-key secret.key", OPEN + SECRET),
    named(
        "aws-secret-key",
        "secretaccesskey secret_access_key secret-access-key secret.access.key",
        OPEN + SECRET,
    ),
    led("aws-secret-key", "AKIA ASIA ABIA ACCA", NEAR, _mixed),
    named(
        "aws-session-token",
        "sessiontoken session_token session-token security-token security_token",
        f"{OPEN}({BASE64}{{100,}}+=*+)",
    ),
    named(
        "azure-storage-key",
        "accountkey account_key account-key accesskey access_key access-key storagekey storage_key",
        OPEN + ACCOUNT_KEY,
    ),
    named("azure-sas", "sig=", "(?<![A-Za-z](?i:sig)=)([A-Za-z0-9%/+_-]{40,}+=*+)"),
    named("twilio-token", "authtoken auth_token auth-token", f"{OPEN}([0-9a-f]{{32}}{ALNUM}*+)"),
    named("basic-credentials", "authorization", _login("basic"), coined),
    named("bearer-token", "authorization", _login(SCHEMES), coined),
    named("bearer-token", "authorization", DIGEST),
    named("bearer-token", "bearer", BEARER, coined),
    named("cookie", "cookie", COOKIES, _cookies),
    named(
        "cookie",
        "phpsessid jsessionid asp.net_sessionid connect.sid laravel_session _gitlab_session",
        COOKIE,
        coined,
    ),
    named("url-password", r":// :\/\/ :\\/\\/ :\\\\/\\\\/", URL, _password),
    named("url-password", DATABASES, ADDRESS, _password),
    named(
        "url-password",
        "jdbc:oracle:",
        r"[a-z]{1,8}:[^\s/:@\"']{1,64}/([^\s@\"'/]{1,128})@",
        _password,
    ),
    searched("password", "identified", IDENTIFIED, literal),
    searched("password", "-pass", rf" -pass(?:in|out)? pass:{WORD}", literal),
    named("password", ":5432: :3306:", r"[^\s:<>]{1,64}:[^\s:<>]{1,64}:([^\s:<>]{1,128})", literal),
    Kind("password", tuple(option for option, _, _ in COMMANDS), _commands),
)
