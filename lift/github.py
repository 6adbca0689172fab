"""Where a run in GitHub Actions belongs: its pull request and its job."""

from __future__ import annotations

import re
from collections.abc import Mapping

PULL_REQUEST, JOB = "langfuse.pr_url", "langfuse.github_job_url"
"""Keys that Langfuse shows as links beside a run."""

_PULL = re.compile(r"refs/pull/([0-9]+)/")


def pages(environ: Mapping[str, str]) -> dict[str, str]:
    """The pages of the pull request and the job, by their keys; none outside of GitHub Actions.

    Args:
        environ: the environment, with the variables that GitHub Actions sets.
    """
    server, repository = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    if environ.get("GITHUB_ACTIONS") != "true" or not server or not repository:
        return {}
    found = {}
    if pull := _PULL.match(environ.get("GITHUB_REF", "")):
        found[PULL_REQUEST] = f"{server}/{repository}/pull/{pull[1]}"
    if run := environ.get("GITHUB_RUN_ID"):
        attempt = environ.get("GITHUB_RUN_ATTEMPT", "1")
        again = "" if attempt == "1" else f"/attempts/{attempt}"
        found[JOB] = f"{server}/{repository}/actions/runs/{run}{again}"
    return found
