from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer import Recall
from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Stage
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.engine.index import index_batch
from remembrancer.engine.recall import Question, recall
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.reading import LONG_QUESTION_WORDS, read_terms, salient_part
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, READER, SCOPE, FixedClock, HashEmbedder, SequentialIds

few = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)

# Few words, so that questions and texts share some, beside whatever else text may hold.
words = st.sampled_from("deploy failed port 8080 sprint 42 43 Ana checkout the of is C++ 端口 сервер".split())
phrases = st.lists(words | st.text(min_size=1, max_size=6), min_size=1, max_size=6).map(" ".join)
texts = phrases.filter(lambda text: bool(text.strip()) and "\x00" not in text and text.isprintable())
corpora = st.lists(texts, max_size=12)


def answer(said: Sequence[str], asked: str, *, limit: int = 5, indexed: bool = True) -> Recall:
    ids = SequentialIds()
    ctx = Context(
        store=ReferenceStore(),
        index=ResidentIndex(),
        embedder=HashEmbedder(),
        without_embedder="",
        preset=DEFAULT,
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )

    async def steps() -> Recall:
        await record.observe(ctx, SCOPE, [EventDraft(text=text) for text in said])
        if indexed:
            await index_batch(ctx, SCOPE)
        return await recall(ctx, READER, Question(text=asked, where=Filter(current_at=NOW), limit=limit))

    return asyncio.run(steps())


@few
@given(corpora, texts, st.integers(min_value=1, max_value=20), st.booleans())
def test_scores_lie_in_the_unit_interval_and_fall_with_rank(
    said: list[str], asked: str, limit: int, indexed: bool
) -> None:
    scores = [hit.score for hit in answer(said, asked, limit=limit, indexed=indexed)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@few
@given(corpora, texts)
def test_an_explanation_ends_in_the_score(said: list[str], asked: str) -> None:
    for hit in answer(said, asked):
        root = hit.explanation.score
        assert abs(sum(part.contribution for part in root.parts) - hit.score) < 1e-9


@few
@given(corpora, texts, st.integers(min_value=1, max_value=5))
def test_a_smaller_limit_gives_the_beginning_of_the_same_answer(said: list[str], asked: str, limit: int) -> None:
    whole = [hit.id for hit in answer(said, asked, limit=20)]
    assert [hit.id for hit in answer(said, asked, limit=limit)] == whole[:limit]


@few
@given(corpora, texts)
def test_every_candidate_has_one_outcome(said: list[str], asked: str) -> None:
    found = answer(said, asked)
    returned = [key for key, outcome in found.trace.outcomes.items() if outcome.stage is Stage.RETURNED]
    assert returned == [hit.id for hit in found]


@few
@given(corpora, texts)
def test_no_text_comes_back_twice(said: list[str], asked: str) -> None:
    folded = [" ".join(hit.memory.text.casefold().split()) for hit in answer(said, asked, limit=20)]
    assert len(set(folded)) == len(folded)


@few
@given(corpora, texts)
def test_a_text_that_is_asked_for_word_by_word_is_found(said: list[str], asked: str) -> None:
    if read_terms(salient_part(asked)).lexical.is_empty:
        return
    found = answer([*said, asked], asked, limit=20, indexed=False)
    assert asked.casefold().split() in [hit.memory.text.casefold().split() for hit in found]


@given(st.text(max_size=3000).filter(lambda text: bool(text.strip())))
def test_of_any_question_something_is_searched(asked: str) -> None:
    assert salient_part(asked).strip()


@given(st.lists(phrases, min_size=40, max_size=120).map(". ".join))
def test_the_searched_text_has_a_bounded_length(asked: str) -> None:
    assert len(salient_part(asked).split()) <= LONG_QUESTION_WORDS
