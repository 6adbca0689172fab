"""Every error a user can meet, as one tree, each with its exit code.

LiftError                    1
├── ThresholdMissed          1   a --max-drop or another asked-for limit does not hold
├── UsageError               2   flags or settings that do not fit together
│   ├── SettingError         2   a setting has a value it cannot have
│   ├── SkillError           2   the skill folder is missing, unreadable or malformed
│   ├── DatasetError         2   a dataset module does not load, or an item is bad
│   ├── BaselineError        2   a baseline cannot be read or written
│   ├── ResultError          2   a file is not a result
│   ├── LabelError           2   people's labels cannot be read, or fit no judged trial
│   └── ExperimentError      2   no such experiment, or its name stands for something else
├── CouldNotRun              3
│   ├── CredentialError      3   no key, or the server refuses it
│   ├── ModelUnavailable     3   the server does not know the model
│   ├── BackendError         3   no answer after all retries; one trial's result, not the run's
│   ├── BatchUnknown         3   the server does not have a batch, or not its results
│   ├── JournalError         3   the journal cannot be opened, read or written
│   └── Incomplete           3   too few trials were answered to compare
├── CeilingReached           4   the cost ceiling stopped the run; the same command resumes
└── Interrupted        130/143   SIGINT or SIGTERM; what was answered is recorded
"""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_LINE = 600

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_DIRECTION = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_STEERING = _CONTROL | _DIRECTION
"""Control characters, and those that turn the direction of what follows."""


def visible(text: str, *, keep: str = "") -> str:
    """The text with control characters spelled out, so that it cannot steer a terminal.

    Args:
        text: from anywhere: a server, a file, a reply.
        keep: characters left as they are.
    """
    return text.translate({code: s for code, s in _STEERING.items() if chr(code) not in keep})


def counted(count: int, noun: str) -> str:
    """So many of something: `1 trial`, `2 trials`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def few(names: Iterable[str], most: int = 8) -> str:
    """The first of some names, each once, and how many more there are."""
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


class LiftError(Exception):
    """What happened, where, and how to fix it; the command line prints it and exits.

    Args:
        what: what happened, in one sentence without a full stop.
        where: the file, item, field or address it happened at.
        fix: what the person can do about it.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        lines = [_line(self.what)]
        if self.where:
            lines.append(f"  where: {_line(self.where)}")
        if self.fix:
            lines.append(f"  fix:   {_line(self.fix)}")
        return "\n".join(lines)


def _line(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


class ThresholdMissed(LiftError):
    """A limit that was asked for does not hold."""


class UsageError(LiftError):
    """The command, its flags or an input file are not usable as they are."""

    exit_code = 2


class SettingError(UsageError):
    """A setting has a value it cannot have."""


class SkillError(UsageError):
    """The skill cannot be read."""


class DatasetError(UsageError):
    """A dataset cannot be loaded, or one of its items is malformed."""


class BaselineError(UsageError):
    """A baseline is malformed, of another schema, or cannot be written."""


class ResultError(UsageError):
    """A file is not a result that a run wrote."""


class LabelError(UsageError):
    """People's labels cannot be read, or there is nothing that they say of a judge."""


class ExperimentError(UsageError):
    """The experiment does not exist, or its name already stands for another plan."""


class CouldNotRun(LiftError):
    """Something the run needs is not there."""

    exit_code = 3


class CredentialError(CouldNotRun):
    """There is no model credential, or the server refuses it."""


class ModelUnavailable(CouldNotRun):
    """The server does not serve the model that was asked for."""


class BackendError(CouldNotRun):
    """One call got no answer after all retries: the trial is errored, the run goes on.

    Args:
        what: what happened.
        lost_usd: what calls that never reported their usage may have cost at worst.
    """

    def __init__(self, what: str, *, lost_usd: float = 0.0, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.lost_usd = lost_usd


class BatchUnknown(CouldNotRun):
    """The server does not have a batch that was submitted, or not its results."""


class JournalError(CouldNotRun):
    """The journal cannot be opened, read or written."""


class Incomplete(CouldNotRun):
    """Too few of the planned trials were answered for a comparison."""


class CeilingReached(LiftError):
    """The cost ceiling stopped the run; what was answered is recorded.

    Args:
        what: what happened.
        lost_usd: what earlier tries of the call, which broke off, may have cost at worst.
    """

    exit_code = 4

    def __init__(self, what: str, *, lost_usd: float = 0.0, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.lost_usd = lost_usd


class Interrupted(LiftError):
    """SIGINT or SIGTERM arrived; what was answered is recorded."""

    def __init__(self, what: str, *, exit_code: int, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.exit_code = exit_code
