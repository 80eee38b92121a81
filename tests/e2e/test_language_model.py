"""A memory with a language model: a provider on loopback, named as a user names it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import Cli
from llm_server import LlmServer, fails

from remembrancer import ModelUnavailable, compose
from remembrancer.config import LLM_KEYS, load
from remembrancer.engine.ask import ask
from remembrancer.engine.context import Context
from remembrancer.ports.language_model import Answer, JsonObject, Task
from remembrancer.testing.doubles import SCOPE

KEY = "s3cret-key"
GOOD = {"title": "Deploy"}
SCHEMA: JsonObject = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
TASK = Task(purpose="title", instructions="Name it.", material="the deploy", schema=SCHEMA, check=lambda _: "")


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with LlmServer(always=GOOD, api_key=KEY) as running:
        for variable in LLM_KEYS.values():
            monkeypatch.setenv(variable, KEY)
        yield running


def named(monkeypatch: pytest.MonkeyPatch, server: LlmServer, provider: str) -> None:
    """Name the model in the environment, as a user would."""
    monkeypatch.setenv("REMEMBRANCER_LLM", f"{provider}:m")
    monkeypatch.setenv("REMEMBRANCER_LLM_URL", server.url(provider))
    if provider == "ollama":
        monkeypatch.setenv("REMEMBRANCER_LLM_KEY", KEY)


async def one_task(ctx: Context) -> Answer:
    try:
        return await ask(ctx, SCOPE, TASK)
    finally:
        assert ctx.llm is not None
        await ctx.llm.close()
        await ctx.store.close()


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_the_model_named_in_the_environment_is_called_with_the_providers_own_key(
    server: LlmServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(monkeypatch, server, provider)
    monkeypatch.setenv("REMEMBRANCER_DB", ":memory:")
    assert asyncio.run(one_task(compose.context(load()))).value == GOOD
    assert [asked.key for asked in server.asked] == [KEY]


def test_a_price_of_ones_own_is_counted(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, server, "openai")
    settings = load({"db": ":memory:", "llm_price_input": 1.0, "llm_price_output": 2.0})
    assert asyncio.run(one_task(compose.context(settings))).usage.cost == pytest.approx((120 * 1 + 30 * 2) / 1e6)


def test_a_refused_key_appears_nowhere(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, server, "anthropic")
    server.api_key = "another"
    with pytest.raises(ModelUnavailable, match="is the API key right") as failed:
        asyncio.run(one_task(compose.context(load({"db": ":memory:"}))))
    assert KEY not in str(failed.value)


def test_the_doctor_names_the_model_without_asking_it(
    cli: Cli, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(monkeypatch, server, "openai")
    cli.done("remember", "kestrel nest")
    assert "openai:m, not asked in the last day" in cli.done("doctor").out
    assert server.asked == []


def test_a_memory_opens_and_recalls_while_the_model_is_down(
    cli: Cli, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(monkeypatch, server, "openai")
    server.always = fails(500)
    cli.done("remember", "kestrel nest")
    assert "kestrel nest" in cli.done("recall", "kestrel").out


def test_a_model_without_a_key_is_refused_by_the_settings_name(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("REMEMBRANCER_LLM", "openai:m")
    ran = cli("recall", "kestrel")
    assert (ran.code, ran.err.startswith("error: llm_key: None ")) == (2, True)


def test_an_invalid_language_model_is_refused_with_the_name_of_its_variable(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEMBRANCER_LLM", "gpt-5")
    ran = cli("recall", "kestrel")
    assert (ran.code, ran.err.startswith("error: REMEMBRANCER_LLM: 'gpt-5' ")) == (2, True)


def test_opening_a_memory_with_a_language_model_imports_none_of_its_packages(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from remembrancer import Remembrancer\n"
        "settings = {'embedder': 'none', 'llm_key': 'k', 'background_index': False}\n"
        "with Remembrancer.open(':memory:', llm='openai:m', settings=settings) as rem:\n"
        "    rem.remember('kestrel nest')\n"
        "loaded = [name for name in sys.modules if name.partition('.')[0] in\n"
        "    ('pydantic_ai', 'openai', 'anthropic', 'google', 'httpx2', 'jsonschema')]\n"
        "print(sorted(loaded))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"
