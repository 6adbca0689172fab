"""What the command `lift` and `python -m lift` run."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; Ctrl-C before it is there is no traceback."""
    try:
        from lift.cli import main as command
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was asked\n")
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
