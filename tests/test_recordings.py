"""The script that holds the client to a server's recorded responses."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "recordings.py"
JSON, HTML = "application/json; charset=utf-8", "text/html"
ENTRY = {"id": "0", "startTime": "2026-11-29T19:19:01.293Z"}

CASES: list[tuple[str, str, int, str, Any, str]] = [
    ("GET", "projects", 200, JSON, {"data": [{"id": "p"}]}, "accepted, 200: p"),
    ("GET", "health", 200, JSON, {"version": "4.60.1"}, "accepted, 200: 4.60.1"),
    ("GET", "experiment-items?limit=1", 200, JSON, {"data": [ENTRY]}, "accepted, 200: 1 rows"),
    (
        "GET",
        "dataset-items?page=1",
        200,
        JSON,
        {"data": [], "meta": {}},
        "accepted, 200: 0 entries",
    ),
    ("POST", "otel/v1/traces", 200, JSON, {}, "accepted, 200: spans"),
    ("POST", "ingestion", 207, JSON, {"successes": []}, "accepted, 207: successes"),
    ("GET", "projects", 401, JSON, {"message": "no"}, "refused, 401: Langfuse refuses the key: no"),
    ("GET", "dataset-items/a", 404, HTML, "<html>", "told from the API, 404"),
    ("GET", "sessions", 200, JSON, {}, "not used"),
    ("GET", "projects", 200, JSON, {"data": 3}, "NOT ACCEPTED"),
    ("GET", "v3/scores", 200, JSON, {"data": [{"id": "0", "timestamp": "now"}]}, "NOT ACCEPTED"),
]


def recorded(folder: Path, method: str, path: str, status: int, kind: str, body: Any) -> None:
    response = {"status": status, "headers": {"content-type": kind}, "body": body}
    request = {"method": method, "path": f"/api/public/{path}", "body": {}}
    text = json.dumps({"request": request, "response": response})
    (folder / "0001.json").write_text(text, "utf-8")


@pytest.mark.parametrize(("method", "path", "status", "kind", "body", "verdict"), CASES)
def test_each_response_is_accepted_or_not(
    tmp_path: Path, capsys: Any, method: str, path: str, status: int, kind: str, body: Any,
    verdict: str,
):  # fmt: skip
    recorded(tmp_path, method, path, status, kind, body)

    code = runpy.run_path(str(SCRIPT))["main"](tmp_path)

    assert verdict in capsys.readouterr().out
    assert code == (1 if verdict == "NOT ACCEPTED" else 0)


def test_a_folder_without_recordings_is_said(tmp_path: Path, capsys: Any):
    assert runpy.run_path(str(SCRIPT))["main"](tmp_path) == 2
    assert "no recordings" in capsys.readouterr().out
