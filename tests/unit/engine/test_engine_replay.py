from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer import NotFound, Recall, Remembrancer, Settings
from remembrancer.testing.doubles import FixedClock, HashEmbedder

DAY = timedelta(days=1)
QUESTION = "how long can a customer return a jacket?"
TEXTS = ("A customer can return a jacket within 14 days", "A customer pays the return of a jacket", "Jackets are warm")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(params=["default", "crewship", "plastmem", "teaparty"])
def rem(request: pytest.FixtureRequest, clock: FixedClock) -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", preset=request.param, workspace="acme", agent="ana", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


def same(one: Recall, other: Recall) -> bool:
    """Whether two answers have the same hits, scores, explanations, pinned memories and blocks."""
    blocks = [(recall.render(), recall.render(detail="high"), recall.render_pinned()) for recall in (one, other)]
    parts = [[hit.explanation.score for hit in recall] for recall in (one, other)]
    return (one.hits, one.pinned, one.query, one.asked_at, parts[0], blocks[0]) == (
        *(other.hits, other.pinned, other.query, other.asked_at),
        *(parts[1], blocks[1]),
    )


def kept(rem: Remembrancer) -> tuple[Recall, list[UUID]]:
    rem.observe_many([{"text": "How long may I keep the jacket?"}, {"text": "You can return it", "role": "assistant"}])
    ids = [rem.remember(text, tags=["institutional"] if text == TEXTS[2] else []).id for text in TEXTS]
    rem.jobs.index_now()
    answer = rem.recall(QUESTION, keep=True, explain=True)
    assert answer.hits
    return answer, ids


def replayed(rem: Remembrancer, answer: Recall) -> Recall:
    assert answer.recall_id is not None
    return rem.recalls.replay(answer.recall_id)


def test_a_kept_answer_is_given_again(rem: Remembrancer) -> None:
    answer, _ = kept(rem)
    assert same(replayed(rem, answer), answer)


@pytest.mark.parametrize("step", [timedelta(0), DAY], ids=["at the same microsecond", "a day later"])
def test_a_kept_answer_is_given_again_whatever_was_written_since(
    rem: Remembrancer, clock: FixedClock, step: timedelta
) -> None:
    answer, ids = kept(rem)
    clock.advance(step)
    rem.update(ids[0], text="Nothing can be returned", tags=["b"], importance=0.75)
    rem.mark(answer, "used")
    rem.feedback(ids[1], "harmful")
    rem.forget(ids[1])
    rem.supersede(ids[2], ids[0])
    rem.remember("A customer can return a jacket within 90 days")
    rem.jobs.index_now()
    clock.advance(step)
    rem.update(ids[0], text="A jacket can be returned")
    assert same(replayed(rem, answer), answer)
    assert rem.recall(QUESTION).hits != answer.hits


def test_an_answer_about_the_past_is_given_again(rem: Remembrancer, clock: FixedClock) -> None:
    _, ids = kept(rem)
    clock.advance(DAY)
    rem.update(ids[0], text="Nothing can be returned")
    answer = rem.recall(QUESTION, as_of=clock() - DAY, keep=True)
    rem.update(ids[0], text="Not even a jacket")
    assert same(replayed(rem, answer), answer)


def test_erased_memories_are_missing_and_it_says_so(rem: Remembrancer) -> None:
    answer, _ = kept(rem)
    gone = answer[0]
    if gone.journal_only:
        assert gone.cue.event_id is not None
        rem.erase(events=[gone.cue.event_id])
    else:
        rem.erase(ids=[gone.id])
    again = replayed(rem, answer)
    assert gone.memory.text not in again.render(detail="high")
    whole = len(answer.hits) + len(answer.pinned)
    assert again.degraded["replay"] == f"1 of {whole} memories were erased, or are out of reach"
    assert again.hits == answer.hits[1:]


def test_an_answer_whose_question_quotes_an_erased_text_goes_with_it(rem: Remembrancer) -> None:
    memory = rem.remember("The secret word is xylophone")
    answer = rem.recall("is the secret word xylophone?", keep=True)
    rem.erase(ids=[memory.id])
    with pytest.raises(NotFound):
        replayed(rem, answer)


def test_an_answer_goes_with_the_scope_that_asked(rem: Remembrancer) -> None:
    answer, _ = kept(rem)
    rem.erase(agent="ana")
    with pytest.raises(NotFound):
        replayed(rem, answer)


def test_what_a_reader_may_not_see_is_not_shown_by_a_replay(rem: Remembrancer) -> None:
    rem.remember(TEXTS[0], visibility="own")
    answer = rem.recall(QUESTION, keep=True)
    assert answer.recall_id is not None
    with suppress(NotFound):  # what ana asked is out of bob's reach under some presets
        assert rem.scoped(agent="bob").recalls.replay(answer.recall_id).hits == ()


def test_a_recall_keeps_nothing_unless_asked_to(rem: Remembrancer) -> None:
    assert rem.recall(QUESTION).recall_id is None


def test_a_dropped_answer_is_gone(rem: Remembrancer) -> None:
    answer, _ = kept(rem)
    assert answer.recall_id is not None
    assert [rem.recalls.drop(answer.recall_id) for _ in range(2)] == [True, False]
    with pytest.raises(NotFound):
        rem.recalls.replay(answer.recall_id)
