"""The lint: each rule with its line, whatever is on disk, and who would load it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activation import document, frontmatter
from activation.contents import Contents
from activation.lint import LintReport, check, lint
from activation.markdown import slug
from activation.rules import RULES, failed, score
from activation.verbs import opens_with_verb, verbs
from lift.errors import SkillError
from lift.skill import LARGEST_BYTES, load, split

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data" / "lint"
VERDICTS = json.loads((DATA / "verdicts.json").read_text("utf-8"))

GOOD = """---
name: tt
description: Use when testing things.
---

# Title

Do this:

```sh
run
```
"""

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a SKILL.md into the folder `tt`."""

    def written(text: str | bytes) -> Path:
        folder = tmp_path / "tt"
        folder.mkdir(exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        (folder / "SKILL.md").write_bytes(data)
        return folder

    return written


def told(report: LintReport) -> list[tuple[str, int]]:
    return [(found.rule, found.line) for found in report.findings]


def looked(data: bytes) -> LintReport:
    """The lint of bytes that no folder holds."""
    return check(Contents(root=DATA / "none", file="SKILL.md", name="tt", data=data))


# ---- What is there


def test_the_example_skill_has_nothing_to_find():
    report = lint(ROOT / "skills" / "vaadin-playwright-test")

    assert report.findings == ()
    assert report.score == 1.0
    assert {consumer.accepts for consumer in report.consumers} == {True}


def test_a_good_skill_has_nothing_to_find(write: Write):
    assert lint(write(GOOD)).findings == ()
    assert lint(write(GOOD) / "SKILL.md") == lint(write(GOOD))


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_counted_as_an_editor_does(ends: str, mark: str):
    text = GOOD.replace("# Title", "# Title\n\n### Deep\u2028er\n\n[x](gone.md)")

    report = looked((mark + text.replace("\n", ends)).encode())

    assert told(report) == [*([("bom", 1)] if mark else []), ("headings", 8), ("links", 10)]


def edited(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


NAME, DESCRIPTION = "name: tt", "description: Use when testing things."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # frontmatter
        ("\n" + GOOD, [("frontmatter", 1)]),
        (GOOD.replace("---", "----"), [("frontmatter", 1)]),
        (edited("---\n\n#", "...\n\n#"), [("frontmatter", 1)]),
        (edited(NAME, "name: tt\n- x"), [("yaml", 3)]),
        (edited(DESCRIPTION, "description: Use: when\n  testing"), [("yaml", 3)]),
        (edited(DESCRIPTION, 'description: "Use" when'), [("yaml", 3)]),
        (edited(DESCRIPTION, "description: *Use* when"), [("yaml", 3)]),
        (edited(DESCRIPTION, "description: Use\x01 when"), [("yaml", 3)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nlicense: [MIT"), [("yaml", 4)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nlicense: *MIT"), [("yaml", 4)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nmetadata: {'[' * 60}"), [("yaml", 4)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\n? [a]\n: b"), [("yaml", 4)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\n...\nlicense: MIT"), [("yaml", 5)]),
        (
            edited(f"{NAME}\n{DESCRIPTION}", "- tt"),
            [("name", 1), ("description", 1), ("yaml", 2)],
        ),
        (
            edited(f"{NAME}\n{DESCRIPTION}", ""),
            [("name", 1), ("description", 1), ("yaml", 2)],
        ),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nname: tt"), [("yaml-keys", 4)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nmetadata:\n  a: 1\n  a: 2"), [("yaml-keys", 6)]),
        (edited(NAME, "name: !!str tt"), [("yaml-extras", 2)]),
        (
            edited(NAME, "name: &n tt\nmetadata:\n  n: *n"),
            [("yaml-extras", 2), ("yaml-extras", 4)],
        ),
        (edited(DESCRIPTION, f"{DESCRIPTION}\norigin: x"), [("unknown-keys", 4)]),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nwhen_to_use: x\nlicense: MIT"), []),
        # name
        (edited(f"{NAME}\n", ""), [("name", 1)]),
        (edited(NAME, "name:"), [("name", 2)]),
        (edited(NAME, "name: ' '"), [("name", 2)]),
        (edited(NAME, "name: 123"), [("name", 2)]),
        (edited(NAME, "name: 2026-01-01"), [("name", 2)]),
        (edited(NAME, "name: [tt]"), [("name", 2)]),
        (edited(NAME, "name: TT"), [("name-form", 2), ("name-folder", 2)]),
        (edited(NAME, "name: t--t"), [("name-form", 2), ("name-folder", 2)]),
        (edited(NAME, f"name: {'t' * 65}"), [("name-form", 2), ("name-folder", 2)]),
        (edited(NAME, "name: claude-tt"), [("name-reserved", 2), ("name-folder", 2)]),
        (edited(NAME, "name: other"), [("name-folder", 2)]),
        # description
        (edited(f"{DESCRIPTION}\n", ""), [("description", 1)]),
        (edited(DESCRIPTION, "description: ''"), [("description", 3)]),
        (edited(DESCRIPTION, "description: yes"), [("description", 3)]),
        (edited(DESCRIPTION, "description:\n  a: b"), [("description", 3)]),
        (edited(DESCRIPTION, f"description: Use {'x' * 1020}"), []),
        (edited(DESCRIPTION, f"description: Use {'x' * 1021}"), [("description-length", 3)]),
        (edited(DESCRIPTION, "description: Use <b>this</b>"), [("description-tags", 3)]),
        (edited(DESCRIPTION, "description: Use if a < b"), []),
        (edited(DESCRIPTION, "description: >-\n  Use\n  <this/>"), [("description-tags", 5)]),
        (edited(DESCRIPTION, "description: Use\u200b when"), [("description-hidden", 3)]),
        (edited(DESCRIPTION, "description: |\n  Use\n  it\u2060"), [("description-hidden", 5)]),
        (edited(DESCRIPTION, "description: Use for 👩‍💻 and می‌خواهم"), []),
        (edited(DESCRIPTION, "description: This skill tests."), [("description-opening", 3)]),
        # body
        (edited("```sh\nrun\n```", "run"), [("code-block", 5)]),
        (edited("```sh\nrun\n```", "~~~\nrun"), []),
        (GOOD.partition("# Title")[0], [("body", 6)]),
        (GOOD + "x\n" * 492, []),
        (GOOD + "x\n" * 493, [("body-length", 505)]),
        # headings
        (GOOD + "# Title\n", [("headings", 13)]),
        (GOOD + "### Deep\n", [("headings", 13)]),
        (edited("# Title", "### Deep"), [("headings", 6)]),
        (edited("# Title", "## Fine"), []),
        (GOOD + "##\n", [("headings", 13)]),
        (GOOD + "a\n##Squeezed\n", [("headings", 14)]),
        (GOOD + "See\n#85 and #tag\n", []),
        (edited("run\n", "# a comment\n#!squeezed\n### deep\n"), []),
        (GOOD + "> # Quoted\n\n- # Listed\n", []),
        (GOOD + "Another\n=======\n", [("headings", 13)]),
    ],
)
def test_each_rule_is_told_with_its_line(text: str, found: list[tuple[str, int]]):
    assert told(looked(text.encode())) == found


def test_a_finding_says_what_where_and_how_to_fix_it(write: Write):
    (found,) = lint(write(edited(DESCRIPTION, "description: Use: when"))).findings

    assert found.severity == "error"
    assert found.message == (
        "the frontmatter is no YAML, in `description`:"
        " mapping values are not allowed in this context"
    )
    assert (found.file, found.line) == ("SKILL.md", 3)
    assert found.fix == "put the value of `description` in quotes, or below `description: >-`"


def test_broken_yaml_hides_no_other_finding():
    text = edited(f"{NAME}\n{DESCRIPTION}", 'name: "TT"\ndescription: |\n  This: x\n  y\nz: [')

    report = looked(text.encode())

    assert {"yaml", "name-form", "description-opening"} <= {found.rule for found in report.findings}


# ---- Encoding


@pytest.mark.parametrize(
    ("data", "rule", "line"),
    [
        (b"\xef\xbb\xbf" + GOOD.encode(), "bom", 1),
        (edited("Do this", "Caf\xe9").encode("latin-1"), "encoding", 8),
        (GOOD.encode("utf-16"), "encoding", 1),
        (GOOD.encode() + b"\n\x00", "encoding", 14),
        (GOOD.replace("\n", "\r").encode(), "line-ends", 1),
        (GOOD.replace("run\n", "run\r").encode(), "line-ends", 11),
        (GOOD.encode() + b"x" * LARGEST_BYTES, "size", 1),
    ],
)
def test_bytes_that_are_no_plain_utf_8_are_told(write: Write, data: bytes, rule: str, line: int):
    assert (rule, line) in told(lint(write(data)))


def test_a_file_cut_inside_a_character_is_too_large_and_nothing_else(write: Write):
    text = GOOD + "é" * LARGEST_BYTES
    odd = (text if len(GOOD.encode()) % 2 else f"{text[:-1]}\nx").encode()

    assert told(lint(write(odd))) == [("size", 1)]


# ---- Links


def test_links_that_lead_nowhere_are_told(write: Write):
    folder = write(
        GOOD
        + """[a](more.md) [b](gone.md) ![c](gone.png)
[d](docs/) [e](more.md#part-one) [f](more.md#part-two)
[g](#title) [h](#untitled) [i](#top) [j]()
[k](<with space.md>) [l](with%20space.md "Title") [m](https://example.com/gone.md)
`[n](gone.md)` \\[o](gone.md) [p][ref] [q](mailto:a@example.com)

| table | [r](gone.md) |
|---|---|
| cell | [s](lost.md) |

[ref]: lost.md
"""
    )
    (folder / "docs").mkdir()
    (folder / "more.md").write_text("## Part `One`\n", "utf-8")
    (folder / "with space.md").write_text("x", "utf-8")

    assert [(f.rule, f.line, f.file) for f in lint(folder).findings] == [
        ("links", 13, "SKILL.md"),
        ("links", 13, "SKILL.md"),
        ("anchors", 14, "SKILL.md"),
        ("anchors", 15, "SKILL.md"),
        ("links", 15, "SKILL.md"),
        ("links", 17, "SKILL.md"),
        ("links", 19, "SKILL.md"),
        ("links", 21, "SKILL.md"),
        ("links", 23, "SKILL.md"),
    ]


def test_files_that_links_lead_to_are_looked_at_too(write: Write):
    folder = write(GOOD + "[a](docs/a.md)\n")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("---\nx: 1\n---\n[b](b.md) [up](../SKILL.md)", "utf-8")
    (folder / "docs" / "b.md").write_text("\n[c](../SKILL.md#no) [a](a.md)", "utf-8")
    (folder / "docs" / "unlinked.md").write_text("[x](gone.md)", "utf-8")

    (found,) = lint(folder).findings

    assert (found.rule, found.file, found.line) == ("anchors", "docs/b.md", 2)


def test_the_anchor_that_was_meant_is_named():
    report = looked(f"{GOOD}## Grid `<vaadin-grid>`\n\n[a](#grid)\n".encode())

    assert [found.fix for found in report.findings] == ["write #grid-vaadin-grid"]


@pytest.mark.parametrize(
    "target", ["../other.md", "docs/../../other.md", "/etc/passwd", "file:///etc/passwd", "C:/x.md"]
)
def test_links_that_leave_the_folder_are_told(write: Write, target: str):
    folder = write(GOOD + f"[a]({target})\n")
    (folder.parent / "other.md").write_text("x", "utf-8")

    assert told(lint(folder)) == [("links-inside", 13)]


def test_symbolic_links_that_leave_the_folder_are_told_and_never_read(write: Write, tmp_path: Path):
    folder = write(GOOD + "[a](leak.md#secret)\n")
    (tmp_path / "secret.md").write_text("# Secret\n\n[x](gone.md)", "utf-8")
    (folder / "leak.md").symlink_to(tmp_path / "secret.md")
    (folder / "tree").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "fine.md").symlink_to(folder / "SKILL.md")

    assert [(f.rule, f.line, f.file) for f in lint(folder).findings] == [
        ("links-inside", 13, "SKILL.md"),
        ("links-inside", 1, "leak.md"),
        ("links-inside", 1, "tree"),
    ]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What's new? 1.0 — Über", "whats-new-10--über"),
        ("A *b* [c](d) <e>", "a-b-c"),
        ("Grid  `<vaadin-grid>`", "grid--vaadin-grid"),
        ("snake_case-name", "snake_case-name"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str):
    assert slug(heading) == anchor


