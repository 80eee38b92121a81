"""The memory itself over the tiny data set, through its public interface."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from evaluated import evaluated
from judging import Judge
from rerank_server import RerankServer
from rich.console import Console

from remembrancer import config
from remembrancer.config import Settings
from remembrancer.domain.recall import Stage
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.evaluation.dataset import Conversation, DatasetTurn, Transcript
from remembrancer.evaluation.locomo import load
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.memory_system import OUTCOME_OF_STAGE, MemorySystem
from remembrancer.evaluation.misses import Cause
from remembrancer.evaluation.report import as_json
from remembrancer.evaluation.system import Ranker, SystemAnswer, TurnOutcome
from remembrancer.evaluation.tables import print_report
from remembrancer.ports.embedder import Embedded, Embedder
from remembrancer.testing.doubles import NOW, HashEmbedder

TINY = Path(__file__).parents[2] / "fixtures" / "locomo" / "tiny.json"
A = TypeVar("A")
BASELINES = ["random", "recency", "grep", "bm25", "dense"]


class Closing(HashEmbedder):
    """An embedder that fails once it is closed."""

    closed = False

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if self.closed:
            raise ModelUnavailable("closed")
        return await super().embed_documents(texts)

    async def close(self) -> None:
        self.closed = True


class ReportingEmbedder(HashEmbedder):
    arithmetic = "8-bit products: exact"


def settings(**changes: object) -> Settings:
    return config.load({"embedder": "none", **changes}, environment={})


def asking(
    transcript: Transcript,
    ask: Callable[[Ranker], Awaitable[A]],
    database: Path,
    embedder: Embedder | None = None,
    **changes: object,
) -> A:
    async def prepared() -> A:
        chosen = settings(db=str(database), background_index=False, **changes)
        async with MemorySystem(chosen, embedder).prepared(transcript) as ranker:
            return await ask(ranker)

    return asyncio.run(prepared())


def answered(
    conversation: Conversation, question: str, database: Path, embedder: Embedder | None = None, *, limit: int = 100
) -> SystemAnswer:
    at = conversation.questions[0].asked_at
    return asking(
        conversation.transcript, lambda ranker: ranker.answer(question, asked_at=at, limit=limit), database, embedder
    )


def ranked(conversation: Conversation, question: str, database: Path, embedder: Embedder | None) -> list[str]:
    return list(answered(conversation, question, database, embedder).ranked)


def outcome(transcript: Transcript, question: str, turn_id: str, database: Path, **asked: Any) -> TurnOutcome:
    limit = asked.pop("limit", 100)

    async def ask(ranker: Ranker) -> TurnOutcome:
        answer = await ranker.answer(question, asked_at=transcript.ends, limit=limit)
        return await answer.outcome(turn_id)

    return asking(transcript, ask, database, **asked)


def told(*texts: str) -> Transcript:
    """Turns t1, t2, … all at the same time."""
    turns = (DatasetTurn(id=f"t{number}", text=text, occurred_at=NOW) for number, text in enumerate(texts, start=1))
    return Transcript(id="c", turns=tuple(turns))


def test_hits_are_described_as_turns(tmp_path: Path) -> None:
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
    report = evaluated(load(TINY), settings=settings(), embedder=HashEmbedder())
    assert [result.system for result in report.results] == ["default", *BASELINES]
    assert (report.conversations, report.turns, report.questions, report.excluded) == (2, 7, 5, 2)
    assert report.embedder == "hash-256"
    assert report.degraded == {}
    assert report.index_bytes > 0
    assert report.results[0].main.turn.values["recall@10"] > 0.5


def test_how_the_embedder_is_computed_is_printed_with_the_machine() -> None:
    report = evaluated(load(TINY), settings=settings(), embedder=ReportingEmbedder(), baselines=False)
    out = io.StringIO()
    print_report(report, Console(file=out, width=300))
    assert f"Machine: {machine_line()}; 8-bit products: exact\n" in out.getvalue()


def test_same_run_gives_the_same_table() -> None:
    first, second = (as_json(evaluated(load(TINY), settings=settings(), embedder=HashEmbedder())) for _ in range(2))
    assert first["table"] == second["table"]
    assert first["intervals"] == second["intervals"]


def test_without_an_embedder_the_report_records_it_and_leaves_out_dense() -> None:
    report = evaluated(load(TINY), settings=settings())
    assert [result.system for result in report.results] == ["default", *BASELINES[:-1]]
    assert report.embedder is None
    assert list(report.degraded) == ["dense"]


def test_a_reranker_given_serves_every_conversation_stays_open_and_is_named() -> None:
    judge = Judge(lambda _: 0.5)
    report = evaluated(load(TINY), settings=settings(), reranker=judge)
    assert (report.reranker, bool(judge.asked), judge.closed) == ("judge", True, 0)
    page = io.StringIO()
    print_report(report, Console(file=page, width=200))
    assert "Embedder: none; reranker: judge; " in page.getvalue()


def test_a_reranker_of_the_settings_is_asked_and_named() -> None:
    with RerankServer() as server:
        chosen = settings(reranker=server.url, reranker_model="rerank-v3.5")
        report = evaluated(load(TINY), settings=chosen)
    assert (as_json(report)["reranker"], bool(server.asked)) == ("rerank/rerank-v3.5", True)


def test_without_a_reranker_the_report_names_none() -> None:
    report = evaluated(load(TINY), settings=settings())
    page = io.StringIO()
    print_report(report, Console(file=page, width=200))
    assert (report.reranker, "reranker" in page.getvalue()) == (None, False)


def test_embedder_given_serves_every_conversation_and_stays_open() -> None:
    embedder = Closing()
    report = evaluated(load(TINY), settings=settings(), embedder=embedder)
    assert report.degraded == {}
    assert not embedder.closed


def test_users_own_store_and_scope_are_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    chosen = settings(db=str(own), workspace="mine", agent="me", session="now")
    alone = evaluated(load(TINY), settings=settings(), baselines=False)
    scoped = evaluated(load(TINY), settings=chosen, baselines=False)
    assert not own.exists()
    assert as_json(scoped)["table"] == as_json(alone)["table"]


def test_first_conversations_alone() -> None:
    report = evaluated(load(TINY), settings=settings(), baselines=False, conversations=1)
    assert (report.conversations, report.questions, report.excluded) == (1, 4, 1)


@pytest.mark.parametrize("conversations", [0, 3])
def test_more_conversations_than_there_are_is_refused(conversations: int) -> None:
    with pytest.raises(InvalidInput, match="conversations"):
        evaluated(load(TINY), settings=settings(), conversations=conversations)


def test_records_hold_the_report_and_a_file_a_system(tmp_path: Path) -> None:
    report = evaluated(load(TINY), settings=settings(), records=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bm25.jsonl",
        "default.jsonl",
        "grep.jsonl",
        "random.jsonl",
        "recency.jsonl",
        "report.json",
    ]
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(json.dumps(as_json(report)))


def test_every_stage_of_a_recall_has_its_outcome() -> None:
    assert set(OUTCOME_OF_STAGE) == set(Stage)


def test_scores_of_the_memory_are_fractions_that_fall(tmp_path: Path) -> None:
    answer = answered(load(TINY).conversations[0], "the green canoe and the beehives", tmp_path / "a.db")
    assert len(answer.scores) == len(answer.ranked) > 1
    assert list(answer.scores) == sorted(answer.scores, reverse=True)
    assert all(0 <= score <= 1 for score in answer.scores)


def test_a_block_names_the_turns_that_it_contains(tmp_path: Path) -> None:
    conversation = load(TINY).conversations[0]

    async def ask(ranker: Ranker) -> tuple[SystemAnswer, tuple[str, ...], tuple[str, ...]]:
        answer = await ranker.answer("the beehives", asked_at=conversation.questions[0].asked_at, limit=100)
        return answer, answer.block(4_000).turns, answer.block(300).turns

    answer, wide, narrow = asking(conversation.transcript, ask, tmp_path / "a.db")
    assert set(wide) == set(answer.ranked)
    assert len(narrow) == 1 < len(wide)


@pytest.mark.parametrize(
    ("texts", "limit", "expected"),
    [
        (("the green canoe", "bees"), 100, TurnOutcome.RETURNED),
        (("the green canoe is on the trailer", "the green canoe"), 1, TurnOutcome.LIMIT),
    ],
)
def test_the_outcome_of_a_turn_is_where_its_way_ended(
    texts: tuple[str, ...], limit: int, expected: TurnOutcome, tmp_path: Path
) -> None:
    assert outcome(told(*texts), "the green canoe", "t1", tmp_path / "a.db", limit=limit) is expected


def test_a_turn_that_no_search_brings_is_no_candidate(tmp_path: Path) -> None:
    """The turn is a year older than the hits, so it is not one of their neighbours."""
    long_ago = DatasetTurn(id="t1", text="bees", session="first", occurred_at=NOW - timedelta(days=365))
    transcript = Transcript(
        id="c", turns=(long_ago, DatasetTurn(id="t2", text="the green canoe", session="second", occurred_at=NOW))
    )
    assert outcome(transcript, "the green canoe", "t1", tmp_path / "a.db") is TurnOutcome.NO_CANDIDATE


def test_a_turn_with_too_little_in_common_is_below_the_relevance_threshold(tmp_path: Path) -> None:
    question = "Which violin did the zebra play at the lake before breakfast in Lisbon on a yellow bicycle?"
    assert (
        outcome(told("a lake", "a violin", "a zebra", "an admiral"), question, "t1", tmp_path / "a.db")
        is TurnOutcome.THRESHOLD
    )


def test_a_turn_that_repeats_a_better_one_is_a_duplicate(tmp_path: Path) -> None:
    transcript = told("the green canoe", "the green canoe")

    async def ask(ranker: Ranker) -> set[TurnOutcome]:
        answer = await ranker.answer("the green canoe", asked_at=NOW, limit=100)
        return {await answer.outcome(turn.id) for turn in transcript.turns}

    assert asking(transcript, ask, tmp_path / "a.db") == {TurnOutcome.RETURNED, TurnOutcome.DUPLICATE}


def test_a_turn_that_the_preset_does_not_admit_is_not_ingested(tmp_path: Path) -> None:
    assert (
        outcome(told("the green canoe"), "canoe", "t1", tmp_path / "a.db", preset="crewship")
        is TurnOutcome.NOT_INGESTED
    )


def test_answers_are_read_no_deeper_than_the_preset_allows() -> None:
    report = evaluated(load(TINY), settings=settings(preset="crewship"), baselines=False, depth=100)
    assert report.depth == 50
    assert report.results[0].missed["first 10"] == {Cause.NOT_INGESTED: 7}


def test_a_question_is_asked_at_its_own_time(tmp_path: Path) -> None:
    transcript = told("the green canoe")

    async def ask(ranker: Ranker) -> list[float]:
        later = [NOW, NOW + timedelta(days=300)]
        return [(await ranker.answer("the canoe", asked_at=at, limit=5)).scores[0] for at in later]

    at_once, late = asking(transcript, ask, tmp_path / "a.db", preset="mnemosyne")
    assert late < at_once


def test_more_turns_than_are_taken_in_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remembrancer.evaluation.memory_system.BATCH", 2)
    transcript = told("one", "two", "three", "four", "the green canoe")
    assert outcome(transcript, "canoe", "t5", tmp_path / "a.db") is TurnOutcome.RETURNED


def test_two_presets_are_compared_on_the_same_questions(tmp_path: Path) -> None:
    report = evaluated(load(TINY), settings=settings(), baselines=False, against="crewship", records=tmp_path)
    assert [result.system for result in report.results] == ["default", "crewship"]
    assert report.paired is not None
    assert (report.paired.first, report.paired.second, report.paired.questions) == ("default", "crewship", 5)
    by_metric = {one.metric: one for one in report.paired.differences}
    assert by_metric["recall@10"].difference == report.results[0].main.turn.values["recall@10"] > 0
    changed = (tmp_path / "default-against-crewship.jsonl").read_text().splitlines()
    assert len(changed) == by_metric["recall@20"].won


def test_a_preset_against_itself_is_refused() -> None:
    with pytest.raises(InvalidInput, match="against: 'default'"):
        evaluated(load(TINY), settings=settings(), against="default")


def test_conversations_by_name_alone() -> None:
    report = evaluated(load(TINY), settings=settings(), baselines=False, only=["tiny-2"])
    assert (report.conversation_ids, report.available, report.questions) == (("tiny-2",), 2, 1)


def test_tuned_and_untouched_conversations_are_distinguished() -> None:
    report = evaluated(load(TINY), settings=settings(), baselines=False, tuned=["tiny-2"], against="crewship")
    assert [(group.name, group.conversations) for group in report.groups] == [
        ("tuned", ("tiny-2",)),
        ("untouched", ("tiny-1",)),
    ]
    assert [group.results["default"].turn.questions for group in report.groups] == [1, 4]
    assert [group.paired.questions for group in report.groups if group.paired is not None] == [1, 4]


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"only": ["tiny-3"]}, "only: 'tiny-3'"),
        ({"only": ["tiny-1"], "conversations": 1}, "only"),
        ({"tuned": ["tiny-9"]}, "tuned: 'tiny-9'"),
        ({"tuned": ["tiny-1", "tiny-2"]}, "at least one conversation left untouched"),
        ({"tuned": ["tiny-2"], "only": ["tiny-1"]}, "tuned: 'tiny-2'"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(chosen: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        evaluated(load(TINY), settings=settings(), baselines=False, **chosen)


def test_baselines_with_headings_are_added_to_the_plain_ones() -> None:
    report = evaluated(load(TINY), settings=settings(), embedder=HashEmbedder(), headings=True)
    headed = ["grep+heading", "bm25+heading", "dense+heading"]
    assert [result.system for result in report.results] == ["default", *BASELINES, *headed]
