from __future__ import annotations

import pytest

from remembrancer.domain.memory import CueFlag
from remembrancer.language.english.answer_types import BRIEF_CHARS, asked_for, flags_of

TIME, NUMBER, NAME, QUESTION, NOTHING = CueFlag.TIME, CueFlag.NUMBER, CueFlag.NAME, CueFlag.QUESTION, CueFlag.NOTHING


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NOTHING),
        ("The deploy failed", NOTHING),
        ("Checkout needs more memory", NOTHING),
        ("I met her yesterday", TIME),
        ("It took a couple of years", TIME | NUMBER),
        ("It has 8 cores", NUMBER),
        ("I said so twice", NUMBER),
        ("Dozens came", NUMBER),
        ("He is someone", NOTHING),
        ("We met Ana there", NAME),
        ("Ana was there", NOTHING),
        ("She and I went", NOTHING),
        ('The book "Emma" is hers', NAME),
        ("So. Then it rained", NOTHING),
        ("We flew to Lisbon on 3 May 2024", TIME | NUMBER | NAME),
        ("Did it rain?", QUESTION),
        ('Did it rain?" ', QUESTION),
        ("*Did it rain?*", QUESTION),
        ("Did it rain? It did.", NOTHING),
        ("下雨了吗？", QUESTION),
        ("هل أمطرت؟", QUESTION),
        ("Έβρεξε;", NOTHING),
        ("Έβρεξε\u037e", QUESTION),
        ("I march on", NOTHING),
    ],
)
def test_a_text_is_marked_by_the_answer_types_that_it_contains(text: str, expected: CueFlag) -> None:
    assert flags_of(text) == expected


@pytest.mark.parametrize(("length", "expected"), [(BRIEF_CHARS, QUESTION), (BRIEF_CHARS + 1, NOTHING)])
def test_a_long_text_is_a_statement_with_any_ending(length: int, expected: CueFlag) -> None:
    assert flags_of(f"{'x' * (length - 1)}?") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did we meet?", TIME),
        ("What year was it?", TIME),
        ("How long ago was that?", TIME),
        ("how many came?", NUMBER),
        ("How much does it need?", NUMBER),
        ("How  often do they fail?", NUMBER),
        ("How many days did it take?", TIME),
        ("How did it go?", NOTHING),
        ("Who was there?", NAME),
        ("Whose idea was it?", NAME),
        ("Where is it?", NAME),
        ("What is the dog called?", NAME),
        ("Who was there when we moved?", NAME),
        ("What is it like?", NOTHING),
        ("Whoever came?", NOTHING),
        ("", NOTHING),
    ],
)
def test_a_question_asks_for_one_kind_of_thing(question: str, expected: CueFlag) -> None:
    assert asked_for(question) == expected
