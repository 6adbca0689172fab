"""`lift redact`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON

if TYPE_CHECKING:
    from lift.redact.evaluation import Evaluation
    from lift.redact.lines import Line


@click.command(name="redact")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--eval", "evaluates", is_flag=True, help="Run the shipped corpus instead.")
@JSON
def command(files: tuple[str, ...], evaluates: bool, as_json: bool) -> None:
    """Show what would be masked of FILES before anything is sent or reported; - is stdin.

    Each secret and each piece of structured personal data with its line, never as it is. Nothing
    is changed. Personal names are not looked for.

    \b
    Examples:
      lift redact skills/my-skill/SKILL.md
      git diff | lift redact - --json
      lift redact --eval
    """
    import json

    if evaluates == bool(files):
        raise click.UsageError("name files, or - for standard input; or --eval alone")
    if evaluates:
        from lift.redact.evaluation import evaluated

        found = evaluated()
        click.echo(json.dumps(_numbers(found), indent=2) if as_json else _summary(found))
        return
    from lift.redact import redacted
    from lift.redact.lines import lines

    texts = {file: _read(file) for file in dict.fromkeys(files)}  # all of them, or nothing is said
    of_files = [(redacted(file), lines(text)) for file, text in texts.items()]
    if as_json:
        content = [{"file": file, **line._asdict()} for file, some in of_files for line in some]
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        click.echo(_table(of_files))


def _read(file: str) -> str:
    from lift.errors import UsageError
    from lift.files import read_bytes

    fix = "name a file, or - for stdin"
    if file == "-" and not sys.stdin:
        raise UsageError("standard input is closed", where=file, fix=fix)
    try:
        data = sys.stdin.buffer.read() if file == "-" else read_bytes(Path(file))
    except OSError as bad:
        raise UsageError(f"cannot read the file: {bad.strerror}", where=file, fix=fix) from bad
    utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not utf_16 and b"\0" in data:
        raise UsageError("the file is no text", where=file, fix="name text files alone")
    return data.decode("utf-16" if utf_16 else "utf-8", "replace")


def _table(of_files: list[tuple[str, list[Line]]]) -> str:
    from lift.errors import visible

    rows = [
        (f"{file}:{line.line}:{line.column}", line.kind, line.context)
        for file, some in of_files
        for line in some
    ]
    wide = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    shown = [visible(f"{a:{wide[0]}}  {b:{wide[1]}}  {context}") for a, b, context in rows]
    files = "1 file" if len(of_files) == 1 else f"{len(of_files)} files"
    return "\n".join([*shown, f"{len(rows)} would be masked in {files}"])


def _numbers(found: Evaluation) -> dict[str, object]:
    return {
        "kinds": found.kinds,
        "planted": found.planted,
        "ordinary": found.ordinary,
        "recall": found.recall,
        "precision": found.precision,
        "missed": [case.kind for case in found.missed],
        "alarms": list(found.alarms),
    }


def _summary(found: Evaluation) -> str:
    from lift.errors import visible

    masked = found.planted - len(found.missed)
    wrong = [f"missed: {case.kind} in {case.text!r}" for case in found.missed]
    wrong += [f"no secret: {text!r}" for text in found.alarms]
    recall = f"{masked} of {found.planted} secrets of {found.kinds} kinds are masked"
    precision = f"{len(found.alarms)} false alarms, {found.ordinary} ordinary texts"
    shown = [
        f"recall {found.recall:.1%}: {recall}",
        f"precision {found.precision:.1%}: {precision}",
    ]
    return "\n".join([*map(visible, wrong), *shown])