# ---- Whatever is on disk


def test_an_empty_folder_scores_nothing(tmp_path: Path):
    report = lint(tmp_path)

    assert told(report) == [("skill-file", 1)]
    assert report.failed == tuple(RULES)
    assert report.score == 0.0
    assert {consumer.accepts for consumer in report.consumers} == {False}


def test_a_file_without_frontmatter_fails_all_that_needs_it(write: Write):
    report = lint(write("# Title\n\n```sh\nrun\n```\n"))

    assert told(report) == [("frontmatter", 1)]
    assert {"yaml", "name-form", "description-opening"} <= set(report.failed)
    assert not {"body", "links", "encoding"} & set(report.failed)
    assert report.score == pytest.approx(1 - 34 / 60)


@pytest.mark.parametrize("data", [b"", b"\n", b"---", b"---\n---", b"\0", b"\xff\xfe", b"\r"])
def test_files_with_next_to_nothing_in_them_have_errors(write: Write, data: bytes):
    report = lint(write(data))

    assert {"frontmatter", "yaml"} & {found.rule for found in report.errors}
    assert report.score < 0.6


def test_what_is_no_skill_file_is_told(tmp_path: Path):
    def message(path: Path) -> str:
        (found,) = lint(path).findings
        assert found.rule == "skill-file"
        return found.message

    folder = tmp_path / "folder"
    (folder / "SKILL.md").mkdir(parents=True)
    pipe = tmp_path / "pipe"
    pipe.mkdir()
    os.mkfifo(pipe / "SKILL.md")
    link = tmp_path / "link"
    link.mkdir()
    (link / "SKILL.md").symlink_to("/etc/passwd")

    assert "no such file" in message(tmp_path / "none")
    assert "no such file" in message(Path("~nobody-of-this-name/x"))
    assert "no such file" in message(Path("nul\0byte"))
    assert "not a regular file" in message(folder)
    assert "not a regular file" in message(pipe)
    assert "leads out of the folder" in message(link)


