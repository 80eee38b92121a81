"""Every block of the documentation runs, or is checked by what reads its language."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_blocks import Story, blocks_of

from remembrancer.config import ALIASES, PREFIX
from remembrancer.interfaces.cli.main import run

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
INGESTED = FIXTURES / "ingest"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_BLOCKS = [page for page in PAGES if "```" in page.read_text(encoding="utf-8")]

NOT_RUN = {
    "docs/guides/operations.md": 5,
    "docs/guides/migration.md": 1,
    "docs/mcp.md": 2,
    "docs/models.md": 1,
    "docs/embedders.md": 4,
    "docs/integrations.md": 8,
    "docs/typescript.md": 2,
    "docs/ingest.md": 1,
    "docs/telemetry.md": 1,
}
"""The pages with blocks that are marked as not run, and how many. The marks give the reasons."""
GIVEN = {
    "docs/evaluation.md": {
        "corpus.jsonl": FIXTURES / "questions" / "corpus.jsonl",
        "questions.jsonl": FIXTURES / "questions" / "questions.jsonl",
        "locomo10.json": FIXTURES / "locomo" / "tiny.json",
    },
    "README.md": {"conversations.json": INGESTED / "chatgpt.json"},
    "docs/cli.md": {
        "conversations.json": INGESTED / "chatgpt.json",
        "notes.md": INGESTED / "chat.md",
        "turns.jsonl": INGESTED / "turns.jsonl",
    },
    "docs/ingest.md": {
        "conversations.json": INGESTED / "chatgpt.json",
        "notes.md": INGESTED / "chat.md",
        ".claude/projects/-srv-app/8b1f2c.jsonl": INGESTED / "claude-code.jsonl",
    },
}
"""The files that a reader of a page has."""


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    for name in [name for name in os.environ if name.startswith(PREFIX) or name in ALIASES]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    before = [*logging.root.handlers]
    yield Story(tmp_path, monkeypatch)
    logging.root.handlers[:] = before


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history of `remembrancer demo`, without vectors."""
    file = tmp_path_factory.mktemp("demo") / "demo.db"
    assert run(["demo", "--keep", str(file), "--embedder", "none", "--json"]) == 0
    return file


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_do_what_it_says(page: Path, story: Story, request: pytest.FixtureRequest) -> None:
    name = str(page.relative_to(ROOT))
    blocks = blocks_of(page)
    if not any(block.prints or block.language == "console" for block in blocks):  # no scores are shown
        story.patch.setenv(f"{PREFIX}EMBEDDER", "none")
    for named in re.findall(r"<!-- demo(?:: (\S+))? -->", page.read_text(encoding="utf-8")):
        shutil.copy(request.getfixturevalue("demonstration"), story.folder / (named or "demo.db"))
    for file, source in GIVEN.get(name, {}).items():
        place = story.folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
    for block in blocks:
        try:
            story.tell(block)
        except BaseException as error:
            error.add_note(f"{name}, line {block.line}")
            raise


def test_only_these_pages_have_blocks_that_are_not_run() -> None:
    marked = {page: sum(block.not_run is not None for block in blocks_of(page)) for page in WITH_BLOCKS}
    assert {str(page.relative_to(ROOT)): number for page, number in marked.items() if number} == NOT_RUN
