"""The nouns every layer shares: condition, trial, request, reply, evidence, score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
"""A short name that is safe in paths, addresses and tables."""

Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A share: 0 is worst, 1 is best."""

Prose = Annotated[str, StringConstraints(max_length=10_000_000)]
"""A text that may be empty; as any text that has limits, it has no half of a surrogate pair."""

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
"""A text with something in it."""

ALL = "all"
"""The row over all categories and datasets; nothing else has that name."""

WITH_SKILL: Final = "with_skill"
WITHOUT_SKILL: Final = "without_skill"
OLD_SKILL: Final = "old_skill"

ConditionName = Literal["with_skill", "without_skill", "old_skill"]
CacheLife = Literal["5m", "1h"]
"""How long an entry of the prompt cache lives after its last use."""
Exposure = Literal["inline"]
"""How a condition shows the skill to the model; `inline`: its body in the system prompt."""


class Status(StrEnum):
    """How a trial ended."""

    OK = "ok"
    """The model answered."""
    FAILED = "failed"
    """The model answered badly (refusal, cut off); it is graded."""
    ERRORED = "errored"
    """No answer after all retries; never scored, asked again by the next run."""
    SKIPPED = "skipped"
    """The cost ceiling came first; asked again by the next run."""


SETTLED = frozenset({Status.OK, Status.FAILED})
"""The statuses that are graded and never asked again."""


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


T = TypeVar("T")
Many = Annotated[Sequence[T], BeforeValidator(_as_tuple)]
"""Any number of things: written as a list, kept as a tuple."""


class Noun(BaseModel):
    """What every noun shares: no unknown fields, no change after it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def digest(value: Any) -> str:
    """The sha256 of a value's canonical JSON, as 64 hex digits.

    Args:
        value: anything JSON can hold, nouns anywhere in it; floats must be finite.
    """
    text = json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=lambda noun: noun.model_dump(mode="json"),
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=256)
def _digest_of_texts(texts: tuple[str, ...]) -> str:
    """The same few long texts are in thousands of requests."""
    return digest(texts)


class Condition(Noun):
    """What is varied between runs: the skill, the model and how it is asked."""

    name: ConditionName
    model: str
    skill_hash: str | None
    """Tree hash of the skill that is shown; None where none is."""
    exposure: Exposure = "inline"
    max_tokens: Annotated[int, Field(ge=1)] = 8192
    effort: str | None = None


class Trial(Noun):
    """One item under one condition, one repeat: what is asked once and scored once."""

    experiment: str
    dataset: str
    item: str
    category: str
    condition: ConditionName
    model: str
    repeat: Annotated[int, Field(ge=1)]
    item_hash: str
    condition_hash: str
    attempt: Annotated[int, Field(ge=1)] = 1
    """1 for the first run; a re-run after an error counts up."""

    @property
    def name(self) -> str:
        """The trial as a person reads it: dataset/item condition rN."""
        return f"{self.dataset}/{self.item} {self.condition} r{self.repeat}"

    @property
    def label(self) -> Label:
        """Names the trial's call to the model."""
        return Label(self.dataset, self.item, self.condition, self.repeat)

    @property
    def key(self) -> str:
        """What ids are derived from: every part that tells this trial from any other."""
        return self._key(self.attempt)

    @property
    def first_key(self) -> str:
        """The key of the first attempt: what plans and journals know the trial by."""
        return self._key(1)

    def _key(self, attempt: int) -> str:
        parts = (self.experiment, self.dataset, self.item, self.condition, self.model)
        return json.dumps([*parts, self.repeat, attempt], ensure_ascii=False)


ANSWER = "answer"
"""Part of the label of a trial's own call."""


class Label(NamedTuple):
    """Names what is asked, in words of the project: canned replies are found by it."""

    dataset: str
    item: str
    condition: str = ""
    repeat: int = 1
    part: str = ANSWER
    vote: int = 1
    """Which of a judge's votes."""


