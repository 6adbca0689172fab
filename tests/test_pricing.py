"""Tokens to dollars."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lift.errors import SettingError
from lift.pricing import PRICES, cost_usd, price_of, request_bytes, worst_case_usd
from lift.schema import Request, Usage

tokens = st.integers(0, 200_000)
usages = st.builds(
    Usage,
    input_tokens=tokens,
    cache_write_5m_tokens=tokens,
    cache_write_1h_tokens=tokens,
    cache_read_tokens=tokens,
    output_tokens=tokens,
)
models = st.sampled_from(sorted(PRICES))


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-sonnet-5-5", Usage(input_tokens=1_000_000), 2.0),
        ("claude-sonnet-5-5", Usage(output_tokens=1_000_000), 10.0),
        ("claude-sonnet-5-5", Usage(cache_write_5m_tokens=1_000_000), 2.5),
        ("claude-sonnet-5-5", Usage(cache_write_1h_tokens=1_000_000), 4.0),
        ("claude-sonnet-5-5", Usage(cache_read_tokens=1_000_000), 0.1),
        ("claude-haiku-5-5", Usage(input_tokens=100_000, output_tokens=1000), 0.0105),
        ("claude-haiku-5-5", Usage(input_tokens=100_001, output_tokens=1000), 0.0525005),
    ],
)
def test_known_bills(model: str, usage: Usage, dollars: float):
    assert cost_usd(usage, price_of(model)) == pytest.approx(dollars, rel=1e-12)


@given(usages, models)
def test_a_batch_costs_half(usage: Usage, model: str):
    price = price_of(model)

    assert cost_usd(usage, price, batch=True) == pytest.approx(cost_usd(usage, price) / 2)


@given(usages, usages, st.sampled_from(["claude-sonnet-5-5", "claude-opus-5-5"]))
def test_costs_of_two_calls_add_up(one: Usage, two: Usage, model: str):
    price = price_of(model)

    assert cost_usd(one + two, price) == pytest.approx(cost_usd(one, price) + cost_usd(two, price))


def test_a_dated_id_has_the_price_of_the_undated_one():
    assert price_of("claude-haiku-4-5-20251001") == price_of("claude-haiku-4-5")


def test_an_unknown_model_is_refused_before_anything_is_spent():
    with pytest.raises(SettingError, match="no price for the model 'gpt-9'") as refused:
        price_of("gpt-9")

    assert "--price IN,OUT" in refused.value.fix


def test_a_price_can_be_given():
    assert cost_usd(Usage(input_tokens=10**6, output_tokens=10**6), price_of("x", "3,15")) == 18


@pytest.mark.parametrize("text", ["3", "3,15,1", "a,b", "-1,2", "nan,1", ","])
def test_a_malformed_price_is_refused(text: str):
    with pytest.raises(SettingError, match="is not a price"):
        price_of("x", text)


@given(st.text(max_size=400), st.text(max_size=400), st.integers(1, 9000), models)
def test_the_worst_case_is_above_any_real_bill(system: str, prompt: str, longest: int, model: str):
    price = price_of(model)
    for cached, life in ((0, "5m"), (1, "5m"), (1, "1h")):
        request = Request(
            model=model,
            system=(system,),
            cached_blocks=cached,
            cache_life=life,
            content=(prompt,),
            max_tokens=longest,
        )
        real = request_bytes(request) // 3
        billed = Usage(
            input_tokens=0 if cached else real,
            **{f"cache_write_{life}_tokens": real if cached else 0},
            output_tokens=longest,
        )

        assert worst_case_usd(request, price) >= cost_usd(billed, price)


def test_an_override_is_for_models_without_a_price_alone():
    assert price_of("claude-sonnet-5-5", "90,90") == PRICES["claude-sonnet-5-5"]
    assert cost_usd(Usage(input_tokens=1_000_000), price_of("gpt-9", "90,91")) == 90
