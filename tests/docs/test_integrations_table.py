"""The table of integrations: each has a row, with the versions that are locked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from integrations_table import ROWS, row_of

ROOT: Final = Path(__file__).parents[2]
CELLS: Final = {
    cells[0]: cells
    for line in (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
    for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
}


def test_each_row_is_in_the_table() -> None:
    assert CELLS.keys() - {"framework"} == ROWS.keys()


@pytest.mark.parametrize("row", ROWS)
def test_the_versions_on_the_page_are_those_that_are_locked(row: str) -> None:
    locks = [
        (ROOT / name).read_text(encoding="utf-8").split() for name in ("constraints.txt", "constraints-frameworks.txt")
    ]
    pins = {one.replace(" ", "==") for one in CELLS[row][-2].split(", ")}
    assert {pin.partition("==")[0] for pin in pins} == {*ROWS[row].distributions}
    assert any(pins <= {*lock} for lock in locks)


def test_all_tests_on_the_page_passed() -> None:
    assert {row: cells[-1] for row, cells in CELLS.items() if row in ROWS and not re.fullmatch(r"\d+", cells[-1])} == {}


def test_each_file_of_tests_has_a_row() -> None:
    files = [
        file.name for folder in ("integrations", "frameworks") for file in (ROOT / "tests" / folder).glob("test_*")
    ]
    assert {row_of(file) for file in files} == ROWS.keys() - {"LangMem"}
