"""A memory of several turns: rows P2, P3 and P9."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import Detail
from remembrancer.errors import NotFound
from remembrancer.policies.rendering.block import Block
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder

SAID = ("Shall we move checkout to the new cluster?", "Only after the pump is repaired.", "Then in April.")


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", preset="plastmem", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), clock=FixedClock()) as opened:
        yield opened


def turns(rem: Remembrancer) -> list[UUID]:
    return [
        rem.observe(text, actor="Ana", occurred_at=NOW + timedelta(minutes=10 * place)).id
        for place, text in enumerate(SAID)
    ]


def episode(rem: Remembrancer, surprise: float = 0.0) -> Memory:
    return rem.remember(
        "They decide when checkout moves.",
        title="Checkout moves in April",
        tier="episodic",
        events=turns(rem),
        surprise=surprise,
    )


def test_an_episode_spans_its_turns(rem: Remembrancer) -> None:
    kept = episode(rem)
    assert (kept.occurred_from, kept.occurred_to, kept.duration) == (
        NOW,
        NOW + timedelta(minutes=20),
        timedelta(minutes=20),
    )


def test_an_episode_keeps_its_turns_in_the_order_they_happened(rem: Remembrancer) -> None:
    first, second, third = turns(rem)
    kept = rem.remember("They decide when checkout moves.", events=[third, first, second])
    assert tuple(event.text for event in rem.show(kept.id).events) == SAID


def test_an_episode_is_found_by_its_turns_and_not_only_by_its_summary(rem: Remembrancer) -> None:
    kept = episode(rem)
    rem.jobs.index_now()
    assert kept.id in {hit.id for hit in rem.recall("is the pump repaired")}


def test_a_hit_on_an_episode_names_the_turn_that_answers(rem: Remembrancer) -> None:
    kept = episode(rem)
    rem.jobs.index_now()
    (hit,) = [hit for hit in rem.recall("is the pump repaired") if hit.id == kept.id]
    assert hit.cue.text == SAID[1]


def test_a_hit_on_an_episode_brings_its_transcript(rem: Remembrancer) -> None:
    kept = episode(rem)
    (hit,) = [hit for hit in rem.recall("checkout") if hit.id == kept.id]
    assert tuple(turn.text for turn in hit.turns) == SAID


def test_a_block_attributes_an_episodes_summary_to_no_speaker(rem: Remembrancer) -> None:
    kept = episode(rem)
    rem.jobs.index_now()
    found = rem.recall("is the pump repaired")
    assert kept.id in {hit.id for hit in found}
    told = [
        line for line in Block().hits(found, max_chars=4000, detail=Detail.AUTO).text.split("\n") if "April:" in line
    ]
    assert [("Ana" in line, "Wednesday 4 March 2026" in line) for line in told] == [(False, True)]


def test_an_episode_is_in_every_window_of_time_that_it_reaches_into(rem: Remembrancer) -> None:
    kept = episode(rem)
    window = rem.recall("checkout", since=NOW + timedelta(minutes=15), until=NOW + timedelta(minutes=16))
    assert [hit.id for hit in window] == [kept.id]


def test_an_episode_of_an_unknown_event_is_an_error_and_nothing_is_kept(rem: Remembrancer) -> None:
    with pytest.raises(NotFound):
        rem.remember("They decide when checkout moves.", events=[*turns(rem), uuid4()])
    assert rem.health.stats().memories == {"active": len(SAID)}


def test_an_episodes_time_is_that_of_its_events(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="occurred_at"):
        rem.remember("They decide when checkout moves.", events=turns(rem), occurred_at=NOW)


def test_surprise_lengthens_the_stability_a_memory_is_born_with(rem: Remembrancer) -> None:
    plain, surprising = episode(rem).strength, episode(rem, surprise=1.0).strength
    assert surprising.stability == pytest.approx(1.5 * plain.stability)


def test_a_rewritten_episode_keeps_the_turns_it_came_from(rem: Remembrancer) -> None:
    events = turns(rem)
    rem.remember("Checkout moves in April.", topic_key="checkout", events=events[:2])
    kept = rem.remember("Checkout moves in May.", topic_key="checkout", events=events[2:])
    assert tuple(event.text for event in rem.show(kept.id).events) == SAID


def test_recent_memories_are_those_of_the_last_days(rem: Remembrancer) -> None:
    rem.remember("Long ago", occurred_at=NOW - timedelta(days=8))
    rem.remember("Lately", occurred_at=NOW - timedelta(days=6))
    assert [memory.text for memory in rem.recent(days=7)] == ["Lately"]


def test_a_topic_repeated_in_the_same_words_gets_the_new_turns(rem: Remembrancer) -> None:
    said = turns(rem)
    rem.remember("They decide when checkout moves.", topic_key="checkout")
    rem.remember("They decide when checkout moves.", topic_key="checkout", events=said)
    kept = rem.remember("They decide when checkout moves.", topic_key="checkout", events=said)
    assert (kept.revision, [event.id for event in rem.show(kept.id).events]) == (2, said)
