"""Pictures of an evaluation: one for each table that is printed."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from evaluated import evaluated
from png import read_png
from rich.console import Console

from remembrancer.config import Settings
from remembrancer.evaluation.questions import load
from remembrancer.evaluation.report import EvaluationReport
from remembrancer.evaluation.tables import print_report, sheet
from remembrancer.evaluation.views import EvidenceFound, ReportView, of_paired, views
from remembrancer.interfaces.charts import evaluation
from remembrancer.interfaces.charts.document import png
from remembrancer.testing.doubles import HashEmbedder

OWN = Path(__file__).parents[3] / "fixtures" / "questions"


@pytest.fixture(scope="module")
def report() -> EvaluationReport:
    """A report with all optional parts."""
    return evaluated(
        load(OWN / "corpus.jsonl", OWN / "questions.jsonl"),
        settings=Settings(embedder="none"),
        embedder=HashEmbedder(),
        against="crewship",
        tuned=["garden"],
        foreign=2,
    )


@pytest.fixture(scope="module")
def shown(report: EvaluationReport) -> tuple[ReportView, ...]:
    return tuple(views(report))


@pytest.fixture(scope="module")
def drawn(shown: tuple[ReportView, ...]) -> dict[str, str]:
    return evaluation.documents(shown)


def printed(report: EvaluationReport) -> str:
    page = io.StringIO()
    print_report(report, Console(file=page, width=120))
    return page.getvalue()


def test_every_kind_of_view_is_shown_where_all_is_requested(shown: tuple[ReportView, ...]) -> None:
    assert {type(view) for view in shown} == set(get_args(ReportView))


def test_there_is_a_picture_for_each_table(report: EvaluationReport, drawn: dict[str, str]) -> None:
    rules = [line for line in printed(report).splitlines() if line.strip().startswith("─")]
    assert len(rules) == len([name for name in drawn if not name.endswith("roc")])


def test_each_view_is_printed_and_drawn(
    report: EvaluationReport, shown: tuple[ReportView, ...], drawn: dict[str, str]
) -> None:
    page = " ".join(printed(report).split())
    for view in shown:
        assert sheet(view).title in page
        assert view.name in drawn


def test_no_two_views_share_a_file(shown: tuple[ReportView, ...]) -> None:
    names = [view.name for view in shown]
    assert len(set(names)) == len(names)


def test_pictures_are_not_blank(shown: tuple[ReportView, ...], drawn: dict[str, str]) -> None:
    of_each_kind = {type(view): view.name for view in shown}
    for name in of_each_kind.values():
        picture = read_png(png(drawn[name]))
        assert (name, picture.width, picture.shades > 40) == (name, 2160, True)


def test_every_system_is_named_where_all_are_compared(report: EvaluationReport, drawn: dict[str, str]) -> None:
    for name in ("turns", "blocks", "silence", "times"):
        assert [each.system for each in report.results if each.system not in drawn[name]] == []


def test_a_bar_is_as_high_as_its_mean(
    report: EvaluationReport, shown: tuple[ReportView, ...], drawn: dict[str, str]
) -> None:
    found = next(view for view in shown if isinstance(view, EvidenceFound))
    means = [of.values[metric] for of in found.means.values() for metric in found.metrics]
    bars = re.findall(r'<rect x="[^"]+" y="[^"]+" width="[^"]+" height="([^"]+)" fill=', drawn[found.name])
    assert [float(height) / 360 for height in bars] == pytest.approx(means, abs=1e-4)


def test_a_difference_is_full_where_it_is_sure_and_hollow_where_not(report: EvaluationReport) -> None:
    assert report.paired is not None
    first, *others = report.paired.differences
    sure = replace(report.paired, differences=(replace(first, p_holm=0.01), *others))
    dots = [
        re.findall(r'<circle [^>]*fill="([^"]+)"', evaluation.documents(of_paired(paired))["differences"])
        for paired in (report.paired, sure)
    ]
    assert set(dots[0]) == {"#fffefb"}
    assert [each != "#fffefb" for each in dots[1]] == [True, *[False] * len(others)]


def test_the_same_report_makes_the_same_documents(shown: tuple[ReportView, ...], drawn: dict[str, str]) -> None:
    assert evaluation.documents(shown) == drawn


def test_empty_results_have_no_picture(report: EvaluationReport) -> None:
    first = report.results[0]
    nothing = replace(first.unanswerable.counts, unanswerable=0, silent_on_unanswerable=0)
    none = replace(first.unanswerable, counts=nothing, by_threshold=(), separation=None)
    alone = replace(first, reliability=None, reliability_of_all=None, unanswerable=none, foreign=none)
    alone = replace(alone, by_category={}, by_gold_turns={})
    bare = replace(report, results=(alone,), paired=None, groups=(), has_sessions=False)
    assert tuple(evaluation.documents(views(bare))) == (
        "turns", "blocks", "turns-every-metric", "causes", "times",
    )  # fmt: skip


def test_names_of_any_kind_are_drawn(report: EvaluationReport, drawn: dict[str, str]) -> None:
    first = report.results[0]
    named = replace(
        first,
        system="$\\frac{$ 三つ \x1b[31m" * 9,
        by_category={f"$\\frac{{$ {name} 🚀\n" * 9: levels for name, levels in first.by_category.items()},
    )
    hostile = replace(report, results=(named, *report.results[1:]), unanswerable="[b]\x1b[31m$_$" * 9)
    shown = [view for view in views(hostile) if not view.name.startswith(("tuned", "untouched"))]
    pictures = evaluation.documents(shown)
    assert read_png(png(pictures["categories"])).shades > 40
    assert pictures["categories"] != drawn["categories"]