def test_a_name_that_differs_in_case_is_named(tmp_path: Path):
    (tmp_path / "skill.md").write_text(GOOD, "utf-8")

    report = lint(tmp_path)

    assert report.findings[0].fix == "rename skill.md to SKILL.md"
    assert {consumer.accepts for consumer in report.consumers} == {None}


def test_an_unreadable_file_is_told(unprivileged):
    unprivileged.skill.chmod(0)

    done = unprivileged.lift("lint", "--json")

    (found,) = json.loads(done.stdout)["lint"]["findings"]
    assert (found["rule"], found["line"]) == ("skill-file", 1)
    assert "Permission denied" in found["message"]


def test_names_that_are_no_utf_8_are_told_all_the_same(write: Write):
    folder = write(GOOD)
    (folder / os.fsdecode(b"caf\xe9")).symlink_to("/etc")

    (found,) = lint(folder).findings

    assert found.file == "caf\ufffd"
    assert json.loads(lint(folder).model_dump_json())["skill"] == "tt"


def test_a_command_file_is_checked_by_itself(tmp_path: Path):
    (tmp_path / "tt.md").write_text(GOOD + "[a](b.md)\n", "utf-8")
    (tmp_path / "b.md").write_text("x", "utf-8")
    (tmp_path / "leak").symlink_to("/etc")

    assert lint(tmp_path / "tt.md").findings == ()


