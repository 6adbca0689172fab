"""Proxies and certificates of the environment that cannot be: one clear error, none shown."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from refusals import refused

from lift.backends.messages import Messages
from lift.errors import CouldNotRun
from lift.network import VARIABLES
from lift.settings import Credential

SECRET = "hunter" + "2" * 6

WRONG = [
    ("HTTPS_PROXY", "foo://x"),
    ("HTTPS_PROXY", f"http://u:{SECRET}@h:p"),
    ("https_proxy", f"http://[::1{SECRET}"),
    ("ALL_PROXY", "socks4://x"),
    ("HTTP_PROXY", "http://[::1"),
    ("SSL_CERT_FILE", "/nowhere"),
    ("SSL_CERT_FILE", "/dev/null"),
    ("SSL_CERT_FILE", "/tmp"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_client_that_cannot_be_made(monkeypatch, name, value):
    for known in VARIABLES:
        monkeypatch.delenv(known, raising=False)
        monkeypatch.delenv(known.lower(), raising=False)
    monkeypatch.setenv(name, value)
    scheme = "http" if name == "HTTP_PROXY" else "https"
    credential = Credential(base_url=f"{scheme}://api.invalid", api_key=SecretStr("k"))

    with pytest.raises(CouldNotRun) as refused:
        Messages(credential, prices={}, concurrency=1, deadline_s=1, clock=lambda: 0)

    assert refused.value.where == name
    assert SECRET not in str(refused.value)


def test_it_is_told_before_anything_is_asked(project):
    project.variables |= {"ANTHROPIC_API_KEY": "k", "HTTPS_PROXY": "foo://x"}
    done = project.lift("run", "--only", "greet-0")

    refused(done, 3, "a proxy's address is malformed", "where: HTTPS_PROXY", "correct or unset")


@pytest.mark.parametrize(("name", "value"), [WRONG[0], WRONG[5]])
def test_a_server_on_this_machine_is_asked_all_the_same(project, serve, name, value):
    model = serve()
    project.variables[name] = value

    assert project.lift("run", "--only", "greet-0").returncode == 0
    assert model.calls


@pytest.mark.parametrize(("name", "value"), [WRONG[0], WRONG[5]])
def test_a_langfuse_that_cannot_be_asked_is_told_of_after_the_result(project, serve, name, value):
    serve()
    project.variables |= {
        "LANGFUSE_PUBLIC_KEY": "pk-lf-1",
        "LANGFUSE_SECRET_KEY": "sk-lf-" + "1",
        "LANGFUSE_BASE_URL": "https://langfuse.invalid",
        name: value,
    }
    done = project.lift("run", "--only", "greet-0")

    assert done.returncode == 0, done.stderr
    assert "with_skill minus without_skill" in done.stdout
    assert "lift push" in done.stderr
    assert "Traceback" not in done.stderr
