"""A static review to Langfuse."""

from __future__ import annotations

from lift.journal import Journal
from lift.langfuse import reviews
from lift.langfuse.faults import LangfuseError
from lift.outbox.project import AFTER, required
from lift.prepare import clock
from lift.redact import redacted
from lift.review import Review
from lift.settings import Config


def deliver_review(config: Config, review: Review) -> str:
    """Send a static review, unless Langfuse has it; returns what a person is told.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    with required(config, AFTER) as to, Journal(config.path("journal")) as journal:
        try:
            where = to.destination
            if journal.has_sent_review(where, review.hash):
                return ""
            why = reviews.send(to, _as_sent(review), redact=redacted)
        except LangfuseError as failed:
            why = failed.what
        if why:
            return f"the review was not sent to Langfuse: {why}"
        journal.mark_review(where, review.hash, now_ms=clock())
        return "Langfuse took the review"


def _as_sent(review: Review) -> reviews.Reviewed:
    scored: dict[str, float] = {}
    if review.lint:
        scored["lint_score"] = review.lint.score
    found = review.activation
    if found and found.confusion.f1 and not found.coverage.invalid:
        scored["activation_f1"] = found.confusion.f1.value
    return reviews.Reviewed(
        hash=review.hash,
        skill=review.skill,
        tree_hash=review.tree_hash,
        model=found.model if found else "",
        canned=bool(found and found.canned),
        at_ms=review.at_ms,
        input={"skill": review.skill, "description": review.description},
        output={
            "findings": [one.model_dump(mode="json") for one in review.lint.findings]
            if review.lint
            else [],
            "confusion": found.confusion.model_dump(mode="json") if found else None,
            "misses": [one.model_dump(mode="json") for one in found.misses] if found else [],
        },
        scores=scored,
    )
