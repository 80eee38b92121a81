from __future__ import annotations

from time import process_time

import pytest

from remembrancer.language.times.asking import asks_for_time, tells_time, unresolved


@pytest.mark.parametrize(
    "question",
    [
        "When did we move to Rome?",
        "when was that",
        "When's Ana's birthday?",
        "And when?",
        "Since when do you know her?",
        "Do you remember when we met?",
        "Who came, and when did they leave?",
        "When exactly is the talk?",
        "Tell me when the talk is.",
        "When the wedding?",
        "What date was the wedding?",
        "What's the date of the wedding?",
        "Which year did Ana move?",
        "On which day did it rain?",
        "In what month were we there?",
        "At what time does it start?",
        "How long ago was it?",
        "How long have they been married?",
        "How many months passed between the two?",
    ],
)
def test_a_question_for_a_time_asks_for_one(question: str) -> None:
    assert asks_for_time(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did she say when we met?",
        "When we met, what did she say?",
        "What did we do yesterday?",
        "Who likes summer?",
        "What day job has Ana?",
        "What time-keeping device is it?",
        "How long is the bridge?",
        "How many hours a week does she work?",
        "Whenever I go there, who waits?",
        "",
        "Wann war das?",
    ],
)
def test_another_question_does_not(question: str) -> None:
    assert not asks_for_time(question)


@pytest.mark.parametrize(
    "text",
    [
        "We met last week.",
        "It was on 7 May.",
        "I'll come tomorrow.",
        "She left two days ago.",
        "I have lived here for three years.",
        "I've been here since 2016.",
        "It took a week.",
        "It took a whole week.",
        "Back in 2019 we did.",
        "a couple of months",
        "a three-week course",
        "We cook every day.",
        "We stayed all summer.",
        "I swim on Mondays.",
        "I run in the mornings.",
        "I read at night.",
        "See you at 5 pm.",
        "The train leaves at 17:45.",
        "Two days later it broke.",
        "the next day",
        "I have known her for ages.",
        "That was a long time ago.",
        "It has rained ever since.",
        "for many years",
        "once a week",
        "in two weeks",
        "Lunch is at noon.",
    ],
)
def test_a_text_with_a_time_is_recognised(text: str) -> None:
    assert tells_time(unresolved(text))


@pytest.mark.parametrize(
    "text",
    [
        "I may march on.",
        "What a day!",
        "Have a great week!",
        "It's been a tough year",
        "I got it recently.",
        "He sat in the sun.",
        "A spring broke, and I fall for it.",
        "I ate 3 apples and 20 nuts.",
        "since I like it",
        "",
        "Im Sommer waren wir in Rom.",
    ],
)
def test_a_text_without_a_time_is_recognised(text: str) -> None:
    assert not tells_time(unresolved(text))


@pytest.mark.parametrize(
    "unit", ["when, ", "what which ", "for a ", "of 3 more ", "at 1:0", "how many ", "day of ", "know when "]
)
def test_a_hundred_kilobytes_are_read_in_bounded_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    began = process_time()
    asks_for_time(text)
    tells_time(unresolved(text))
    assert process_time() - began < 10
