"""Pictures of an evaluation: one for each table that is printed, each of them drawn."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from png import read_png
from rich.console import Console

from remembrancer.config import Settings
from remembrancer.evaluation.evaluate import evaluate_questions
from remembrancer.evaluation.report import Report
from remembrancer.evaluation.tables import print_report, sheet
from remembrancer.evaluation.views import View, views
from remembrancer.interfaces import evaluation_pictures
from remembrancer.testing.doubles import HashEmbedder

OWN = Path(__file__).parents[2] / "fixtures" / "questions"


@pytest.fixture(scope="module")
def report() -> Report:
    """With all that can be asked for."""
    return asyncio.run(
        evaluate_questions(
            OWN / "corpus.jsonl",
            OWN / "questions.jsonl",
            settings=Settings.model_validate({"embedder": "none"}),
            embedder=HashEmbedder(),
            against="crewship",
            tuned=["garden"],
            foreign=2,
        )
    )


@pytest.fixture(scope="module")
def shown(report: Report) -> tuple[View, ...]:
    return tuple(views(report))


@pytest.fixture(scope="module")
def drawn(shown: tuple[View, ...]) -> dict[str, bytes]:
    return evaluation_pictures.pictures(shown)


def printed(report: Report) -> str:
    page = io.StringIO()
    print_report(report, Console(file=page, width=120))
    return page.getvalue()


def test_every_kind_of_view_is_shown_where_all_is_asked_for(shown: tuple[View, ...]) -> None:
    assert {type(view) for view in shown} == set(get_args(View))


def test_there_is_a_picture_for_each_table(report: Report, drawn: dict[str, bytes]) -> None:
    rules = [line for line in printed(report).splitlines() if line.strip().startswith("─")]
    assert len(rules) == len([name for name in drawn if not name.endswith("roc")])


def test_each_view_is_printed_and_drawn(report: Report, shown: tuple[View, ...], drawn: dict[str, bytes]) -> None:
    page = " ".join(printed(report).split())
    for view in shown:
        assert sheet(view).title in page
        assert view.name in drawn


def test_no_two_views_share_a_file(shown: tuple[View, ...]) -> None:
    names = [view.name for view in shown]
    assert len(set(names)) == len(names)


def test_pictures_are_not_blank(drawn: dict[str, bytes]) -> None:
    for name, png in drawn.items():
        picture = read_png(png)
        assert (name, picture.width, picture.height, picture.shades > 40) == (name, 1100, 600, True)


def test_the_same_report_makes_the_same_bytes(shown: tuple[View, ...], drawn: dict[str, bytes]) -> None:
    assert evaluation_pictures.pictures(shown) == drawn


def test_what_there_is_nothing_to_say_of_has_no_picture(report: Report) -> None:
    first = report.results[0]
    nothing = replace(first.unanswerable.silence, unanswerable=0, silent_on_unanswerable=0)
    none = replace(first.unanswerable, silence=nothing, by_floor=(), separation=None)
    alone = replace(first, by_category={}, reliability=None, reliability_of_all=None, unanswerable=none, foreign=none)
    bare = replace(report, results=(alone,), paired=None, groups=(), has_sessions=False)
    assert tuple(evaluation_pictures.pictures(views(bare))) == (
        "turns", "blocks", "turns-every-metric", "causes", "times",
    )  # fmt: skip


def test_names_of_any_kind_are_drawn(report: Report, drawn: dict[str, bytes]) -> None:
    first = report.results[0]
    named = replace(
        first,
        system="$\\frac{$ 三つ \x1b[31m" * 9,
        by_category={f"$\\frac{{$ {name} 🚀\n" * 9: levels for name, levels in first.by_category.items()},
    )
    hostile = replace(report, results=(named, *report.results[1:]), unanswerable="[b]\x1b[31m$_$" * 9)
    shown = [view for view in views(hostile) if not view.name.startswith(("tuned", "untouched"))]
    pictures = evaluation_pictures.pictures(shown)
    assert read_png(pictures["categories"]).shades > 40
    assert pictures["categories"] != drawn["categories"]