def test_a_bomb_is_no_more_than_a_few_anchors():
    levels = "".join(f"  x{n}: &x{n} {{<<: [{f'*x{n - 1},' * 9}]}}\n" for n in range(1, 20))
    text = edited(DESCRIPTION, f"{DESCRIPTION}\nmetadata:\n  x0: &x0 {{a: 1}}\n{levels}")

    assert {found.rule for found in looked(text.encode()).findings} == {"yaml-extras"}


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_what_a_run_would_refuse_has_an_error(name: str):
    folder = DATA / "quirks" / name / VERDICTS[name]["folder"]
    report = lint(folder)

    try:
        load(folder)
    except SkillError:
        assert report.errors
    assert 0 <= report.score < 1  # none of them shows a code block


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_what_four_programs_said_of_odd_files_is_predicted(name: str):
    said = VERDICTS[name]

    report = lint(DATA / "quirks" / name / said["folder"])

    assert {each.consumer: each.accepts for each in report.consumers} == {
        "Claude Code": said["claude_code_loads"],
        "skills-ref": said["skills_ref"] == "ok",
        "quick_validate": said["quick_validate"] == "ok",
        "agnix": said["agnix"] == "ok",
    }
    assert all(each.why or each.accepts for each in report.consumers)


@pytest.mark.parametrize(
    ("text", "consumer"),
    [
        (edited(f"{DESCRIPTION}\n", ""), "Claude Code"),
        (edited(DESCRIPTION, "description: Use: when"), "Claude Code"),
        (edited(DESCRIPTION, "description: true"), "Claude Code"),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nname: tt"), "Claude Code"),
        (edited(DESCRIPTION, f"{DESCRIPTION}\nname: tt"), "agnix"),
        (edited(f"{NAME}\n", ""), "agnix"),
    ],
)
def test_nothing_is_predicted_where_nothing_was_recorded(text: str, consumer: str):
    (found,) = [each for each in looked(text.encode()).consumers if each.consumer == consumer]

    assert found.accepts is None
    assert found.why


