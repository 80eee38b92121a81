"""What each part of the ranking is worth: the benchmark's own script, over a data set of a few turns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remembrancer.policies.scoring import Weighted, signal_names
from remembrancer.presets.default import DEFAULT, STATE

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "fixtures" / "locomo" / "tiny.json"
Figures = dict[str, Any]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.quality", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def quality() -> Figures:
    done = run(str(TINY), "--json")
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def rows(block: Figures) -> dict[str, Figures]:
    return {row["variant"]: row for row in block["rows"]}


def test_without_a_data_set_it_says_where_to_get_one() -> None:
    done = run()
    assert (done.returncode, "LOCOMO=path/to/locomo10.json" in done.stderr) == (2, True)


def test_a_file_that_is_not_there_is_refused_by_name() -> None:
    done = run("nowhere.json")
    assert (done.returncode, "nowhere.json" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_every_signal_of_the_score_is_left_out_once(quality: Figures) -> None:
    assert isinstance(DEFAULT.ranking.score, Weighted)
    state = {name for expression, _ in STATE for name in signal_names(expression)}
    single = {f"without-{name}" for name in signal_names(DEFAULT.ranking.score) - state}
    assert single | {"without-states"} <= set(rows(quality["blocks"][-1]))


def test_conversations_that_nothing_was_tuned_on_are_untouched(quality: Figures) -> None:
    told = [(block["name"], block["conversations"], block["questions"]) for block in quality["blocks"]]
    assert told == [("untouched", ["tiny-1", "tiny-2"], 5), ("all", ["tiny-1", "tiny-2"], 5)]


def test_the_full_ranking_does_not_move_from_itself(quality: Figures) -> None:
    moved = rows(quality["blocks"][-1])["full"]["moved"]
    assert [(one["by"], one["interval"]) for one in moved.values()] == [(0.0, {"low": 0.0, "high": 0.0})] * 2


def test_a_difference_is_the_variants_mean_less_the_full_ones(quality: Figures) -> None:
    table = rows(quality["blocks"][-1])
    full, other = table["full"]["means"]["ndcg@10"], table["bm25"]
    assert other["moved"]["ndcg@10"]["by"] == pytest.approx(other["means"]["ndcg@10"] - full)


def test_a_question_that_shares_no_word_with_its_answer_needs_the_embedder(quality: Figures) -> None:
    table = rows(quality["blocks"][-1])
    assert table["words-alone"]["means"]["recall@10"] < table["full"]["means"]["recall@10"]


def test_a_session_in_one_long_turn_is_found_by_it(quality: Figures) -> None:
    assert rows(quality["long"])["similarity"]["means"]["session recall@5"] == 1.0


def test_every_variant_is_timed(quality: Figures) -> None:
    assert set(quality["cost"]["saved"]) == {*rows(quality["blocks"][-1]), "again"}


def test_vectors_are_four_bytes_a_component(quality: Figures) -> None:
    assert quality["bytes"]["vectors"] == 4 * 384
