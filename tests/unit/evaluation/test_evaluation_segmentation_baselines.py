"""The baseline segmenters do what their names say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from remembrancer.evaluation.segmentation_baselines import (
    NoBoundaries,
    RandomBoundaries,
    TextTiling,
    Tiling,
    TurnTiling,
    VectorTiling,
    WindowBaseline,
)
from remembrancer.evaluation.segmentation_data import Dialogue, load

FOLDER = Path(__file__).parents[2] / "fixtures" / "segmentation"
ERRANDS = load(FOLDER / "errands.json")[0]
WORKSHOP = ERRANDS.dialogues[0]


def long_dialogue() -> Dialogue:
    """Thirty turns of two topics that share no word."""
    first = ["the lathe and its belt slip", "belt and lathe make noise", "oil the lathe below the belt"] * 5
    second = ["pear trees grow behind orchards", "orchards want pear and quince", "quince trees beside pear trees"] * 5
    turns = len(first) + len(second)
    return Dialogue(
        id="long",
        texts=(*first, *second),
        lengths=(15, 15),
        part="",
        times=WORKSHOP.times[:1] * turns,
        speakers=("A",) * turns,
    )


def test_none_sets_no_boundary() -> None:
    assert NoBoundaries().segment(WORKSHOP, None) == [(14,)]


def test_windows_are_as_long_as_the_mean_of_the_part_for_tuning() -> None:
    assert WindowBaseline.of(ERRANDS.for_tuning).segment(WORKSHOP, None) == [(3, 3, 3, 3, 2)]


def test_chance_sets_as_many_boundaries_as_are_to_be_expected() -> None:
    chance = RandomBoundaries.of(ERRANDS.for_tuning, seed=0)
    assert chance.rate == pytest.approx(1 / 5)
    drawn = [len(one) - 1 for one in chance.segment(WORKSHOP, None)]
    assert np.mean(drawn) == pytest.approx(13 / 5, abs=0.5)


def test_chance_is_drawn_by_the_seed() -> None:
    assert RandomBoundaries(0.3, 1).segment(WORKSHOP, None) == RandomBoundaries(0.3, 1).segment(WORKSHOP, None)
    assert RandomBoundaries(0.3, 1).segment(WORKSHOP, None) != RandomBoundaries(0.3, 2).segment(WORKSHOP, None)


def test_tiling_finds_the_one_dip() -> None:
    assert Tiling(rounds=0, cutoff=0.5, min_gap=2).gaps([0.9, 0.8, 0.1, 0.8, 0.9]) == [2]


def test_a_level_line_has_no_dip() -> None:
    assert Tiling(rounds=1, cutoff=-1.0, min_gap=1).gaps([0.5] * 6) == []


def test_of_two_adjacent_dips_the_deeper_one_is_a_boundary() -> None:
    assert Tiling(rounds=0, cutoff=-1.0, min_gap=2).gaps([0.9, 0.3, 0.6, 0.1, 0.9]) == [3]


@pytest.mark.parametrize("method", [TextTiling(width=5, block=6), TurnTiling()])
def test_texttiling_parts_two_vocabularies(method: TextTiling | TurnTiling) -> None:
    assert 15 in np.cumsum(method.segment(long_dialogue(), None)[0])


def test_texttiling_by_vectors_parts_two_directions() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 7, axis=0)
    assert VectorTiling().segment(WORKSHOP, vectors) == [(7, 7)]


def test_texttiling_leaves_a_dialogue_without_words_whole() -> None:
    bare = Dialogue(
        id="bare",
        texts=("?", "!", "..."),
        lengths=(3,),
        part="",
        times=WORKSHOP.times[:3],
        speakers=WORKSHOP.speakers[:3],
    )
    assert TextTiling().segment(bare, None) == TurnTiling().segment(bare, None) == [(3,)]
