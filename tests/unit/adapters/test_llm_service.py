from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from remembrancer.adapters.llm.service import ADDRESSES, LlmService, Prices, Provider
from remembrancer.adapters.llm.tries import cost_of
from remembrancer.errors import InvalidInput


def a_service(**changes: Any) -> LlmService:
    return replace(LlmService(provider="openai", model="gpt-4o-mini"), **changes)


def a_response(model: str, provider: str = "openai") -> ModelResponse:
    return ModelResponse(
        parts=[TextPart("{}")],
        model_name=model,
        provider_name=provider,
        usage=RequestUsage(input_tokens=1_000_000, output_tokens=1_000_000),
    )


def test_a_service_is_named_by_provider_and_model() -> None:
    assert a_service(provider="ollama", model="qwen3:8b").model_id == "ollama:qwen3:8b"


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"provider": "cohere"}, "provider"),
        ({"model": " "}, "model"),
        ({"model": "a\nb"}, "model"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
    ],
)
def test_an_unknown_service_is_refused_by_name(changes: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        a_service(**changes)
    assert refused.value.argument == argument


@pytest.mark.parametrize("prices", [(-1, 0), (0, -0.01), (float("nan"), 1)])
def test_a_price_is_not_below_nothing(prices: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="a price of 0 or more"):
        Prices(input=prices[0], output=prices[1])


def test_neither_a_key_nor_a_password_is_shown() -> None:
    assert "s3cret" not in repr(a_service(key="s3cret", url="http://ana:s3cret@gpu-box/v1"))


def test_every_provider_has_an_address() -> None:
    assert set(ADDRESSES) == set(get_args(Provider))


@pytest.mark.parametrize("url", ["http://gpu-box:11434", "http://gpu-box:11434/", "http://gpu-box:11434/v1"])
def test_ollama_is_called_through_its_openai_compatible_api(url: str) -> None:
    assert a_service(provider="ollama", url=url).address == "http://gpu-box:11434/v1"


def test_without_a_url_the_address_is_the_providers_own() -> None:
    assert a_service().address == "https://api.openai.com/v1"


# -- what an answer costs -------------------------------------------------------------------------


def test_prices_of_ones_own_override_those_that_are_known() -> None:
    assert cost_of(a_response("gpt-4o-mini"), a_service(prices=Prices(input=1, output=2))) == 3.0


def test_a_provider_s_price_is_known_without_asking_anybody() -> None:
    # OpenAI's list: 0.15 and 0.60 US dollars per million tokens.
    assert cost_of(a_response("gpt-4o-mini"), a_service()) == pytest.approx(0.75)


def test_the_price_of_an_unknown_model_is_not_made_up() -> None:
    assert cost_of(a_response("gpt-of-tomorrow"), a_service(model="gpt-of-tomorrow")) is None


@pytest.mark.parametrize("changes", [{"url": "http://gpu-box/v1"}, {"provider": "ollama"}])
def test_a_price_at_another_address_is_not_known(changes: dict[str, Any]) -> None:
    assert cost_of(a_response("gpt-4o-mini"), a_service(**changes)) is None
