"""Ablation of the default ranking: the benchmark's own script, over a data set of a few turns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.quality_asked import MeanChange, Row
from benchmarks.quality_cost import Cost
from benchmarks.quality_report import Ablation, Block, LocomoResult, Quality, View, sheet, views
from benchmarks.quality_third_person import in_third_person
from benchmarks.quality_variants import FULL, Variant, left_out, left_out_together, simple
from png import read_png

from remembrancer.evaluation.statistics import Interval
from remembrancer.policies.ranking.ranking import COMPARED
from remembrancer.policies.ranking.scoring import Signal, Weighted, signal_names
from remembrancer.presets.default import DEFAULT, STATE

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "fixtures" / "locomo" / "tiny.json"
CHATS = ROOT / "tests" / "fixtures" / "questions"
Figures = dict[str, Any]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.quality", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for the pictures, which does not exist yet."""
    return tmp_path_factory.mktemp("drawn") / "quality"


@pytest.fixture(scope="module")
def done(pictures: Path) -> subprocess.CompletedProcess[str]:
    ran = run(str(TINY), "--chats", str(CHATS), "--json", "--out", str(pictures))
    assert not ran.returncode, ran.stderr
    return ran


@pytest.fixture(scope="module")
def told(done: subprocess.CompletedProcess[str]) -> Figures:
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def quality(told: Figures) -> Figures:
    """The result on LoCoMo."""
    return told["locomo"]


def as_measured(told: Figures) -> Quality:
    """The figures as they were before they were JSON."""
    of_name = {one.name: one for one in (FULL, *left_out(), *left_out_together(), *simple())}

    def moved(one: Figures) -> MeanChange:
        return MeanChange(one["by"], Interval(one["interval"]["low"], one["interval"]["high"]))

    def block(one: Figures) -> Block:
        of_block = tuple(
            Row(of_name[row["variant"]], row["means"], {name: moved(by) for name, by in row["moved"].items()})
            for row in one["rows"]
        )
        return Block(one["name"], tuple(one["conversations"]), one["questions"], of_block, one["by_gold_turns"])

    on = told["locomo"]
    blocks = tuple(block(one) for one in on["blocks"])
    locomo = LocomoResult(on["dataset"], blocks, block(on["long"]), Cost(**on["cost"]), on["bytes"])
    return Quality(tuple(block(one) for one in told["chats"]), locomo)


@pytest.fixture(scope="module")
def shown(told: Figures) -> tuple[View, ...]:
    return tuple(views(as_measured(told)))


@pytest.fixture(scope="module")
def without_locomo(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    ran = run("--chats", str(CHATS), "--json", "--out", str(tmp_path_factory.mktemp("chats")))
    assert not ran.returncode, ran.stderr
    return ran


def rows(block: Figures) -> dict[str, Figures]:
    return {row["variant"]: row for row in block["rows"]}


def test_without_locomo_it_prints_where_to_download_it(without_locomo: subprocess.CompletedProcess[str]) -> None:
    assert "LOCOMO=path/to/locomo10.json" in without_locomo.stderr


def test_without_locomo_the_chats_are_measured(without_locomo: subprocess.CompletedProcess[str]) -> None:
    found = json.loads(without_locomo.stdout)
    asked = [f"chats {name}{how}" for how in ("", " third person", " within frames") for name in ("workshop", "garden")]
    assert ([block["name"] for block in found["chats"]], found["locomo"]) == (asked, None)


def test_questions_are_counted_by_the_number_of_their_gold_turns(told: Figures) -> None:
    for block in told["chats"]:
        assert sum(means["questions"] for means in block["by_gold_turns"].values()) == block["questions"]
        assert all(0 <= means["recall@20"] <= 1 for means in block["by_gold_turns"].values())


def test_every_signal_is_left_out_of_the_chats_too(told: Figures) -> None:
    single = {variant.name for variant in left_out()}
    assert all(single <= set(rows(block)) for block in told["chats"][:2])


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("where did i go?", "Where did i go?"),
        ("What did you tell me?", "What did the assistant tell the user?"),
        ("I've lost my keys and ours", "The user has lost the user's keys and the user's"),
        ("Is your myth mine?", "Is the assistant's myth the user's?"),
        ("What you'd take", "What the assistant would take"),
    ],
)
def test_an_agent_asks_of_the_user_and_the_assistant(said: str, meant: str) -> None:
    assert in_third_person(said) == meant


