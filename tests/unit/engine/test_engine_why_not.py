from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from remembrancer import InvalidInput, Memory, NotFound, Remembrancer, Settings
from remembrancer.domain.recall import Shortfall, Stage
from remembrancer.testing.doubles import NOW, FailingEmbedder, FixedClock

DAY = timedelta(days=1)


def test_for_a_returned_memory_the_rank_in_the_answer_is_reported(rem: Remembrancer) -> None:
    rem.remember("The deploy failed")
    second = rem.remember("A failed deploy")
    answer = rem.recall("the deploy failed")
    told = rem.why_not(second.id, "the deploy failed")
    rank = next(hit.rank for hit in answer if hit.id == second.id)
    assert (told.returned, told.stage, told.rank) == (True, Stage.RETURNED, rank)
    assert told.reason == f"it is returned, at rank {rank}"


def test_a_rank_in_the_answer_does_not_count_memories_left_out_before_it(rem: Remembrancer) -> None:
    for _ in range(3):
        rem.remember("The deploy failed")
    second = rem.remember("A deploy of the shop failed")
    told = rem.why_not(second.id, "the deploy failed")
    assert (told.rank, told.reason) == (2, "it is returned, at rank 2")


def test_the_report_is_about_the_requested_memory(rem: Remembrancer) -> None:
    memory = rem.remember("The deploy failed")
    assert rem.why_not(memory.id, "deploy").memory == memory


def test_an_id_is_taken_as_text_too(rem: Remembrancer) -> None:
    memory = rem.remember("The deploy failed")
    assert rem.why_not(str(memory.id), "deploy").returned


def test_an_unknown_id_is_not_found(rem: Remembrancer) -> None:
    with pytest.raises(NotFound, match="no memory"):
        rem.why_not(uuid4(), "deploy")


def test_a_memory_of_another_workspace_is_not_found(tmp_path: Any) -> None:
    settings = Settings(db=str(tmp_path / "a.db"), background_index=False, embedder="none")
    with Remembrancer.open(workspace="theirs", settings=settings) as theirs:
        memory = theirs.remember("The deploy failed")
    with Remembrancer.open(workspace="ours", settings=settings) as ours, pytest.raises(NotFound):
        ours.why_not(memory.id, "deploy")


def test_a_memory_of_another_agent_is_out_of_reach(rem: Remembrancer) -> None:
    memory = rem.scoped(crew="platform", agent="bob").remember("The deploy failed")
    told = rem.scoped(crew="platform", agent="ana").why_not(memory.id, "deploy")
    assert (told.returned, told.stage) == (False, None)
    assert told.reason == (
        "out of reach: this reader looks as far as own, the memory belongs to crew platform, agent bob"
    )


def test_a_requested_reach_decides_what_is_out_of_reach(rem: Remembrancer) -> None:
    memory = rem.scoped(crew="platform", agent="bob").remember("The deploy failed")
    assert rem.scoped(crew="platform", agent="ana").why_not(memory.id, "deploy", reach="crew_shared").returned


def test_a_memory_kept_to_its_session_is_not_found_from_another(rem: Remembrancer) -> None:
    memory = rem.scoped(agent="ana", session="monday").remember("The deploy failed", visibility="session")
    with pytest.raises(NotFound):
        rem.scoped(agent="ana", session="tuesday").why_not(memory.id, "deploy")


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ({"kinds": ["decision"]}, "kinds"),
        ({"tiers": ["working"]}, "tiers"),
        ({"tags": ["missing"]}, "tags"),
        ({"source": "runbook"}, "source"),
        ({"session": "monday"}, "session"),
        ({"since": NOW + DAY}, "since"),
        ({"until": NOW}, "until"),
        ({"as_of": NOW - DAY}, "recorded later"),
        ({"kinds": ["decision"], "tags": ["missing"]}, "kinds, tags"),
    ],
)
def test_for_a_memory_that_a_filter_excludes_the_filter_is_named(
    rem: Remembrancer, where: dict[str, Any], reason: str
) -> None:
    memory = rem.remember("The deploy failed")
    told = rem.why_not(memory.id, "deploy", **where)
    assert (told.returned, told.reason) == (False, f"left out before the search: {reason}")


def retired(rem: Remembrancer) -> Memory:
    return rem.forget(rem.remember("The deploy failed").id)


def expired(rem: Remembrancer) -> Memory:
    return rem.remember("The deploy failed", valid_until=NOW)


def early(rem: Remembrancer) -> Memory:
    return rem.remember("The deploy failed", valid_from=NOW + DAY)


