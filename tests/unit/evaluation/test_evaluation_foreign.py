"""Foreign questions: those of other conversations, under the names of the people here."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from evaluated import evaluated

from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.dataset import ASKED_AFTER, Conversation, Dataset, DatasetQuestion, DatasetTurn, Transcript
from remembrancer.evaluation.foreign import participants, replace_names, with_foreign
from remembrancer.evaluation.locomo import load
from remembrancer.evaluation.report import EvaluationReport, as_json
from remembrancer.testing.doubles import HashEmbedder

TINY = Path(__file__).parents[2] / "fixtures" / "locomo" / "tiny.json"
AT = datetime(2026, 3, 1, tzinfo=UTC)


def conversation(name: str, speakers: tuple[str, str], *texts: str) -> Conversation:
    """The second speaker begins; the first has the role of the user. Each text is a question with an answer."""
    turns = tuple(
        DatasetTurn(id=f"t{number}", text="so it was", occurred_at=AT, actor=actor, role=role)
        for number, (actor, role) in enumerate(((speakers[1], "assistant"), (speakers[0], "user")))
    )
    questions = tuple(
        DatasetQuestion(id=f"q{number}", text=text, category="all", asked_at=AT, evidence=("t0",), sessions=("t0",))
        for number, text in enumerate(texts)
    )
    return Conversation(transcript=Transcript(id=name, turns=turns), questions=questions)


def dataset(*conversations: Conversation) -> Dataset:
    return Dataset(name="made", sha256="", conversations=conversations, categories=("all",))


HERE = conversation("here", ("Ann", "Bo"), "Where does Ann live?")
THERE = conversation("there", ("Cy", "Di"), "What did Cy say to Di?", "Who is Cyril?", "Where does Cy live?")


def drawn(count: int, *, seed: int = 0, whole: Dataset | None = None) -> tuple[DatasetQuestion, ...]:
    """The foreign questions asked of HERE."""
    all_of_it = dataset(HERE, THERE) if whole is None else whole
    return with_foreign(dataset(HERE), all_of_it, count, seed=seed).conversations[0].foreign


def test_the_participant_with_the_users_role_comes_first() -> None:
    assert participants(HERE.transcript) == ("Ann", "Bo")


def test_people_are_called_by_the_names_of_those_here() -> None:
    assert {question.text for question in drawn(2)} == {"What did Ann say to Bo?", "Who is Cyril?"}


def test_a_question_that_is_asked_here_anyway_is_not_foreign() -> None:
    with pytest.raises(InvalidInput, match="foreign: 3 is not allowed; expected at most the 2 questions"):
        drawn(3)


def test_a_foreign_question_is_not_answered_here() -> None:
    (one,) = drawn(1)
    assert (one.answerable, one.evidence, one.sessions, one.foreign) == (False, (), (), "there")


def test_a_foreign_question_is_asked_after_the_last_turn_here() -> None:
    assert {question.asked_at for question in drawn(2)} == {AT + ASKED_AFTER}


def test_foreign_questions_of_several_conversations_have_different_ids() -> None:
    third = conversation("third", ("Ed", "Flo"), "Which boat is Flo's?")
    whole = dataset(HERE, THERE, third)
    assert len({question.id for question in drawn(3, whole=whole)}) == 3


def test_unanswerable_questions_of_others_are_not_drawn() -> None:
    silent = replace(THERE, questions=tuple(replace(one, answerable=False) for one in THERE.questions))
    with pytest.raises(InvalidInput, match="at most the 0 questions"):
        drawn(1, whole=dataset(HERE, silent))


def many(name: str) -> Conversation:
    return conversation(name, ("Cy", "Di"), *(f"What is number {number} of {name}?" for number in range(20)))


def test_drawn_questions_do_not_depend_on_the_other_selected_conversations() -> None:
    whole = dataset(HERE, many("first"), many("second"))
    assert with_foreign(whole, whole, 10, seed=0).conversations[0].foreign == drawn(10, whole=whole)


def test_another_seed_draws_other_questions() -> None:
    whole = dataset(HERE, many("first"))
    assert drawn(10, seed=1, whole=whole) != drawn(10, whole=whole)


def test_two_names_that_trade_places_are_both_replaced() -> None:
    assert (
        replace_names("Does John's boat suit Maria?", {"John": "Maria", "Maria": "John"})
        == "Does Maria's boat suit John?"
    )


def test_a_name_within_a_word_stays() -> None:
    assert replace_names("Johnson met John.", {"John": "Al"}) == "Johnson met Al."


def test_the_longer_of_two_names_is_replaced_as_a_whole() -> None:
    assert replace_names("Jo Ann left.", {"Jo": "X", "Jo Ann": "Y"}) == "Y left."


def measured(foreign: int) -> EvaluationReport:
    settings = Settings(embedder="none")
    return evaluated(load(TINY), settings=settings, embedder=HashEmbedder(), foreign=foreign)


@pytest.fixture(scope="module")
def report() -> EvaluationReport:
    return measured(1)


def without_times(report: EvaluationReport) -> dict[str, Any]:
    printed: dict[str, Any] = dict(as_json(report))
    for key in ("latency_ms", "latency_ms_by_system", "foreign_questions"):
        del printed[key]
    for told in printed["abstention"].values():
        del told["foreign"]
    return printed


def test_foreign_questions_move_no_other_figure(report: EvaluationReport) -> None:
    assert without_times(report) == without_times(measured(0))


def test_foreign_questions_are_counted_by_conversation(report: EvaluationReport) -> None:
    assert (report.foreign_questions, report.unanswerable_questions, report.questions) == (2, 1, 5)


def test_json_has_the_results_of_each_system_on_foreign_questions(report: EvaluationReport) -> None:
    printed: dict[str, Any] = dict(as_json(report))
    for told in printed["abstention"].values():
        assert (told["foreign"]["unanswerable"], told["foreign"]["answerable"]) == (2, 5)
    assert printed["abstention"]["default"]["foreign"]["by_threshold"][-1]["recall"] == 1.0


def test_json_without_foreign_questions_has_null() -> None:
    printed: dict[str, Any] = dict(as_json(measured(0)))
    assert {told["foreign"] for told in printed["abstention"].values()} == {None}