class Request(Noun):
    """One call to a model, as data: what decides the reply, and nothing else."""

    model: str
    system: tuple[str, ...]
    """System blocks in order."""
    cached_blocks: int = 0
    """How many leading system blocks many requests share: the prompt-cache prefix; 0 for none."""
    cache_life: CacheLife = "5m"
    content: tuple[str, ...]
    """Blocks of the user's message, in order."""
    max_tokens: int
    effort: str | None = None
    output_schema: dict[str, Any] | None = None
    """JSON schema that the reply must follow; None for free text."""

    @property
    def prefix(self) -> str | None:
        """Names the shared prefix; None where there is none worth caching."""
        if not self.cached_blocks:
            return None
        return _digest_of_texts((self.model, *self.system[: self.cached_blocks]))

    @property
    def question(self) -> str:
        """Identifies what is asked: everything but how the prompt cache is used."""
        rest = self.model_dump(exclude={"system", "cached_blocks", "cache_life"})
        return digest([_digest_of_texts(self.system), rest])


Tokens = Annotated[int, Field(ge=0, le=1_000_000_000, strict=True)]


class Usage(Noun):
    """Tokens of one or more calls; the four input counts do not overlap."""

    input_tokens: Tokens = 0
    """Input that was neither read from nor written to the prompt cache."""
    cache_write_5m_tokens: Tokens = 0
    cache_write_1h_tokens: Tokens = 0
    cache_read_tokens: Tokens = 0
    output_tokens: Tokens = 0

    def __add__(self, other: Usage) -> Usage:
        names = Usage.model_fields
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Usage.model_construct(**sums)  # a sum over many calls has no upper bound

    @property
    def cache_write_tokens(self) -> int:
        """What was written to the prompt cache, for however long."""
        return self.cache_write_5m_tokens + self.cache_write_1h_tokens

    @property
    def total_input_tokens(self) -> int:
        """Everything the model read."""
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens


def _encodable(text: Any) -> Any:
    """Half of a surrogate pair, as a cut-off reply may end in, becomes U+FFFD."""
    if not isinstance(text, str):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


Foreign = Annotated[str, BeforeValidator(_encodable)]
"""A text from a server."""


class Reply(Noun):
    """What a model said to one request."""

    text: Foreign
    stop_reason: Foreign | None = None
    model: Foreign = ""
    """The model that answered, as the server names it."""
    message_id: Foreign = ""


class Evidence(Noun):
    """All that a trial left behind; scoring reads this and nothing else."""

    status: Status
    why: Foreign = ""
    """Why the status is not ok; empty where it is."""
    reply: Reply | None = None
    usage: Usage = Usage()
    cost_usd: Annotated[float, Field(ge=0)] = 0.0
    lost_usd: Annotated[float, Field(ge=0)] = 0.0
    """Worst case of calls that never reported usage (reset, timed out); counts to the ceiling."""
    started_ms: int = 0
    """Unix time in milliseconds."""
    ended_ms: int = 0
    canned: bool = False
    """True where the reply comes from the demo backend."""
    cached: bool = False
    """True where the reply was given to an equal request before; it cost nothing now."""
    kept_ms: int | None = None
    """When that was, in Unix milliseconds; None where it was not."""
    kept_usd: Annotated[float, Field(ge=0)] = 0.0
    """What it cost then."""

    @property
    def text(self) -> str:
        """The reply's text; empty where there is no reply."""
        return self.reply.text if self.reply else ""


class Vote(Noun):
    """One judgement of one trial by a model."""

    evaluator: Slug
    """Name of the judge."""
    number: Annotated[int, Field(ge=1)]
    """1 for the first of the judge's votes."""
    evidence: Evidence
    """Of the judge's call: its reply, cost and times."""
    value: Unit | None
    """None where the call was not answered, or the answer could not be read."""
    why: Foreign
    """The judge's rationale; what broke where the value is None."""
    model: str
    """Id of the model that was asked to judge."""
    prompt_hash: str
    """Identifies the judge's instructions, criteria and scale."""


class Score(Noun):
    """One evaluator's verdict on one trial."""

    evaluator: Slug
    value: Unit | None
    """1 is best. None means not scored, and stays out of every mean."""
    passed: bool | None = None
    """None where the value is."""
    why: str
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    """Share of the trial's score, relative to its other evaluators."""
    error: str | None = None
    """What broke in the evaluator itself, where something did."""
    judged: bool = False
    """True where a model judged: it stands beside the trial's score, never in it."""
