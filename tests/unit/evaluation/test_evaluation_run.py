"""A whole run over the tiny data set: who is asked what, and how the answers are judged."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.console import Console

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.baselines import Recency
from remembrancer.evaluation.locomo import Category, Dataset, Transcript, load
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.report import Report, SystemResult, as_json, print_report
from remembrancer.evaluation.run import OnProgress, Progress, judge
from remembrancer.evaluation.system import Ranker, System

TINY = Path(__file__).parents[2] / "fixtures" / "locomo" / "tiny.json"

ANSWERS = {
    "How many beehives did Ines keep through the winter?": ["D1:1"],
    "What did Ines say about beehives, and where does Petra live?": ["D1:3", "D1:1"],
    "When did Petra move?": ["D1:1", "D1:2", "D2:2", "D2:1"],
    "Would Tomas enjoy a lake?": [],
    "What did Ines sell?": ["D1:2"],
    "What became of the bakery?": ["D2:1", "D10:1"],
}


class Scripted:
    """A system that gives the answers it was told."""

    def __init__(self, answers: Mapping[str, list[str]], name: str = "scripted") -> None:
        self.name = name
        self.answers = answers
        self.prepared_for: list[str] = []
        self.limits: set[int] = set()

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        self.prepared_for.append(transcript.id)
        yield self

    async def rank(self, question: str, *, limit: int) -> list[str]:
        self.limits.add(limit)
        return self.answers[question][:limit]


def judged(
    *systems: System,
    depth: int = 100,
    records: Path | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[SystemResult, ...]:
    return asyncio.run(judge(load(TINY), systems, depth=depth, seed=1, records=records, on_progress=on_progress))


def report(*results: SystemResult) -> Report:
    return Report(
        dataset="tiny.json",
        sha256="0" * 64,
        conversations=2,
        turns=7,
        excluded=2,
        depth=100,
        seed=1,
        embedder="hash-256",
        degraded={},
        results=results,
        index_bytes=4096,
        machine="a machine",
    )


def test_main_row_is_the_mean_over_categories_one_to_four() -> None:
    (result,) = judged(Scripted(ANSWERS))
    assert result.main.turn.questions == 5
    assert result.main.turn.values["recall@5"] == pytest.approx((1 + 1 / 3 + 1 + 0 + 1) / 5)
    assert result.main.turn.values["any@5"] == pytest.approx(4 / 5)
    assert result.main.turn.values["all@5"] == pytest.approx(3 / 5)
    assert result.main.turn.values["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 4 + 0 + 1 / 2) / 5)


def test_sessions_are_judged_by_their_first_turn() -> None:
    (result,) = judged(Scripted(ANSWERS))
    assert result.main.session.values["recall@5"] == pytest.approx((1 + 1 / 2 + 1 + 0 + 1) / 5)
    assert result.main.session.values["mrr"] == pytest.approx((1 + 1 + 1 / 2 + 0 + 1 / 2) / 5)


def test_categories_part_the_main_questions_and_the_adversarial_stand_apart() -> None:
    (result,) = judged(Scripted(ANSWERS))
    assert {category: levels.turn.questions for category, levels in result.by_category.items()} == {
        Category.SINGLE_HOP: 2,
        Category.MULTI_HOP: 1,
        Category.TEMPORAL: 1,
        Category.OPEN_DOMAIN: 1,
    }
    assert result.by_category[Category.MULTI_HOP].turn.values["recall@5"] == pytest.approx(1 / 3)
    assert result.adversarial.turn.questions == 1
    assert result.adversarial.turn.values["recall@5"] == 1.0


def test_interval_holds_the_mean() -> None:
    (result,) = judged(Scripted(ANSWERS))
    for name, value in result.main.turn.values.items():
        interval = result.main.turn.intervals[name]
        assert 0 <= interval.low <= value <= interval.high <= 1


def test_each_system_takes_in_each_conversation_once_and_is_asked_to_the_depth() -> None:
    system = Scripted(ANSWERS)
    judged(system, depth=42)
    assert system.prepared_for == ["tiny-1", "tiny-2"]
    assert system.limits == {42}


def test_progress_counts_every_question_of_every_system() -> None:
    told: list[Progress] = []
    judged(Scripted(ANSWERS), Recency(), on_progress=told.append)
    assert told[0] == Progress(system="scripted", conversation="tiny-1", done=0, total=12)
    assert told[-1] == Progress(system="recency", conversation="tiny-2", done=12, total=12)
    assert [one.done for one in told] == sorted(one.done for one in told)


def test_records_hold_each_question_with_its_ranks(tmp_path: Path) -> None:
    judged(Scripted(ANSWERS), records=tmp_path / "out")
    records = [json.loads(line) for line in (tmp_path / "out" / "scripted.jsonl").read_text().splitlines()]
    assert len(records) == 6
    record = records[1]
    assert record.pop("latency_ms") >= 0
    assert set(record.pop("turn")) == set(record.pop("session")) == set(METRICS)
    assert record == {
        "conversation": "tiny-1",
        "question": "What did Ines say about beehives, and where does Petra live?",
        "category": "multi-hop",
        "gold": ["D1:1", "D2:1", "D2:2"],
        "gold_ranks": [2, None, None],
        "ranked": ["D1:3", "D1:1"],
        "gold_sessions": ["session_1", "session_2"],
        "gold_session_ranks": [1, None],
    }


def test_records_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="a folder that can be written to"):
        judged(Scripted(ANSWERS), records=tmp_path / "file")


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="each with a name of its own"):
        judged(Scripted(ANSWERS), Scripted(ANSWERS))


@pytest.mark.parametrize("depth", [19, 201])
def test_depth_reaches_what_is_measured_and_no_further_than_a_recall(depth: int) -> None:
    with pytest.raises(InvalidInput, match="depth"):
        judged(Scripted(ANSWERS), depth=depth)


def test_data_set_without_a_usable_question_is_refused() -> None:
    empty = Dataset(name="none.json", sha256="", conversations=())
    with pytest.raises(InvalidInput, match="questions with evidence"):
        asyncio.run(judge(empty, [Recency()], depth=100, seed=1))


def test_json_has_a_row_a_system_with_every_metric_at_both_levels() -> None:
    printed = json.loads(json.dumps(as_json(report(*judged(Scripted(ANSWERS, "default"), Recency())))))
    assert [row["system"] for row in printed["table"]] == ["default", "recency"]
    for row in printed["table"]:
        assert set(row) == {"system", "turn", "session"}
        assert set(row["turn"]) == set(row["session"]) == set(METRICS)
        assert all(0 <= value <= 1 for level in ("turn", "session") for value in row[level].values())
    assert set(printed["latency_ms"]) == {"p50", "p95"}
    assert (printed["questions"], printed["adversarial_questions"], printed["excluded"]) == (5, 1, 2)
    assert printed["by_category"]["default"]["multi-hop"]["questions"] == 1
    assert printed["adversarial"]["default"]["turn"]["recall@10"] == 1.0
    assert printed["index_bytes"] == 4096


def test_tables_show_values_denominators_and_intervals() -> None:
    (result,) = judged(Scripted(ANSWERS, "default"))
    page = io.StringIO()
    print_report(report(result), Console(file=page, width=160))
    text = page.getvalue()
    assert "Turns found (mean over 5 questions, 95 % interval below)" in text
    assert "multi-hop" in text
    assert "n=1" in text
    assert f"{result.main.turn.values['recall@10']:.3f}" in text
    assert "4,096 bytes for 7 turns" in text
