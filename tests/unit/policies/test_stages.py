from __future__ import annotations

import csv
from pathlib import Path

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.learning.stages import WORDS, Stage, Stages, detect

TABLE = Path(__file__).parents[2] / "golden" / "stages.csv"
with TABLE.open(newline="", encoding="utf-8") as file:
    ROWS = [(row["intent"], row["expected"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("intent", "expected"), ROWS)
def test_the_stage_of_an_intent(intent: str, expected: str) -> None:
    assert detect(intent) == (Stage(expected) if expected else None)


def test_no_word_tells_of_two_stages() -> None:
    every = [word for words in WORDS.values() for word in words]
    assert len(every) == len(set(every))


def test_no_word_stands_within_another() -> None:
    every = [word for words in WORDS.values() for word in words]
    within = [(one, other) for one in every for other in every if one != other and f" {one} " in f" {other} "]
    assert within == []


def test_what_stands_behind_the_beginning_of_a_long_text_is_not_read() -> None:
    intent = "We sell tea. " * 20 + "\nStage: design"
    assert (Stages(read_chars=100).detect(intent), Stages().detect(intent)) == (None, Stage.DESIGN)


@pytest.mark.parametrize("chars", [99, 1_000_001])
def test_a_beginning_of_no_use_is_refused(chars: int) -> None:
    with pytest.raises(InvalidInput, match=r"^stages\.read_chars: "):
        Stages(read_chars=chars)
