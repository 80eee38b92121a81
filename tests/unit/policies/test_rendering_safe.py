from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer.domain.age import spoken_age
from remembrancer.policies.rendering.safe import one_line, safe

GOLDEN = Path(__file__).parents[2] / "golden" / "spoken_age.csv"


def golden() -> list[dict[str, str]]:
    with GOLDEN.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", golden(), ids=lambda row: f"{row['seconds']} s")
def test_an_age_is_in_natural_language(row: dict[str, str]) -> None:
    assert spoken_age(timedelta(seconds=float(row["seconds"]))) == row["expected"]


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\x00b\x07c\x7fd\x9be", "abcde"),
        ("a\u202eb\u2066c\u2069d\u200fe", "abcde"),
        ("a\u200bb\ufeffc\u00add", "abcd"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("bytes\ufe00\ufe0d\U000e0100\U000e01ef", "bytes"),
        ("own\ue000", "own"),
    ],
)
def test_invisible_characters_are_left_out(hidden: str, shown: str) -> None:
    assert safe(hidden) == shown


@pytest.mark.parametrize(
    "text",
    ["naïve café", "ключ не подошёл", "数据库迁移", "مرحبا", "C++ > C", "a & b", "😀", "☀\ufe0f", "\u00a0a\tb".strip()],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert safe(text) == text


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_every_line_break_is_a_newline(line_break: str) -> None:
    assert safe(f"one{line_break}two") == "one\ntwo"


@pytest.mark.parametrize("blank", ["", " \t\n", "\u200b\u200b", "\u3000", "\x00"])
def test_of_a_text_that_shows_nothing_nothing_is_left(blank: str) -> None:
    assert safe(blank) == ""


@pytest.mark.parametrize("blanks", ["\n", " \n\n ", "\u2028", "\t", "\u00a0", "\r\n"])
def test_one_line_has_one_space_for_any_blanks(blanks: str) -> None:
    assert one_line(f" one{blanks}two ") == "one two"
