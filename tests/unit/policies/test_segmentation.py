from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.domain.event import Origin
from remembrancer.domain.scope import Visibility
from remembrancer.domain.strength import Strength
from remembrancer.errors import InvalidInput
from remembrancer.policies.segmentation.episodes import EpisodeTelling, episode_id, formed
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.policies.segmentation.segments import Segment
from remembrancer.testing.doubles import NOW, a_memory, an_event

EVENTS = [an_event("one", at=NOW), an_event("two", at=NOW + timedelta(minutes=1))]
SEGMENT = Segment(start=0, end=2, surprise=0.8, reason="topic")
TOLD = EpisodeTelling(title="A title", summary="A summary", by="extractive")


def test_an_episode_has_the_same_id_each_time() -> None:
    assert episode_id(EVENTS) == episode_id([replace(event) for event in EVENTS])


@pytest.mark.parametrize("events", [EVENTS[:1], EVENTS[1:], EVENTS[::-1]], ids=["shorter", "later", "turned round"])
def test_an_episode_of_other_turns_has_another_id(events: Any) -> None:
    assert episode_id(events) != episode_id(EVENTS)


def test_an_episode_is_seen_no_farther_than_any_of_its_turns() -> None:
    sources = [a_memory("one"), replace(a_memory("two"), visibility=Visibility.OWN)]
    write = formed(EVENTS, sources, SEGMENT, TOLD, searched=False, now=NOW)
    assert write.memory.visibility is Visibility.OWN


def test_the_current_trust_of_a_turns_memory_counts_too() -> None:
    sources = [replace(a_memory("one"), origin=Origin.WEB)]
    assert formed(EVENTS, sources, SEGMENT, TOLD, searched=False, now=NOW).memory.origin is Origin.WEB


def test_an_episode_added_to_its_turns_has_one_cue() -> None:
    write = formed(EVENTS, [], SEGMENT, TOLD, searched=False, now=NOW)
    assert [(one.cue.text, one.cue.event_id) for one in write.cues] == [("A title\nA summary", None)]
    assert write.event_ids == tuple(event.id for event in EVENTS)


def test_an_episode_in_place_of_its_turns_has_a_cue_for_each() -> None:
    write = formed(EVENTS, [], SEGMENT, TOLD, searched=True, now=NOW)
    assert [one.cue.event_id for one in write.cues] == [None, *(event.id for event in EVENTS)]


def test_an_episode_is_pinned_where_one_of_its_turns_is() -> None:
    pinned = replace(a_memory("one"), strength=Strength(importance=0.9, importance_floor=0.8))
    strength = formed(EVENTS, [a_memory("two"), pinned], SEGMENT, TOLD, searched=False, now=NOW).memory.strength
    assert (strength.importance, strength.importance_floor, strength.surprise) == (0.9, 0.8, 0.8)


@pytest.mark.parametrize(("name", "value"), [("least", 0), ("least", 10_001), ("idle_minutes", -1.0)])
def test_values_out_of_range_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Segmentation(**{name: value})
    assert caught.value.argument == f"segmentation.{name}"