# ---- The score


def test_each_rule_counts_once_by_its_weight():
    text = edited(DESCRIPTION, "description: Use <a> <b>") + "[x](gone)\n[y](gone)\n### Deep\n"
    report = looked(text.encode())
    errors = sum(rule.severity == "error" for rule in RULES.values())

    assert report.failed == ("description-tags", "headings", "links")
    assert (errors, len(RULES)) == (17, 26)
    assert report.score == pytest.approx(1 - (3 + 1 + 3) / (17 * 3 + 9 * 1))


def test_a_rule_comes_after_the_one_it_needs():
    names = list(RULES)

    assert all(names.index(rule.needs) < names.index(n) for n, rule in RULES.items() if rule.needs)


@given(st.sets(st.sampled_from(sorted(RULES))), st.sampled_from(sorted(RULES)))
def test_one_more_broken_rule_never_raises_the_score(broken: set[str], more: str):
    assert 0 <= score(failed({*broken, more})) <= score(failed(broken)) <= 1


# ---- Laws

YAML = ["---", "...", "name: tt", "description: Use", ": ", "- ", "[", "{", "*a", "&a ", "!!str "]
MARKDOWN = ["# ", "###", "```", "`", "[a](b.md#c)", "](", "[r]: x", "> ", "|", "<b>", "'", '"']
MARKS = [
    "\n",
    "\r\n",
    "\r",
    "\u2028",
    "\x85",
    "\u200b",
    "\x00",
    "\x01",
    "\ufeff",
    "  ",
    "\t",
    "é👩‍💻",
]
PARTS = st.sampled_from([*YAML, *MARKDOWN, *MARKS])
TEXTS = st.lists(PARTS | st.text(max_size=5), max_size=30).map("".join)


def assert_sound(data: bytes) -> None:
    report = looked(data)
    lines = 1 + len(re.findall(rb"\r\n|\r|\n", data))

    assert 0 <= report.score <= 1
    assert all(1 <= found.line <= lines for found in report.findings)
    assert LintReport.model_validate_json(report.model_dump_json()) == report


@given(TEXTS)
@settings(deadline=None)
def test_no_text_is_too_odd(text: str):
    assert_sound(text.encode("utf-8", "replace"))
    assert_sound(f"---\n{text}\n---\n{text}".encode("utf-8", "replace"))


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_no_bytes_are_too_odd(data: bytes):
    assert_sound(data)


@given(st.lists(st.sampled_from(["---", "--- ", "----", "a: 1", "", "x", " ---"]), max_size=8))
def test_frontmatter_ends_where_a_run_sees_it_end(lines: list[str]):
    text = "\n".join(lines)
    read = document.read(text.encode())

    assert (read.block, read.body.lstrip("\n")) == (
        split(text).block,
        split(text).body.lstrip("\n"),
    )


@given(st.dictionaries(st.sampled_from("abcd"), st.text("ab \n:'\"\\é", max_size=12), max_size=4))
def test_fields_are_what_yaml_says(fields: dict[str, str]):
    import yaml

    read = frontmatter.read(yaml.safe_dump(fields, allow_unicode=True), 2)

    assert {key: entry.value.text for key, entry in read.entries.items()} == fields
    assert read.broken is None


# ---- Verbs


@pytest.mark.parametrize(
    "text", ["Use when", "Generates x", "**Applies** x", "Re-runs x", "Fixes", "“Fine-tunes” x"]
)
def test_a_verb_is_known_in_both_its_forms(text: str):
    assert opens_with_verb(text)


@pytest.mark.parametrize("text", ["", "This skill", "A guide", "Vaadin tests", "123", "…"])
def test_other_openings_are_no_verbs(text: str):
    assert not opens_with_verb(text)


def test_the_list_of_verbs_is_in_order_and_has_none_twice():
    lines = (ROOT / "activation" / "verbs.txt").read_text("utf-8").split("\n")[:-1]

    assert lines == sorted(set(lines))
    assert len(verbs()) == len(lines) > 500
