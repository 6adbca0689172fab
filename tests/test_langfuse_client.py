"""The connection: what a server may do to it, and what a person is told."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import servers
from langfuse_project import DATASETS, ITEMS, NEW, OLD, OTEL, PROJECT, SECRET_KEY, Fault, Langfuse
from langfuse_trials import connected
from pydantic import SecretStr, ValidationError

from lift.errors import CouldNotRun
from lift.langfuse.client import Connection, LangfuseCredential
from lift.langfuse.faults import LangfuseError, Refused, Unclear, Unreachable

PROJECTS = "/api/public/projects"


@pytest.fixture
def connection(langfuse: Langfuse) -> Iterator[Connection]:
    with connected(langfuse) as opened:
        yield opened


def test_it_knows_project_and_server_and_asks_once(langfuse: Langfuse, connection: Connection):
    for _ in range(2):
        assert connection.project() == PROJECT
        assert connection.server_version() == (4, 60, 0)
        assert connection.notice() == ""

    assert len(langfuse.asked) == 2


@pytest.mark.parametrize(
    ("version", "known", "lists"),
    [
        (NEW, (4, 60, 0), True),
        ("v4.59.0-rc.1", (4, 59, 0), True),
        ("5.99.0-recorder", (5, 99, 0), True),
        (OLD, (4, 16, 0), False),
        ("", (), True),
        ("nightly", (), True),
    ],
)
def test_an_old_server_is_told_from_a_new_one(
    langfuse: Langfuse, connection: Connection, version: str, known: tuple[int, ...], lists: bool
):
    langfuse.says_version = version

    assert connection.server_version() == known
    assert connection.takes_lists() == lists
    assert ("older than 4.59" in connection.notice()) == (not lists)


def test_a_server_that_is_not_there():
    langfuse = Langfuse(url=f"http://127.0.0.1:{servers.refused_port()}")

    with connected(langfuse) as connection, pytest.raises(Unreachable, match="reached") as raised:
        connection.project()

    assert langfuse.url in raised.value.where
    assert "LANGFUSE_BASE_URL" in raised.value.fix
    assert isinstance(raised.value, CouldNotRun)


@pytest.mark.parametrize(
    ("fault", "what", "fix"),
    [
        (Fault(PROJECTS, status=401), "refuses the key: fault 401", "LANGFUSE_SECRET_KEY"),
        (Fault(PROJECTS, status=403), "forbids it: fault 403", "usage limits"),
        (Fault(PROJECTS, status=400), "status 400: fault 400", "update lift"),
        (Fault(PROJECTS, html=True), "not the Langfuse API", "LANGFUSE_BASE_URL"),
        (Fault(PROJECTS, status=404, html=True), "not the Langfuse API", "LANGFUSE_BASE_URL"),
        (
            Fault(PROJECTS, status=301, headers=(("location", "https://elsewhere"),)),
            "leads to https://elsewhere",
            "LANGFUSE_BASE_URL",
        ),
    ],
)
def test_an_answer_that_another_try_does_not_change(
    langfuse: Langfuse, connection: Connection, fault: Fault, what: str, fix: str
):
    langfuse.faults = [fault]

    with pytest.raises(LangfuseError) as raised:
        connection.project()

    assert what in raised.value.what
    assert fix in raised.value.fix
    assert raised.value.where == f"GET {langfuse.url}{PROJECTS}"
    assert len(langfuse.asked) == 1


def test_a_wrong_key_is_not_shown(langfuse: Langfuse):
    credential = LangfuseCredential(
        public_key="pk", secret_key=SecretStr("sk-wrong"), base_url=langfuse.url
    )
    with Connection(credential) as connection, pytest.raises(Refused) as raised:
        connection.project()

    assert "sk-wrong" not in str(raised.value) + repr(credential)


def test_a_server_without_experiments_says_which_mode_it_needs(
    langfuse: Langfuse, connection: Connection
):
    langfuse.faults = [Fault("/api/public/experiments", status=404)]

    with pytest.raises(Refused, match="has no experiments") as raised:
        connection.get("/api/public/experiments")

    assert "v4 write mode" in raised.value.fix


@pytest.mark.parametrize(
    "fault",
    [
        Fault(PROJECTS, status=408, times=2),
        Fault(PROJECTS, status=409, times=2),
        Fault(PROJECTS, status=429, times=2),
        Fault(PROJECTS, status=500, times=2),
        Fault(PROJECTS, status=502, times=2, html=True),
        Fault(PROJECTS, status=503, times=2),
        Fault(PROJECTS, reset=True, times=2),
    ],
)
def test_what_may_pass_is_tried_again(langfuse: Langfuse, connection: Connection, fault: Fault):
    langfuse.faults = [fault]

    assert connection.project() == PROJECT
    assert len(langfuse.asked) == 3


def test_a_server_that_hangs_once_is_asked_again(langfuse: Langfuse):
    langfuse.faults = [Fault(PROJECTS, hang=True, times=1)]

    with connected(langfuse, timeout_s=0.1) as connection:
        assert connection.project() == PROJECT


def test_it_waits_as_long_as_the_server_asks(langfuse: Langfuse):
    langfuse.faults = [Fault(PROJECTS, status=429, times=1, headers=(("retry-after", "3"),))]
    waited: list[float] = []

    with connected(langfuse, sleep=waited.append) as connection:
        connection.project()

    assert waited == [3.0]


@pytest.mark.parametrize("after", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_it_does_not_wait_longer_than_its_deadline(langfuse: Langfuse, after: str):
    langfuse.faults = [Fault(PROJECTS, status=429, headers=(("retry-after", after),))]
    waited: list[float] = []

    with connected(langfuse, sleep=waited.append) as connection, pytest.raises(Refused):
        connection.project()

    assert waited == []
    assert len(langfuse.asked) == 1


@pytest.mark.parametrize("fault", [Fault("/", hang=True), Fault("/", status=500)])
def test_a_server_that_never_answers_is_given_up_by_the_deadline(langfuse: Langfuse, fault: Fault):
    langfuse.faults = [fault]
    began = time.monotonic()

    with (
        connected(langfuse, timeout_s=0.2, deadline_s=0.5, sleep=time.sleep) as connection,
        pytest.raises(Unclear),
    ):
        connection.project()

    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "fault",
    [
        Fault(OTEL, status=500),
        Fault(OTEL, status=504),
        Fault(OTEL, status=408),
        Fault(OTEL, reset=True),
        Fault(OTEL, hang=True),
    ],
)
def test_spans_that_may_have_been_taken_are_not_sent_again(langfuse: Langfuse, fault: Fault):
    langfuse.faults = [fault]

    with connected(langfuse, timeout_s=0.1) as connection, pytest.raises(Unclear):
        connection.post_spans(b"")

    assert len(langfuse.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_spans_that_were_not_taken_are_sent_again(
    langfuse: Langfuse, connection: Connection, status: int
):
    langfuse.faults = [Fault(OTEL, status=status, times=2)]

    connection.post_spans(b"")

    assert len(langfuse.asked) == 3


def test_a_login_page_is_no_yes_to_spans(langfuse: Langfuse, connection: Connection):
    langfuse.faults = [Fault(OTEL, html=True)]

    with pytest.raises(LangfuseError, match="not the Langfuse API"):
        connection.post_spans(b"")


def test_an_item_of_another_dataset_is_refused_at_once(langfuse: Langfuse, connection: Connection):
    for name in ("one", "two"):
        connection.post(DATASETS, {"name": name})
    connection.post(ITEMS, {"datasetName": "one", "id": "i"})

    with pytest.raises(Refused, match="another dataset") as raised:
        connection.post(ITEMS, {"datasetName": "two", "id": "i"})

    assert "rename the dataset" in raised.value.fix
    assert len(langfuse.writes(ITEMS)) == 2


@pytest.mark.parametrize("url", ["", "localhost:3000", "ftp://host", "https://"])
def test_an_address_that_is_none_is_refused(url: str):
    with pytest.raises(ValidationError, match="not an address"):
        LangfuseCredential(public_key="pk", secret_key=SecretStr(SECRET_KEY), base_url=url)


def test_an_address_may_end_in_a_slash(langfuse: Langfuse):
    plain = langfuse.url
    langfuse.url += "/"

    with connected(langfuse) as connection:
        assert connection.project() == PROJECT
        assert connection.destination == f"{plain} pk-lf-test"
