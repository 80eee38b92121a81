from __future__ import annotations

import pytest
from golden_tables import every_row, table

from remembrancer.errors import InvalidInput
from remembrancer.policies.learning.stages import WORDS, LearningStage, Stages, detect


@every_row(table("stages"), name=lambda row: row["intent"])
def test_the_stage_of_an_intent(row: dict[str, str]) -> None:
    assert detect(row["intent"]) == (LearningStage(row["expected"]) if row["expected"] else None)


def test_no_word_belongs_to_two_stages() -> None:
    every = [word for words in WORDS.values() for word in words]
    assert len(every) == len(set(every))


def test_no_word_contains_another() -> None:
    every = [word for words in WORDS.values() for word in words]
    within = [(one, other) for one in every for other in every if one != other and f" {one} " in f" {other} "]
    assert within == []


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    intent = "We sell tea. " * 20 + "\nStage: design"
    assert (Stages(read_chars=100).detect(intent), Stages().detect(intent)) == (None, LearningStage.DESIGN)


@pytest.mark.parametrize("chars", [99, 1_000_001])
def test_a_beginning_of_no_use_is_refused(chars: int) -> None:
    with pytest.raises(InvalidInput, match=r"^stages\.read_chars: "):
        Stages(read_chars=chars)