@pytest.mark.parametrize(("make", "reason"), [(retired, "retired"), (expired, "expired"), (early, "not yet valid")])
def test_for_a_memory_that_is_not_current_the_reason_is_reported(
    rem: Remembrancer, make: Callable[[Remembrancer], Memory], reason: str
) -> None:
    told = rem.why_not(make(rem).id, "deploy")
    assert (told.returned, told.reason) == (False, f"left out before the search: {reason}")


def test_a_memory_below_the_relevance_threshold_is_reported_as_such(rem: Remembrancer) -> None:
    memory = rem.remember("Lunch with penguins in the deploy room of the old zoo")
    rem.jobs.index_now()
    told = rem.why_not(memory.id, "quarterly finance statement numbers")
    assert (told.returned, told.stage, told.rank) == (False, Stage.THRESHOLD, 1)
    assert told.reason == "ranked 1, below the relevance threshold"
    assert told.shortfall is not None
    assert (told.shortfall.measure, told.shortfall.value < told.shortfall.needed) == ("relevance", True)
    assert told.advice == (
        "Ask without the relevance threshold (floor=off), with words that it has, or name who said it, or when."
    )


def test_a_memory_below_the_requested_score_is_reported(rem: Remembrancer) -> None:
    memory = rem.remember("The deploy failed")
    told = rem.why_not(memory.id, "deploy", min_score=1.0)
    assert (told.stage, told.score is not None and told.score < 1.0) == (Stage.MIN_SCORE, True)
    assert told.shortfall == Shortfall("score", told.score or 0.0, 1.0)


def test_for_a_memory_below_the_limit_the_rank_is_reported(rem: Remembrancer) -> None:
    older = rem.remember("The deploy failed on Monday", occurred_at=NOW - DAY)
    rem.remember("The deploy failed on Tuesday")
    told = rem.why_not(older.id, "deploy failed", limit=1)
    assert (told.returned, told.stage, told.rank) == (False, Stage.LIMIT, 2)
    assert told.reason == "ranked 2, but the limit is 1 (at most 200)"
    [last] = rem.recall("deploy failed", limit=1)
    assert told.shortfall == Shortfall("score", told.score or 0.0, last.score)
    assert told.advice == "Ask for 2 answers or more."


def test_a_duplicate_names_the_memory_it_repeats(rem: Remembrancer) -> None:
    older = rem.remember("The deploy failed", occurred_at=NOW - timedelta(minutes=5))
    newer = rem.remember("the deploy FAILED")
    told = rem.why_not(older.id, "deploy failed")
    assert (told.returned, told.stage) == (False, Stage.DUPLICATE)
    assert str(newer.id) in told.reason


def test_a_memory_beyond_the_depth_of_the_searches_is_reported_as_such(rem: Remembrancer, clock: FixedClock) -> None:
    memory = rem.remember("A deploy of something else entirely, with lunch", occurred_at=NOW - 900 * DAY)
    rem.observe_many({"text": f"deploy failed {n}"} for n in range(220))
    rem.jobs.index_now()
    told = rem.why_not(memory.id, "deploy failed")
    assert (told.returned, told.stage) == (False, None)
    assert (
        told.reason
        == "neither search found it: 200 memories match the question's words better; 200 memories are nearer in meaning"
    )


def test_a_memory_without_a_word_in_common_and_without_an_embedder_is_reported(wordy: Remembrancer) -> None:
    memory = wordy.remember("The deploy failed")
    told = wordy.why_not(memory.id, "penguins")
    assert told.reason == (
        "neither search found it: it shares no word with the question; no embedder: lexical recall only, as asked for"
    )


def test_a_memory_without_a_word_in_common_and_without_a_vector_yet_is_reported(rem: Remembrancer) -> None:
    memory = rem.remember("The deploy failed")
    told = rem.why_not(memory.id, "penguins")
    assert told.reason == (
        "neither search found it: it shares no word with the question; index "
        "catching up: 1 of 1 memories have no vector yet"
    )


def test_a_memory_without_a_word_in_common_while_the_embedder_is_down_is_reported(clock: FixedClock) -> None:
    settings = Settings(db=":memory:", background_index=False)
    with Remembrancer.open(settings=settings, embedder=FailingEmbedder(), clock=clock) as rem:
        memory = rem.remember("The deploy failed")
        told = rem.why_not(memory.id, "penguins")
    assert told.reason == (
        "neither search found it: it shares no word with the question; the "
        "embedder does not answer: the model does not answer"
    )


def test_a_question_that_could_not_be_asked_is_refused_here_too(rem: Remembrancer) -> None:
    memory = rem.remember("The deploy failed")
    with pytest.raises(InvalidInput, match=r"^query: "):
        rem.why_not(memory.id, " ")


def test_an_invalid_id_is_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"^memory_id: 'first' "):
        rem.why_not("first", "deploy")
