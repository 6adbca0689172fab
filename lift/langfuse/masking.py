"""Trials and items with nothing in them that may not leave: done once, before anything is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lift.journal import Record
from lift.langfuse.faults import LangfuseError
from lift.langfuse.wire import Redact, prepared
from lift.schema import Evidence, Score, Vote

IDENTITY = ("id", "category")
"""Names of an item, which are what things are found by; sent as they are, see `check_names`."""


def check_names(names: Iterable[str], redact: Redact) -> None:
    """Check that names can be sent as they are: things are found by them.

    Args:
        names: of whatever is sent.
        redact: masks strings.

    Raises:
        LangfuseError: one holds what may not leave.
    """
    for name in dict.fromkeys(names):
        if (hidden := redact(name)) != name:
            raise LangfuseError(
                f"a name holds what may not leave: {hidden}",
                where="names are sent as they are",
                fix="rename it",
            )


def masked_item(item: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """An item's content, as a server may see it.

    Args:
        item: as Item.model_dump(mode="json") gives it.
        redact: masks strings.
    """
    masked: dict[str, Any] = prepared(_told(item), redact)
    return _named(item) | masked


def masked(record: Record, redact: Redact, *, whole: bool = False) -> Record:
    """A trial, as a server may see it.

    All its texts are masked as one document, so that the same secret has the same placeholder
    throughout. Names, hashes, numbers and times stay.

    Args:
        record: from the journal.
        redact: masks strings.
        whole: whether long texts stay as long as they are, as for a person at this machine.
    """
    evidence = record.evidence
    document = prepared(
        {
            "item": _told(record.item),
            "system": record.system,
            "evidence": _texts(evidence) if evidence else {},
            "scores": [{"why": s.why, "error": s.error} for s in record.scores],
            "votes": [{"why": v.why, "evidence": _texts(v.evidence)} for v in record.votes],
        },
        redact,
        whole=whole,
    )
    return record._replace(
        item=_named(record.item) | document["item"],
        system=document["system"],
        evidence=_with_texts(evidence, document["evidence"]) if evidence else None,
        scores=tuple(map(_masked_score, record.scores, document["scores"])),
        votes=tuple(map(_masked_vote, record.votes, document["votes"])),
    )


def _named(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name in IDENTITY}


def _told(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in IDENTITY}


REPLY = ("text", "stop_reason", "model", "message_id")
"""What a server says, in its own words."""


def _texts(evidence: Evidence) -> dict[str, Any]:
    reply = evidence.reply.model_dump(include=set(REPLY)) if evidence.reply else {}
    return {"why": evidence.why, "reply": reply}


def _with_texts(evidence: Evidence, texts: Mapping[str, Any]) -> Evidence:
    reply = evidence.reply and evidence.reply.model_copy(update=texts["reply"])
    return evidence.model_copy(update={"why": texts["why"], "reply": reply})


def _masked_score(score: Score, texts: Mapping[str, str | None]) -> Score:
    return score.model_copy(update=dict(texts))


def _masked_vote(vote: Vote, texts: Mapping[str, Any]) -> Vote:
    evidence = _with_texts(vote.evidence, texts["evidence"])
    return vote.model_copy(update={"why": texts["why"], "evidence": evidence})
