"""Replies come before the turns that ask, and newer values before older ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer import Hit, InvalidInput, Recall, Remembrancer
from remembrancer.domain.recall import Part
from remembrancer.policies.ranking.diversity import Mmr
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Signal

BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED = "What is the wifi password of the cabin?"
REPLY = "It is larch-2041, on the fridge."
OLDER = "The battery of the garden sensor in the shed is at 98 %"
NEWER = "Garden sensor battery in shed: 41 %"


def say(rem: Remembrancer, text: str, actor: str, *, minutes: int = 0, session: str = "cabin") -> None:
    at = BEGUN + timedelta(minutes=minutes)
    rem.observe(text, role="user", actor=actor, session=session, occurred_at=at)


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def hit_of(answer: Recall, text: str) -> Hit:
    return next(hit for hit in answer if hit.memory.text == text)


def value_of(part: Part) -> float:
    return sum(value_of(one) for one in part.parts) if part.parts and not part.is_product else part.contribution


@pytest.fixture
def cabin(rem: Remembrancer) -> Remembrancer:
    say(rem, ASKED, "Ann", minutes=1)
    say(rem, REPLY, "Bob", minutes=2)
    for day in range(1, 9):
        say(
            rem,
            f"The cabin has no lamp number {day}, and nobody mended it.",
            "Bob",
            minutes=1440 * day,
            session=f"{day}",
        )
    rem.jobs.index_now()
    return rem


def test_a_reply_comes_before_the_turn_that_asks(cabin: Remembrancer) -> None:
    answer = cabin.recall(ASKED)
    assert texts(answer)[:2] == [REPLY, ASKED]
    assert (answer[0].replies_to, answer[0].score, [hit.rank for hit in answer[:2]]) == (
        answer[1].id,
        answer[1].score,
        [1, 2],
    )


def test_the_score_of_a_reply_is_explained_by_the_turn_that_asks(cabin: Remembrancer) -> None:
    explained = cabin.recall(ASKED)[0].explanation.score
    assert [part.label for part in explained.parts] == ["weighted sum", "score of the hit that it precedes"]
    assert value_of(explained) == pytest.approx(explained.contribution)


def test_a_reply_that_is_brought_in_is_not_held_back_too(cabin: Remembrancer) -> None:
    answer = cabin.recall(ASKED, limit=3)
    assert len(answer) <= 3
    assert {hit.id for hit in answer}.isdisjoint(one.memory_id for one in answer.below_threshold)


def test_a_turn_of_the_same_speaker_is_no_reply(rem: Remembrancer) -> None:
    say(rem, ASKED, "Ann", minutes=1)
    say(rem, REPLY, "Ann", minutes=2)
    rem.jobs.index_now()
    assert all(hit.replies_to is None for hit in rem.recall(ASKED))


def test_a_turn_of_the_next_day_is_no_reply(rem: Remembrancer) -> None:
    say(rem, ASKED, "Ann", minutes=1)
    say(rem, REPLY, "Bob", minutes=1500)
    rem.jobs.index_now()
    assert all(hit.replies_to is None for hit in rem.recall(ASKED))


def test_a_turn_that_also_tells_something_stays_first(rem: Remembrancer) -> None:
    said = f"I am at the cabin. {ASKED}"
    say(rem, said, "Ann", minutes=1)
    say(rem, REPLY, "Bob", minutes=2)
    rem.jobs.index_now()
    assert texts(rem.recall(ASKED))[0] == said


@pytest.fixture
def sensor(rem: Remembrancer) -> Remembrancer:
    rem.remember(OLDER, occurred_at=BEGUN)
    rem.remember(NEWER, occurred_at=BEGUN + timedelta(days=1))
    rem.jobs.index_now()
    return rem


def test_the_newest_value_comes_first_and_the_older_one_names_it(sensor: Remembrancer) -> None:
    answer = sensor.recall("Where is the battery of the garden sensor in the shed at?")
    assert texts(answer) == [NEWER, OLDER]
    assert hit_of(answer, OLDER).newer == hit_of(answer, NEWER).id
    assert hit_of(answer, NEWER).newer is None


@pytest.mark.parametrize(
    "asked",
    [
        "Where was the old battery of the garden sensor in the shed at?",
        "Which values did the battery of the garden sensor in the shed have?",
        "Where was the battery of the garden sensor in the shed at on 2 March?",
    ],
)
def test_an_older_value_that_may_be_asked_for_is_not_marked(sensor: Remembrancer, asked: str) -> None:
    answer = sensor.recall(asked)
    assert len(answer) == 2
    assert all(hit.newer is None for hit in answer)


def test_a_preset_cannot_order_hits_in_two_ways() -> None:
    settings: dict[str, Any] = {"near_equals": True, "diversity": Mmr()}
    with pytest.raises(InvalidInput, match=r"^near_equals: True .*false, where diversity"):
        Ranking(score=Signal("similarity"), **settings)


TRUE: str = "The spare key of the cabin is with Fergus from the bakery"
FALSE: str = "The spare key of the cabin is with Rowan from the bakery, spare key of cabin"
KEY_QUESTION: str = "Who has the spare key of the cabin?"


def test_a_trusted_text_comes_before_the_output_of_a_tool_that_says_nearly_the_same(rem: Remembrancer) -> None:
    say(rem, TRUE, "Ann")
    rem.observe(FALSE, role="tool", session="shell", occurred_at=BEGUN + timedelta(days=1))
    rem.jobs.index_now()
    assert texts(rem.recall(KEY_QUESTION)) == [TRUE, FALSE]


def test_a_text_of_another_user_keeps_its_place_before_one_that_says_nearly_the_same(rem: Remembrancer) -> None:
    say(rem, TRUE, "Ann")
    say(rem, FALSE, "Bob", minutes=1440, session="other")
    rem.jobs.index_now()
    assert texts(rem.recall(KEY_QUESTION)) == [FALSE, TRUE]


def test_a_tool_that_repeats_itself_does_not_fill_the_answer(rem: Remembrancer) -> None:
    say(rem, "Fergus keeps a key for the cabin", "Ann")
    for number in range(30):
        text = f"The spare key of the cabin is with Rowan of SecureHold. Entry {number}"
        rem.observe(text, role="tool", session=f"s{number}", occurred_at=BEGUN + timedelta(days=number))
    rem.jobs.index_now()
    answer = rem.recall(KEY_QUESTION, limit=3)
    assert len(answer) == 3
    assert "Fergus keeps a key for the cabin" in texts(answer)


def test_repetitions_of_a_tool_take_the_room_that_is_left_in_order_of_score(rem: Remembrancer) -> None:
    for number in range(3):
        text = f"The spare key of the cabin is with Rowan of SecureHold. Entry {number}"
        rem.observe(text, role="tool", session=f"s{number}", occurred_at=BEGUN + timedelta(days=number))
    rem.jobs.index_now()
    answer = rem.recall(KEY_QUESTION, limit=3)
    assert len(answer) == 3
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)
