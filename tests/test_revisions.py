"""The old version of a skill, out of a real repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lift.errors import SkillError
from lift.revisions import old
from lift.skill import LARGEST_BYTES, load

TEXT = "---\nname: x\ndescription: does x\n---\n\n# X\n"


def git(folder: Path, *args: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path, message: str = "m") -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a skill at skills/x, committed once."""
    made = tmp_path / "repository"
    (made / "skills" / "x" / "docs").mkdir(parents=True)
    (made / "skills" / "x" / "SKILL.md").write_text(TEXT, "utf-8")
    (made / "skills" / "x" / "docs" / "more.md").write_text("more", "utf-8")
    git(made, "init", "--quiet", "--initial-branch", "main")
    commit(made)
    return made


@pytest.fixture
def folder(repository: Path) -> Path:
    return repository / "skills" / "x"


def edit(folder: Path, text: str = "new") -> None:
    (folder / "SKILL.md").write_text(f"{TEXT}\n{text}\n", "utf-8")


def test_a_revision_is_the_skill_as_it_was(folder: Path):
    before = load(folder)
    edit(folder)

    found = old(load(folder), "HEAD")

    assert found.skill.tree_hash == before.tree_hash
    assert found.skill.body == before.body
    assert (found.skill.name, found.skill.files) == (before.name, before.files)
    assert found.source == f"x at {git(folder, 'rev-parse', 'HEAD')[:12]}"


@pytest.mark.parametrize("revision", ["HEAD~1", "v1", "v1^{commit}", "other", "origin/main"])
def test_whatever_git_takes_for_a_commit_is_a_revision(folder: Path, revision: str):
    git(folder, "tag", "--annotate", "v1", "--message", "m")
    git(folder, "branch", "other")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    before = load(folder)
    edit(folder)
    commit(folder)

    assert old(load(folder), revision).skill.tree_hash == before.tree_hash


def test_the_work_tree_and_the_index_are_left_alone(folder: Path):
    edit(folder, "staged")
    git(folder, "add", "--all")
    edit(folder, "not staged")
    (folder / "untracked.md").write_text("u", "utf-8")
    before = (git(folder, "status", "--porcelain"), load(folder).tree_hash)

    old(load(folder), "HEAD")

    assert (git(folder, "status", "--porcelain"), load(folder).tree_hash) == before


def test_another_folder_is_the_old_skill(folder: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "SKILL.md").write_text("Other.", "utf-8")

    assert old(load(folder), str(other)).skill == load(other)


def test_a_name_that_is_both_is_the_revision_and_a_dot_makes_it_a_path(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "SKILL.md").write_text("A folder.", "utf-8")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "SKILL.md").write_text("Plain.", "utf-8")
    monkeypatch.chdir(tmp_path)
    edit(folder)

    assert old(load(folder), "main").skill.body == "# X\n"
    assert old(load(folder), "./main").skill.body == "A folder."
    assert old(load(folder), "plain").skill.body == "Plain."


def test_a_skill_that_moved_is_found_where_it_was(folder: Path, repository: Path):
    before = load(folder)
    (repository / "moved").mkdir()
    folder.rename(repository / "moved" / "x")
    commit(repository)
    now = load(repository / "moved" / "x")

    with pytest.raises(SkillError, match="not in that revision") as absent:
        old(now, "HEAD~1")
    assert "REV:PATH" in absent.value.fix
    for path in ("skills/x", "skills/x/", "skills/x/SKILL.md"):
        assert old(now, f"HEAD~1:{path}").skill.tree_hash == before.tree_hash


def test_a_skill_that_is_the_whole_repository(tmp_path: Path):
    made = tmp_path / "whole"
    made.mkdir()
    (made / "SKILL.md").write_text("Text.", "utf-8")
    git(made, "init", "--quiet")
    commit(made)
    before = load(made)
    (made / "SKILL.md").write_text("Other text.", "utf-8")

    found = old(load(made), "HEAD").skill

    assert (found.tree_hash, found.name, found.body) == (before.tree_hash, "whole", "Text.")


def test_a_single_file_is_the_file_as_it_was(repository: Path):
    command = repository / "review.md"
    command.write_text("Review.", "utf-8")
    commit(repository)
    before = load(command)
    command.write_text("Review well.", "utf-8")

    found = old(load(command), "HEAD").skill

    assert (found.tree_hash, found.name, found.body) == (before.tree_hash, "review", "Review.")


