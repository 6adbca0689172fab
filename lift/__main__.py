"""What the command `lift` and `python -m lift` run."""

from __future__ import annotations

import gc
import sys

COLLECT_AFTER = 200_000
"""Objects made, less those gone, before garbage is looked for. Imports make a million that stay,
and each search would look through them again."""


def main() -> None:
    """Run the command; Ctrl-C before it is there is no traceback."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        from lift.cli import main as command
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was asked\n")
        sys.exit(130)
    try:
        command()
    finally:
        gc.freeze()  # nothing is looked for in what ends with the process


if __name__ == "__main__":
    main()
