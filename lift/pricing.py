"""Tokens to US dollars, from one dated table."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from lift.errors import SettingError
from lift.schema import Noun, Request, Usage

PRICES_AS_OF = "2026-11-29"
"""The day the table was last checked against the published prices."""

CACHE_WRITE_5M = 1.25
CACHE_WRITE_1H = 2.0
BATCH = 0.5
MTOK = 1_000_000
ROUNDING_USD = 1e-9
"""Sums of dollars that differ by less are the same."""

BYTES_PER_TOKEN = 4.0
"""A rough mean for English and code; real tokenizers differ by about 30 %."""
FEWEST_BYTES_PER_TOKEN = 2.0
"""What worst cases are counted with: denser text than this does not occur in skills and items."""

Rate = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Tier(Noun):
    """Other prices for a whole request whose prompt is longer than a number of tokens."""

    above_tokens: int
    input_usd: Rate
    output_usd: Rate


class Price(Noun):
    """What one model costs."""

    input_usd: Rate
    """US dollars for a million input tokens."""
    output_usd: Rate
    """US dollars for a million output tokens."""
    cache_read: Rate = 0.1
    """Share of the input price that a cached token costs."""
    cacheable_tokens: int = 4096
    """The shortest prefix that the prompt cache takes."""
    tier: Tier | None = None


PRICES = {
    "claude-fable-5-1": Price(input_usd=10, output_usd=50, cacheable_tokens=512),
    "claude-opus-5-5": Price(input_usd=4, output_usd=20, cache_read=0.05, cacheable_tokens=512),
    "claude-opus-5": Price(input_usd=5, output_usd=25, cacheable_tokens=512),
    "claude-opus-4-8": Price(input_usd=5, output_usd=25, cacheable_tokens=1024),
    "claude-opus-4-6": Price(input_usd=5, output_usd=25),
    "claude-opus-4-5": Price(input_usd=5, output_usd=25),
    "claude-sonnet-5-5": Price(input_usd=2, output_usd=10, cache_read=0.05, cacheable_tokens=1024),
    "claude-sonnet-5": Price(input_usd=2, output_usd=10, cacheable_tokens=1024),
    "claude-sonnet-4-6": Price(input_usd=3, output_usd=15, cacheable_tokens=2048),
    "claude-sonnet-4-5": Price(input_usd=3, output_usd=15, cacheable_tokens=1024),
    "claude-haiku-5-5": Price(
        input_usd=0.10,
        output_usd=0.50,
        tier=Tier(above_tokens=100_000, input_usd=0.50, output_usd=2.50),
    ),
    "claude-haiku-4-5": Price(input_usd=1, output_usd=5),
}


def price_of(model: str, override: str = "", *, where: str = "--model") -> Price:
    """The price of a model.

    Args:
        model: its id; a dated id (`…-20250929`) has the price of the undated one.
        override: `IN,OUT` in US dollars per million tokens, for a model not in the table.
        where: the model was named.

    Raises:
        SettingError: the model is not in the table and there is no override, or the override
            is malformed. An unknown price could not be held under a ceiling.
    """
    undated = model[:-9] if model[-9:-8] == "-" and model[-8:].isdigit() else model
    if undated in PRICES:
        return PRICES[undated]
    if override:
        return _parsed(override)
    raise SettingError(
        f"no price for the model {model!r} (prices as of {PRICES_AS_OF})",
        where=where,
        fix=f"use one of {', '.join(PRICES)}; or give its price: --price IN,OUT in $ per MTok",
    )


def cost_usd(usage: Usage, price: Price, *, batch: bool = False) -> float:
    """What the tokens cost in US dollars.

    Args:
        usage: of one request; the tier is decided by its whole prompt.
        price: of the model that answered.
        batch: whether it came from Message Batches, at half price.
    """
    input_usd, output_usd = _rates(price, usage.total_input_tokens)
    weighted_input = (
        usage.input_tokens
        + usage.cache_write_5m_tokens * CACHE_WRITE_5M
        + usage.cache_write_1h_tokens * CACHE_WRITE_1H
        + usage.cache_read_tokens * price.cache_read
    )
    dollars = (weighted_input * input_usd + usage.output_tokens * output_usd) / MTOK
    return dollars * (BATCH if batch else 1.0)


def worst_case_usd(request: Request, price: Price, *, batch: bool = False) -> float:
    """The most one call can cost: densest text, all of it written to the cache, longest answer.

    Args:
        request: what is sent.
        price: of its model.
        batch: whether it goes by Message Batches, at half price.
    """
    tokens = math.ceil(request_bytes(request) / FEWEST_BYTES_PER_TOKEN)
    write = tokens if request.cached_blocks else 0
    spent = Usage(input_tokens=tokens - write, output_tokens=request.max_tokens)
    return cost_usd(spent + written(write, request), price, batch=batch)


def written(tokens: int, request: Request) -> Usage:
    """A write of so many tokens to the prompt cache, for as long as the request says."""
    if request.cache_life == "1h":
        return Usage(cache_write_1h_tokens=tokens)
    return Usage(cache_write_5m_tokens=tokens)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, by its UTF-8 length."""
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)


def request_bytes(request: Request) -> int:
    """UTF-8 length of all that a request sends as prompt."""
    return sum(len(part.encode()) for part in (*request.system, *request.content))


def _rates(price: Price, prompt_tokens: int) -> tuple[float, float]:
    if price.tier and prompt_tokens > price.tier.above_tokens:
        return price.tier.input_usd, price.tier.output_usd
    return price.input_usd, price.output_usd


def _parsed(override: str) -> Price:
    try:
        input_usd, output_usd = (float(part) for part in override.split(","))
        return Price(input_usd=input_usd, output_usd=output_usd)
    except ValueError as bad:
        raise SettingError(
            f"{override!r} is not a price",
            where="--price",
            fix="give two numbers, input and output in $ per million tokens: --price 3,15",
        ) from bad
