"""Defects of Crewship only. Numbers in brackets refer to sections of the research note on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer import InvalidInput, Recall, Remembrancer
from remembrancer.domain.memory import Memory
from remembrancer.domain.relation import RelationKind
from remembrancer.testing.doubles import NOW, FixedClock

DAY = timedelta(days=1)
MANY = 200
# To the embedder of these tests, words that share most of their characters are near in meaning.
NEAR = "internationalization characterization decentralization"
ASKED_NEAR = "reinternationalization recharacterization redecentralization"


@pytest.fixture
def rem(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("crewship")


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def importance(rem: Remembrancer, text: str) -> float:
    """The current importance: the score of a memory whose cosine is 1."""
    return next(hit.score for hit in rem.recall(text, limit=50) if hit.memory.text == text)


# ── dense search ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def full(rem: Remembrancer) -> Remembrancer:
    for number in range(MANY):
        rem.remember(f"{NEAR} {number}")
    rem.jobs.index_now()
    return rem


@pytest.mark.parametrize(("limit", "depth"), [(1, 20), (5, 20), (16, 48), (17, 51), (20, 60), (50, 150)])
def test_more_hits_use_more_of_the_dense_search(full: Remembrancer, limit: int, depth: int) -> None:
    """[1.11] From k = 17 on the depth passed 50 and was clamped back to 5."""
    answer = full.recall(ASKED_NEAR, ranking="hybrid", limit=limit)
    assert answer.trace.legs == {"dense": depth, "lexical": 0}
    ranks = [hit.explanation.ranks["dense"] for hit in answer]
    assert len(ranks) == limit
    # Equal cosines share the best rank of their group.
    assert all(rank in (place, ranks[place - 2]) for place, rank in enumerate(ranks, start=1))


@pytest.mark.parametrize("limit", [0, 51, 200])
def test_a_number_of_hits_outside_its_range_is_an_error_and_not_five(rem: Remembrancer, limit: int) -> None:
    """[1.11] K outside 1-50 silently became 5."""
    with pytest.raises(InvalidInput, match=r"^limit: .*a whole number from 1 to 50$"):
        rem.recall("deploy", limit=limit)


def test_a_cosine_is_never_reported_below_nothing(rem: Remembrancer) -> None:
    """[1.11] Hit.Score was the raw cosine and could be negative."""
    for number in range(30):
        rem.remember(f"note {number} of {chr(97 + number % 26) * 5}")
    rem.jobs.index_now()
    assert min(hit.score for hit in rem.recall(ASKED_NEAR, limit=30)) >= 0


# ── importance ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("mark", "floor"), [("pin", 0.8), ("high", 0.85), ("permanent", 0.95)])
@pytest.mark.parametrize("days", [0, 180, 365, 36_500])
def test_an_importance_floor_holds_after_decay(
    rem: Remembrancer, clock: FixedClock, mark: str, floor: float, days: int
) -> None:
    """[1.12] [5.8] The floor was applied before decay: a permanent entry stood at 0.095 after half a year."""
    rem.observe("never deploy on a Friday", type="peer.escalation", priority=mark)
    rem.jobs.index_now()
    clock.advance(days * DAY)
    assert importance(rem, "never deploy on a Friday") == pytest.approx(floor, abs=2e-3)


def test_an_instance_that_slept_for_months_has_missed_no_decay(rem: Remembrancer, clock: FixedClock) -> None:
    """[1.12] No catch-up: down at 03:00 meant no decay that day. [1.10] Reindexing reset it."""
    rem.observe("the deploy failed", type="peer.escalation")
    rem.jobs.index_now()
    clock.advance(90 * DAY)
    rem.maintain()
    assert importance(rem, "the deploy failed") == pytest.approx(0.7 * 0.5, abs=2e-3)


def test_an_event_of_long_ago_is_old_when_it_comes(rem: Remembrancer) -> None:
    """[1.12] Days counted from when a row was indexed and not from when it happened."""
    rem.observe("the deploy failed", type="peer.escalation", occurred_at=NOW - 90 * DAY)
    rem.jobs.index_now()
    assert importance(rem, "the deploy failed") == pytest.approx(0.7 * 0.5, abs=2e-3)


def test_only_shown_memories_are_reinforced(rem: Remembrancer) -> None:
    """[1.11] MarkReferenced ran inside the dense leg, over all that was fetched."""
    told = rem.remember("the deploy failed")
    rem.jobs.index_now()
    rem.mark([told.id], "retrieved")
    assert importance(rem, "the deploy failed") == pytest.approx(0.5, abs=2e-3)
    rem.mark([told.id], "shown")
    assert importance(rem, "the deploy failed") == pytest.approx(0.5 * (1 + 1 / 8), abs=2e-3)


# ── access ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lead_sees_important_memories_of_its_crew_and_an_agent_its_own(rem: Remembrancer) -> None:
    """[1.11] crew_shared was the whole crew: the filter by worth was in the documents only."""
    ben = rem.scoped(agent="ben")
    ben.observe("deploy escalated", type="peer.escalation")  # 0.70
    ben.observe("deploy summed up", type="summary.generated")  # 0.65, exactly
    ben.observe("deploy asked about", type="peer.conversation", payload={"state": "escalated"})  # 0.50
    rem.remember("deploy of my own", importance=0.1)
    rem.scoped(crew="sales", agent="cleo").observe("deploy of others", type="peer.escalation")
    rem.jobs.index_now()
    lead = rem.scoped(role="LEAD")
    assert set(texts(lead.recall("deploy"))) == {"deploy escalated", "deploy summed up", "deploy of my own"}
    assert texts(rem.recall("deploy")) == ["deploy of my own"]


def test_a_question_of_nobody_in_particular_is_refused(rem: Remembrancer) -> None:
    """[1.14] On the public endpoint scope own took the user for the agent, and was always empty."""
    with pytest.raises(InvalidInput, match=r"^reach: 'own' .*agent set"):
        rem.scoped(agent=None).recall("deploy")
    with pytest.raises(InvalidInput, match=r"^reach: 'crew_shared' .*crew set"):
        rem.scoped(crew=None, role="LEAD").recall("deploy")


# ── admission and relations ──────────────────────────────────────────────────────────────────────────────────────────


def test_any_type_can_be_forced_but_the_noisy_ones(rem: Remembrancer) -> None:
    """[1.10] refs.episodic only upgraded types that were on the list already."""
    for kind in ("message", "exec.output_chunk", "container.metrics", "network.egress"):
        rem.observe(f"deploy by {kind}", type=kind, refs={"episodic": True})
    assert texts(rem.recall("deploy")) == ["deploy by message"]


def test_raw_output_is_found_by_its_words_only(rem: Remembrancer) -> None:
    """[1.11] BM25 ran over all journal rows, raw output included: a hit of it is one of the journal, and of no other
    leg or ranking.
    """
    rem.observe("deploy deploy deploy", type="exec.output_chunk")
    rem.observe("the deploy was denied", type="approval.denied")
    rem.jobs.index_now()
    hits = {hit.memory.text: hit for hit in rem.recall("deploy", ranking="hybrid")}
    assert set(hits) == {"deploy deploy deploy", "the deploy was denied"}
    assert set(hits["deploy deploy deploy"].explanation.ranks) == {"lexical"}
    assert texts(rem.recall("deploy")) == ["the deploy was denied"]


def edges(rem: Remembrancer, memory: Memory) -> set[tuple[str, str]]:
    by_id = {one.id: one.text for one in rem.recent(limit=100)}
    return {
        (by_id[edge.source], by_id[edge.target])
        for edge in rem.show(memory.id).relations
        if edge.kind is RelationKind.SIMILAR
    }


def test_an_edge_leads_from_the_later_to_the_earlier_once(rem: Remembrancer) -> None:
    """[1.13] Both directions were inserted, and a cosine of 0.80 was taken for one above."""
    first = rem.remember("the deploy of checkout failed on Monday")
    rem.jobs.index_now()
    second = rem.remember("the deploy of checkout failed on Tuesday")
    rem.jobs.index_now()
    assert edges(rem, first) == edges(rem, second) == {(second.text, first.text)}


def test_one_hop_along_similar_edges_finds_a_memory_that_the_question_does_not_match(rem: Remembrancer) -> None:
    """[1.13] The walk and its setting were in the documents only."""
    hit = rem.remember("the deploy of checkout failed")
    near = rem.remember("a pipe burst in the cellar")
    far = rem.remember("an unrelated lunch")
    rem.link(near.id, hit.id, "similar", 0.9)
    rem.link(far.id, near.id, "similar", 0.9)
    rem.jobs.index_now()
    alone = rem.recall("deploy of checkout failed", limit=1)
    walked = rem.recall("deploy of checkout failed", limit=2, walk_depth=1, min_score=0.2)
    assert [one.id for one in alone] == [hit.id]
    assert [(one.id, one.via) for one in walked] == [(hit.id, None), (near.id, hit.id)]
    assert walked[1].score == pytest.approx(walked[0].score * 0.9)
