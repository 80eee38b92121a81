"""Tables of benchmarks/quality.py as Markdown, and their places in docs/quality.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from benchmarks.marked_page import fill
from benchmarks.quality_variants import FULL
from remembrancer.evaluation.sheet import Sheet
from remembrancer.policies.ranking.signals import SIGNALS

PAGE: Final = Path(__file__).parents[1] / "docs" / "quality.md"
_WHOLE: Final = re.compile(r"(?<![\d.])0(?=\.\d)")
_NOTHING: Final = re.compile(r"[+-](?=\.0+\b)")


def markdown(sheet: Sheet) -> str:
    """The table, without its title. Figures below 1 have no zero before the point."""
    headings = (heading.replace("ndcg", "NDCG").replace("session ", "sessions: ") for heading in sheet.columns)
    rows = [("", *headings), ("---",) * (len(sheet.columns) + 1)]
    rows += [(_name(name), *map(_cell, figures)) for name, figures in sheet.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _name(row: str) -> str:
    if row == FULL.label:
        return f"**{row}**"
    without, _, signals = row.partition(" ")
    parts = signals.split(", ")
    return f"{without} {', '.join(f'`{one}`' for one in parts)}" if SIGNALS.keys() >= {*parts} else row


def _cell(figure: str) -> str:
    first, _, interval = figure.partition("\n")
    told = f"{first} ({interval})" if interval else first
    return _NOTHING.sub("", _WHOLE.sub("", told)).replace("-", "−")


def put_into_page(folder: Path, page: Path = PAGE) -> list[str]:
    """Replace each table of the page that the last run wrote into `folder`. Returns their names."""
    return fill(page, {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")})
