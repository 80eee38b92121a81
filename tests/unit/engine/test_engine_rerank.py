"""The best candidates scored by a reranker: its requests, and the effect of its scores on the order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import numpy as np
import pytest
from judging import Judge, SilentJudge

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.reference.view import ReferenceView
from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import Cue
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Part, Recall, Stage
from remembrancer.domain.scope import Reader
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.engine.recall import Question, recall
from remembrancer.index.resident import ResidentIndex
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import Product, Signal, Weighted
from remembrancer.ports.reranker import Reranker
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, READER, SCOPE, FixedClock, SequentialIds, a_memory, indexed

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
NEW = Signal("retention")
OLDEST_FIRST = ("kestrel barn", "owl roof", "heron nest", "wall gate")
NEWEST_FIRST = list(reversed(OLDEST_FIRST))


def judge(**scores: float) -> Judge:
    """A reranker that scores by the first word of a text; words without a score get 0."""
    return Judge(lambda text: scores.get(text.rpartition("\n")[2].split()[0], 0.0))


def by_age(*, rerank: int = 32, rerank_weight: float = 0.5, **others: Any) -> Ranking:
    """A ranking by age, newest first, before reranking."""
    return Ranking(score=NEW, rerank=rerank, rerank_weight=rerank_weight, **others)


def run(
    steps: Callable[[Context], Awaitable[T]],
    reranker: Reranker | None,
    ranking: Ranking,
    store: ReferenceStore | None = None,
) -> T:
    ids = SequentialIds()
    ctx = Context(
        store=ReferenceStore() if store is None else store,
        index=ResidentIndex(),
        embedder=None,
        without_embedder="none here",
        preset=replace(DEFAULT, ranking=ranking),
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
        reranker=reranker,
    )

    async def main() -> T:
        return await steps(ctx)

    return asyncio.run(main())


async def told(ctx: Context, *texts: str) -> None:
    drafts = [
        EventDraft(text=text, actor="ana", occurred_at=NOW - timedelta(days=9 - day)) for day, text in enumerate(texts)
    ]
    await record.observe(ctx, SCOPE, drafts)


def answered(
    reranker: Reranker | None,
    ranking: Ranking | None = None,
    text: str = "kestrel owl heron wall",
    store: ReferenceStore | None = None,
    **asked: Any,
) -> Recall:
    async def steps(ctx: Context) -> Recall:
        await told(ctx, *OLDEST_FIRST)
        return await recall(ctx, READER, Question(text=text, where=Filter(current_at=NOW), limit=20, **asked))

    return run(steps, reranker, ranking or by_age(), store)


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def judgements(answer: Recall) -> dict[str, float | None]:
    return {hit.memory.text: hit.explanation.signals["rerank"] for hit in answer}


def test_a_judgement_changes_the_order() -> None:
    assert texts(answered(judge(kestrel=1.0, owl=0.9))) == ["kestrel barn", "owl roof", "wall gate", "heron nest"]


def test_without_a_reranker_the_order_is_unchanged_and_nothing_is_missing() -> None:
    answer = answered(None)
    assert texts(answer) == NEWEST_FIRST
    assert set(judgements(answer).values()) == {None}
    assert "rerank" not in {*answer.degraded, *answer.timings}


def test_a_ranking_that_gives_it_nothing_asks_no_reranker() -> None:
    asked = judge(kestrel=1.0)
    answer = answered(asked, by_age(rerank=0))
    assert (texts(answer), asked.asked) == (NEWEST_FIRST, [])


def test_the_question_is_asked_once_with_each_text_under_its_heading() -> None:
    asked = judge()
    answered(asked)
    [(question, given)] = asked.asked
    assert question == "kestrel owl heron wall"
    assert given[0] == "ana, Thursday 26 February 2026\nwall gate"
    assert [text.rpartition("\n")[2] for text in given] == NEWEST_FIRST


def test_a_text_without_a_heading_is_passed_alone() -> None:
    async def steps(ctx: Context) -> Recall:
        await ctx.store.insert(SCOPE, indexed(a_memory("the whole of it"), "heron nest", "kestrel barn", "owl roof"))
        return await recall(ctx, READER, Question(text="kestrel", where=Filter(current_at=NOW)))

    asked = judge(kestrel=0.75)
    [hit] = run(steps, asked, by_age())
    assert asked.asked == [("kestrel", ("kestrel barn",))]
    assert (hit.cue.text, hit.explanation.signals["rerank"]) == ("kestrel barn", 0.75)


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
def test_a_judgement_counts_as_much_as_its_weight(weight: float) -> None:
    before = {hit.memory.text: hit.score for hit in answered(None)}
    answer = answered(judge(kestrel=1.0, owl=0.5), by_age(rerank_weight=weight))
    expected = {text: (1 - weight) * before[text] + weight * (judgements(answer)[text] or 0.0) for text in OLDEST_FIRST}
    assert {hit.memory.text: hit.score for hit in answer} == pytest.approx(expected)


def added_up(part: Part) -> bool:
    inner = sum(one.contribution for one in part.parts)
    if part.label == "weighted sum" and part.value is not None and abs(inner - part.value) > 1e-12:
        return False
    return all(map(added_up, part.parts))


@pytest.mark.parametrize(
    "score", [Weighted(((NEW, 0.3), (Signal("coverage"), 0.6))), Product((NEW, Signal("coverage")))], ids=str
)
def test_an_explanation_adds_up_with_the_judgement_in_it(score: Weighted | Product) -> None:
    ranking = Ranking(score=score, rerank=2, rerank_weight=0.4)
    answer = answered(judge(kestrel=1.0, wall=0.5), ranking)
    for hit in answer:
        tree = answer.trace.scores[hit.id]
        assert tree == hit.explanation.score
        assert tree.contribution == hit.score
        assert added_up(tree)
        [told] = [part for part in tree.parts if part.label == "rerank"]
        assert told.contribution == pytest.approx(0.4 * (hit.explanation.signals["rerank"] or 0.0))


def test_the_explanation_has_the_terms_of_the_sum_and_the_rerankers_judgement() -> None:
    ranking = Ranking(score=Weighted(((NEW, 0.3), (Signal("coverage"), 0.6))), rerank=32)
    hit = answered(judge(), ranking)[0]
    assert [part.label for part in hit.explanation.score.parts] == ["retention", "coverage", "rerank"]


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_memories_that_were_not_reranked_come_after_those_that_were(weight: float) -> None:
    answer = answered(judge(), by_age(rerank=2, rerank_weight=weight))
    assert texts(answer) == NEWEST_FIRST
    assert list(judgements(answer).values()) == [0.0, 0.0, None, None]
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)


def test_equals_stay_in_the_order_they_had() -> None:
    # The oldest alone is judged, and worth nothing, as are the newer ones that nobody was asked about.
    ranking = Ranking(score=Signal("coverage"), rerank=1, rerank_weight=1.0)
    answer = answered(judge(), ranking, text="kestrel barn owl heron wall")
    assert ({hit.score for hit in answer}, texts(answer)[0]) == ({0.0}, "kestrel barn")


def test_only_the_best_are_judged() -> None:
    # The oldest would be the best by far, had it been among the best three before.
    answer = answered(judge(kestrel=1.0, owl=0.5), by_age(rerank=3))
    assert texts(answer) == ["owl roof", "wall gate", "heron nest", "kestrel barn"]


def test_a_memory_below_the_relevance_threshold_is_not_reranked() -> None:
    asked = judge(kestrel=1.0)
    ranking = by_age(rerank=1, threshold=RelevanceThreshold(similarity=0.9, coverage=0.9))
    answer = answered(asked, ranking, text="kestrel barn")
    assert [len(given) for _, given in asked.asked] == [1]
    assert (texts(answer), answer[0].explanation.signals["rerank"]) == (["kestrel barn"], 1.0)


def test_a_memory_below_the_relevance_threshold_stays_out_if_only_the_reranker_scores() -> None:
    ranking = by_age(rerank_weight=1.0, threshold=RelevanceThreshold(similarity=0.9, coverage=0.9))
    assert texts(answered(judge(kestrel=1.0), ranking, text="kestrel barn")) == ["kestrel barn"]


def test_where_nothing_was_found_no_model_is_called() -> None:
    asked = judge()
    answer = answered(asked, text="zebra")
    assert (texts(answer), asked.asked, answer.degraded) == ([], [], {"dense": "none here"})


def test_the_requested_least_score_is_that_of_the_judged() -> None:
    answer = answered(judge(kestrel=1.0), min_score=0.7)
    assert texts(answer) == ["kestrel barn"]
    assert {outcome.stage for outcome in answer.trace.outcomes.values()} == {Stage.RETURNED, Stage.MIN_SCORE}


def test_when_it_does_not_answer_the_order_is_unchanged_and_the_answer_has_the_reason() -> None:
    answer = answered(SilentJudge(lambda _: 1.0))
    assert texts(answer) == NEWEST_FIRST
    assert answer.degraded["rerank"] == "the reranker does not answer: the judge is out"
    assert set(judgements(answer).values()) == {None}
    assert [hit.score for hit in answer] == [hit.score for hit in answered(None)]


@pytest.mark.parametrize(("score", "said"), [(1.5, "1.5"), (-0.5, "-0.5"), (float("nan"), "nan")])
def test_scores_outside_the_unit_interval_are_none(score: float, said: str) -> None:
    answer = answered(Judge(lambda _: score))
    assert texts(answer) == NEWEST_FIRST
    assert (
        answer.degraded["rerank"]
        == f"the reranker does not answer: judge gave the score {said}, which is not in [0, 1]"
    )


def test_a_score_that_rounding_carries_beyond_1_is_1() -> None:
    answer = answered(Judge(lambda _: float(np.nextafter(np.float32(1), np.float32(2)))))
    assert (set(judgements(answer).values()), "rerank" in answer.degraded) == ({1.0}, False)


def test_scores_of_some_of_the_texts_are_none() -> None:
    class Short(Judge):
        async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
            return (await super().scores(question, texts))[1:]

    answer = answered(Short(lambda _: 1.0))
    assert answer.degraded["rerank"] == "the reranker does not answer: judge gave scores of shape (3,) for 4 texts"


def test_a_memory_erased_since_the_search_is_not_reranked() -> None:
    class Lost(ReferenceView):
        def cues(self, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, tuple[Cue, ...]]:
            found = super().cues(reader, ids)
            return {one: cues for one, cues in found.items() if "wall" not in cues[0].text}

    class Losing(ReferenceStore):
        def view(self) -> ReferenceView:
            return Lost(self._workspaces)

    asked = judge(kestrel=1.0)
    answer = answered(asked, store=Losing())
    assert texts(answer) == ["kestrel barn", "heron nest", "owl roof"]
    assert [len(given) for _, given in asked.asked] == [3]


def test_how_long_it_took_is_reported() -> None:
    assert "rerank" in answered(judge()).timings
