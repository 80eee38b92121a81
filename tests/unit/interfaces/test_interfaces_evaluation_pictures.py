"""Pictures of an evaluation: one for each table that there is, each of them drawn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from png import read_png

from remembrancer.config import Settings
from remembrancer.evaluation.evaluate import evaluate_questions
from remembrancer.evaluation.report import Report
from remembrancer.interfaces import evaluation_pictures
from remembrancer.testing.doubles import HashEmbedder

OWN = Path(__file__).parents[2] / "fixtures" / "questions"
EVERY = ("systems", "survival", "causes", "categories", "reliability", "abstention", "roc", "differences")


@pytest.fixture(scope="module")
def report() -> Report:
    return asyncio.run(
        evaluate_questions(
            OWN / "corpus.jsonl",
            OWN / "questions.jsonl",
            settings=Settings.model_validate({"embedder": "none"}),
            embedder=HashEmbedder(),
            against="mnemosyne",
        )
    )


@pytest.fixture(scope="module")
def drawn(report: Report) -> dict[str, bytes]:
    return evaluation_pictures.pictures(report)


def test_there_is_a_picture_for_each_table(drawn: dict[str, bytes]) -> None:
    assert tuple(drawn) == EVERY


@pytest.mark.parametrize("name", EVERY)
def test_a_picture_is_not_blank(drawn: dict[str, bytes], name: str) -> None:
    picture = read_png(drawn[name])
    assert (picture.width, picture.height, picture.shades > 40) == (1100, 600, True)


def test_the_same_report_makes_the_same_bytes(report: Report, drawn: dict[str, bytes]) -> None:
    assert evaluation_pictures.pictures(report) == drawn


def test_what_there_is_nothing_to_say_of_has_no_picture(report: Report) -> None:
    first = report.results[0]
    alone = replace(
        first, by_category={}, reliability=None, reliability_of_all=None, abstaining=(), separation=None, unanswerable=0
    )
    pictures = evaluation_pictures.pictures(replace(report, results=(alone,), paired=None))
    assert tuple(pictures) == ("systems", "survival", "causes")


def test_names_of_any_kind_are_drawn(report: Report, drawn: dict[str, bytes]) -> None:
    first = report.results[0]
    named = replace(
        first,
        system="$\\frac{$ 三つ \x1b[31m",
        by_category={f"$\\frac{{$ {name} 🚀\n": levels for name, levels in first.by_category.items()},
    )
    pictures = evaluation_pictures.pictures(replace(report, results=(named, *report.results[1:])))
    assert read_png(pictures["categories"]).shades > 40
    assert pictures["categories"] != drawn["categories"]
