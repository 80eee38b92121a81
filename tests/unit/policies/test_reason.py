from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer.domain.event import Role
from remembrancer.domain.memory import Cue, CueFlag
from remembrancer.domain.query import LexicalQuery, QuestionKind
from remembrancer.domain.recall import PRODUCT, Explanation, Part
from remembrancer.language.reading import Reading
from remembrancer.policies.rendering.reason import MOST_CLAUSES, reason
from remembrancer.testing.doubles import NOW, a_memory

MEMORY = replace(a_memory("The refund was sent", memory_id=UUID(int=1), at=NOW), actor="Ana", role=Role.USER)
TURN = Cue(memory_id=UUID(int=1), ordinal=0, text=MEMORY.text, heading="Ana, 4 March", event_id=UUID(int=2))
READING = Reading("q", "q", LexicalQuery())


def said(
    added: dict[str, float],
    matched: tuple[str, ...] = (),
    *,
    cue: Cue = TURN,
    reading: Reading = READING,
    signals: dict[str, float] | None = None,
) -> str:
    """The reason of a hit whose score is the sum of these signals, each with its own value or the given one."""
    score = Part("sum", 1.0, sum(added.values()), tuple(Part(name, adds, adds) for name, adds in added.items()))
    explanation = Explanation(score, {**added, **(signals or {})}, {}, matched)
    return reason(explanation, MEMORY, cue, reading)


def test_the_strongest_group_comes_first() -> None:
    assert said({"similarity": 0.4, "coverage": 0.1}, ("refund",)) == "close in meaning; the word 'refund'"
    assert said({"similarity": 0.4, "coverage": 0.5}, ("refund",)) == "the word 'refund'; close in meaning"


def test_a_group_that_adds_little_is_not_named() -> None:
    assert said({"similarity": 0.4, "coverage": 0.01}, ("refund",)) == "close in meaning"


def test_a_small_cosine_is_only_related() -> None:
    assert said({"similarity": 0.2}) == "related in meaning"


@pytest.mark.parametrize(
    ("matched", "clause"),
    [
        (("refund", "sent"), "the words 'refund' and 'sent'"),
        (("The", "refund", "was", "sent", "the refund"), "the words 'The', 'refund', 'was' and 2 more"),
        (("March",), "'March' in its heading"),
        (("March", "refund"), "the word 'refund'"),
        ((), "words of the question"),
    ],
)
def test_words_are_quoted_as_they_are_written(matched: tuple[str, ...], clause: str) -> None:
    assert said({"lexical": 0.5}, matched) == clause


def test_a_speaker_who_was_asked_for_is_named() -> None:
    assert said({"speaker": 1.0}, reading=replace(READING, speakers=frozenset({"Ana", "Tomasz"}))) == "said by Ana"


def test_a_role_that_was_asked_for_is_named() -> None:
    assert said({"speaker": 1.0}, reading=replace(READING, roles=frozenset({Role.USER}))) == "said by the user"


def test_a_note_is_said_by_nobody() -> None:
    note = replace(TURN, event_id=None)
    by_user = replace(READING, roles=frozenset({Role.USER}))
    assert said({"similarity": 0.5, "speaker": 0.3}, cue=note, reading=by_user) == "close in meaning"


def test_a_time_that_was_asked_for_is_named() -> None:
    day = "Wednesday 4 March 2026"
    assert said({"time": 1.0}) == f"said on {day}"
    assert said({"time": 1.0}, cue=replace(TURN, event_id=None)) == f"from {day}"
    assert said({"time": 0.7}) == f"said on {day}, near the time asked about"


def test_who_and_when_are_one_clause() -> None:
    by_ana = replace(READING, speakers=frozenset({"Ana"}))
    assert said({"speaker": 1.0, "time": 1.0}, reading=by_ana) == "said by Ana on Wednesday 4 March 2026"


def test_a_span_of_days_names_both_ends() -> None:
    score = Part("sum", 1.0, 1.0, (Part("time", 1.0, 1.0),))
    episode = replace(MEMORY, occurred_from=NOW - timedelta(days=1))
    told = reason(Explanation(score, {"time": 1.0}, {}), episode, replace(TURN, event_id=None), READING)
    assert told == "from Tuesday 3 March 2026 to Wednesday 4 March 2026"


def test_neighbours_are_named() -> None:
    assert said({"nearby": 0.5}) == "next to turns with other words of the question"


@pytest.mark.parametrize(("own", "clause"), [(0.2, "in a conversation with words of the question"), (0.5, "")])
def test_a_conversation_is_named_if_it_has_more_than_the_turn_itself(own: float, clause: str) -> None:
    told = said({"similarity": 0.6, "session": 0.5}, signals={"lexical": own})
    assert told == "; ".join(filter(None, ("close in meaning", clause)))


@pytest.mark.parametrize(
    ("signal", "value", "clause"),
    [
        ("answer_kind", 1.0, "has a number, which the question asks for"),
        ("importance", 0.8, "importance 0.80"),
        ("priority", 0.8, "priority 8 of 10"),
        ("reinforcement", 1.5, "reinforced by use"),
    ],
)
def test_the_memory_itself_is_named_by_its_strongest_signal(signal: str, value: float, clause: str) -> None:
    assert said({signal: value}, reading=replace(READING, answer_type=CueFlag.NUMBER)) == clause


def test_a_name_in_an_answer_to_a_list_is_named() -> None:
    listing = replace(READING, kind=QuestionKind.LIST)
    assert said({"answer_kind": 0.5}, reading=listing) == "has a name, as the things of a list often do"


def test_factors_are_named_too() -> None:
    factors = (Part("similarity", 0.5, 0.5), Part("importance", 0.9, 0.9))
    score = Part(PRODUCT, 0.45, 0.45, factors)
    explanation = Explanation(score, {"similarity": 0.5, "importance": 0.9}, {})
    assert reason(explanation, MEMORY, TURN, READING) == "close in meaning; importance 0.90"


def test_there_are_at_most_four_clauses() -> None:
    added = {"similarity": 1.0, "lexical": 1.0, "time": 1.0, "nearby": 1.0, "importance": 1.0}
    assert said(added, ("refund",)).count(";") == MOST_CLAUSES - 1


def test_what_has_no_words_is_named_by_its_group() -> None:
    assert said({"statement": 0.1}) == "the memory itself"