@pytest.mark.parametrize("name", ["-x", "a b", "*", ":(glob)*", "ä", 'q"q', "t\tt"])
def test_odd_names_of_folders_and_files_are_just_names(repository: Path, name: str):
    folder = repository / name
    folder.mkdir()
    (folder / "SKILL.md").write_text("Text.", "utf-8")
    (folder / f"{name}.md").write_text("more", "utf-8")
    commit(repository)
    before = load(folder)
    (folder / "SKILL.md").write_text("Other.", "utf-8")

    assert old(load(folder), "HEAD").skill.tree_hash == before.tree_hash


def test_links_and_submodules_are_not_followed(folder: Path, repository: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("secret", "utf-8")
    before = load(folder).tree_hash
    (folder / "leak.md").symlink_to(tmp_path / "secret")
    (folder / "inner.md").symlink_to("SKILL.md")
    git(repository, "clone", "--quiet", str(repository), str(tmp_path / "clone"))
    git(repository, "submodule", "--quiet", "add", str(tmp_path / "clone"), "skills/x/module")
    commit(repository)
    edit(folder)

    found = old(load(folder), "HEAD").skill

    assert found.files == ("SKILL.md", "docs/more.md")
    assert found.tree_hash == before


def test_a_skill_md_that_is_a_link_is_refused(folder: Path, tmp_path: Path):
    now = load(folder)
    (tmp_path / "secret").write_text("secret", "utf-8")
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(tmp_path / "secret")
    commit(folder)

    with pytest.raises(SkillError, match="not in that revision, as a regular file"):
        old(now, "HEAD")


def test_a_folder_that_was_a_link_is_refused(repository: Path, folder: Path):
    (repository / "y").symlink_to("skills/x")
    commit(repository)
    (repository / "y").unlink()
    (repository / "y").mkdir()
    edit(repository / "y")

    with pytest.raises(SkillError, match="not in that revision"):
        old(load(repository / "y"), "HEAD")


def test_what_git_would_change_on_checkout_is_read_as_it_is(folder: Path):
    before = load(folder).tree_hash
    (folder.parent / ".gitattributes").write_text("*.md export-ignore export-subst eol=crlf\n")
    commit(folder)
    edit(folder)

    assert old(load(folder), "HEAD").skill.tree_hash == before


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("nope", "neither a revision nor a path"),
        ("-x", "neither a revision nor a path"),
        ("--exec=x", "neither a revision nor a path"),
        (":x", "neither a revision nor a path"),
        ("HEAD~9", "neither a revision nor a path"),
        ("HEAD:nope", "not in that revision"),
        ("HEAD:../x", "not in that revision"),
        ("./nope", "no such skill"),
        ("/nope", "no such skill"),
        ("~/nope", "no such skill"),
    ],
)
def test_what_is_neither_is_one_clear_error(folder: Path, wanted: str, says: str):
    with pytest.raises(SkillError) as bad:
        old(load(folder), wanted)

    assert says in bad.value.what
    assert bad.value.exit_code == 2
    assert bad.value.fix


def test_a_skill_in_no_repository_is_one_clear_error(tmp_path: Path):
    (tmp_path / "SKILL.md").write_text("Text.", "utf-8")

    with pytest.raises(SkillError, match="not a git repository"):
        old(load(tmp_path), "HEAD")


def test_a_machine_without_git_is_one_clear_error(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(folder))

    with pytest.raises(SkillError, match="git is not installed"):
        old(load(folder), "HEAD")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"caf\xe9", "not UTF-8"),
        (b"---\nname: x\n---\n", "no text"),
        (b"x" * (LARGEST_BYTES + 1), "larger than"),
    ],
    ids=["bytes", "empty", "large"],
)
def test_an_old_skill_that_cannot_be_read_is_one_clear_error(
    folder: Path, content: bytes, says: str
):
    now = load(folder)
    (folder / "SKILL.md").write_bytes(content)
    commit(folder)

    with pytest.raises(SkillError, match=says) as bad:
        old(now, "HEAD")

    assert bad.value.where == "HEAD:skills/x/SKILL.md"


def test_a_file_that_the_clone_lacks_is_one_clear_error(folder: Path, repository: Path):
    id = git(folder, "rev-parse", "HEAD:skills/x/docs/more.md")
    (repository / ".git" / "objects" / id[:2] / id[2:]).unlink()

    with pytest.raises(SkillError, match="does not have all files"):
        old(load(folder), "HEAD")


def test_a_hook_of_another_repository_makes_no_difference(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = load(folder).tree_hash
    git(tmp_path, "init", "--quiet", "other")
    edit(folder)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", os.devnull)

    assert old(load(folder), "HEAD").skill.tree_hash == before
