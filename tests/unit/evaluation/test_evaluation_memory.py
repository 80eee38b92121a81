"""The memory itself over the tiny data set, through its public interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from remembrancer.config import Settings
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.evaluation.evaluate import evaluate_locomo
from remembrancer.evaluation.locomo import Conversation, load
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.evaluation.report import as_json
from remembrancer.ports.embedder import Embedded, Embedder
from remembrancer.testing.doubles import HashEmbedder

TINY = Path(__file__).parents[2] / "fixtures" / "locomo" / "tiny.json"
BASELINES = ["random", "recency", "grep", "bm25", "dense"]


class Closing(HashEmbedder):
    """An embedder that says nothing more once it is closed."""

    closed = False

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if self.closed:
            raise ModelUnavailable("closed")
        return await super().embed_documents(texts)

    async def close(self) -> None:
        self.closed = True


def settings(**changes: object) -> Settings:
    return Settings.model_validate({"embedder": "none", **changes})


def ranked(conversation: Conversation, question: str, database: Path, embedder: Embedder | None) -> list[str]:
    async def ask() -> list[str]:
        system = MemorySystem(settings(db=str(database), background_index=False), embedder)
        async with system.prepared(conversation.transcript) as ranker:
            return await ranker.rank(question, limit=100)

    return asyncio.run(ask())


def test_hits_are_told_as_turns(tmp_path: Path) -> None:
    conversation = load(TINY).conversations[0]
    found = ranked(conversation, "Who sold the green canoe?", tmp_path / "a.db", HashEmbedder())
    assert found[0] == "D1:2"
    assert set(found) <= {turn.id for turn in conversation.transcript.turns}


def test_speaker_is_found_by_name(tmp_path: Path) -> None:
    assert ranked(load(TINY).conversations[1], "Oda", tmp_path / "a.db", None) == ["D2:1"]


def test_conversations_in_one_database_do_not_meet(tmp_path: Path) -> None:
    first, second = load(TINY).conversations
    ranked(first, "the canoe", tmp_path / "a.db", None)
    assert set(ranked(second, "the bakery", tmp_path / "a.db", None)) == {"D2:1", "D10:1"}
    assert ranked(first, "the bakery", tmp_path / "a.db", None) == []


def test_a_memory_under_a_preset_of_ones_own_has_the_presets_name(tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_text('based_on = "default"\nname = "mine"\n', encoding="utf-8")
    assert MemorySystem(settings(preset=str(file)), None).name == "mine"


def test_report_begins_with_the_memory_under_its_presets_name() -> None:
    report = asyncio.run(evaluate_locomo(TINY, settings=settings(), embedder=HashEmbedder()))
    assert [result.system for result in report.results] == ["default", *BASELINES]
    assert (report.conversations, report.turns, report.questions, report.excluded) == (2, 7, 5, 2)
    assert report.embedder == "hash-256"
    assert report.degraded == {}
    assert report.index_bytes > 0
    assert report.results[0].main.turn.values["recall@10"] > 0.5


def test_same_run_gives_the_same_table() -> None:
    first, second = (
        as_json(asyncio.run(evaluate_locomo(TINY, settings=settings(), embedder=HashEmbedder()))) for _ in range(2)
    )
    assert first["table"] == second["table"]
    assert first["intervals"] == second["intervals"]


def test_without_an_embedder_the_report_says_so_and_leaves_out_dense() -> None:
    report = asyncio.run(evaluate_locomo(TINY, settings=settings()))
    assert [result.system for result in report.results] == ["default", *BASELINES[:-1]]
    assert report.embedder is None
    assert list(report.degraded) == ["dense"]


def test_embedder_given_serves_every_conversation_and_stays_open() -> None:
    embedder = Closing()
    report = asyncio.run(evaluate_locomo(TINY, settings=settings(), embedder=embedder))
    assert report.degraded == {}
    assert not embedder.closed


def test_users_own_store_and_scope_are_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    chosen = settings(db=str(own), workspace="mine", agent="me", session="now")
    alone = asyncio.run(evaluate_locomo(TINY, settings=settings(), baselines=False))
    scoped = asyncio.run(evaluate_locomo(TINY, settings=chosen, baselines=False))
    assert not own.exists()
    assert as_json(scoped)["table"] == as_json(alone)["table"]


def test_first_conversations_alone() -> None:
    report = asyncio.run(evaluate_locomo(TINY, settings=settings(), baselines=False, conversations=1))
    assert (report.conversations, report.questions, report.excluded) == (1, 4, 1)


@pytest.mark.parametrize("conversations", [0, 3])
def test_more_conversations_than_there_are_is_refused(conversations: int) -> None:
    with pytest.raises(InvalidInput, match="conversations"):
        asyncio.run(evaluate_locomo(TINY, settings=settings(), conversations=conversations))


def test_records_hold_the_report_and_a_file_a_system(tmp_path: Path) -> None:
    report = asyncio.run(evaluate_locomo(TINY, settings=settings(), records=tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bm25.jsonl",
        "default.jsonl",
        "grep.jsonl",
        "random.jsonl",
        "recency.jsonl",
        "report.json",
    ]
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(json.dumps(as_json(report)))
