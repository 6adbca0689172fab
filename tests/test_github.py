"""GitHub Actions: a run there says which pull request and which job it belongs to."""

from __future__ import annotations

import pytest

from lift.github import pages

JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/skills",
    "GITHUB_REF": "refs/pull/12/merge",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "1",
}
PULL, RUN = (
    "https://github.com/acme/skills/pull/12",
    "https://github.com/acme/skills/actions/runs/77",
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {"langfuse.pr_url": PULL, "langfuse.github_job_url": RUN}),
        ({"GITHUB_RUN_ATTEMPT": "3"}, {
            "langfuse.pr_url": PULL, "langfuse.github_job_url": f"{RUN}/attempts/3",
        }),
        ({"GITHUB_REF": "refs/heads/main"}, {"langfuse.github_job_url": RUN}),
        ({"GITHUB_RUN_ID": ""}, {"langfuse.pr_url": PULL}),
        ({"GITHUB_ACTIONS": ""}, {}),
        ({"GITHUB_REPOSITORY": ""}, {}),
    ],
)  # fmt: skip
def test_a_job_names_its_pages(changed: dict[str, str], expected: dict[str, str]):
    assert pages(JOB | changed) == expected


def test_a_shell_names_none():
    assert pages({}) == {}
