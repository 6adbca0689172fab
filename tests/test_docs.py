"""The docs hold: commands run, and every command, setting and field is documented."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lift.cli import COMMANDS, group
from lift.dataset import Item
from lift.errors import LiftError
from lift.evaluators import Rubric
from lift.settings import CREDENTIALS, Settings, variable

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text("utf-8")
WRITING = (ROOT / "docs" / "writing-a-dataset.md").read_text("utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def options(command: str) -> set[str]:
    found = group.get_command(None, command)  # type: ignore[arg-type]
    assert found is not None
    return {name for parameter in found.params for name in parameter.opts if name[:2] == "--"}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_in_the_readme_and_has_an_example(name: str):
    command = group.get_command(None, name)  # type: ignore[arg-type]

    assert f"lift {name}" in README
    assert command is not None
    assert "Example" in (command.help or "")


def test_every_option_that_the_docs_name_exists():
    known = set().union(*(options(name) for name in COMMANDS)) | {"--help"}
    named = set(re.findall(r"`(?:lift [^`]*?)?(--[a-z][a-z0-9-]*)", README + SETTINGS))

    assert named - known == set()


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_is_documented(name: str):
    (row,) = [line for line in SETTINGS.splitlines() if line.startswith(f"| `{name}`")]

    assert f"`{variable(name)}`" in row
    assert f"\n{variable(name)}=\n" in (ROOT / ".env.example").read_text("utf-8")


@pytest.mark.parametrize("name", sorted(CREDENTIALS))
def test_every_credential_is_documented(name: str):
    assert f"`{name}`" in SETTINGS
    assert f"\n{name}=\n" in (ROOT / ".env.example").read_text("utf-8")


@pytest.mark.parametrize("field", sorted(Item.model_fields))
def test_every_field_of_an_item_is_documented(field: str):
    assert f"| `{field}` |" in WRITING


@pytest.mark.parametrize("field", ["must_use", "must_extend", "must_not_use"])
def test_every_check_of_a_rubric_is_documented(field: str):
    assert field in Rubric.model_fields
    assert f"| `{field}` |" in WRITING


def test_every_exit_code_is_documented():
    def codes(error: type[LiftError]) -> set[int]:
        return {error.exit_code}.union(*(codes(child) for child in error.__subclasses__()))

    documented = set(map(int, re.findall(r"\b\d+\b", README.split("## Exit codes")[1][:900])))
    assert codes(LiftError) - documented == set()


def test_every_dependency_has_a_reason():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]]
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

    assert [name for name in names if f"| {name} |" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_resolve(page: Path):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_dataset_of_the_docs_loads_and_runs(project):
    code = re.findall(r"```python\n(.*?)```", WRITING, re.S)[0]
    canned = re.findall(r"```yaml\n(.*?)```", WRITING, re.S)[0]
    project.dataset(code)
    demo = project.root / "datasets" / "demo"
    demo.mkdir()
    (demo / "greetings.yaml").write_text(canned, "utf-8")

    done = project.lift("--quick")

    assert done.returncode == 0, done.stderr
    assert "short" in done.stdout


def test_the_version_is_one():
    import tomllib

    import lift

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == lift.__version__


def test_the_readmes_test_commands_are_what_ci_runs():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    section = README.split("## Tests")[1]
    commands = re.findall(r"^make \w+$", section, re.M)

    assert commands
    assert [command for command in commands if command not in script] == []


def test_make_names_every_target_that_the_readme_uses():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)

    used = set(re.findall(r"`?make (\w+)", README))
    assert [target for target in used if f"make {target}" not in listed.stdout] == []


def test_the_costs_page_says_what_its_script_computes():
    import runpy

    script = runpy.run_path(str(ROOT / "benchmarks" / "costs.py"))
    text = (ROOT / "docs" / "costs.md").read_text("utf-8")

    assert script["page"](text) == text


def test_the_verdict_of_the_readme_is_what_the_command_prints(project):
    import shutil

    for name in ("skills", "datasets"):
        shutil.rmtree(project.root / name)
        shutil.copytree(ROOT / name, project.root / name)
    project.variables["COLUMNS"] = "100"

    done = project.lift("--quick")

    shown = README.split("$ lift --quick\n")[1].split("```")[0]
    assert shown.strip() == done.stdout.strip()
