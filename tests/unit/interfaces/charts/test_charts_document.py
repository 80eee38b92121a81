from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from charted import a_comparison, a_curve, a_place
from markupsafe import Markup
from png import read_png

from remembrancer import Remembrancer, Settings
from remembrancer.interfaces.charts.comparison import comparison_document
from remembrancer.interfaces.charts.document import document, png
from remembrancer.interfaces.charts.forgetting import forgetting_document
from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.svg import text_width
from remembrancer.interfaces.wire.comparison import ComparisonOut
from remembrancer.interfaces.wire.memories import CurveOut
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder

QUESTION = "why did the deploy fail?"
HOSTILE = (
    r"the deploy failed: $\frac{1 $x$ \alpha $$ 三つの記憶 🚀👩‍🔬 Ѐ ﷽ नमस्ते",
    "the deploy failed \x1b[31mred\x1b[0m \u202emirrored\u202c \t\n tab",
    "the deploy failed " + "x" * 4_000,
    "the deploy failed " + "Z̸͙̓a͚͌l̷g̶o " * 40,
    'the deploy failed </text></svg><script>x</script> ="var(--chart-ink)" &amp; \ufffe\x00',
)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), clock=FixedClock()) as opened:
        yield opened


@pytest.fixture
def told(rem: Remembrancer) -> Remembrancer:
    for number in range(7):
        rem.remember(
            f"The deploy failed for reason {number}", importance=number / 7, occurred_at=NOW - timedelta(number)
        )
    rem.jobs.index_now()
    return rem


def compared(rem: Remembrancer, question: str = QUESTION, **asked: Any) -> str:
    return comparison_document(ComparisonOut.of(rem.presets.compare(question, **asked)))


def curve(rem: Remembrancer, days: float = 180) -> str:
    return forgetting_document(CurveOut.of(rem.health.curve(rem.recent(1)[0].id, days=days)))


def written(svg: str) -> list[str]:
    """Every text of a document, in its order; fails where the document is not well-formed."""
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314  our own markup


def height(svg: str) -> float:
    return float(ET.fromstring(svg).attrib["height"])  # noqa: S314  our own markup


def test_a_comparison_is_a_picture_that_is_not_blank(told: Remembrancer) -> None:
    picture = read_png(png(compared(told)))
    assert (picture.width > 2_000, picture.shades > 100) == (True, True)


def test_a_curve_is_a_picture_that_is_not_blank(told: Remembrancer) -> None:
    picture = read_png(png(curve(told)))
    assert (picture.width, picture.shades > 50) == (2_160, True)


def test_a_comparison_is_as_high_as_it_has_memories_and_ranks() -> None:
    few, many = (comparison_document(a_comparison([[rank] for rank in range(1, last)])) for last in (3, 7))
    assert height(many) - height(few) == 4 * (84 + 38)


def test_a_comparison_has_rank_score_and_parts_or_the_reason_for_none() -> None:
    comparison = a_comparison([[1, None]])
    made = {"groups": {"meaning": 0.3, "the memory itself": 0.2}, "leading": "meaning and the memory itself"}
    place = a_place("preset-0", 2).model_copy(update=made)
    memory = comparison.memories[0].model_copy(update={"places": [place, comparison.memories[0].places[1]]})
    texts = written(comparison_document(comparison.model_copy(update={"memories": [memory]})))
    told = ["2", "0.50", "meaning and the", "memory itself", "below the limit", "meaning", "the memory itself"]
    assert texts[texts.index("2") :] == told


def test_a_long_reason_is_whole_and_its_row_as_high_as_it() -> None:
    short, long = a_comparison([[1, 2]]), a_comparison([[1, 2]])
    why = "not under preset-1, for " + " ".join(f"reason-{number}" for number in range(18))
    long = long.model_copy(update={"memories": [long.memories[0].model_copy(update={"why": why})]})
    drawn = comparison_document(long)
    assert " ".join(line for line in written(drawn) if "reason-" in line or "not under" in line) == why
    assert height(drawn) > height(comparison_document(short))


