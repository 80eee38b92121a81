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
    "docs/guides/operations.md": 4,
    "docs/guides/migration.md": 1,
    "docs/mcp.md": 2,
    "docs/models.md": 1,
    "docs/embedders.md": 3,
    "docs/integrations.md": 1,
