"""A report over a data set of one's own: as JSON, and as tables."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluated import evaluated
from rich.console import Console

from remembrancer.config import Settings
from remembrancer.evaluation.budget import BLOCK_METRICS
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.questions import load
from remembrancer.evaluation.report import EvaluationReport, as_json
from remembrancer.evaluation.summary import levels
from remembrancer.evaluation.tables import print_report
from remembrancer.evaluation.views import SESSION_METRICS, TURN_METRICS, EvidenceFound, views
from remembrancer.testing.doubles import HashEmbedder

OWN = Path(__file__).parents[2] / "fixtures" / "questions"


def measured(
    corpus: Path = OWN / "corpus.jsonl", questions: Path = OWN / "questions.jsonl", **options: Any
) -> EvaluationReport:
    settings = Settings(embedder="none")
    return evaluated(load(corpus, questions), settings=settings, **options)


@pytest.fixture(scope="module")
def report() -> EvaluationReport:
    return measured(embedder=HashEmbedder(), against="mnemosyne", tuned=["garden"])


@pytest.fixture(scope="module")
def printed(report: EvaluationReport) -> Any:
    return json.loads(json.dumps(as_json(report)))


@pytest.fixture(scope="module")
def page(report: EvaluationReport) -> str:
    return told(report)


def told(report: EvaluationReport) -> str:
    page = io.StringIO()
    print_report(report, Console(file=page, width=200))
    return page.getvalue()


def test_json_has_a_row_a_system_with_every_metric(printed: Any) -> None:
    assert [row["system"] for row in printed["table"]] == [
        "default", "mnemosyne", "random", "recency", "grep", "bm25", "dense",
    ]  # fmt: skip
    for row in printed["table"]:
        assert set(row) == {"system", "turn", "session", "block"}
        assert set(row["turn"]) == set(row["session"]) == set(METRICS)
        assert set(row["block"]) == set(BLOCK_METRICS)
        assert all(0 <= value <= 1 for level in ("turn", "session", "block") for value in row[level].values())


def test_json_keeps_the_keys_it_had(printed: Any) -> None:
    assert (printed["questions"], printed["adversarial_questions"], printed["excluded"]) == (5, 2, 0)
    assert set(printed["latency_ms"]) == {"p50", "p95"}
    assert printed["by_category"]["default"]["several"]["questions"] == 2
    assert printed["adversarial"]["default"]["questions"] == 0
    assert set(printed["intervals"]["default"]["turn"]) == set(METRICS)
    assert (printed["conversations"], printed["turns"], printed["depth"], printed["seed"]) == (2, 9, 100, 0)
    assert printed["index_bytes"] > 0


def test_json_has_the_questions_by_the_number_of_their_gold_turns(printed: Any) -> None:
    counted = {label: levels["questions"] for label, levels in printed["by_gold_turns"]["default"].items()}
    assert counted == {"1": 3, "2-3": 2, "4-6": 0, "7+": 0}


def test_json_has_the_assumed_length_of_a_token(printed: Any) -> None:
    assert printed["chars_per_token"] == 4
    assert printed["block_tokens"] == {"1k": 1_000, "2k": 2_000, "4k": 4_000}


def test_json_counts_every_turn_that_answers_by_its_cause(printed: Any) -> None:
    for missed in printed["missed"].values():
        assert list(missed) == list(READERS)
        for counts in missed.values():
            assert set(counts) == {cause.value for cause in Cause}
            assert sum(counts.values()) == 7


def test_json_sweeps_the_least_score_of_memories_alone(printed: Any) -> None:
    abstention = printed["abstention"]
    assert [system for system, one in abstention.items() if one["by_threshold"]] == ["default", "mnemosyne"]
    first, last = abstention["default"]["by_threshold"][0], abstention["default"]["by_threshold"][-1]
    assert (first["threshold"], last["threshold"]) == (0.0, 1.0)
    assert first["silent_on_answerable"] == abstention["default"]["silent_on_answerable"]
    assert last["recall"] == 1.0


def test_json_has_the_comparison_and_each_groups(printed: Any) -> None:
    assert printed["paired"]["questions"] == 5
    assert [(group["name"], group["conversations"]) for group in printed["groups"]] == [
        ("tuned", ["garden"]),
        ("untouched", ["workshop"]),
    ]
    assert [group["paired"]["questions"] for group in printed["groups"]] == [2, 3]
    assert [group["results"]["bm25"]["questions"] for group in printed["groups"]] == [2, 3]


def test_json_without_a_comparison_has_null() -> None:
    printed = as_json(measured(baselines=False))
    assert (printed["paired"], printed["groups"]) == (None, [])


@pytest.mark.parametrize(
    "line",
    [
        "corpus.jsonl + questions.jsonl: 2 conversations, 9 turns; 5 questions count, 2 unanswerable stand apart",
        "All of its conversations",
        "Turns found (mean over 5 questions of 2 conversations; 95 % interval below, by drawing questions)",
        "Sessions found (mean over 5 questions of 2 conversations",
        "Evidence in a block of so many tokens of 4 characters (mean over 5 questions",
        "Turns found by category (recall@10)",
        "default: turns, every metric",
        "default: turns, every metric, by the number of gold turns",
        "Turns found, only the tuned: garden (mean over 2 questions of 1 conversation; 95 % interval below, by drawing",
        "Sessions found, only the tuned: garden (mean over 2 questions of 1 conversation",
        "4 characters, only the untouched: workshop (mean over 3 questions of 1 conversation",
        "the best score tells, only the untouched: workshop (questions that nothing answers: 1 unanswerable)",
        "default: what becomes of the 7 turns that answer, by how much is read",
        "mnemosyne: what becomes of the 7 turns that answer, by how much is read",
        "default: how often the first turn answers, by its score (expected calibration error",
        "Nothing returned, and what the best score tells (questions that nothing answers: 2 unanswerable)",
        "default: saying nothing below a least score",
        "default less mnemosyne, on the same 5 questions (95 % interval by drawing questions; p by flipping",
        "Only the tuned: default less mnemosyne, on the same 2 questions",
        "bytes for 9 turns",
        "Embedder: hash-256; answers read to depth 100; seed 0",
    ],
)
def test_tables_name_their_denominators(line: str, page: str) -> None:
    assert line in " ".join(page.split())


def test_tables_show_the_values(page: str, report: EvaluationReport) -> None:
    for result in report.results:
        assert f"{result.main.turn.values['recall@10']:.3f}" in page
        assert f"{result.main.block.values['block-recall@2k']:.3f}" in page


@pytest.mark.parametrize("level", ["turns", "sessions"])
def test_a_half_is_described_by_the_metrics_of_the_whole(level: str, report: EvaluationReport) -> None:
    shown = {view.name: view for view in views(report) if isinstance(view, EvidenceFound)}
    assert {shown[f"{part}-{level}"].metrics for part in ("tuned", "untouched")} == {shown[level].metrics}


@pytest.mark.parametrize("metric", ["recall@5", "recall@10", "any@10", "all@10", "ndcg@10", "mrr"])
def test_turns_are_described_by_each_metric_that_the_readme_has(metric: str) -> None:
    assert metric in TURN_METRICS


@pytest.mark.parametrize("metric", ["recall@5", "any@5", "all@5", "all@10"])
def test_sessions_are_described_by_each_metric_that_is_asked_of_them(metric: str) -> None:
    assert metric in SESSION_METRICS


def test_evidence_in_blocks_is_reported_for_each_half(report: EvaluationReport) -> None:
    names = {view.name for view in views(report)}
    assert {"blocks", "tuned-blocks", "untouched-blocks"} <= names


def test_questions_without_hints_have_no_column(page: str) -> None:
    assert "n=0" not in page


def test_a_half_without_an_answerable_question_is_named(report: EvaluationReport) -> None:
    group = report.groups[0]
    empty = {system: levels([], seed=0) for system in group.results}
    page = told(replace(report, groups=(replace(group, results=empty),)))
    assert "Only the tuned: no question there has an answer" in page


def test_foreign_questions_have_a_row_for_each_system() -> None:
    page = told(measured(baselines=False, embedder=HashEmbedder(), foreign=1))
    assert ("default: unanswerable" in page, "default: foreign" in page) == (True, True)


def test_foreign_questions_have_columns_by_least_score() -> None:
    page = " ".join(told(measured(baselines=False, embedder=HashEmbedder(), foreign=1)).split())
    assert "foreign foreign foreign" in page


def test_empty_results_have_no_table(tmp_path: Path) -> None:
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    corpus.write_text('{"id": "a", "text": "the green canoe"}\n{"id": "b", "text": "eleven bees"}\n')
    questions.write_text('{"question": "Which canoe?", "gold": ["a"]}\n')
    page = told(measured(corpus, questions))
    for title in ("Sessions found", "by category", "Nothing returned", "saying nothing", "Only the", " less "):
        assert title not in page


def test_where_a_preset_allows_less_the_depths_are_distinguished() -> None:
    report = measured(baselines=False, against="crewship")
    assert as_json(report)["depth_by_system"] == {"default": 100, "crewship": 50}
    assert "answers read to depths 100 (default), 50 (crewship)" in told(report)


def test_the_conversations_are_named_where_some_are_left_out() -> None:
    assert "1 of 2 conversations: garden" in told(measured(baselines=False, only=["garden"]))


def test_the_words_of_a_data_set_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    corpus.write_text('{"id": "a", "text": "the [bold]canoe", "conversation": "[red]x"}\n')
    lines = [
        {"question": f"Which [blink]canoe? {name}", "gold": ["a"], "category": name} for name in ("[/b]", "\u202ey")
    ]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = told(measured(corpus, questions, against="crewship"))
    assert "[/b]" in page
    assert "Which [blink]canoe? [/b]" in page
    assert "\u202e" not in page
