"""The documents agree with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reference.http import operations

ROOT = Path(__file__).parents[2]
GENERATED = {
    (ROOT / "docs" / file).resolve()
    for file in re.findall(r"reference/\w+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
}
"""The pages of the reference, which are made when the site is built."""
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    places = [(page.parent / target).resolve() for target in targets]
    missing = [place for place in places if not place.exists() and place not in GENERATED]
    assert missing == []


ROUTE = re.compile(r"`(GET|POST|PATCH|DELETE) (/(?:v1|api)/[^`? ]*)")


def test_every_route_that_a_page_names_is_served() -> None:
    there = {(method, bare(path)) for method, path, _ in operations()}
    named = {(*one, page.name) for page in PAGES for one in ROUTE.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 8
    assert [one for one in named if (one[0], bare(one[1])) not in there] == []


def bare(path: str) -> str:
    """A path without the names of its parameters: `/v1/memories/{}`."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in sorted(folder.glob("0*.md")) if page.name not in index] == []


def test_every_test_that_a_row_names_is_there() -> None:
    page = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    sources = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "src" / "remembrancer" / "testing").rglob("*.py")]
    there = {name for source in sources for name in re.findall(r"def (test_\w+)", source.read_text(encoding="utf-8"))}
    assert [name for name in re.findall(r"`(test_\w+)`", page) if name not in there] == []


def test_the_readme_has_at_most_120_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
