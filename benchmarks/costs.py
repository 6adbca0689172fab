"""Expected cost of commands on the example datasets, as a Markdown table; asks nothing.

python benchmarks/costs.py           print the table
python benchmarks/costs.py --write   put it into docs/costs.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from lift.dataset import Selection
from lift.prepare import Wanted, prepare
from lift.pricing import PRICES_AS_OF
from lift.settings import read

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "costs.md"
MARKED = re.compile(r"(<!-- costs: .*? -->\n).*?(<!-- /costs -->)", re.S)

# a server on this machine makes the messages backend's prices count; it is never called
VARIABLES = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "LIFT_JOURNAL": "/nonexistent/journal"}

COMMANDS = (
    ("lift --quick", Wanted(Selection(quick=True))),
    ("lift --quick --no-judge", Wanted(Selection(quick=True), judge=False)),
    ("lift --full", Wanted(Selection())),
    ("lift --full --repeats 3", Wanted(Selection(), repeats=3)),
)


def table() -> str:
    """The table, with the date of the prices."""
    lines = ["| command | calls | expected | range |", "|---|---|---|---|"]
    config = read(ROOT, VARIABLES, {})
    for command, wanted in COMMANDS:
        cost = prepare(config, wanted).estimate
        spread = f"${cost.low_usd:.2f} to ${cost.high_usd:.2f}"
        lines.append(f"| `{command}` | {cost.calls} | ${cost.usd:.2f} | {spread} |")
    day = (
        10 * prepare(config, COMMANDS[0][1]).estimate.usd
        + prepare(config, COMMANDS[2][1]).estimate.usd
    )
    lines.append(f"| a day of work: ten times quick, once full | | ${day:.2f} | |")
    return "\n".join([*lines, "", f"Prices as of {PRICES_AS_OF}.", ""])


def page(text: str) -> str:
    """The page with the table between its marks."""
    return MARKED.sub(lambda mark: f"{mark[1]}\n{table()}\n{mark[2]}", text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
    print(table())
