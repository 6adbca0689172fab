"""What a Langfuse project keeps of what it is told, and what it says of it: for tests.

Experiments and their items are made from span attributes; spans that are sent twice are two rows;
every write of an item is a version; archived items are listed no more.
"""

from __future__ import annotations

import base64
import json
import operator
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from langfuse_asked import Answer, Asked, Fault, Query, Row

PUBLIC_KEY, SECRET_KEY = "pk-lf-test", "sk-lf-test"
PROJECT = "project-1"
NEW, OLD = "4.60.0", "4.16.0"
RECEIVED = "2030-01-01T00:00:00.000Z"
EXPERIMENT = "langfuse.experiment."
OBSERVATION = "langfuse.observation."
TRACE = "langfuse.trace.metadata."

__all__ = ["Answer", "Asked", "Fault", "Langfuse"]

HOLDS = {"=": operator.eq, ">=": operator.ge, "<": operator.lt}

OTEL = "/api/public/otel/v1/traces"
DATASETS = "/api/public/v2/datasets"
ITEMS = "/api/public/dataset-items"
SCORES = "/api/public/scores"
CONFIGS = "/api/public/score-configs"
PROMPTS = "/api/public/v2/prompts"
INGESTION = "/api/public/ingestion"


@dataclass
class Langfuse:
    """A project under test's control."""

    version: str = NEW
    says_version: str | None = None
    """None: the truth."""
    reads_metadata_as_json: bool = False
    most_bytes: int = 10**9
    """Of an OTLP request; a larger one is answered with 413."""
    refuses: str = ""
    """Name of scores it does not take."""
    faults: list[Fault] = field(default_factory=list)
    behind: dict[str, int] = field(default_factory=dict)
    """List → how often it is asked for before it shows anything."""
    asked: list[Asked] = field(default_factory=list)
    datasets: dict[str, Row] = field(default_factory=dict)
    versions: dict[str, list[Row]] = field(default_factory=dict)
    """Item → its versions."""
    spans: list[Row] = field(default_factory=list)
    """Rows, as they arrived."""
    scores: dict[str, Row] = field(default_factory=dict)
    prompts: dict[str, list[Row]] = field(default_factory=dict)
    """Name → its versions."""
    configs: list[Row] = field(default_factory=list)
    projects: list[Row] = field(default_factory=lambda: [{"id": PROJECT}])
    ahead_s: float = 0.0
    """Its clock, of ours."""
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def writes(self, path: str = "") -> list[Asked]:
        return [a for a in self.asked if a.method != "GET" and a.path.startswith(path)]

    def fault(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if path.startswith(fault.path) and fault.method in ("", method):
                fault.after -= 1
                if fault.after < 0 and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def route(self, asked: Asked) -> Answer:
        if asked.path == "/api/public/health":
            said = self.version if self.says_version is None else self.says_version
            return 200, {"status": "OK", "version": said}
        token = base64.b64encode(f"{PUBLIC_KEY}:{SECRET_KEY}".encode()).decode()
        if asked.headers.get("authorization") != f"Basic {token}":
            return 401, {"message": "Invalid credentials."}
        if asked.method == "GET" and self.behind.get(asked.path, 0) > 0:
            self.behind[asked.path] -= 1
            return 200, {"data": [], "meta": {}}
        routes: dict[tuple[str, str], Callable[[Asked], Answer]] = {
            ("GET", "/api/public/projects"): lambda _: (200, {"data": self.projects}),
            ("POST", OTEL): self.take_spans,
            ("POST", DATASETS): self.take_dataset,
            ("POST", ITEMS): self.take_item,
            ("GET", ITEMS): self.list_items,
            ("POST", SCORES): self.take_scores,
            ("POST", INGESTION): self.take_events,
            ("POST", PROMPTS): self.take_prompt,
            ("POST", CONFIGS): self.take_config,
            ("GET", CONFIGS): lambda asked: _numbered(self.configs, asked.query),
            ("GET", "/api/public/v3/scores"): self.list_scores,
            ("GET", "/api/public/experiments"): self.list_experiments,
            ("GET", "/api/public/experiment-items"): self.list_experiment_items,
            ("GET", "/api/public/v2/observations"): self.list_observations,
        }
        if route := routes.get((asked.method, asked.path)):
            return route(asked)
        if asked.path.startswith(f"{ITEMS}/"):
            versions = self.versions.get(asked.path.removeprefix(f"{ITEMS}/"))
            return (200, versions[-1]) if versions else (404, {"message": "item not found"})
        if asked.path.startswith(f"{CONFIGS}/"):
            return self.change_config(asked)
        if asked.path.startswith(f"{PROMPTS}/"):
            return self.prompt(asked)
        name = unquote(asked.path.removeprefix(f"{DATASETS}/"))
        found = self.datasets.get(name)
        return (200, found) if found else (404, {"message": "not found", "error": "NotFound"})

    # ---- datasets

    def take_dataset(self, asked: Asked) -> Answer:
        name = asked.body["name"]
        known = self.datasets.setdefault(name, {"id": f"id-of-{name}", "name": name})
        known |= {key: value for key, value in asked.body.items() if value is not None}
        return 200, known

    def take_item(self, asked: Asked) -> Answer:
        body, versions = asked.body, self.versions.setdefault(asked.body["id"], [])
        if body["datasetName"] not in self.datasets:
            return 404, {"message": f"Dataset {body['datasetName']} not found"}
        if versions and versions[-1]["datasetName"] != body["datasetName"]:
            message = f"Dataset item id {body['id']} already exists in another dataset"
            return 409, {"message": message, "error": "LangfuseConflictError"}
        before = versions[-1] if versions else {"status": "ACTIVE"}
        new = {key: _number(value) for key, value in body.items() if value is not None}
        versions.append({**before, **new})
        return 200, versions[-1]

    def list_items(self, asked: Asked) -> Answer:
        current = [versions[-1] for versions in self.versions.values() if versions]
        rows = [
            row
            for row in reversed(current)
            if row["status"] == "ACTIVE" and row["datasetName"] == asked.query["datasetName"]
        ]
        return _numbered(rows, asked.query)

    # ---- prompts

    def take_prompt(self, asked: Asked) -> Answer:
        versions = self.prompts.setdefault(asked.body["name"], [])
        labels = [*asked.body["labels"], "latest"]
        self._take_labels(versions, labels)
        versions.append({**asked.body, "labels": labels, "version": len(versions) + 1})
        return 201, versions[-1]

    def prompt(self, asked: Asked) -> Answer:
        name, _, number = asked.path.removeprefix(f"{PROMPTS}/").partition("/versions/")
        versions = self.prompts.get(name, [])
        if asked.method == "PATCH":
            self._take_labels(versions, asked.body["newLabels"])
            versions[int(number) - 1]["labels"] += asked.body["newLabels"]
            return 200, versions[int(number) - 1]
        label = asked.query.get("label", "production")
        found = [version for version in versions if label in version["labels"]]
        return (200, found[0]) if found else (404, {"message": "Prompt not found"})

    def _take_labels(self, versions: list[Row], labels: list[str]) -> None:
        """A label is on one version only."""
        for version in versions:
            version["labels"] = [label for label in version["labels"] if label not in labels]

    # ---- score configs

    def take_config(self, asked: Asked) -> Answer:
        number = len(self.configs) + 1
        made = {"id": f"config-{number}", "createdAt": f"{number:04}", "isArchived": False}
        self.configs.append({**made, **asked.body})
        return 200, self.configs[-1]

    def change_config(self, asked: Asked) -> Answer:
        (config,) = [c for c in self.configs if c["id"] == asked.path.rpartition("/")[2]]
        config |= asked.body
        return 200, config

    # ---- spans

    def take_spans(self, asked: Asked) -> Answer:
        if len(asked.data) > self.most_bytes:
            return 413, {"message": "too large"}
        self.spans += asked.body
        return 200, {"name": "otel-ingestion-job", "payload": {"publicKey": PUBLIC_KEY}}

    def observations(self) -> list[Row]:
        """Each span once: rows with the same ids and start are merged."""
        return list({(s["trace"], s["id"], s["start_ns"]): s for s in self.spans}.values())

    def roots(self) -> list[Row]:
        """The spans that items are made from."""
        key = f"{EXPERIMENT}item.root_observation_id"
        return [s for s in self.observations() if s["attributes"].get(key) == s["id"]]

    def annotate(self, root: Row, name: str, value: Any, kind: str, **more: Any) -> Row:
        """As a person does it in the UI, long after the trial."""
        given = {
            "id": f"by-hand-{len(self.scores)}", "name": name, "value": value, "dataType": kind,
            "traceId": root["trace"], "observationId": root["id"],
            "timestamp": "2029-01-01T00:00:00Z", "environment": "skill-eval", "metadata": {},
            "source": "ANNOTATION", "authorUserId": "user-1", **more,
        }  # fmt: skip
        self.scores[given["id"]] = given
        return given

    def list_observations(self, asked: Asked) -> Answer:
        if "traceId" in asked.query:
            spans = [span for span in self.spans if span["trace"] == asked.query["traceId"]]
            return self._observations(spans, asked.query)
        columns: dict[str, Callable[[Row], str]] = {
            "sessionId": lambda span: span["attributes"].get("session.id", ""),
            "startTime": lambda span: _time(span["start_ns"]),
        }
        spans = self.spans
        for chosen in json.loads(asked.query["filter"]):
            holds, of = HOLDS[chosen["operator"]], columns[chosen["column"]]
            spans = [span for span in spans if holds(of(span), chosen["value"])]
        return self._observations(spans, asked.query)

    def _observations(self, spans: list[Row], query: Query) -> Answer:
        rows = [
            {"id": s["id"], "traceId": s["trace"], "startTime": _time(s["start_ns"])} for s in spans
        ]
        return self._page(rows, query, most=1000)

    def list_experiment_items(self, asked: Asked) -> Answer:
        if "fromStartTime" not in asked.query:
            return 400, {"message": "Invalid request data"}
        wanted = asked.query["experimentId"].split(",")
        only = asked.query.get("experimentItemId", "").split(",")
        rows = [
            self._item(span, asked.query["fields"].split(","))
            for span in sorted(self.roots(), key=lambda s: -s["start_ns"])
            if span["attributes"][f"{EXPERIMENT}id"] in wanted
            and (only == [""] or span["attributes"][f"{EXPERIMENT}item.id"] in only)
            and _time(span["start_ns"]) >= asked.query["fromStartTime"]
        ]
        return self._page(rows, asked.query)

    def list_experiments(self, asked: Asked) -> Answer:
        if "fromStartTime" not in asked.query:
            return 400, {"message": "Invalid request data"}
        found: dict[str, Row] = {}
        for span in self.roots():
            if _time(span["start_ns"]) >= asked.query["fromStartTime"]:
                id, name = (span["attributes"][EXPERIMENT + key] for key in ("id", "name"))
                found.setdefault(id, {"id": id, "name": name, "itemCount": 0})["itemCount"] += 1
        return self._page(list(found.values()), asked.query)

    def _item(self, span: Row, fields: list[str]) -> Row:
        attributes = span["attributes"]
        row = {
            "id": span["id"],
            "traceId": span["trace"],
            "startTime": _time(span["start_ns"]),
            "level": attributes.get(f"{OBSERVATION}level", "DEFAULT"),
            "experimentId": attributes[f"{EXPERIMENT}id"],
            "experimentName": attributes[f"{EXPERIMENT}name"],
            "experimentItemId": attributes[f"{EXPERIMENT}item.id"],
        }
        if "metadata" in fields:
            row["metadata"] = self._read(
                {
                    key.removeprefix(kind): value
                    for kind in (f"{OBSERVATION}metadata.", TRACE)
                    for key, value in attributes.items()
                    if key.startswith(kind)
                }
            )
        if "itemMetadata" in fields:
            row["experimentItemMetadata"] = self._read(
                json.loads(attributes[f"{EXPERIMENT}item.metadata"])
            )
        if "experimentMetadata" in fields:
            metadata = json.loads(attributes[f"{EXPERIMENT}metadata"])
            assert all(isinstance(value, str) for value in metadata.values())
            row["experimentMetadata"] = self._read(metadata)
        return row

    def _read(self, metadata: dict[str, str]) -> Row:
        cut = {key: value[:200] for key, value in metadata.items()}
        return {k: _json(v) for k, v in cut.items()} if self.reads_metadata_as_json else cut

    # ---- scores

    @property
    def takes_lists(self) -> bool:
        return tuple(map(int, self.version.split("."))) >= (4, 59)

    def take_scores(self, asked: Asked) -> Answer:
        if isinstance(asked.body, dict):
            problem = "expected array, received object" if self.takes_lists else ""
            problem = problem or self._keep(asked.body, RECEIVED)
            return (400, _invalid(problem)) if problem else (200, {"id": asked.body["id"]})
        if not self.takes_lists:
            return 400, _invalid("Invalid input: expected object, received array")
        problems = [self._keep(body, body.get("timestamp", RECEIVED)) for body in asked.body]
        errors = [{"message": problem} for problem in problems if problem]
        if not errors:
            return 202, {"message": "Accepted"}
        accepted = len(problems) - len(errors)
        return 207, {"accepted": accepted, "rejected": len(errors), "errors": errors}

    def take_events(self, asked: Asked) -> Answer:
        successes, errors = [], []
        for event in asked.body["batch"]:
            assert event["type"] == "score-create"
            if problem := self._keep(event["body"], event["timestamp"]):
                errors.append({"id": event["id"], "status": 400, **_invalid(problem)})
            else:
                successes.append({"id": event["id"], "status": 201})
        return 207, {"successes": successes, "errors": errors}

    def _keep(self, body: Row, timestamp: str) -> str:
        """Keep a score: the first time counts, the last value; returns what is wrong with it."""
        if not isinstance(body.get("value"), int | float) or isinstance(body["value"], bool):
            return "Invalid input: expected number"
        if body.get("dataType") == "BOOLEAN" and body["value"] not in (0, 1):
            return "Value must be a number equal to either 0 or 1 for data type BOOLEAN"
        if body["name"] == self.refuses:
            return "not this one"
        before = self.scores.get(body["id"], {"timestamp": timestamp, "metadata": {}})
        metadata = {**before["metadata"], **body.get("metadata", {})}
        kept = {**body, "timestamp": before["timestamp"], "metadata": metadata}
        self.scores[body["id"]] = kept
        return ""

    def list_scores(self, asked: Asked) -> Answer:
        rows = list(self.scores.values())
        for key, of in (("id", "id"), ("traceId", "traceId"), ("name", "name")):
            if key in asked.query:
                rows = [row for row in rows if row[of] in asked.query[key].split(",")]
        fields = asked.query.get("fields", "").split(",")
        if set(fields) - {"", "details", "subject", "annotation"}:
            return 400, {"message": "Invalid request data"}
        return self._page([self._score(row, fields) for row in rows], asked.query)

    def _score(self, row: Row, fields: list[str]) -> Row:
        value = bool(row["value"]) if row["dataType"] == "BOOLEAN" else row["value"]
        shown = {key: row[key] for key in ("id", "name", "timestamp", "dataType", "environment")}
        shown |= {"value": value, "source": row.get("source", "API")}
        if "annotation" in fields:
            shown["authorUserId"] = row.get("authorUserId")
        if "details" in fields:
            shown |= {"comment": row.get("comment"), "metadata": self._read(row["metadata"])}
        if "subject" in fields:
            subject = {"kind": "observation", "id": row["observationId"], "traceId": row["traceId"]}
            shown["subject"] = subject
        return shown

    def _page(self, rows: list[Row], query: Query, *, most: int = 100) -> Answer:
        limit, start = int(query.get("limit", 50)), int(query.get("cursor", 0))
        if limit > most:
            return 400, {"message": "Invalid request data"}
        meta = {"cursor": str(start + limit)} if start + limit < len(rows) else {}
        return 200, {"data": rows[start : start + limit], "meta": meta}


def _numbered(rows: list[Row], query: Query) -> Answer:
    page, limit = int(query["page"]), int(query["limit"])
    pages = -(-len(rows) // limit)
    shown = rows[(page - 1) * limit : page * limit]
    return 200, {"data": shown, "meta": {"page": page, "totalPages": pages}}


def _time(nanoseconds: int) -> str:
    time = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{nanoseconds // 10**6 % 1000:03}Z"


def _number(value: Any) -> Any:
    """The value as JavaScript writes it: 1 for 1.0."""
    return json.loads(json.dumps(value), parse_float=lambda n: _whole(float(n)))


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _invalid(message: str) -> Row:
    return {"message": "Invalid request data", "error": [{"message": message}]}
