"""A skill folder or file, read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from activation.lint import lint
from lift.errors import SkillError
from lift.paths import as_name, is_name
from lift.skill import LARGEST_BYTES, fields_of, load, split

TEXT = "---\nname: x\ndescription: does x\n---\n\n# X\n\nSee [more](docs/more.md#part).\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    skill = tmp_path / "x"
    (skill / "docs").mkdir(parents=True)
    (skill / "SKILL.md").write_text(TEXT, "utf-8")
    (skill / "docs" / "more.md").write_text("more", "utf-8")
    return skill


def test_a_folder_is_read(folder: Path):
    skill = load(folder)

    assert (skill.name, skill.description) == ("x", "does x")
    assert skill.body.startswith("# X")
    assert skill.files == ("SKILL.md", "docs/more.md")
    assert skill.linked() == ("docs/more.md",)
    assert skill.text("docs/more.md") == "more"


def test_its_skill_md_means_the_folder(folder: Path):
    assert load(folder / "SKILL.md") == load(folder)


def test_a_command_or_agent_file_is_a_skill(tmp_path: Path):
    command = tmp_path / "review.md"
    command.write_text("Review the change.", "utf-8")

    skill = load(command)

    assert (skill.name, skill.body, skill.files) == ("review", "Review the change.", ("review.md",))


def test_the_hash_follows_content_and_paths_and_nothing_else(folder: Path):
    before = load(folder).tree_hash
    os.utime(folder / "SKILL.md", (0, 0))
    assert load(folder).tree_hash == before

    (folder / "docs" / "more.md").rename(folder / "docs" / "less.md")
    moved = load(folder).tree_hash
    (folder / "docs" / "less.md").write_text("less", "utf-8")

    assert len({before, moved, load(folder).tree_hash}) == 3


def test_links_that_leave_the_folder_are_never_read(folder: Path, tmp_path: Path):
    outside = tmp_path / "secret.md"
    outside.write_text("secret", "utf-8")
    before = load(folder).tree_hash
    (folder / "leak.md").symlink_to(outside)
    (folder / "tree").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder / "loop")

    skill = load(folder)

    assert {"leak.md", "tree"} <= set(skill.outside)
    assert skill.tree_hash == before
    with pytest.raises(SkillError, match="not a file of the skill"):
        skill.text("leak.md")


def test_a_skill_md_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "secret").write_text("secret", "utf-8")
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to(tmp_path / "secret")

    with pytest.raises(SkillError, match="leads out of the skill's folder"):
        load(folder)


@pytest.mark.parametrize("name", ["SKILL.md", "review.md"])
def test_a_file_that_is_named_itself_may_not_lead_out_of_its_folder(tmp_path: Path, name: str):
    (tmp_path / "secret").write_text("secret", "utf-8")
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / name).symlink_to(tmp_path / "secret")

    with pytest.raises(SkillError, match=f"{name} is a link that leads out of the skill's folder"):
        load(folder / name)


def test_a_folder_that_is_a_link_itself_is_read(folder: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(folder)

    assert load(tmp_path / "link" / "SKILL.md").name == load(tmp_path / "link").name == "x"


def test_a_link_inside_the_folder_is_read(folder: Path):
    (folder / "again.md").symlink_to(folder / "docs" / "more.md")

    assert load(folder).text("again.md") == "more"


def test_a_pipe_in_the_folder_is_passed_over(folder: Path):
    os.mkfifo(folder / "pipe")

    assert "pipe" not in load(folder).files


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\na: 1\n---\nb\n", "a: 1\n", "b\n"),
        ("\ufeff---\r\na: 1\r\n---\r\nb", "a: 1\r\n", "b"),
        ("---  \na: 1\n---\t\n\n\nb", "a: 1\n", "b"),
        ("---\n---\nb", "", "b"),
        ("---\na: 1\n", None, "---\na: 1\n"),
        ("---\na: 1\n...\nb", None, "---\na: 1\n...\nb"),
        ("----\na: 1\n----\nb", None, "----\na: 1\n----\nb"),
        ("\n---\na: 1\n---\nb", None, "\n---\na: 1\n---\nb"),
        ("b\n---\nc\n---\n", None, "b\n---\nc\n---\n"),
        ("", None, ""),
    ],
)
def test_frontmatter_is_split_off(text: str, block: str | None, body: str):
    assert split(text) == (block, body)


def test_a_description_with_a_colon_is_read_as_it_stands():
    block = "name: kit\ndescription: Logging with kit: bind, emit.\n"

    assert fields_of(block)["description"] == "Logging with kit: bind, emit."


@pytest.mark.parametrize("block", ["- a\n- b\n", "just text", "", "a: 2026-99-99"])
def test_odd_frontmatter_is_no_reason_to_fail(block: str):
    assert isinstance(fields_of(block), dict)


def test_a_missing_name_is_the_folders(tmp_path: Path):
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "SKILL.md").write_text("---\nname: 5\n---\nText", "utf-8")

    assert load(tmp_path / "named").name == "named"


UNSAFE = [
    "../../etc/passwd",
    "a/b",
    "a\\\\b",
    "..",
    "a..b",
    ".hidden",
    "a\\x1b[31m",
    "a\\nb",
    "a b",
    "n\u00e4me",
    "x" * 65,
    "",
    "  ",
]
"""As they stand between double quotes in YAML."""


@pytest.mark.parametrize("line", [f'name: "{name}"' for name in UNSAFE] + ["name: 5", "name: [a]"])
def test_a_name_that_is_not_safe_is_never_used_and_lint_says_so(tmp_path: Path, line: str):
    folder = tmp_path / "My skill"
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\n{line}\ndescription: d\n---\nText", "utf-8")

    assert load(folder).name == "My-skill"
    rules = {found.rule for found in lint(folder).findings}
    assert rules & {"name", "name-form"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("pdf-forms", "pdf-forms"),
        ("PDF.forms_2", "PDF.forms_2"),
        ("My skill!", "My-skill"),
        ("..a../..b..", "a.-.b"),
        ("-x-", "x"),
        ("x" * 80, "x" * 64),
        ("\u6280\u80fd", "skill-"),
        ("..", "skill-"),
        ("", "skill-"),
    ],
)
def test_a_name_is_made_of_any_text(text: str, name: str):
    assert is_name(as_name(text))
    assert as_name(text).startswith(name)


@given(st.text())
def test_what_is_made_of_a_text_is_a_name_and_stays_one(text: str):
    assert is_name(as_name(text))
    assert as_name(as_name(text)) == as_name(text)


def test_a_missing_folder_is_one_clear_error(tmp_path: Path):
    with pytest.raises(SkillError, match="no such skill") as missing:
        load(tmp_path / "none")

    assert missing.value.exit_code == 2
    assert str(tmp_path / "none") in missing.value.where


def test_a_folder_without_skill_md_is_one_clear_error(tmp_path: Path):
    with pytest.raises(SkillError, match=r"no SKILL\.md"):
        load(tmp_path)


def test_a_skill_without_text_is_one_clear_error(tmp_path: Path):
    (tmp_path / "SKILL.md").write_text("---\nname: x\n---\n", "utf-8")

    with pytest.raises(SkillError, match="no text"):
        load(tmp_path)


def test_a_skill_that_is_no_text_is_one_clear_error(tmp_path: Path):
    (tmp_path / "SKILL.md").write_bytes(b"caf\xe9")

    with pytest.raises(SkillError, match=r"not UTF-8 text \(byte 3\)"):
        load(tmp_path)


def test_a_skill_too_large_for_a_prompt_is_one_clear_error(tmp_path: Path):
    (tmp_path / "SKILL.md").write_text("x" * (LARGEST_BYTES + 1), "utf-8")

    with pytest.raises(SkillError, match="larger than the 256 KB"):
        load(tmp_path)


def test_an_unreadable_file_is_one_clear_error(unprivileged):
    more = unprivileged.skill.parent / "docs" / "more.md"
    more.parent.mkdir()
    more.touch(0)
    unprivileged.variables["ANTHROPIC_API_KEY"] = "k"

    done = unprivileged.lift("--full", "--dry-run")

    refused(done, 2, "cannot read the file: Permission denied", "docs/more.md")
