"""Two systems on the same questions, as measured and as read from their records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted

from remembrancer.errors import InvalidInput
from remembrancer.evaluation import records
from remembrancer.evaluation.paired import COMPARED, PairedComparison, ScoredQuestion, compare_systems
from remembrancer.evaluation.questions import load
from remembrancer.evaluation.run import judge

OWN = Path(__file__).parents[2] / "fixtures" / "questions"
BETTER = {
    "When did the belt for the lathe come?": ["w4"],
    "Where should the walnut boards not stand?": ["w3"],
    "What came from Hartmann, and what did it cost?": ["w1", "w5"],
    "Which kiln did Ruth buy?": ["w1"],
    "How many apple trees are left?": ["g4"],
    "Who closed the valve of the pump?": ["w1"],
    "What colour is the greenhouse?": [],
}
WORSE = {**BETTER, "When did the belt for the lathe come?": ["w1", "w4"], "Who closed the valve of the pump?": []}


def scored(values: Sequence[float], conversations: Sequence[str] | None = None) -> list[ScoredQuestion]:
    """Questions whose metrics all have the same value."""
    names = ["c"] * len(values) if conversations is None else conversations
    return [
        ScoredQuestion(
            conversation=name, id=f"q{number}", question="?", category="all", gold=("t",),
            metrics=dict.fromkeys(COMPARED, value),
        )
        for number, (value, name) in enumerate(zip(values, names, strict=True))
    ]  # fmt: skip


def compared(
    first: Sequence[float], second: Sequence[float], conversations: Sequence[str] | None = None
) -> PairedComparison:
    return compare_systems(("a", "b"), scored(first, conversations), scored(second, conversations), seed=1)


def run(folder: Path, *systems: Scripted) -> None:
    dataset = load(OWN / "corpus.jsonl", OWN / "questions.jsonl")
    asyncio.run(judge(dataset, systems, depth=20, folder=folder))


def test_a_difference_is_that_of_the_means() -> None:
    told = compared([1, 1, 0, 0.5], [0, 1, 0.25, 0.5])
    assert [one.metric for one in told.differences] == list(COMPARED)
    one = told.differences[0]
    assert (one.first, one.second, one.difference) == pytest.approx((0.625, 0.4375, 0.1875))
    assert (one.won, one.lost, one.tied) == (1, 1, 2)


def test_the_interval_holds_the_difference() -> None:
    one = compared([1, 1, 0, 0.5, 0.75], [0, 1, 0.25, 0.5, 0.5]).differences[0]
    assert -1 <= one.interval.low < one.difference < one.interval.high <= 1


def test_where_nothing_differs_nothing_is_sure() -> None:
    told = compared([1, 0, 0.5], [1, 0, 0.5])
    assert {(one.p, one.p_holm, one.interval.low, one.interval.high) for one in told.differences} == {(1, 1, 0, 0)}
    assert told.changed == ()


def test_a_difference_on_every_question_is_significant_even_after_correction() -> None:
    one = compared([1.0] * 12, [0.0] * 12).differences[0]
    assert one.p == pytest.approx(2 / 2**12)
    assert one.p_holm == pytest.approx(one.p * len(COMPARED))


def test_whole_conversations_are_flipped_too_where_there_are_several() -> None:
    conversations = ["c1"] * 6 + ["c2"] * 6
    one = compared([1.0] * 12, [0.0] * 12, conversations).differences[0]
    assert one.p_conversations == 0.5
    assert one.cluster_interval is not None
    alone = compared([1.0] * 12, [0.0] * 12).differences[0]
    assert (alone.p_conversations, alone.cluster_interval) == (None, None)


def test_swapping_the_two_turns_every_sign() -> None:
    there, back = compared([1, 0.5, 0], [0, 1, 0]), compared([0, 1, 0], [1, 0.5, 0])
    for one, other in zip(there.differences, back.differences, strict=True):
        assert (one.difference, one.p, one.won) == (-other.difference, other.p, other.lost)


def test_the_order_of_the_questions_does_not_matter_to_the_second() -> None:
    first, second = scored([1, 0.5, 0]), scored([0, 1, 0.25])
    assert compare_systems(("a", "b"), first, second[::-1], seed=1) == compare_systems(
        ("a", "b"), first, second, seed=1
    )


def test_the_most_changed_questions_come_first() -> None:
    told = compared([1, 0.5, 0, 0.5], [0.75, 0.5, 1, 0])
    assert [(one.id, one.by) for one in told.changed] == [("q2", -1), ("q3", 0.5), ("q0", 0.25)]


@pytest.mark.parametrize("second", [scored([1]), scored([1, 0, 1]), scored([1, 0], ["c", "d"])])
def test_other_questions_are_no_pair(second: list[ScoredQuestion]) -> None:
    with pytest.raises(InvalidInput, match="the same questions on both sides"):
        compare_systems(("a", "b"), scored([1, 0]), second, seed=1)


def test_no_questions_are_no_pair() -> None:
    with pytest.raises(InvalidInput, match="at least one answerable question"):
        compare_systems(("a", "b"), [], [], seed=1)


def test_records_give_the_same_comparison_as_the_run(tmp_path: Path) -> None:
    better, worse = Scripted(BETTER, "better"), Scripted(WORSE, "worse")
    run(tmp_path, better, worse)
    told = records.compare(tmp_path / "better.jsonl", tmp_path / "worse.jsonl", seed=1)
    assert (told.first, told.second, told.questions, told.conversations) == ("better", "worse", 5, 2)
    by_metric = {one.metric: one for one in told.differences}
    assert by_metric["recall@5"].difference == pytest.approx(1 / 5)
    assert by_metric["mrr"].difference == pytest.approx((0.5 + 1) / 5)
    assert [one.question for one in told.changed] == [
        "Who closed the valve of the pump?",
        "When did the belt for the lathe come?",
    ]


def test_a_folder_means_the_first_system_of_its_run(tmp_path: Path) -> None:
    for name, answers in (("before", WORSE), ("after", BETTER)):
        run(tmp_path / name, Scripted(answers, "mine"))
        records.write_report(tmp_path / name, {"table": [{"system": "mine"}]})
    told = records.compare(tmp_path / "after", tmp_path / "before", seed=1)
    assert told.first == str(tmp_path / "after" / "mine.jsonl")
    assert told.differences[0].difference == pytest.approx(1 / 5)


def test_changed_questions_are_written_most_changed_first(tmp_path: Path) -> None:
    told = compared([1, 0.5, 0], [0.75, 0.5, 1])
    records.write_changed(tmp_path, told)
    lines = [json.loads(line) for line in (tmp_path / "a-against-b.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["q2", "q0"]
    assert lines[0]["differences"] == dict.fromkeys(COMPARED, -1.0)


Change = Callable[[dict[str, Any]], object]


def without(key: str) -> Change:
    return lambda record: record.pop(key)


def setting(**values: object) -> Change:
    return lambda record: record.update(values)


def scoring(mrr: object) -> Change:
    return lambda record: record["turn"].update({"mrr": mrr})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (without("id"), r"better\.jsonl:1: key: 'id'"),
        (without("turn"), r"better\.jsonl:1: key: 'turn'"),
        (without("answerable"), r"better\.jsonl:1: key: 'answerable'"),
        (setting(turn={"recall@5": 1}), r"better\.jsonl:1: key: 'recall@10'"),
        (setting(turn=[1]), r"better\.jsonl:1: turn:.*a JSON object"),
        (setting(gold="w4"), r"better\.jsonl:1: gold: 'w4'.*a JSON list"),
        (setting(question=7), r"better\.jsonl:1: question: 7"),
        (setting(id="walnut"), r"better\.jsonl:2: id: 'walnut'.*each question once"),
        (setting(id="other"), r"workshop: (belt|other).*the same questions"),
        (setting(question="Another?"), r"workshop: belt.*the same question with the same evidence"),
        (setting(gold=["w2"]), r"workshop: belt.*the same question with the same evidence"),
        (scoring(2), r"better\.jsonl:1: mrr: 2.*from 0 to 1"),
        (scoring("1"), r"better\.jsonl:1: mrr: '1'"),
    ],
)
def test_records_that_are_not_right_are_refused(change: Change, named: str, tmp_path: Path) -> None:
    run(tmp_path, Scripted(BETTER, "better"), Scripted(WORSE, "worse"))
    lines = (tmp_path / "better.jsonl").read_text().splitlines()
    record = json.loads(lines[0])
    change(record)
    (tmp_path / "better.jsonl").write_text("\n".join([json.dumps(record), *lines[1:]]))
    with pytest.raises(InvalidInput, match=named):
        records.compare(tmp_path / "better.jsonl", tmp_path / "worse.jsonl", seed=1)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "at least one answerable question"),
        ("nonsense\n", r"bad\.jsonl:1:.*one JSON object on each line"),
        ('{"answerable": false}\n', "at least one answerable question"),
    ],
)
def test_another_file_is_refused(content: str, named: str, tmp_path: Path) -> None:
    run(tmp_path, Scripted(BETTER, "better"))
    (tmp_path / "bad.jsonl").write_text(content)
    with pytest.raises(InvalidInput, match=named):
        records.compare(tmp_path / "better.jsonl", tmp_path / "bad.jsonl", seed=1)


@pytest.mark.parametrize("report", [None, "nonsense", "{}", '{"table": []}', '{"table": [{"system": 3}]}'])
def test_a_folder_that_holds_no_run_is_refused(report: str | None, tmp_path: Path) -> None:
    if report is not None:
        (tmp_path / "report.json").write_text(report)
    with pytest.raises(InvalidInput, match=r"first:.*a folder with the report\.json of a run"):
        records.compare(tmp_path, tmp_path, seed=1)


def test_records_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"records:.*there is no file at this path"):
        records.read(tmp_path / "none.jsonl")
