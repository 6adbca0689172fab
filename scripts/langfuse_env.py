"""Adds to `.env` what a Langfuse on this machine needs; see docker-compose.yaml.

Run as `python scripts/langfuse_env.py [FILE]`. A value that is there is never changed, and none is
printed. The file is readable by its owner alone afterwards.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path


def _key(start: str) -> str:
    return f"{start}{uuid.UUID(bytes=secrets.token_bytes(16), version=4)}"


NEEDED: Mapping[str, Callable[[], str]] = {
    # What lift sends with, and the keys of the project that the server makes at its first start.
    "LANGFUSE_BASE_URL": lambda: "http://127.0.0.1:3000",
    "LANGFUSE_PUBLIC_KEY": lambda: _key("pk-lf-"),
    "LANGFUSE_SECRET_KEY": lambda: _key("sk-lf-"),
    # How a person logs in at that address, as lift@example.com.
    "LANGFUSE_INIT_PASSWORD": lambda: f"{secrets.token_hex(12)}-Aa1",
    # What only the containers use.
    "LANGFUSE_SALT": lambda: secrets.token_hex(32),
    "LANGFUSE_ENCRYPTION_KEY": lambda: secrets.token_hex(32),
    "LANGFUSE_NEXTAUTH_SECRET": lambda: secrets.token_hex(32),
    "LANGFUSE_POSTGRES_PASSWORD": lambda: secrets.token_hex(24),
    "LANGFUSE_CLICKHOUSE_PASSWORD": lambda: secrets.token_hex(24),
    "LANGFUSE_REDIS_PASSWORD": lambda: secrets.token_hex(24),
    "LANGFUSE_MINIO_ACCESS_KEY": lambda: secrets.token_hex(10),
    "LANGFUSE_MINIO_SECRET_KEY": lambda: secrets.token_hex(20),
}
"""Variable → makes its value. Letters, digits and hyphens only: some end up in addresses."""

_LINE = re.compile(r"(\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=)(.*)", re.DOTALL)
_EMPTY = re.compile(r"""\s*?(?:''|"")?(\s*|\s+#.*)""", re.DOTALL)


def completed(text: str) -> tuple[str, list[str]]:
    """The text of a `.env` with what was missing, and the names of what was added.

    An empty assignment (`NAME=`) is filled in where it stands; the rest goes to the end.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    parsed = [(at, m[1], m[2], m[3]) for at, line in enumerate(lines) if (m := _LINE.match(line))]
    there = {name for _, _, name, value in parsed if not _EMPTY.fullmatch(value)}
    missing = [name for name in NEEDED if name not in there]
    values = {name: NEEDED[name]() for name in missing}
    for at, head, name, value in parsed:
        if name in values and (rest := _EMPTY.fullmatch(value)):
            lines[at] = f"{head}{values.pop(name)}{rest[1]}"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines, *(f"{name}={value}\n" for name, value in values.items())]), missing


def write(path: Path, text: str) -> None:
    """Replace the file as a whole, so that a crash leaves the old one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".env-")  # made with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def main(arguments: list[str]) -> int:
    """Complete the file, and say which names were added and which were there."""
    path = Path(arguments[0] if arguments else ".env").resolve()
    old = path.read_bytes() if path.exists() else b""
    text, added = completed(old.decode("utf-8", errors="surrogateescape"))
    if added:
        write(path, text)
    path.chmod(0o600)
    kept = [name for name in NEEDED if name not in added]
    for what, names in (("added", added), ("kept", kept)):
        sys.stdout.write(f"{path.name}: {what} {', '.join(names) or 'nothing'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
