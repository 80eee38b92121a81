from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import matplotlib as mpl
import pytest
from png import read_png

from remembrancer import Remembrancer, Settings
from remembrancer.interfaces import pictures
from remembrancer.interfaces.wire import ComparisonOut, CurveOut
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder

QUESTION = "why did the deploy fail?"
HOSTILE = (
    r"the deploy failed: $\frac{1 $x$ \alpha $$ 三つの記憶 🚀👩‍🔬 Ѐ ﷽ नमस्ते",
    "the deploy failed \x1b[31mred\x1b[0m \u202emirrored\u202c \t\n tab",
    "the deploy failed " + "x" * 4_000,
    "the deploy failed " + "Z̸͙̓a͚͌l̷g̶o " * 40,
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
    rem.index_now()
    return rem


def compared(rem: Remembrancer, question: str = QUESTION, **asked: Any) -> bytes:
    return pictures.comparison(ComparisonOut.of(rem.compare(question, **asked)))


def curve(rem: Remembrancer, days: float = 180) -> bytes:
    return pictures.curve(CurveOut.of(rem.curve(rem.recent(1)[0].id, days=days)), "It fades.")


def test_a_comparison_is_a_picture_that_is_not_blank(told: Remembrancer) -> None:
    picture = read_png(compared(told))
    assert (picture.width, picture.shades > 100) == (1400, True)


def test_a_comparison_is_as_high_as_it_has_rows(told: Remembrancer) -> None:
    few, many = (read_png(compared(told, limit=limit, presets=["default"])) for limit in (2, 6))
    assert many.height - few.height == 4 * 86


def test_a_curve_is_a_picture_that_is_not_blank(told: Remembrancer) -> None:
    picture = read_png(curve(told))
    assert (picture.width, picture.height, picture.shades > 50) == (1200, 600, True)


def test_the_same_data_makes_the_same_bytes(told: Remembrancer) -> None:
    assert compared(told) == compared(told)
    assert curve(told) == curve(told)


def test_a_picture_does_not_say_what_drew_it(told: Remembrancer) -> None:
    assert set(read_png(compared(told)).chunks) == {"IHDR", "pHYs", "IDAT", "IEND"}


def test_a_picture_does_not_look_as_other_pictures_of_the_program_do(told: Remembrancer) -> None:
    before = compared(told), curve(told)
    parameters = cast("Any", mpl).rcParams
    parameters.update({"font.size": 40, "lines.linewidth": 9, "axes.facecolor": "black", "text.color": "red"})
    try:
        assert (compared(told), curve(told)) == before
    finally:
        cast("Any", mpl).rcdefaults()


def test_drawing_leaves_the_programs_own_settings_alone(told: Remembrancer) -> None:
    parameters = cast("Any", mpl).rcParams
    before = dict(parameters)
    compared(told)
    curve(told)
    assert dict(parameters) == before


@pytest.mark.parametrize("text", HOSTILE, ids=["formulas and scripts", "controls", "long", "stacked"])
def test_any_text_can_be_drawn(rem: Remembrancer, text: str) -> None:
    rem.remember(text, title="$" + text[:100].strip().replace("\n", " ").replace("\t", " ").replace("\x1b", " "))
    rem.index_now()
    assert read_png(compared(rem, question=f"{text[:2_000]}")).shades > 50
    assert read_png(curve(rem)).shades > 50


def test_a_comparison_of_nothing_is_drawn_too(told: Remembrancer) -> None:
    assert read_png(compared(told, question="zebra", presets=[DEFAULT])).shades > 20


def test_as_many_presets_as_can_be_compared_can_be_drawn(told: Remembrancer) -> None:
    several = [replace(DEFAULT, name=f"a-preset-with-a-long-name-{number}") for number in range(12)]
    assert read_png(compared(told, presets=several)).width > 2_000


def test_a_curve_of_a_moment_and_one_of_a_century_can_be_drawn(told: Remembrancer) -> None:
    assert read_png(curve(told, days=0.01)).shades > 50
    assert read_png(curve(told, days=36_500)).shades > 50


def test_a_curve_at_nothing_can_be_drawn(rem: Remembrancer) -> None:
    rem.remember("nothing", importance=0)
    assert read_png(curve(rem)).shades > 20


def test_the_command_line_loads_the_library_only_for_a_picture() -> None:
    program = "import sys, remembrancer.interfaces.cli.main; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
