from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import EventDraft, Role
from remembrancer.domain.memory import CueFlag
from remembrancer.domain.query import Filter
from remembrancer.engine import record
from remembrancer.engine.asking import QuestionVectors, embed, embed_now, planned_for
from remembrancer.engine.context import Context
from remembrancer.errors import ModelUnavailable
from remembrancer.language.reading import Reading, read_question, read_terms
from remembrancer.policies.ranking.late_interaction import weighted
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Signal, Weighted
from remembrancer.ports.embedder import EmbeddedQuestion, Embedder
from remembrancer.ports.index import SearchRequest
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import (
    NOW,
    READER,
    SCOPE,
    FailingEmbedder,
    FixedClock,
    HashEmbedder,
    SequentialIds,
    WordHashEmbedder,
    a_memory,
    indexed,
)
from remembrancer.testing.textbook_index import TextbookIndex

T = TypeVar("T")
SIMILARITY = Signal("similarity")
PLAIN = Ranking(score=SIMILARITY)
IN_CONTEXT = Ranking(score=Weighted(((SIMILARITY, 0.5), (Signal("nearby"), 0.5))))
BY_WORDS = Ranking(score=Signal("late_interaction"), first_stage=SIMILARITY, late_interaction=9)
WHERE = Filter(current_at=NOW)
DAY = timedelta(days=1)
TRIP = NOW - 100 * DAY
BEFORE_THE_TRIP = "What did we buy two weeks before the trip to Rome?"


def run(steps: Callable[[Context], Awaitable[T]], embedder: Embedder | None = None) -> T:
    ids = SequentialIds()
    ctx = Context(
        store=ReferenceStore(),
        index=TextbookIndex(),
        embedder=embedder,
        without_embedder="" if embedder else "no embedder here",
        preset=DEFAULT,
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )

    async def main() -> T:
        return await steps(ctx)

    return asyncio.run(main())


def planned(
    question: str,
    ranking: Ranking,
    *said: tuple[str, str],
    at: datetime = TRIP,
    where: Filter = WHERE,
    embedder: Embedder | None = None,
) -> Reading:
    """The search planned for a question over these turns and speakers, asked at that time."""

    async def steps(ctx: Context) -> Reading:
        await record.observe(ctx, SCOPE, [EventDraft(text=text, actor=who, occurred_at=at) for who, text in said])
        return await ctx.store.read(lambda view: planned_for(ctx, view, READER, question, where, ranking))

    return run(steps, embedder)


class NoLatin(WordHashEmbedder):
    def reads(self, text: str) -> bool:
        return False


class FailingTokenEmbedder(WordHashEmbedder):
    def query_now(self, text: str) -> NDArray[np.float32]:
        raise ModelUnavailable("the model does not answer")

    def question_now(self, text: str) -> EmbeddedQuestion:
        raise ModelUnavailable("the model does not answer")


# ── what to search for ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_ranking_that_looks_at_no_context_features_asks_by_the_words_only() -> None:
    question = "When did Ana ask about my trip yesterday?"
    said = [("Ana", "one"), ("Bob", "two")]
    assert planned(question, PLAIN, *said, embedder=HashEmbedder()) == read_terms(question, {"Ana", "Bob"})


def test_without_a_vector_names_stay_in_the_question() -> None:
    assert planned("Did Ana call?", PLAIN, ("Ana", "one")) == read_terms("Did Ana call?")


def test_a_ranking_that_looks_at_context_features_asks_who_speaks_and_when_without_an_embedder_too() -> None:
    question = "How many ports did Ana open yesterday?"
    found = planned(question, IN_CONTEXT, ("Ana", "one"), ("Bob", "two"))
    assert found == read_question(question, {"Ana", "Bob"}, NOW)
    assert (found.speakers, found.answer_type, len(found.spans)) == ({"Ana"}, CueFlag.NUMBER, 1)


def test_only_speakers_of_searched_memories_can_be_named() -> None:
    where = Filter(current_at=NOW, kinds=frozenset({"decision"}))
    assert planned("What did Ana say?", IN_CONTEXT, ("Ana", "one"), ("Bob", "two"), where=where).speakers == frozenset()


def test_a_question_about_oneself_looks_for_the_user() -> None:
    assert planned("What is my dog called?", IN_CONTEXT, ("Ana", "one")).roles == {Role.USER}


def test_times_count_from_the_moment_that_is_asked_about() -> None:
    then = Filter(current_at=datetime(2024, 7, 12, tzinfo=UTC))
    (span,) = planned("What did we do yesterday?", IN_CONTEXT, where=then).spans
    assert span.start == datetime(2024, 7, 11, tzinfo=UTC)


def test_a_relative_time_is_counted_from_the_memory_of_the_event() -> None:
    (span,) = planned(BEFORE_THE_TRIP, IN_CONTEXT, ("Ana", "Today our trip to Rome begins")).spans
    assert span.start <= TRIP - 14 * DAY <= span.end
    assert span.end - span.start < 10 * DAY


def test_it_is_counted_from_the_memory_that_matches_the_event_best() -> None:
    async def steps(ctx: Context) -> Reading:
        said = [("The trip to Rome begins", TRIP), ("Another trip", NOW - DAY), ("Rome again", NOW - 2 * DAY)]
        await record.observe(ctx, SCOPE, [EventDraft(text=text, occurred_at=at) for text, at in said])
        return await ctx.store.read(lambda view: planned_for(ctx, view, READER, BEFORE_THE_TRIP, WHERE, IN_CONTEXT))

    (span,) = run(steps).spans
    assert span.start <= TRIP - 14 * DAY <= span.end


