from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.domain.event import Role
from remembrancer.domain.review import Rating
from remembrancer.policies.prompts.review import (
    MAX_MEMORY_CHARS,
    MAX_QUERIES,
    MAX_TURN_CHARS,
    SCHEMA,
    LabelledMemory,
    fitting,
    material,
    read,
)
from remembrancer.testing.doubles import a_memory, an_event

TEA = LabelledMemory("m1", a_memory("Ana drinks tea"), ())


def test_as_many_of_the_first_go_in_as_there_is_room_for() -> None:
    said = [an_event("x" * 44), an_event("y" * 44), an_event("z" * 44)]  # 50 characters each, with "user: "
    assert [len(fitting(said, chars=chars)) for chars in (101, 102, 152, 153)] == [1, 2, 2, 3]


def test_one_memory_is_included_even_with_too_little_room() -> None:
    assert len(fitting([an_event("x" * 500)], chars=100)) == 1


def test_no_memory_is_included_without_later_turns() -> None:
    assert fitting([], chars=100) == ()


def test_of_a_long_turn_or_memory_the_beginning_is_shown() -> None:
    told = material([LabelledMemory("m1", a_memory("m" * 9_999), ())], [an_event("t" * 9_999)])
    assert (told.count("mmmm" * 10), told.count("m" * (MAX_MEMORY_CHARS + 1))) == (MAX_MEMORY_CHARS // 40, 0)
    assert "t" * MAX_TURN_CHARS in told
    assert "t" * (MAX_TURN_CHARS + 1) not in told


def test_the_speaker_is_named() -> None:
    said = [replace(an_event("It is ready"), role=Role.ASSISTANT), replace(an_event("Thanks"), actor="ana")]
    told = material([TEA], said)
    assert "assistant: It is ready\nana: Thanks" in told


def test_recalled_text_in_a_turn_is_no_evidence_of_use() -> None:
    told = material([TEA], [an_event("<recalled-memory>\nAna drinks tea\n</recalled-memory>")])
    assert "Nothing was said afterwards." in told


def test_a_memory_is_shown_with_its_label_its_title_and_the_last_questions() -> None:
    queries = ["first?", *(f"question {number}?" for number in range(MAX_QUERIES)), "question 0?", " "]
    told = material([LabelledMemory("m7", replace(TEA.memory, title="Drinks"), queries)], [])
    assert "m7: Drinks. Ana drinks tea\nfound by: question 0?" in told
    assert (told.count("found by:"), told.count("first?")) == (MAX_QUERIES, 0)


@pytest.mark.parametrize("rating", Rating)
def test_every_rating_has_its_word(rating: Rating) -> None:
    word = rating.name.lower()
    assert read({"ratings": [{"memory": "m1", "rating": word}]}, frozenset({"m1"})) == {"m1": rating}


def test_the_shape_that_is_asked_for_allows_all_ratings_and_nothing_else() -> None:
    assert '"enum"' in repr(SCHEMA).replace("'", '"')
    assert str([rating.name.lower() for rating in Rating]) in repr(SCHEMA)


def test_an_entry_that_is_no_object_is_reported() -> None:
    assert read({"ratings": ["good"]}, frozenset()) == 'An entry of "ratings" has no "memory" or no "rating".'
