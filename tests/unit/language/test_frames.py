from __future__ import annotations

import pytest
from golden_tables import cells, every_row, table

from remembrancer.language.english.answer_types import asked_for
from remembrancer.language.english.frames import core
from remembrancer.language.english.question_kinds import kind_of

ROWS = table("question_cores")


def core_of(text: str) -> str:
    return core(text, ordering=kind_of(text, asked_for(text)) == "order")


@every_row(ROWS, cells)
def test_the_core_of_a_question_is_what_it_is_about(row: dict[str, str]) -> None:
    assert core_of(row["text"]) == row["core"]


@every_row(ROWS, cells)
def test_a_core_has_no_frame_left(row: dict[str, str]) -> None:
    assert core_of(row["core"]) == row["core"]


@pytest.mark.parametrize("text", ["", " ", "?", "...", "Please.", "Thanks!", "Question:", "a: b: c:", "(", "list"])
def test_a_text_without_a_question_is_its_own_core(text: str) -> None:
    assert core(text) == core(text, ordering=True) == text
