"""The best candidates compared with the question by late interaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Recall
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.engine.index import index_batch
from remembrancer.engine.recall import Question, recall
from remembrancer.errors import ModelUnavailable
from remembrancer.index.resident import ResidentIndex
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.ranking.late_interaction import QuestionTokens, packed, sum_of_bits
from remembrancer.policies.ranking.late_interaction import compared as compare
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Signal, Weighted
from remembrancer.ports.embedder import EmbeddedQuestion, Embedder, Passage
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import (
    NOW,
    READER,
    SCOPE,
    FixedClock,
    HashEmbedder,
    SequentialIds,
    WordHashEmbedder,
    a_memory,
    indexed,
)

T = TypeVar("T")
CLOSE, NEW = Signal("late_interaction"), Signal("retention")
WORDS = Encoding(token_embeddings=True)
OLDEST_FIRST = ("kestrel barn", "owl roof", "heron nest", "wall gate")
"""A question about the first two words finds them last where the newest come first."""


def ranking(*, late_interaction: int = 100) -> Ranking:
    """By late interaction if it is computed, else the newest first."""
    return Ranking(score=CLOSE, first_stage=NEW, lexical_only=NEW, late_interaction=late_interaction)


def run(steps: Callable[[Context], Awaitable[T]], embedder: Embedder | None, chosen: Ranking, encoding: Encoding) -> T:
    ids = SequentialIds()
    ctx = Context(
        store=ReferenceStore(),
        index=ResidentIndex(),
        embedder=embedder,
        without_embedder="" if embedder else "no embedder here",
        preset=replace(DEFAULT, ranking=chosen, encoding=encoding),
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )

    async def main() -> T:
        return await steps(ctx)

    return asyncio.run(main())


async def told(ctx: Context, *texts: str, day: int = 9) -> None:
    drafts = [EventDraft(text=text, occurred_at=NOW - timedelta(days=day - n)) for n, text in enumerate(texts)]
    await record.observe(ctx, SCOPE, drafts)


async def asked(ctx: Context, text: str, limit: int = 20) -> Recall:
    return await recall(ctx, READER, Question(text=text, where=Filter(current_at=NOW), limit=limit))


def answered(
    text: str = "kestrel barn",
    *,
    embedder: Embedder | None,
    chosen: Ranking | None = None,
    encoding: Encoding = WORDS,
    swept: bool = True,
    limit: int = 20,
) -> Recall:
    async def steps(ctx: Context) -> Recall:
        await told(ctx, *OLDEST_FIRST)
        if swept:
            await index_batch(ctx, SCOPE)
        return await asked(ctx, text, limit)

    return run(steps, embedder, chosen or ranking(), encoding)


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def close(answer: Recall) -> dict[str, float | None]:
    return {hit.memory.text: hit.explanation.signals["late_interaction"] for hit in answer}


NEWEST_FIRST = list(reversed(OLDEST_FIRST))


def test_words_change_the_order() -> None:
    assert texts(answered(embedder=WordHashEmbedder()))[0] == "kestrel barn"
    assert texts(answered(embedder=HashEmbedder())) == NEWEST_FIRST


def test_a_hit_has_its_late_interaction_score() -> None:
    answer = answered("kestrel", embedder=WordHashEmbedder())

    async def by_hand() -> float:
        embedder = WordHashEmbedder()
        (words,) = (await embedder.embed_passages([Passage("kestrel barn")])).token_embeddings
        words = (await embedder.embed_question("kestrel")).token_embeddings
        question = QuestionTokens(words, np.array([1.0], dtype=np.float32), sum_of_bits)
        return float(compare(question, [packed(words)]).closeness()[0])

    assert answer[0].explanation.signals["late_interaction"] == asyncio.run(by_hand())
    assert answer[0].score == answer[0].explanation.signals["late_interaction"]


def compared(answer: Recall) -> int:
    """The number of candidates with late interaction, returned or not."""
    leaves = [leaf for score in answer.trace.scores.values() for leaf in score.parts]
    return sum(leaf.label == CLOSE.name and leaf.value is not None for leaf in leaves)


@pytest.mark.parametrize(("late_interaction", "limit", "expected"), [(2, 1, 2), (1, 1, 1), (1, 3, 3)])
def test_the_best_are_compared_and_no_fewer_than_are_requested(
    late_interaction: int, limit: int, expected: int
) -> None:
    score = Weighted(((CLOSE, 0.5), (Signal("similarity"), 0.5)))
    answer = answered(
        embedder=WordHashEmbedder(), chosen=Ranking(score=score, late_interaction=late_interaction), limit=limit
    )
    assert compared(answer) == expected


def test_the_best_are_selected_by_the_first_stage_score() -> None:
    answer = answered(embedder=WordHashEmbedder(), chosen=ranking(late_interaction=2), limit=2)
    assert set(texts(answer)) == set(OLDEST_FIRST[-2:])


def test_by_default_the_best_are_selected_by_the_score_itself() -> None:
    chosen = Ranking(score=Weighted(((CLOSE, 0.5), (Signal("similarity"), 0.5))), late_interaction=1)
    assert texts(answered(embedder=WordHashEmbedder(), chosen=chosen, limit=1)) == ["kestrel barn"]


@pytest.mark.parametrize("encoding", [Encoding(), Encoding(turns=3)])
def test_a_store_without_vectors_of_words_answers_as_before_they_are_compared(encoding: Encoding) -> None:
    answer = answered(embedder=WordHashEmbedder(), encoding=encoding)
    assert texts(answer) == NEWEST_FIRST
    assert set(close(answer).values()) == {None}


class FailingProducts(WordHashEmbedder):
    """Embeds a question, and fails at late interaction."""

    def question_now(self, text: str) -> EmbeddedQuestion:
        def failing(bits: NDArray[np.uint8], levels: NDArray[np.int8], /) -> NDArray[np.int32]:
            raise ModelUnavailable(f"no room for {len(bits)} words and {len(levels)}")

        return replace(super().question_now(text), sum_of_bits=failing)


def test_without_token_embeddings_the_answer_reports_it_and_has_the_first_stage_order() -> None:
    answer = answered(embedder=FailingProducts())
    assert texts(answer) == NEWEST_FIRST
    assert answer.degraded == {"late_interaction": "no late-interaction reranking: no room for 8 words and 2"}


def test_a_memory_without_vectors_of_its_words_is_not_compared() -> None:
    async def steps(ctx: Context) -> Recall:
        plain = replace(ctx, preset=replace(ctx.preset, encoding=Encoding()))
        await told(ctx, "kestrel owl")
        await index_batch(ctx, SCOPE)
        await told(ctx, "kestrel barn", day=3)
        await index_batch(plain, SCOPE)
        return await asked(ctx, "kestrel")

    answer = run(steps, WordHashEmbedder(), ranking(), WORDS)
    assert texts(answer)[0] == "kestrel owl"
    compared = close(answer)
    assert compared["kestrel barn"] is None
    assert compared["kestrel owl"] is not None


def test_before_anything_has_a_vector_words_are_not_compared() -> None:
    answer = answered("kestrel", embedder=WordHashEmbedder(), swept=False)
    assert close(answer) == {"kestrel barn": None}


@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
def test_without_vectors_of_the_question_s_words_none_are_compared(embedder: Embedder | None) -> None:
    answer = answered("kestrel", embedder=embedder)
    assert set(close(answer).values()) == {None}


@pytest.mark.parametrize("question", ["to be or not to be", "???", "of the"])
def test_a_question_without_a_word_that_counts_compares_none(question: str) -> None:
    answer = answered(question, embedder=WordHashEmbedder())
    assert texts(answer) == NEWEST_FIRST
    assert set(close(answer).values()) == {None}


def test_words_that_ask_are_compared_too() -> None:
    # "when" is no term: its vector alone is compared, where the other word weighs as well.
    both = answered("when kestrel", embedder=WordHashEmbedder())
    alone = answered("kestrel", embedder=WordHashEmbedder())
    first, second = close(both)["kestrel barn"], close(alone)["kestrel barn"]
    assert first is not None
    assert second is not None
    assert 0 < first < second


def test_of_a_memory_of_several_texts_the_best_one_is_compared() -> None:
    async def steps(ctx: Context) -> Recall:
        await ctx.store.insert(SCOPE, indexed(a_memory("the whole of it"), "heron nest", "kestrel barn", "owl roof"))
        await index_batch(ctx, SCOPE)
        return await asked(ctx, "kestrel")

    (hit,) = run(steps, WordHashEmbedder(), ranking(), WORDS)
    assert hit.cue.text == "kestrel barn"
    alone = close(answered("kestrel", embedder=WordHashEmbedder()))
    assert hit.explanation.signals["late_interaction"] == alone["kestrel barn"]


def test_an_answer_counts_the_candidates_of_the_context_search() -> None:
    async def steps(ctx: Context) -> Recall:
        said = [
            EventDraft(text=text, occurred_at=NOW, session="monday") for text in ("kestrel", "owl", "barn", "heron")
        ]
        await record.observe(ctx, SCOPE, said)
        return await asked(ctx, "kestrel")

    answer = run(steps, None, Ranking(score=Weighted(((NEW, 0.5), (Signal("nearby"), 0.5)))), WORDS)
    assert answer.trace.legs == {"dense": 0, "lexical": 1, "context": 3}
    ranks = {hit.memory.text: hit.explanation.ranks for hit in answer}
    assert set(ranks) == {"kestrel", "owl", "barn"}
    assert (set(ranks["kestrel"]), ranks["barn"]) == ({"lexical", "context"}, {"context": 3})


def test_a_ranking_without_context_features_has_no_context_search() -> None:
    answer = answered("kestrel", embedder=None, chosen=Ranking(score=NEW))
    assert answer.trace.legs == {"dense": 0, "lexical": 1}


def test_the_words_of_a_session_count_for_each_of_its_turns() -> None:
    score = Weighted(((CLOSE, 0.5), (Signal("session_words"), 0.5)))

    async def steps(ctx: Context) -> Recall:
        for session, text in (("one", "kestrel"), ("one", "barn"), ("two", "owl")):
            await record.observe(ctx, SCOPE.narrowed(session=session), [EventDraft(text=text)])
        await index_batch(ctx, SCOPE)
        return await asked(ctx, "kestrel barn")

    answer = run(steps, WordHashEmbedder(), Ranking(score=score, late_interaction=9), WORDS)
    together = {hit.memory.text: hit.explanation.signals["session_words"] or 0.0 for hit in answer}
    assert together["kestrel"] == together["barn"]
    assert together["kestrel"] > max(value for value in close(answer).values() if value is not None)
    assert together["owl"] == close(answer)["owl"]


def test_adjacent_words_count_more_than_words_far_apart() -> None:
    score = Weighted(((CLOSE, 0.5), (Signal("passage_words"), 0.5)))
    far = " ".join(["kestrel", *(f"heron{number}" for number in range(40)), "barn"])

    async def steps(ctx: Context) -> Recall:
        await record.observe(ctx, SCOPE, [EventDraft(text=far), EventDraft(text="kestrel barn")])
        await index_batch(ctx, SCOPE)
        return await asked(ctx, "kestrel barn")

    answer = run(steps, WordHashEmbedder(), Ranking(score=score, late_interaction=9), WORDS)
    passages = {hit.memory.text: hit.explanation.signals["passage_words"] or 0.0 for hit in answer}
    whole = {text: value or 0.0 for text, value in close(answer).items()}
    assert passages["kestrel barn"] == whole["kestrel barn"]
    assert passages[far] < whole[far]
