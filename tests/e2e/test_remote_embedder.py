"""A memory that embeds over OpenAI's protocol with two keys, of which one meets a limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver import Cli
from embedding_server import EmbeddingServer, answers

from remembrancer import Remembrancer, Settings
from remembrancer.config import Secret
from remembrancer.testing.doubles import FixedClock

LIMITED = answers(429, {"error": {"message": "slow down"}}, {"Retry-After": "3600"})


def test_a_text_embedded_by_a_compatible_server_is_found_by_its_meaning_also_when_a_key_is_limited(
    tmp_path: Path,
) -> None:
    with EmbeddingServer(faults={"first": LIMITED}) as server:
        settings = Settings(
            db=str(tmp_path / "a.db"),
            embedder="openai:bge-m3",
            embedder_url=server.url,
            embedder_keys=(Secret("first"), Secret("second")),
            background_index=False,
        )
        with Remembrancer.open(settings=settings, clock=FixedClock()) as rem:
            memory = rem.remember("the car broke down")
            report = rem.jobs.index_now()
            answer = rem.recall("the car broke down")
            vectors = rem.health.stats().vectors
    assert (report.indexed, [hit.id for hit in answer], answer.degraded) == (1, [memory.id], {})
    assert (vectors, server.used) == ({"openai/bge-m3": 1}, ["first", "second", "second"])


def test_a_limit_of_every_key_makes_recall_lexical_and_says_so(tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        settings = Settings(
            db=str(tmp_path / "a.db"), embedder="openai:bge-m3", embedder_url=server.url, background_index=False
        )
        with Remembrancer.open(settings=settings, clock=FixedClock()) as rem:
            memory = rem.remember("the car broke down")
            rem.jobs.index_now()
            server.fault = LIMITED
            answer = rem.recall("car")
    assert [hit.id for hit in answer] == [memory.id]
    assert "429: slow down; it asks to wait 3,600 s" in answer.degraded["dense"]


def test_the_command_line_embeds_with_the_provider_s_key(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingServer(keys=("sk-1",)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        monkeypatch.setenv("REMEMBRANCER_EMBEDDER_URL", server.url)
        cli("remember", "the car broke down", "--embedder", "openai:bge-m3")
        cli("maintain", "--only", "index", "--embedder", "openai:bge-m3")
        assert set(server.used) == {"sk-1"}
