"""The documents agree with the code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from reference import pages
from remembrancer.config import Settings
from remembrancer.facade import View

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "python.md", ROOT / "docs" / "presets.md"],
    ids=lambda page: page.name,
)
def test_the_python_on_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = blocks(page, "python")
    assert shown
    for block in shown:
        exec(compile(block, page.name, "exec"), {})  # noqa: S102  our own page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    generated = {(ROOT / "docs" / file).resolve() for file in pages()}
    places = [(page.parent / target).resolve() for target in targets]
    missing = [place for place in places if not place.exists() and place not in generated]
    assert missing == []


@pytest.mark.parametrize("facade", View.__subclasses__())
def test_every_method_of_the_memory_is_documented(facade: type) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(?:rem\.)?(\w+)(?:\(|`)", page))
    public = {name for name in vars(facade) if not name.startswith("_")}
    assert public - told == set()


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    names = [setting.name for setting in fields(Settings)]
    missing = [name for name in names if not re.search(rf"\|[^|]*\b{name}\b[^|]*\|", page)]
    assert missing == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in sorted(folder.glob("0*.md")) if page.name not in index] == []


def test_every_test_that_a_row_names_is_there() -> None:
    page = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    sources = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "src" / "remembrancer" / "testing").rglob("*.py")]
    there = {name for source in sources for name in re.findall(r"def (test_\w+)", source.read_text(encoding="utf-8"))}
    assert [name for name in re.findall(r"`(test_\w+)`", page) if name not in there] == []
