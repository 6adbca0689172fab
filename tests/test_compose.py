"""The Langfuse of docker-compose.yaml: on this machine only, pinned, without a default secret."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from dotenv import dotenv_values

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "langfuse_env.py"
FILE = ROOT / "docker-compose.yaml"
TEXT = FILE.read_text("utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
REQUIRED = re.compile(r"\$\{([A-Z_]+):\?run make langfuse-env\}")
STORES = ("postgres", "clickhouse", "redis", "minio")
COMPOSE = shutil.which("docker-compose")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def environment() -> list[tuple[str, str, str]]:
    """Service, variable, value."""
    return [
        (service, name, value)
        for service, what in SERVICES.items()
        for name, value in what.get("environment", {}).items()
    ]


# ---- .env


def test_a_new_file_has_all_that_the_compose_file_requires(tmp_path: Path):
    run(tmp_path)

    values = dotenv_values(tmp_path / ".env", interpolate=False)
    assert set(REQUIRED.findall(TEXT)) | {"LANGFUSE_BASE_URL"} == set(values)
    assert all(re.fullmatch(r"[A-Za-z0-9:/.-]{16,}", value or "") for value in values.values())


def test_the_keys_are_those_of_lift_and_the_server_is_this_machine(tmp_path: Path):
    run(tmp_path)

    values = dotenv_values(tmp_path / ".env", interpolate=False)
    assert (values["LANGFUSE_PUBLIC_KEY"] or "").startswith("pk-lf-")
    assert (values["LANGFUSE_SECRET_KEY"] or "").startswith("sk-lf-")
    assert values["LANGFUSE_BASE_URL"] == "http://127.0.0.1:3000"
    assert re.fullmatch("[0-9a-f]{64}", values["LANGFUSE_ENCRYPTION_KEY"] or "")


def test_no_two_files_and_no_two_secrets_are_the_same(tmp_path: Path):
    for name in ("one", "two"):
        run(tmp_path, name)

    one, two = (dotenv_values(tmp_path / name, interpolate=False) for name in ("one", "two"))
    assert set(one.values()) & set(two.values()) == {"http://127.0.0.1:3000"}
    assert len(set(one.values())) == len(one)


def test_a_second_run_adds_nothing(tmp_path: Path):
    run(tmp_path)
    before = (tmp_path / ".env").read_bytes()

    done = run(tmp_path)

    assert (tmp_path / ".env").read_bytes() == before
    assert done.stdout.startswith(".env: added nothing\n")


def test_no_value_is_printed_and_every_name_is(tmp_path: Path):
    (tmp_path / ".env").write_text("LANGFUSE_SALT=kept-by-its-owner\n", "utf-8")

    done = run(tmp_path)

    values = dotenv_values(tmp_path / ".env", interpolate=False)
    said = done.stdout + done.stderr
    assert [value for value in values.values() if value and value in said] == []
    assert [name for name in values if name not in said] == []
    assert ".env: kept LANGFUSE_SALT\n" in said


def test_what_is_there_stays_as_it_is(tmp_path: Path):
    mine = (
        "# mine\r\n\nANTHROPIC_API_KEY=a b#c\n  export LANGFUSE_PUBLIC_KEY = 'pk-lf-mine'\n"
        'LANGFUSE_SALT="s p"  # salt\nLANGFUSE_REDIS_PASSWORD=#1\nodd line \udcff\x0b\n'
        "LANGFUSE_BASE_URL=https://langfuse.example.com"
    ).encode("utf-8", "surrogateescape")
    (tmp_path / ".env").write_bytes(mine)

    run(tmp_path)

    text = (tmp_path / ".env").read_bytes()
    assert text.startswith(mine + b"\nLANGFUSE_SECRET_KEY=sk-lf-")
    added = {line.split(b"=")[0] for line in text[len(mine) :].split()}
    assert added & {b"LANGFUSE_PUBLIC_KEY", b"LANGFUSE_SALT", b"LANGFUSE_BASE_URL"} == set()
    assert b"LANGFUSE_REDIS_PASSWORD" not in added


@pytest.mark.parametrize("line", ["{}=", "export {}=", "{} = ", "{}=''", '{}=""', "{}=  # salt"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_an_empty_assignment_is_filled_in_where_it_stands(tmp_path: Path, line: str, end: str):
    written = line.format("LANGFUSE_SALT") + end
    (tmp_path / ".env").write_bytes(f"A=1\n{written}".encode())

    run(tmp_path)

    values = dotenv_values(tmp_path / ".env", interpolate=False)
    text = (tmp_path / ".env").read_text("utf-8")
    assert re.fullmatch("[0-9a-f]{64}", values["LANGFUSE_SALT"] or "")
    assert text.count("LANGFUSE_SALT") == 1
    assert ("# salt" in text) == ("# salt" in line)
    assert values["A"] == "1"


@pytest.mark.parametrize("before", [None, "", "A=1\n"])
def test_only_its_owner_reads_the_file(tmp_path: Path, before: str | None):
    path = tmp_path / ".env"
    if before is not None:
        path.write_text(before, "utf-8")
        path.chmod(0o644)

    run(tmp_path)

    assert mode(path) == 0o600
    path.chmod(0o644)
    run(tmp_path)
    assert mode(path) == 0o600
    assert [other.name for other in tmp_path.iterdir()] == [".env"]


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "shared.env").write_text("A=1\n", "utf-8")
    (tmp_path / ".env").symlink_to("shared.env")

    run(tmp_path)

    assert (tmp_path / ".env").is_symlink()
    assert "LANGFUSE_SALT=" in (tmp_path / "shared.env").read_text("utf-8")


def test_make_runs_the_script():
    done = subprocess.run(
        ["make", "--dry-run", "langfuse-up"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "scripts/langfuse_env.py" in done.stdout
    assert "up --detach --wait" in done.stdout


# ---- docker-compose.yaml


def test_the_services_are_langfuse_and_what_it_stores_in():
    assert set(SERVICES) == {"langfuse-web", "langfuse-worker", *STORES}


def test_only_the_server_and_the_media_store_are_published_and_on_loopback_only():
    ports = {name: what["ports"] for name, what in SERVICES.items() if "ports" in what}

    assert ports == {
        "langfuse-web": ["127.0.0.1:3000:3000"],
        "minio": ["127.0.0.1:9090:9000"],
    }
    assert not any("network_mode" in what for what in SERVICES.values())


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_image_has_an_exact_version(service: str):
    image = SERVICES[service]["image"]

    tag = image.split("@")[0].rpartition(":")[2]
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.\d+)?|\d+\.\d+|RELEASE\.[0-9TZ-]+", tag), image
    assert image.startswith("docker.io/")


def test_the_versions_are_those_that_work_together():
    images = {name: what["image"] for name, what in SERVICES.items()}
    web, worker = (images[f"langfuse-{part}"].rpartition(":")[2] for part in ("web", "worker"))

    assert web == worker
    assert (4, 59) <= tuple(map(int, web.split(".")))[:2] < (5, 0)
    assert ":25.12." in images["clickhouse"]
    assert ":17." in images["postgres"]
    assert ":7." in images["redis"]
    assert "@sha256:" in images["minio"]  # not the maker's own registry


def test_no_secret_has_a_default():
    secret = re.compile("PASSWORD|SECRET|KEY|SALT|AUTH$")
    named = [entry for entry in environment() if secret.search(entry[1])]

    assert len(named) > 20
    assert [entry for entry in named if not REQUIRED.fullmatch(entry[2])] == []


def test_every_variable_is_required():
    assert len(REQUIRED.findall(TEXT)) == TEXT.count("${")


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_service_is_watched_and_comes_back(service: str):
    assert SERVICES[service]["restart"] == "unless-stopped"
    assert SERVICES[service]["healthcheck"]["test"]


@pytest.mark.parametrize("service", ["langfuse-web", "langfuse-worker"])
def test_langfuse_waits_for_its_stores_and_reports_to_nobody(service: str):
    what = SERVICES[service]

    assert what["depends_on"] == {store: {"condition": "service_healthy"} for store in STORES}
    assert what["environment"]["TELEMETRY_ENABLED"] == "false"
    assert what["environment"]["LANGFUSE_MIGRATION_V4_WRITE_MODE"] == "events_only"


@pytest.mark.parametrize("store", STORES)
def test_what_is_stored_is_in_a_named_volume(store: str):
    volumes = [volume.split(":")[0] for volume in SERVICES[store]["volumes"]]

    assert store in volumes
    assert set(volumes) <= set(yaml.safe_load(TEXT)["volumes"])


def test_the_first_project_gets_the_keys_that_lift_uses():
    made = SERVICES["langfuse-web"]["environment"]

    assert made["LANGFUSE_INIT_PROJECT_PUBLIC_KEY"].startswith("${LANGFUSE_PUBLIC_KEY:?")
    assert made["LANGFUSE_INIT_PROJECT_SECRET_KEY"].startswith("${LANGFUSE_SECRET_KEY:?")
    for thing in ("ORG_ID", "PROJECT_ID", "USER_EMAIL", "USER_PASSWORD"):
        assert made[f"LANGFUSE_INIT_{thing}"]


@pytest.mark.skipif(COMPOSE is None, reason="no docker-compose here")
def test_docker_compose_accepts_the_file_once_the_secrets_are_there(tmp_path: Path):
    shutil.copy(FILE, tmp_path)
    command = [COMPOSE or "", "config"]
    without = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    run(tmp_path)

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert without.returncode != 0
    assert "run make langfuse-env" in without.stderr
    assert done.returncode == 0, done.stderr
    assert set(yaml.safe_load(done.stdout)["services"]) == set(SERVICES)
