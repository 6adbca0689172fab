"""Flags, environment, .env, pyproject.toml, defaults: who wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lift.errors import SettingError
from lift.settings import CREDENTIALS, Settings, credential, project_root, read, variable

FAKE = "sk-" + "test-" + "0" * 8


def write(folder: Path, *, dotenv: str = "", pyproject: str = "[tool.lift]\n") -> Path:
    (folder / ".env").write_text(dotenv, "utf-8")
    (folder / "pyproject.toml").write_text(pyproject, "utf-8")
    return folder


def test_flags_win_over_environment_over_dotenv_over_pyproject(tmp_path: Path):
    folder = write(
        tmp_path,
        dotenv="LIFT_CONCURRENCY=2\nLIFT_MODEL=b\nLIFT_EFFORT=low\n",
        pyproject='[tool.lift]\nconcurrency = 1\nmodel = "a"\neffort = "max"\nmax_tokens = 5\n',
    )

    config = read(folder, {"LIFT_CONCURRENCY": "3", "LIFT_MODEL": "c"}, {"concurrency": "4"})

    assert config.settings.concurrency == 4
    assert config.settings.model == "c"
    assert config.settings.effort == "low"
    assert config.settings.max_tokens == 5
    assert config.settings.max_cost_usd == 2.00
    origins = [config.origins[name] for name in ("concurrency", "model", "effort", "max_tokens")]
    assert origins == ["flag", "environment", ".env", "pyproject.toml"]


def test_an_empty_variable_is_no_variable(tmp_path: Path):
    folder = write(tmp_path, dotenv="LIFT_MODEL=b\nANTHROPIC_API_KEY=\n")

    config = read(folder, {"LIFT_MODEL": "", "ANTHROPIC_API_KEY": ""}, {})

    assert config.settings.model == "b"
    assert credential(config) is None


@pytest.mark.parametrize("ceiling", ["0", "-1", "nan", "inf", "much"])
def test_a_ceiling_must_be_above_zero(tmp_path: Path, ceiling: str):
    with pytest.raises(SettingError, match="max_cost_usd cannot be") as refused:
        read(tmp_path, {}, {"max_cost_usd": ceiling})

    assert refused.value.exit_code == 2
    assert "flag" in refused.value.where


def test_an_unknown_setting_in_pyproject_is_refused(tmp_path: Path):
    folder = write(tmp_path, pyproject="[tool.lift]\nmodle = 'x'\n")

    with pytest.raises(SettingError, match="unknown setting 'modle'"):
        read(folder, {}, {})


@pytest.mark.parametrize("name", sorted(CREDENTIALS))
def test_pyproject_may_hold_no_credential(tmp_path: Path, name: str):
    folder = write(tmp_path, pyproject=f"[tool.lift]\n{name.lower()} = 'x'\n")

    with pytest.raises(SettingError, match=r"may not be set in pyproject\.toml"):
        read(folder, {}, {})


def test_broken_toml_is_one_clear_error(tmp_path: Path):
    with pytest.raises(SettingError, match="not valid TOML"):
        read(write(tmp_path, pyproject="[tool.lift\n"), {}, {})


def test_a_dotenv_that_is_no_text_is_one_clear_error(tmp_path: Path):
    folder = write(tmp_path)
    (folder / ".env").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingError, match=r"\.env cannot be read"):
        read(folder, {}, {})


@pytest.mark.parametrize(
    ("dotenv", "environ"),
    [
        ("ANTHROPIC_BASE_URL=http://127.0.0.1:1", {"ANTHROPIC_API_KEY": FAKE}),
        (f"ANTHROPIC_API_KEY={FAKE}", {"ANTHROPIC_BASE_URL": "https://elsewhere.example"}),
        (f"ANTHROPIC_AUTH_TOKEN={FAKE}", {"ANTHROPIC_BASE_URL": "https://elsewhere.example"}),
    ],
)
def test_a_key_is_never_sent_to_an_address_from_another_source(
    tmp_path: Path, dotenv: str, environ: dict[str, str]
):
    config = read(write(tmp_path, dotenv=dotenv), environ, {})

    with pytest.raises(SettingError, match=r"comes from the .* but ANTHROPIC_BASE_URL from"):
        credential(config)


def test_a_key_goes_to_the_default_address(tmp_path: Path):
    known = credential(read(tmp_path, {"ANTHROPIC_API_KEY": FAKE}, {}))

    assert known is not None
    assert known.base_url == "https://api.anthropic.com"
    assert known.api_key is not None
    assert known.api_key.get_secret_value() == FAKE
    assert FAKE not in repr(known)


def test_a_server_on_this_machine_needs_no_key(tmp_path: Path):
    known = credential(read(tmp_path, {"ANTHROPIC_BASE_URL": "http://localhost:8080"}, {}))

    assert known is not None
    assert known.api_key is known.auth_token is None


def test_a_server_elsewhere_without_a_key_is_no_credential(tmp_path: Path):
    config = read(tmp_path, {"ANTHROPIC_BASE_URL": "https://elsewhere.example"}, {})

    assert credential(config) is None


def test_the_project_is_found_from_a_folder_inside_it(tmp_path: Path):
    inside = write(tmp_path) / "a" / "b"
    inside.mkdir(parents=True)

    assert project_root(inside) == tmp_path


def test_the_search_for_the_project_stops_at_the_repository(tmp_path: Path):
    repository = write(tmp_path) / "repository"
    (repository / "src").mkdir(parents=True)
    (repository / ".git").mkdir()

    assert project_root(repository / "src") == repository


def test_every_setting_has_a_variable_of_its_own():
    names = [variable(name) for name in Settings.model_fields]

    assert len(set(names)) == len(names)
    assert all(field.description for field in Settings.model_fields.values())
