"""Blocks, causes of misses, calibration and abstention, compared with independently computed values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from golden_tables import cells, every_row, numbers, table
from scripted import Told

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.abstention import THRESHOLDS, reliability, separation, sweep
from remembrancer.evaluation.budget import BLOCK_METRICS, BUDGETS, block_metrics, chars_of, pack_block
from remembrancer.evaluation.dataset import DatasetQuestion
from remembrancer.evaluation.misses import READERS, Cause, EvidenceTurn, count_causes
from remembrancer.evaluation.outcome import JudgedQuestion, judge_answer
from remembrancer.evaluation.system import MeasuredBlock, TurnOutcome

AT = datetime(2026, 1, 1, tzinfo=UTC)


def asked(
    ranked: Sequence[str],
    scores: Sequence[float] = (),
    gold: Sequence[str] = (),
    outcomes: Mapping[str, TurnOutcome] | None = None,
    texts: Mapping[str, str] | None = None,
) -> JudgedQuestion:
    question = DatasetQuestion(
        id="q", text="?", category="c", asked_at=AT, evidence=tuple(gold), sessions=tuple(gold), answerable=bool(gold)
    )
    several = {turn: turn for turn in (*ranked, *gold)}
    told = Told(tuple(ranked), tuple(scores), {} if outcomes is None else outcomes, several | dict(texts or {}))
    return asyncio.run(judge_answer("conversation", question, told, several, latency_ms=1))


@every_row(table("block_survival"), cells)
def test_a_block_contains_the_texts_that_fit_and_their_share_of_the_evidence(row: dict[str, str]) -> None:
    lengths = dict(one.split(":") for one in row["texts"].split())
    block = pack_block(
        row["ranked"].split(), {name: "x" * int(length) for name, length in lengths.items()}, int(row["room"])
    )
    values = block_metrics(dict.fromkeys(BUDGETS, block), row["gold"].split())
    assert (" ".join(block.turns), block.chars) == (row["held"], int(row["chars"]))
    for budget in BUDGETS:
        assert values[f"block-recall@{budget}"] == pytest.approx(float(row["recall"]))
        assert values[f"block-all@{budget}"] == float(row["all"])


def test_survival_has_every_name_in_order() -> None:
    assert tuple(block_metrics(dict.fromkeys(BUDGETS, MeasuredBlock((), 0)), ["a"])) == BLOCK_METRICS


def test_survival_of_nothing_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="gold"):
        block_metrics(dict.fromkeys(BUDGETS, MeasuredBlock((), 0)), [])


def test_a_token_is_four_characters() -> None:
    assert [chars_of(budget) for budget in BUDGETS] == [4_000, 8_000, 16_000]


@pytest.mark.parametrize(
    ("outcome", "rank", "blocks", "causes"),
    [
        (TurnOutcome.RETURNED, 1, {"1k", "2k", "4k"}, ["found"] * 4),
        (TurnOutcome.RETURNED, 10, {"4k"}, ["found", "cut", "cut", "found"]),
        (TurnOutcome.RETURNED, 11, {"2k", "4k"}, ["ranked low", "cut", "found", "found"]),
        (TurnOutcome.RETURNED, 90, set[str](), ["ranked low", "cut", "cut", "cut"]),
        (TurnOutcome.LIMIT, None, set[str](), ["ranked low"] * 4),
        (TurnOutcome.THRESHOLD, None, set[str](), ["below the threshold"] * 4),
        (TurnOutcome.DUPLICATE, None, set[str](), ["duplicate"] * 4),
        (TurnOutcome.ALIKE, None, set[str](), ["too alike"] * 4),
        (TurnOutcome.GONE, None, set[str](), ["gone since"] * 4),
        (TurnOutcome.NO_CANDIDATE, None, set[str](), ["not a candidate"] * 4),
        (TurnOutcome.NOT_INGESTED, None, set[str](), ["not ingested"] * 4),
    ],
)
def test_a_turn_is_missed_for_one_cause_by_each_reader(
    outcome: TurnOutcome, rank: int | None, blocks: set[str], causes: list[str]
) -> None:
    sought = EvidenceTurn(turn="t", outcome=outcome, rank=rank, blocks=frozenset(blocks))
    assert [sought.cause(reader).value for reader in READERS] == causes
    assert sought.missed() == {reader: cause for reader, cause in zip(READERS, causes, strict=True) if cause != "found"}


def test_causes_are_counted_for_each_reader() -> None:
    found = EvidenceTurn(turn="a", outcome=TurnOutcome.RETURNED, rank=12, blocks=frozenset(BUDGETS))
    never = EvidenceTurn(turn="b", outcome=TurnOutcome.NOT_INGESTED, rank=None, blocks=frozenset())
    counts = count_causes([found, never])
    assert counts["first 10"] == {Cause.RANKED_LOW: 1, Cause.NOT_INGESTED: 1}
    assert counts["2k"] == {Cause.FOUND: 1, Cause.NOT_INGESTED: 1}


def test_a_turn_too_long_for_the_block_is_cut() -> None:
    one = asked(["a", "b"], gold=["a", "b"], texts={"a": "x" * 5_000})
    assert [sought.missed() for sought in one.evidence_turns] == [{"1k": "cut"}, {}]
    assert one.block["block-recall@1k"] == 0.5


def test_the_outcome_of_a_turn_that_is_returned_is_not_requested() -> None:
    one = asked(["a"], gold=["a"], outcomes={"a": TurnOutcome.THRESHOLD})
    assert one.evidence_turns[0].outcome is TurnOutcome.RETURNED


@every_row(table("calibration_error"), cells)
def test_calibration_error_by_ten_bins(row: dict[str, str]) -> None:
    scores, right = numbers(row["scores"]).tolist(), [one == "1" for one in row["right"].split()]
    told = reliability(list(zip(scores, right, strict=True)))
    assert told.error == pytest.approx(float(row["expected"]), abs=1e-12)
    bins = {int(number) for number in row["bins"].split()}
    assert [round(one.high * 10) for one in told.bins] == sorted(bins)
    assert sum(one.answers for one in told.bins) == told.answers == len(scores)


def test_calibration_of_nothing_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="at least one answer"):
        reliability([])


@every_row(table("separation"), cells)
def test_auc_and_its_interval(row: dict[str, str]) -> None:
    told = separation(numbers(row["answerable"]).tolist(), numbers(row["unanswerable"]).tolist())
    assert told.auc == pytest.approx(float(row["auc"]), abs=1e-12)
    assert (told.interval.low, told.interval.high) == pytest.approx((float(row["low"]), float(row["high"])), abs=1e-9)


def test_auc_interval_has_the_nominal_coverage() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(300):  # of two normals one standard deviation apart, AUC is Phi(1 / sqrt 2) = 0.76025
        told = separation(rng.normal(1, 1, 60).tolist(), rng.normal(0, 1, 40).tolist())
        covered += told.interval.low <= 0.76025 <= told.interval.high
    assert covered / 300 == pytest.approx(0.95, abs=0.04)


def test_auc_needs_two_of_either_kind() -> None:
    with pytest.raises(InvalidInput, match="at least two of either kind"):
        separation([0.4, 0.5], [0.1])


def of_cell(cell: str, gold: Sequence[str]) -> list[JudgedQuestion]:
    return [asked([], gold=gold) if one == "-" else asked(["t"], [float(one)], gold) for one in cell.split()]


@every_row(table("abstaining"), cells)
def test_saying_nothing_below_a_least_score(row: dict[str, str]) -> None:
    several = [*of_cell(row["answerable"], ["t"]), *of_cell(row["unanswerable"], [])]
    (told,) = sweep(several, [float(row["floor"])])
    assert f"{told.silent_on_unanswerable} {told.silent_on_answerable}" == row["silent"]
    assert told.precision == (pytest.approx(float(row["precision"])) if row["precision"] else None)
    assert (told.sensitivity, told.f1) == pytest.approx((float(row["recall"]), float(row["f1"])))


def test_recall_counts_the_turns_above_the_least_score() -> None:
    several = [
        asked(["a", "b", "x"], [0.9, 0.5, 0.1], ["a", "b", "c"]),
        asked(["d"], [0.4], ["d"]),
        asked(["x"], [0.9]),
    ]
    recalls = [told.recall for told in sweep(several, [0.0, 0.4, 0.45, 0.5, 0.91])]
    assert recalls == pytest.approx([(2 / 3 + 1) / 2, (2 / 3 + 1) / 2, 1 / 3, 1 / 3, 0])


def test_turns_below_the_first_ten_do_not_count_for_recall() -> None:
    ranked = [f"t{place}" for place in range(11)]
    scores = [1 - place / 20 for place in range(11)]
    (told,) = sweep([asked(ranked, scores, ["t9", "t10"]), asked(["x"], [0.2])], [0.0])
    assert told.recall == 0.5


def test_a_higher_least_score_never_answers_more() -> None:
    rng = np.random.default_rng(3)
    several = [asked(["t"], [float(score)], ["t"] if number % 2 else []) for number, score in enumerate(rng.random(40))]
    told = sweep(several)
    assert [one.threshold for one in told] == list(THRESHOLDS)
    for before, after in pairwise(told):
        assert before.silent_on_answerable <= after.silent_on_answerable
        assert before.silent_on_unanswerable <= after.silent_on_unanswerable
        assert before.recall >= after.recall


def test_a_sweep_needs_both_kinds_of_questions() -> None:
    with pytest.raises(InvalidInput, match="answerable and unanswerable"):
        sweep([asked(["t"], [0.5], ["t"])])
