"""Keys, addresses and headers: what is used, what is refused, and that neither is ever shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anthropic
import pytest
import servers
from conftest import greets
from langfuse_project import PUBLIC_KEY, SECRET_KEY
from pydantic import SecretStr
from servers import Says

from lift.credentials import Variable, address, headers, key
from lift.errors import SettingError
from lift.settings import CREDENTIALS, credential, langfuse_keys, read

FAKE = "sk-" + "test-" + "0" * 8
KEYS = [name for name in CREDENTIALS if name.endswith(("KEY", "TOKEN"))]
LANGFUSE = {"LANGFUSE_PUBLIC_KEY": PUBLIC_KEY, "LANGFUSE_SECRET_KEY": SECRET_KEY}
URLS = [name for name in CREDENTIALS if name.endswith("URL")]


def held(value: str) -> Variable:
    return Variable("NAME", SecretStr(value), "environment")


@pytest.mark.parametrize("text", [FAKE + "\n", " " + FAKE, f"\t{FAKE}\r\n", f"\u00a0{FAKE}\u2028"])
@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_white_space_around_a_key_is_ignored(tmp_path: Path, name: str, text: str):
    known = credential(read(tmp_path, {name: text}, {}))

    assert known is not None
    assert (known.api_key or known.auth_token) == SecretStr(FAKE)


def test_white_space_around_langfuses_variables_is_ignored(tmp_path: Path):
    environ = {
        "LANGFUSE_PUBLIC_KEY": " pk\n",
        "LANGFUSE_SECRET_KEY": f"{FAKE}\n",
        "LANGFUSE_BASE_URL": "\thttp://127.0.0.1:1\n",
    }

    known = langfuse_keys(read(tmp_path, environ, {}))

    assert known is not None
    assert (known.public_key, known.secret_key) == ("pk", SecretStr(FAKE))
    assert known.base_url == "http://127.0.0.1:1"


@pytest.mark.parametrize("name", sorted(CREDENTIALS))
def test_a_variable_of_white_space_is_none(tmp_path: Path, name: str):
    assert name not in read(tmp_path, {name: " \n"}, {}).variables


@pytest.mark.parametrize(
    "between", ["\n", "\r", " ", "\t", "\x00", "\x1b", "\x7f", "\u00e9", "\u200b"]
)
def test_a_key_with_anything_odd_in_it_is_refused_and_not_shown(between: str):
    with pytest.raises(SettingError, match="NAME has white space or characters") as refused:
        key(held(FAKE + between + FAKE))

    assert FAKE not in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080",
        "https://api.example.com/v1",
        "HTTPS://Host.example:443/",
        "http://[::1]:80",
        "http://host:",
        "https://under_score.example.",
        "https://xn--bcher-kva.example",
    ],
)
def test_an_address_is_taken_as_it_is(url: str):
    assert address(held(url)) == url


@pytest.mark.parametrize(
    ("url", "has"),
    [
        ("host.example", "no http:// or https://"),
        ("ftp://host", "no http:// or https://"),
        ("//host", "no http:// or https://"),
        ("http:/host", "a host or a port that is none"),
        ("http://", "a host or a port that is none"),
        ("http://:80", "a host or a port that is none"),
        ("http://a..b", "a host or a port that is none"),
        ("http://-a", "a host or a port that is none"),
        ("http://a%41", "a host or a port that is none"),
        ("http://999.1.1.1", "a host or a port that is none"),
        ("http://[::1", "a host or a port that is none"),
        ("http://[::1]x", "a host or a port that is none"),
        ("http://[v1.a]", "a host or a port that is none"),
        ("http://xn--a", "a host or a port that is none"),
        ("http://" + "a" * 64, "a host or a port that is none"),
        ("http://" + "a.bc" * 90, "a host or a port that is none"),
        ("http://host:0", "a host or a port that is none"),
        ("http://host:65536", "a host or a port that is none"),
        ("http://host:-1", "a host or a port that is none"),
        ("http://host:x", "a host or a port that is none"),
        (f"http://me:{FAKE}@host", "a user name or a password"),
        (f"http://{FAKE}@host", "a user name or a password"),
        ("http://good\\@evil", "a user name or a password"),
        (f"http://host/?key={FAKE}", "a query or a fragment"),
        ("http://host/#x", "a query or a fragment"),
        ("http://ho st", "white space or characters"),
        ("http://host/\nx", "white space or characters"),
        ("http://host\x00", "white space or characters"),
        ("http://b\u00fccher.example", "white space or characters"),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(url: str, has: str):
    with pytest.raises(SettingError, match=f"NAME has {has}") as refused:
        address(held(url))

    assert FAKE not in str(refused.value)


def test_headers_are_read_a_line_each():
    found = headers(held("X-One: 1\n\n  x-two :a: b \r\nX-Three:"))

    assert {name: value.get_secret_value() for name, value in found.items()} == {
        "X-One": "1",
        "x-two": "a: b",
        "X-Three": "",
    }


@pytest.mark.parametrize(
    "line", ["none", ": x", "X Y: 1", "X: a\rb", "X: \x1b", "X: \u00e9", "X\x00: 1"]
)
def test_a_line_that_is_no_header_is_refused_and_not_shown(line: str):
    with pytest.raises(SettingError, match="a line that is no header") as refused:
        headers(held(f"{line}{FAKE}\nX: 1"))

    assert FAKE not in str(refused.value)


# ---- through the command


def assert_refused(project, model: servers.Model, words: str) -> None:
    """The command ends with these words before anything is asked, and shows no key."""
    done = project.lift("--quick")

    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert FAKE not in done.stdout + done.stderr
    assert model.calls == []
    assert not (project.root / ".lift").exists()


@pytest.mark.parametrize("name", sorted(KEYS))
def test_an_odd_key_ends_the_command_before_anything_is_asked(project, serve, name: str):
    model = serve()
    project.variables |= LANGFUSE
    del project.variables["ANTHROPIC_API_KEY"]
    project.variables[name] = f"{FAKE}\n{FAKE}"

    assert_refused(project, model, f"{name} has white space")


def test_a_key_with_a_line_break_at_its_end_works_and_is_not_kept(project, serve):
    model = serve(greets)
    project.variables["ANTHROPIC_API_KEY"] = f"{FAKE}\n"

    assert project.lift("--quick").returncode == 0
    assert {sent["authorization"] for sent in model.headers} == {f"Bearer {FAKE}"}
    written = b"".join(p.read_bytes() for p in (project.root / ".lift").iterdir() if p.is_file())
    assert FAKE.encode() not in written


@pytest.mark.parametrize("name", sorted(URLS))
@pytest.mark.parametrize("url", ["nonsense", f"http://me:{FAKE}@127.0.0.1", "http://127.0.0.1:0"])
def test_a_bad_address_ends_the_command_before_anything_is_asked(project, serve, name, url):
    model = serve()
    project.variables |= LANGFUSE | {name: url}

    assert_refused(project, model, f"where: {name}, from the environment")


HOSTILE = {
    "ANTHROPIC_CUSTOM_HEADERS": f"X-Gateway: {FAKE}\nAuthorization: Bearer {FAKE}",
    "ANTHROPIC_AUTH_TOKEN": FAKE,
    "ANTHROPIC_PROFILE": "mine",
    "ANTHROPIC_IDENTITY_TOKEN": FAKE,
    "ANTHROPIC_FEDERATION_RULE_ID": FAKE,
    "ANTHROPIC_ORGANIZATION_ID": FAKE,
    "ANTHROPIC_SERVICE_ACCOUNT_ID": FAKE,
    "ANTHROPIC_WORKSPACE_ID": FAKE,
    "ANTHROPIC_SCOPE": FAKE,
    "ANTHROPIC_WEBHOOK_SIGNING_KEY": FAKE,
    "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
    "OTEL_PYTHON_TRACER_PROVIDER": "sdk_tracer_provider",
}
"""What the Anthropic SDK reads by itself."""


def test_no_variable_that_the_sdk_reads_is_unknown_here():
    package = Path(anthropic.__file__).parent
    other = ("lib/aws", "lib/bedrock", "lib/vertex", "lib/foundry", "lib/google_cloud")
    text = "".join(
        path.read_text("utf-8")
        for path in package.rglob("*.py")
        if not path.relative_to(package)
        .as_posix()
        .startswith((*other, "types", "lib/environments"))
    )
    read = set(re.findall(r"[\"'](ANTHROPIC_[A-Z_]+)[\"']", text))

    harmless = {
        "ANTHROPIC_LOG",  # what it logs, on standard error
        "ANTHROPIC_CONFIG_DIR",  # where profiles are: none is looked for
        "ANTHROPIC_IDENTITY_TOKEN_FILE",
    }
    known = {*CREDENTIALS, *HOSTILE, *harmless}
    assert {n for n in read if n not in known and "OPEN_TELEMETRY" not in n} == set()


def test_nothing_of_the_environment_goes_to_a_server_that_dotenv_names(project, serve):
    model = serve(greets)
    url = project.variables.pop("ANTHROPIC_BASE_URL")
    del project.variables["ANTHROPIC_API_KEY"]
    (project.root / ".env").write_text(f"ANTHROPIC_BASE_URL={url}\nANTHROPIC_API_KEY=theirs\n")
    home = project.root / "home"
    profiles = home / ".config" / "anthropic" / "configs"
    profiles.mkdir(parents=True)
    for name in ("default", "mine"):
        (profiles / f"{name}.json").write_text(json.dumps({"api_key": FAKE, "base_url": url}))
    (home / ".netrc").write_text(f"machine 127.0.0.1 login me password {FAKE}\n")
    (home / ".netrc").chmod(0o600)
    project.variables |= HOSTILE

    done = project.lift("--quick")

    assert done.returncode == 0, done.stderr
    assert FAKE not in json.dumps(model.headers)
    assert {sent["authorization"] for sent in model.headers} == {"Bearer theirs"}
    assert not any("traceparent" in sent for sent in model.headers)


def test_headers_go_to_the_server_that_they_were_set_with(project, serve):
    model = serve(greets)
    project.variables["ANTHROPIC_CUSTOM_HEADERS"] = "X-Gateway: one\nX-Team: two"

    assert project.lift("--quick").returncode == 0
    assert {(sent["x-gateway"], sent["x-team"]) for sent in model.headers} == {("one", "two")}


def test_headers_of_dotenv_are_not_sent_with_a_key_of_the_environment(project, serve):
    model = serve(greets)
    (project.root / ".env").write_text("ANTHROPIC_CUSTOM_HEADERS='X-Gateway: theirs'\n")

    assert project.lift("--quick").returncode == 0
    assert not any("x-gateway" in sent for sent in model.headers)


def test_a_server_on_this_machine_is_not_reached_through_a_proxy(project, serve, langfuse):
    model = serve(greets)
    proxy = f"http://127.0.0.1:{servers.refused_port()}"
    project.variables |= dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), proxy)

    done = project.lift("--quick")

    assert done.returncode == 0, done.stderr
    assert len(model.calls) == 12
    assert "Langfuse took 12 trials" in done.stderr


def test_what_a_server_says_of_our_key_and_headers_is_masked(project, serve):
    serve(lambda *_: Says(f"bad key {FAKE}1 and header {FAKE}2", status=401))
    project.variables |= {
        "ANTHROPIC_API_KEY": f"{FAKE}1",
        "ANTHROPIC_CUSTOM_HEADERS": f"X-Gateway: {FAKE}2",
    }

    done = project.lift("--quick")

    assert done.returncode == 3
    assert "bad key <key> and header <key>" in done.stderr
    assert FAKE not in done.stderr
