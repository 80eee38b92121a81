"""A whole run over the tiny data set: the questions asked of each system, and the judgement of answers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scripted import Scripted

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.baselines import Recency
from remembrancer.evaluation.budget import BLOCK_METRICS
from remembrancer.evaluation.dataset import Dataset
from remembrancer.evaluation.locomo import load
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.misses import Cause
from remembrancer.evaluation.records import read
from remembrancer.evaluation.run import OnProgress, Progress, judge
from remembrancer.evaluation.summary import Outcomes, SystemResult, summarise
from remembrancer.evaluation.system import System, TurnOutcome

TINY = Path(__file__).parents[2] / "fixtures" / "locomo" / "tiny.json"
BEEHIVES = "What did Ines say about beehives, and where does Petra live?"
FOREIGN = "Which of the bakeries is a bookshop?"

ANSWERS = {
    "How many beehives did Ines keep through the winter?": ["D1:1"],
    "What did Ines say about beehives, and where does Petra live?": ["D1:3", "D1:1"],
    "When did Petra move?": ["D1:1", "D1:2", "D2:2", "D2:1"],
    "Would Tomas enjoy a kayak?": [],
    "What did Ines sell?": ["D1:2"],
    "What became of the bakery?": ["D2:1", "D10:1"],
    FOREIGN: ["D1:1"],
}


def outcomes(
    *systems: System, depth: int = 100, folder: Path | None = None, on_progress: OnProgress | None = None
) -> tuple[Outcomes, ...]:
    return asyncio.run(judge(load(TINY), systems, depth=depth, folder=folder, on_progress=on_progress))


def judged(system: System) -> SystemResult:
    (outcome,) = outcomes(system)
    return summarise(outcome, load(TINY).categories, seed=1)


def test_main_row_is_the_mean_over_categories_one_to_four() -> None:
    result = judged(Scripted(ANSWERS))
    assert result.main.turn.questions == 5
    assert result.main.turn.values["recall@5"] == pytest.approx((1 + 1 / 3 + 1 + 0 + 1) / 5)
    assert result.main.turn.values["any@5"] == pytest.approx(4 / 5)
    assert result.main.turn.values["all@5"] == pytest.approx(3 / 5)
    assert result.main.turn.values["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 4 + 0 + 1 / 2) / 5)


def test_sessions_are_judged_by_their_first_turn() -> None:
    result = judged(Scripted(ANSWERS))
    assert result.main.session.values["recall@5"] == pytest.approx((1 + 1 / 2 + 1 + 0 + 1) / 5)
    assert result.main.session.values["mrr"] == pytest.approx((1 + 1 + 1 / 2 + 0 + 1 / 2) / 5)


def test_categories_split_the_main_questions_and_adversarial_ones_are_separate() -> None:
    result = judged(Scripted(ANSWERS))
    assert {category: levels.turn.questions for category, levels in result.by_category.items()} == {
        "single-hop": 2,
        "multi-hop": 1,
        "temporal": 1,
        "open-domain": 1,
    }
    assert result.by_category["multi-hop"].turn.values["recall@5"] == pytest.approx(1 / 3)
    assert (result.adversarial.turn.questions, result.unanswerable.questions) == (1, 1)
    assert result.adversarial.turn.values["recall@5"] == 1.0


def test_interval_holds_the_mean() -> None:
    result = judged(Scripted(ANSWERS))
    for means in (result.main.turn, result.main.session, result.main.block):
        for name, value in means.values.items():
            for interval in (means.intervals[name], means.cluster_intervals[name]):
                assert 0 <= interval.low <= value <= interval.high <= 1


def test_intervals_by_conversations_are_shown_where_there_are_enough_of_them() -> None:
    (outcome,) = outcomes(Scripted(ANSWERS))
    copies = [replace(one, conversation=f"{one.conversation}-{copy}") for copy in range(3) for one in outcome.asked]
    result = summarise(replace(outcome, asked=tuple(copies)), load(TINY).categories, seed=1)
    assert (result.main.turn.conversations, result.main.turn.shown_intervals) == (6, result.main.turn.cluster_intervals)
    assert judged(Scripted(ANSWERS)).main.turn.shown_intervals == judged(Scripted(ANSWERS)).main.turn.intervals


def test_one_conversation_has_no_interval_by_conversations() -> None:
    (outcome,) = outcomes(Scripted(ANSWERS))
    assert summarise(outcome.of(frozenset({"tiny-1"})), (), seed=1).main.turn.cluster_intervals == {}


def test_each_system_takes_in_each_conversation_once_and_is_asked_to_the_depth() -> None:
    system = Scripted(ANSWERS)
    outcomes(system, depth=42)
    assert system.prepared_for == ["tiny-1", "tiny-2"]
    assert system.limits == {42}


def test_a_question_is_asked_at_its_time() -> None:
    system = Scripted(ANSWERS)
    outcomes(system)
    assert set(system.asked_at) == {
        datetime(2024, 3, 10, 13, 30, 10, tzinfo=UTC),
        datetime(2025, 1, 1, 12, 0, tzinfo=UTC),
    }


def foreign_to_the_first() -> Dataset:
    """The tiny data set, with a question of the second conversation asked of the first too."""
    first, second = load(TINY).conversations
    question = replace(second.questions[0], text=FOREIGN, evidence=(), sessions=(), answerable=False, foreign=second.id)
    return replace(load(TINY), conversations=(replace(first, foreign=(question,)), second))


def test_foreign_questions_are_asked_after_a_conversations_own_and_reported_separately() -> None:
    (outcome,) = asyncio.run(judge(foreign_to_the_first(), [Scripted(ANSWERS)], depth=100))
    assert [one.conversation for one in outcome.asked] == ["tiny-1"] * 5 + ["tiny-2"]
    assert [(one.conversation, one.question.foreign) for one in outcome.foreign] == [("tiny-1", "tiny-2")]


def test_progress_counts_foreign_questions_too() -> None:
    told: list[Progress] = []
    asyncio.run(judge(foreign_to_the_first(), [Scripted(ANSWERS)], depth=100, on_progress=told.append))
    assert (told[-1].done, told[-1].total) == (7, 7)


def test_records_name_the_conversation_of_a_foreign_question(tmp_path: Path) -> None:
    asyncio.run(judge(foreign_to_the_first(), [Scripted(ANSWERS)], depth=100, folder=tmp_path))
    records = [json.loads(line) for line in (tmp_path / "scripted.jsonl").read_text().splitlines()]
    assert [record["foreign"] for record in records] == [None] * 5 + ["tiny-2", None]


def test_records_with_foreign_questions_are_compared_without_them(tmp_path: Path) -> None:
    asyncio.run(judge(foreign_to_the_first(), [Scripted(ANSWERS)], depth=100, folder=tmp_path))
    assert len(read(tmp_path / "scripted.jsonl")) == 5


def test_progress_counts_every_question_of_every_system() -> None:
    told: list[Progress] = []
    outcomes(Scripted(ANSWERS), Recency(), on_progress=told.append)
    assert told[0] == Progress(system="scripted", conversation="tiny-1", done=0, total=12)
    assert told[-1] == Progress(system="recency", conversation="tiny-2", done=12, total=12)
    assert [one.done for one in told] == sorted(one.done for one in told)


def test_records_hold_each_question_with_its_ranks(tmp_path: Path) -> None:
    scores = {BEEHIVES: [0.75, 0.5]}
    turn_outcomes = {BEEHIVES: {"D2:1": TurnOutcome.THRESHOLD, "D2:2": TurnOutcome.NOT_INGESTED}}
    outcomes(Scripted(ANSWERS, scores=scores, outcomes=turn_outcomes), folder=tmp_path / "out")
    records = [json.loads(line) for line in (tmp_path / "out" / "scripted.jsonl").read_text().splitlines()]
    assert len(records) == 6
    record = records[1]
    assert record.pop("latency_ms") >= 0
    assert set(record.pop("turn")) == set(record.pop("session")) == set(METRICS)
    assert set(record.pop("block")) == set(BLOCK_METRICS)
    below, never = (
        dict.fromkeys(("first 10", "1k", "2k", "4k"), cause) for cause in ("below the threshold", "not ingested")
    )
    assert record == {
        "conversation": "tiny-1",
        "id": "qa[1]",
        "question": BEEHIVES,
        "category": "multi-hop",
        "answerable": True,
        "foreign": None,
        "gold": ["D1:1", "D2:1", "D2:2"],
        "gold_ranks": [2, None, None],
        "ranked": ["D1:3", "D1:1"],
        "scores": [0.75, 0.5],
        "returned": 2,
        "gold_sessions": ["session_1", "session_2"],
        "gold_session_ranks": [1, None],
        "block_chars": {"1k": 93, "2k": 93, "4k": 93},
        "missed": {"D2:1": below, "D2:2": never},
    }


def test_every_turn_that_answers_is_found_or_has_a_cause() -> None:
    turn_outcomes = {BEEHIVES: {"D2:1": TurnOutcome.THRESHOLD}}
    result = judged(Scripted(ANSWERS, outcomes=turn_outcomes))
    assert result.missed["first 10"] == {Cause.FOUND: 4, Cause.THRESHOLD: 1, Cause.NO_CANDIDATE: 2}
    assert {sum(counts.values()) for counts in result.missed.values()} == {7}


def test_a_block_is_judged_by_the_turns_that_it_contains() -> None:
    result = judged(Scripted(ANSWERS))
    assert result.main.block.values["block-recall@1k"] == pytest.approx((1 + 1 / 3 + 1 + 0 + 1) / 5)
    assert result.main.block.values["block-all@4k"] == pytest.approx(3 / 5)


def test_nothing_returned_is_counted_by_whether_something_answers() -> None:
    silent = judged(Scripted({**ANSWERS, "What did Ines sell?": []})).unanswerable.counts
    assert (silent.silent_on_unanswerable, silent.silent_on_answerable) == (1, 1)


def test_scores_that_are_no_fractions_have_no_reliability_and_are_not_swept() -> None:
    scores = {question: [9.0 - place for place in range(len(turns))] for question, turns in ANSWERS.items()}
    result = judged(Scripted(ANSWERS, scores=scores))
    assert (result.reliability, result.unanswerable.by_threshold) == (None, ())


def test_records_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="a folder that can be written to"):
        outcomes(Scripted(ANSWERS), folder=tmp_path / "file")


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="each with a name of its own"):
        outcomes(Scripted(ANSWERS), Scripted(ANSWERS))


@pytest.mark.parametrize("depth", [19, 201])
def test_depth_covers_all_metrics_and_is_at_most_that_of_a_recall(depth: int) -> None:
    with pytest.raises(InvalidInput, match="depth"):
        outcomes(Scripted(ANSWERS), depth=depth)


def test_data_set_without_a_usable_question_is_refused() -> None:
    empty = Dataset(name="none.json", sha256="", conversations=(), categories=())
    with pytest.raises(InvalidInput, match="at least one question with evidence"):
        asyncio.run(judge(empty, [Recency()], depth=100))


def test_data_set_with_unanswerable_questions_alone_is_refused() -> None:
    whole = load(TINY)
    left = tuple(
        replace(one, questions=tuple(question for question in one.questions if not question.answerable))
        for one in whole.conversations
    )
    with pytest.raises(InvalidInput, match="at least one question with evidence"):
        asyncio.run(judge(replace(whole, conversations=left), [Recency()], depth=100))
