from __future__ import annotations

from dataclasses import replace

from remembrancer.domain.memory import Cue, Memory
from remembrancer.domain.scope import Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.domain.validation import MAX_TAGS
from remembrancer.policies.consolidation.condensing import (
    cues_of,
    id_of,
    ids_told,
    shared,
    shared_attributes,
    tags_of,
    together,
)
from remembrancer.testing.doubles import NOW, SCOPE, a_memory

ONE, OTHER = a_memory("one"), a_memory("other")
TUESDAY = replace(ONE, scope=SCOPE.narrowed(session="tuesday"))


def cue(text: str, heading: str = "ana, 4 March", of: Memory = ONE) -> Cue:
    return Cue(memory_id=of.id, ordinal=0, text=text, heading=heading)


def test_sessions_have_one_home_where_they_are_not_kept_apart() -> None:
    assert shared_attributes(ONE, sessions_apart=False) == shared_attributes(TUESDAY, sessions_apart=False)
    assert shared_attributes(ONE, sessions_apart=True) != shared_attributes(TUESDAY, sessions_apart=True)


def test_a_session_visible_memory_belongs_to_its_session() -> None:
    one, other = (replace(each, visibility=Visibility.SESSION) for each in (ONE, TUESDAY))
    assert shared_attributes(one, sessions_apart=False) != shared_attributes(other, sessions_apart=False)


def test_an_id_is_the_same_for_the_same_sources_as_they_read() -> None:
    assert id_of([ONE, OTHER], "sleep") == id_of([ONE, OTHER], "sleep")
    others = [
        id_of([ONE, OTHER], "clusters"),
        id_of([ONE], "sleep"),
        id_of([ONE, replace(OTHER, revision=2)], "sleep"),
    ]
    assert id_of([ONE, OTHER], "sleep") not in others


def test_ids_are_described_as_text_with_commas() -> None:
    assert ids_told([ONE, OTHER]) == f"{ONE.id},{OTHER.id}"


def test_strengths_together_are_the_greatest_and_confidence_the_mean() -> None:
    one = Strength(importance=0.2, importance_floor=0.1, priority=3, confidence=0.25, surprise=0.7, stability=9.0)
    other = Strength(importance=0.8, priority=5, confidence=0.75, stability=1.0, difficulty=7.0, last_reviewed_at=NOW)
    assert together([one, other]) == Strength(
        importance=0.8,
        importance_floor=0.1,
        priority=5,
        confidence=0.5,
        surprise=0.7,
        stability=9.0,
        difficulty=one.difficulty,
    )


def test_uses_together_are_added_and_the_latest_counts() -> None:
    one = Strength(usage=Usage(retrieved=1, shown=2, used=3, helped=4, unhelpful=5, harmed=6, last_used_at=NOW))
    assert together([one, one, Strength()]).usage == Usage(
        retrieved=2, shown=4, used=6, helped=8, unhelpful=10, harmed=12, last_used_at=NOW
    )


def test_only_entries_that_all_have_are_shared() -> None:
    assert shared([{"a": 1, "b": 2, "c": None}, {"a": 1, "b": 3, "c": None}, {"a": 1, "d": 4, "c": None}]) == {
        "a": 1,
        "c": None,
    }


def test_no_more_tags_are_kept_than_a_memory_may_have() -> None:
    many = [replace(ONE, tags=tuple(f"{each}-{n}" for n in range(40))) for each in "ab"]
    assert len(tags_of(many)) == MAX_TAGS


def test_equal_cues_are_stored_once() -> None:
    cues = [cue("Hello  there"), cue("hello there"), cue("hello there", "ben, 4 March")]
    kept = cues_of(OTHER, cues, own=False)
    assert [(each.cue.text, each.cue.heading, each.cue.ordinal) for each in kept] == [
        ("Hello  there", "ana, 4 March", 0),
        ("hello there", "ben, 4 March", 1),
    ]
    assert {each.cue.memory_id for each in kept} == {OTHER.id}


def test_recalled_text_is_no_cue() -> None:
    assert cues_of(OTHER, [cue("<recalled-memory>x</recalled-memory>")], own=False) == ()