@pytest.mark.parametrize("said", ["We spoke of Rome", "It rained"])
def test_it_is_not_counted_from_a_memory_that_matches_the_event_too_little(said: str) -> None:
    found = planned(BEFORE_THE_TRIP, IN_CONTEXT, ("Ana", said))
    assert (found.spans, found.anchored is not None) == ((), True)


def test_it_is_not_counted_from_a_memory_excluded_by_the_filter() -> None:
    where = Filter(current_at=NOW, kinds=frozenset({"decision"}))
    assert planned(BEFORE_THE_TRIP, IN_CONTEXT, ("Ana", "The trip to Rome begins"), where=where).spans == ()


def test_a_ranking_that_looks_at_no_context_features_looks_nothing_up() -> None:
    assert planned(BEFORE_THE_TRIP, PLAIN, ("Ana", "The trip to Rome begins")).spans == ()


def test_a_time_that_leaves_the_calendar_is_none() -> None:
    async def steps(ctx: Context) -> Reading:
        memory = a_memory("The trip to Rome begins", at=datetime(1000, 1, 2, tzinfo=UTC))
        await ctx.store.insert(SCOPE, indexed(replace(memory, recorded_at=NOW)))
        return await ctx.store.read(lambda view: planned_for(ctx, view, READER, BEFORE_THE_TRIP, WHERE, IN_CONTEXT))

    assert run(steps).spans == ()


def test_another_time_in_the_question_is_used_in_addition() -> None:
    found = planned(
        "Two weeks before the trip to Rome, or yesterday?", IN_CONTEXT, ("Ana", "Today our trip to Rome begins")
    )
    assert [span.text for span in found.spans] == ["yesterday", "Two weeks before the trip to Rome"]


# ── its vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────


def embedded(embedder: Embedder | None, ranking: Ranking, *, at_once: bool = False) -> QuestionVectors:
    """The vectors of a question, waited for or made at once."""

    async def steps(ctx: Context) -> QuestionVectors:
        asked = read_terms("Which port?")
        return embed_now(ctx, asked, ranking) if at_once else await embed(ctx, asked, ranking)

    return run(steps, embedder)


@pytest.mark.parametrize(
    ("embedder", "why"),
    [
        (None, "no embedder here"),
        (NoLatin(), "hash-256 does not read the question's script: words only"),
        (FailingEmbedder(), "the embedder does not answer: the model does not answer"),
        (FailingTokenEmbedder(), "the embedder does not answer: the model does not answer"),
    ],
)
@pytest.mark.parametrize("ranking", [PLAIN, BY_WORDS], ids=["plain", "by words"])
@pytest.mark.parametrize("at_once", [False, True], ids=["waited for", "at once"])
def test_a_question_without_a_vector_has_the_reason(
    embedder: Embedder | None, why: str, ranking: Ranking, at_once: bool
) -> None:
    assert embedded(embedder, ranking, at_once=at_once) == QuestionVectors(None, None, {"dense": why})


@pytest.mark.parametrize(("embedder", "ranking"), [(HashEmbedder(), BY_WORDS), (WordHashEmbedder(), PLAIN)])
@pytest.mark.parametrize("at_once", [False, True], ids=["waited for", "at once"])
def test_words_have_vectors_only_where_they_are_compared_and_the_embedder_gives_them(
    embedder: Embedder, ranking: Ranking, at_once: bool
) -> None:
    found = embedded(embedder, ranking, at_once=at_once)
    assert (found.vector is not None, found.question, found.degraded) == (True, None, {})


@pytest.mark.parametrize("at_once", [False, True], ids=["waited for", "at once"])
def test_where_words_are_compared_one_answer_of_the_embedder_has_both(at_once: bool) -> None:
    found = embedded(WordHashEmbedder(), BY_WORDS, at_once=at_once)
    assert found.question is not None
    assert found.vector is found.question.vector
    assert found.question.spelled == ("Which", "port")


async def searched(ctx: Context, request: SearchRequest) -> Candidates:
    return await ctx.store.read(lambda view: ctx.index.search(view, READER, request).candidates())


def test_the_words_of_a_question_weigh_by_their_idf_in_the_searched_memories() -> None:
    async def steps(ctx: Context) -> None:
        for text in ("port one", "port two", "checkout"):
            await ctx.store.insert(SCOPE, indexed(a_memory(text)))
        asked = read_terms("checkout of the port")
        found = await searched(ctx, SearchRequest(where=WHERE, depth=9, lexical=asked.lexical))
        question = await embed(ctx, asked, BY_WORDS)
        words = question.tokens(asked, found)
        assert words is not None
        assert found.idf is not None
        assert question.question is not None
        idf = dict(zip(asked.lexical.terms, found.idf.tolist(), strict=True))
        expected = weighted(question.question.token_embeddings, question.question.spelled, idf)
        assert expected is not None
        assert words.weights.tolist() == expected.weights.tolist()
        assert words.weights[0] > words.weights[1]

    run(steps, WordHashEmbedder())


def test_without_search_terms_or_vectors_of_words_there_are_no_words_to_compare() -> None:
    async def steps(ctx: Context) -> list[object]:
        await ctx.store.insert(SCOPE, indexed(a_memory("port")))
        asked = read_terms("port")
        without_terms = await searched(ctx, SearchRequest(where=WHERE, depth=9))
        with_terms = await searched(ctx, SearchRequest(where=WHERE, depth=9, lexical=asked.lexical))
        with_words, without = await embed(ctx, asked, BY_WORDS), await embed(ctx, asked, PLAIN)
        return [with_words.tokens(asked, without_terms), without.tokens(asked, with_terms)]

    assert run(steps, WordHashEmbedder()) == [None, None]
