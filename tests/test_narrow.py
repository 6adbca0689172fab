"""Narrow terminals: names and numbers are whole, or their column is gone as a whole."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache

import pytest
from test_against import experiment as recorded

from lift import frames
from lift.against import Recorded
from lift.journal import Experiment
from lift.reports import listing, terminal
from lift.reports.screen import Panel, Table, plain, prose, rendered
from lift.results import Result, held_against

WIDTHS = [30, 38, 45, 53, 60, 67, 75, 80, 91, 100, 110, 120]

OLD, NEW = "vaadin-playwright-test-f4f818a0", "vaadin-playwright-test-0b7c1d22"

CATEGORIES = ("grid", "keyboard-navigation", "textfield", "all")

NAMES = (OLD, NEW, "old", "a-nightly-run-of-the-playwright-skill-of-somebody-else")


@cache
def held(*, models: tuple[str, ...] = ("m",), failed: bool = False) -> Result:
    """Two experiments with a judge's scores."""

    def one(name: str, low: float) -> Recorded:
        values = {f"i{n}": [low + n / 50, low + n / 40] for n in range(15)}
        plain = recorded(name, values, models=models)
        scores, trials = (
            [
                {**row, "category": CATEGORIES[int(row["item"][1:]) % 3]}
                for row in frame.to_dict("records")
            ]
            for frame in (plain.scores, plain.trials)
        )
        scores += [{**row, "judged": True, "value": 1 - row["value"] ** 2} for row in scores]
        trials[3]["status"] = "failed" if failed else "ok"
        return plain._replace(
            trials=frames.of(trials, frames.TRIALS), scores=frames.of(scores, frames.SCORES)
        )

    return held_against(one(NEW, 0.31), one(OLD, 0.07))