def test_chats_without_a_corpus_are_refused_by_name(tmp_path: Path) -> None:
    done = run("--chats", str(tmp_path))
    assert (done.returncode, "corpus" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


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


def test_the_full_ranking_does_not_differ_from_itself(quality: Figures) -> None:
    moved = rows(quality["blocks"][-1])["full"]["moved"]
    assert [(one["by"], one["interval"]) for one in moved.values()] == [(0.0, {"low": 0.0, "high": 0.0})] * 2


def test_a_difference_is_the_variants_mean_less_the_full_ones(quality: Figures) -> None:
    table = rows(quality["blocks"][-1])
    full, other = table["full"]["means"]["ndcg@10"], table["bm25"]
    assert other["moved"]["ndcg@10"]["by"] == pytest.approx(other["means"]["ndcg@10"] - full)


def test_a_question_that_shares_no_word_with_its_answer_needs_the_embedder(quality: Figures) -> None:
    table = rows(quality["blocks"][-1])
    assert table["lexical-only"]["means"]["recall@10"] < table["full"]["means"]["recall@10"]


def test_a_session_in_one_long_turn_is_found_by_it(quality: Figures) -> None:
    assert rows(quality["long"])["similarity"]["means"]["session recall@5"] == 1.0


def test_every_variant_is_timed(quality: Figures) -> None:
    assert set(quality["cost"]["saved"]) == {*rows(quality["blocks"][-1]), "again"}


def test_vectors_are_a_byte_a_component_and_a_scale(quality: Figures) -> None:
    assert quality["bytes"]["vectors"] == 384 + 4


def test_each_table_has_a_picture(shown: tuple[View, ...], pictures: Path) -> None:
    drawn = {path.name: read_png(path.read_bytes()).shades > 40 for path in pictures.glob("*.png")}
    assert drawn == {f"{view.name}.png": True for view in shown}


def test_each_table_is_written_as_markdown(shown: tuple[View, ...], pictures: Path) -> None:
    assert {path.stem for path in pictures.glob("*.md")} == {view.name for view in shown}


def test_the_location_of_the_pictures_is_printed(
    done: subprocess.CompletedProcess[str], pictures: Path, shown: tuple[View, ...]
) -> None:
    assert f"drew {', '.join(f'{view.name}.png' for view in shown)} in {pictures}" in done.stderr


def test_without_late_interaction_the_bytes_of_token_embeddings_are_saved(quality: Figures) -> None:
    assert quality["bytes_saved"]["without-late-interaction"] == quality["bytes"]["token embeddings"] > 0


@pytest.mark.parametrize("signal", ["late_interaction", "passage_words", "session_words"])
def test_each_single_late_interaction_signal_needs_all_token_embeddings(signal: str, quality: Figures) -> None:
    assert quality["bytes_saved"][f"without-{signal}"] == 0


def weights(variant: Variant) -> dict[str, float]:
    score = variant.preset.ranking.score
    assert isinstance(score, Weighted)
    return {term.name: weight for term, weight in score.terms if isinstance(term, Signal)}


def test_without_late_interaction_the_other_weights_are_kept() -> None:
    (variant,) = (one for one in left_out_together() if one.name == "without-late-interaction")
    kept = {name: weight for name, weight in weights(FULL).items() if name not in COMPARED}
    assert weights(variant) == kept


def test_each_row_has_the_cost_that_it_saves(shown: tuple[View, ...]) -> None:
    table = sheet(next(view for view in shown if isinstance(view, Ablation) and view.saved is not None))
    assert table.columns[-2:] == ("ms saved", "bytes saved")
    assert all(figures[-1] for name, figures in table.rows if name != FULL.label)
    assert all(figures[-2] for name, figures in table.rows if name != FULL.label)
