"""What every refusal has in common: its exit code, and one clear message without a traceback."""

from __future__ import annotations

import subprocess

import pytest

from lift.cli import main


def here(capfd: pytest.CaptureFixture[str], *args: str) -> subprocess.CompletedProcess[str]:
    """The command in this process: quicker, for what ends before anything begins."""
    with pytest.raises(SystemExit) as ended:
        main(args)
    out, err = capfd.readouterr()
    return subprocess.CompletedProcess(args, int(ended.value.code or 0), out, err)


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "a bug in lift" not in done.stderr
    message = done.stderr[done.stderr.rindex("Error:") :]
    assert [word for word in words if word not in message] == []
    assert len(message.splitlines()) <= 4