def rows(text: str) -> list[str]:
    """Lines of the table, without its header."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if "category" in line) + 1
    return lines[start : next(n for n, line in enumerate(lines) if line.startswith("judge"))]


def numbers(text: str) -> list[list[str]]:
    """Of each row; a line with the end of a folded name has none."""
    shapes = r"\[.*?\]|\d+ of \d+ moved|\d+ / \d+|[+-]?\d[\d.]*"
    return [found for line in rows(text) if (found := re.findall(shapes, line))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("failed", [False, True])
def test_a_number_of_a_comparison_is_whole_or_its_column_is_gone(width: int, failed: bool):
    found = held(failed=failed)
    wide = numbers(terminal.comparison(found, width=300))
    narrow = numbers(terminal.comparison(found, width=width))

    places = [wide[0].index(cell) for cell in narrow[0]]
    assert len(places) >= 3
    assert narrow == [[row[place] for place in places] for row in wide]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_categories_and_both_experiments_are_named(width: int):
    text = terminal.comparison(held(), width=width)
    shown = "".join(line.split("  ")[0] for line in rows(text))

    assert shown == "".join(CATEGORIES)
    assert all(len(line.split("  ")[0]) >= 13 for line in rows(text) if line.startswith("key"))
    assert text.startswith(NEW)
    assert OLD in text


@pytest.mark.parametrize("width", [width for width in WIDTHS if width >= 50])
def test_a_table_of_one_model_fits_a_terminal_of_50(width: int):
    assert max(map(len, rows(terminal.comparison(held(), width=width)))) <= width


def test_the_scale_goes_first_then_the_judge_and_the_interval():
    titles = ("○", " judge\n", "95 %", " items  ", "delta")
    texts = [terminal.comparison(held(), width=width) for width in (160, 100, 75, 60, 50)]
    shown = [[title for title in titles if title in text] for text in texts]

    assert shown == [[*titles[gone:]] for gone in (0, 1, 2, 3, 4)]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_model_of_a_row_is_told_at_any_width(width: int):
    text = terminal.comparison(held(models=("opus", "haiku")), width=width)
    models = [line.split("  ")[0] for line in rows(text) if not line.startswith(" ")]

    assert models == ["haiku"] * 4 + ["opus"] * 4


def listed(width: int, *, found: list[Experiment] | None = None) -> list[str]:
    found = found or [known(name, day) for day, name in enumerate(NAMES, 1)][::-1]
    return listing.experiments(found, width=width).splitlines()


def known(name: str, day: int) -> Experiment:
    """An experiment that was started on a day of May."""
    started = int(datetime(2026, 5, day, tzinfo=UTC).timestamp() * 1000)
    one = recorded(name, {"a": [0.5] * 12}).experiment
    return one._replace(
        created_ms=started, cost_usd=12.3456, errored=day, datasets=("greetings", "micro_tasks")
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_names_of_experiments_can_be_copied_from_the_list(width: int):
    lines = listed(width)

    assert [line.split()[0] for line in lines if line.split()[0] in NAMES] == [*NAMES[::-1]]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_number_of_the_list_is_whole_or_its_column_is_gone(width: int):
    narrow, wide = listed(width), listed(300)
    titles = [
        t for t in ("started (UTC)", "datasets", "answered", "errors", "cost") if t in narrow[0]
    ]

    for name in NAMES:
        row, whole = (next(x for x in lines if x.startswith(name)) for lines in (narrow, wide))
        assert set(re.findall(r"\S*\d\S*", row)) <= set(re.findall(r"\S*\d\S*", whole))
        assert ("$12.3456" in row) == ("cost" in titles)
        assert (" 12/12" in row) == ("answered" in titles)
        assert ("2026-05-0" in row) == ("started (UTC)" in titles)


def test_the_list_is_in_the_order_of_the_times_that_it_shows():
    ran = [known("b", 2), known("c", 3), known("a", 1)]
    lines = listed(100, found=ran)

    assert [line.split()[:2] for line in lines[1:4]] == [
        ["c", "2026-05-03"], ["b", "2026-05-02"], ["a", "2026-05-01"],
    ]  # fmt: skip
    assert lines[4] == "ran last: b"
    assert "ran last" not in "\n".join(listed(100))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_trials_numbers_are_whole(width: int):
    trial = {
        "dataset": "micro_tasks", "item": "textfield-set-value", "condition": "without_skill",
        "model": "m", "repeat": 17, "status": "errored", "score": 0.25, "seconds": 123.4,
        "cost_usd": 1.2345,
    }  # fmt: skip
    text = listing.trials([trial], known("e", 1), width=width)
    heads = next(line for line in text.splitlines() if "repeat" in line)

    for title, cell in (("repeat", "17"), ("score", "0.25"), ("seconds", "123.4"), ("cost", "$1.")):
        assert (f" {cell}" in text) == (title in heads)
    assert "$" not in text.replace(" $1.2345", "")


@pytest.mark.parametrize("width", [24, 40])
def test_a_title_that_does_not_fit_stands_above_its_panel(width: int):
    title = "with_skill · ok · rubric 0.25 · judge 0.75"
    text = rendered([Panel(plain("hello"), title=title)], width=width, color=False)

    assert text.split("╭")[0].split() == title.split()


def test_a_word_is_never_broken_and_other_lines_stay_narrow():
    name = "x" * 50
    text = rendered([prose(f"{name}\n{'of ' * 12}")], width=30, color=False)

    assert [len(line) for line in text.splitlines()] == [50, 29, 5]


def test_a_narrow_table_drops_what_is_spare_in_order():
    wide = Table()
    wide.add_column("name")
    for spare, title in enumerate(("never", "second", "first")):
        wide.add_column(title, justify="right", spare=(3 - spare) % 3)
    wide.add_row("n" * 30, "12345678", "12345678", "12345678")
    heads = [
        rendered([wide], width=width, color=False).split("\n")[0].split()[1:]
        for width in (60, 43, 42, 33, 32, 5)
    ]

    assert heads == [["never", "second", "first"]] * 2 + [["never", "second"]] * 2 + [["never"]] * 2
