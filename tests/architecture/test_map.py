"""The pages for contributors name only files and names that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import remembrancer

SOURCE = Path(remembrancer.__file__).parent
ROOT = Path(__file__).parents[2]
PAGES = ("docs/architecture.md", "docs/changing.md", "CONTRIBUTING.md")

A_PATH = re.compile(r"[\w.-]*/[\w./-]*|[\w-]+\.(?:py|md|toml|sql)")
A_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def quoted(page: str) -> list[str]:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def names_of_the_source() -> set[str]:
    """Every word of the package, its tests and its settings."""
    files = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), ROOT / "pyproject.toml"]
    return {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_a_page_names_exist(page: str) -> None:
    paths = [one for one in quoted(page) if A_PATH.fullmatch(one)]
    assert paths
    assert [path for path in paths if not any((base / path).exists() for base in (SOURCE, ROOT))] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_names_that_a_page_quotes_exist(page: str) -> None:
    known = names_of_the_source()
    names = [one for one in quoted(page) if A_NAME.fullmatch(one) and not A_PATH.fullmatch(one)]
    assert [name for name in names if not known.issuperset(name.split("."))] == []