def test_a_curve_is_described_in_the_words_of_the_memory_and_of_the_forecast() -> None:
    title, forecast_text, *_ = written(forgetting_document(a_curve([0.9, 0.8, 0.7], text="It rained.")))
    assert title == "It rained."
    assert forecast_text.startswith("Strength 0.8 now. It does not fall below 0.1 within a hundred years.")


def test_a_curve_of_one_moment_is_described_in_words() -> None:
    assert "There is no curve to draw." in " ".join(written(forgetting_document(a_curve([0.5]))))


def test_no_variable_of_the_style_sheet_is_left() -> None:
    svg = document("plot", "Title", "", [Picture(marks=Markup('<path stroke="var(--blue)"/>'), height=1.0)])
    assert 'stroke="#1a4f86"' in svg
    assert re.findall(r"var\(|color-mix|--chart", svg) == []


def test_no_rule_for_narrow_places_or_dark_ground_is_left() -> None:
    assert re.findall(r"@|data-theme|e9ecef", document("plot", "", "", [])) == []


def test_the_legend_takes_as_many_lines_as_it_needs() -> None:
    one, three = (document("plot", "", "", [], [(Markup(), "word " * 14)] * count) for count in (1, 3))
    assert height(three) - height(one) == 40


def test_the_legend_is_within_the_document_and_whole() -> None:
    label = " ".join(f"word-{number}" for number in range(60))
    drawn = document("plot", "", "", [], [(Markup(), "short"), (Markup(), label), (Markup(), "short")])
    lines = [line for line in written(drawn) if line.startswith("word-")]
    assert " ".join(lines) == label
    assert max(text_width(line) for line in lines) <= 1_000


def test_a_picture_does_not_name_the_program_that_drew_it(told: Remembrancer) -> None:
    assert set(read_png(png(curve(told))).chunks) == {"IHDR", "IDAT", "IEND"}


def test_the_same_data_makes_the_same_bytes(told: Remembrancer) -> None:
    assert png(compared(told)) == png(compared(told))


@pytest.mark.parametrize("text", HOSTILE, ids=["formulas and scripts", "controls", "long", "stacked", "markup"])
def test_any_text_can_be_drawn(rem: Remembrancer, text: str) -> None:
    printable = "".join(character for character in text[:100] if character.isprintable()).strip()
    rem.remember(text.replace("\x00", ""), title="$" + printable)
    rem.jobs.index_now()
    for svg in (compared(rem, question=text[:2_000].replace("\x00", "")), curve(rem)):
        assert written(svg)
        assert read_png(png(svg)).shades > 50


def test_a_comparison_of_nothing_is_drawn_too(told: Remembrancer) -> None:
    assert written(compared(told, question="zebra", presets=[DEFAULT]))[-1] == "No preset returns anything."


def test_as_many_presets_as_can_be_compared_can_be_drawn(told: Remembrancer) -> None:
    several = [replace(DEFAULT, name=f"a-preset-with-a-long-name-{number}") for number in range(12)]
    assert read_png(png(compared(told, presets=several))).width > 4_000


def test_a_document_that_is_very_high_is_drawn_smaller() -> None:
    picture = read_png(png(document("plot", "", "", [Picture(marks=Markup(), height=50_000.0)])))
    assert 30_000_000 < picture.width * picture.height < 41_000_000


def test_a_curve_of_a_moment_and_one_of_a_century_can_be_drawn(told: Remembrancer) -> None:
    assert read_png(png(curve(told, days=0.01))).shades > 50
    assert read_png(png(curve(told, days=36_500))).shades > 50


def test_a_curve_at_nothing_can_be_drawn(rem: Remembrancer) -> None:
    rem.remember("nothing", importance=0)
    assert read_png(png(curve(rem))).shades > 20


def test_the_command_line_loads_the_library_only_for_a_picture() -> None:
    program = (
        "import sys, remembrancer.interfaces.cli.main; sys.exit(bool({'resvg_py', 'markupsafe'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
