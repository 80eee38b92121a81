from __future__ import annotations

from golden_tables import cells, every_row, table

from remembrancer.language.english.answer_types import asked_for
from remembrancer.language.english.question_kinds import kind_of

ROWS = table("question_kinds")


@every_row(ROWS, cells)
def test_a_question_has_the_kind_that_a_reader_gives_it(row: dict[str, str]) -> None:
    assert kind_of(row["text"], asked_for(row["text"])) == row["kind"]


def test_an_empty_text_and_one_of_marks_ask_for_a_fact() -> None:
    assert {kind_of(text, asked_for(text)) for text in ("", " ", "?", "。")} == {"fact"}
