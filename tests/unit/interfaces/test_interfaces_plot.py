from __future__ import annotations

import io
from datetime import datetime, timedelta

from rich.console import Console

from remembrancer import Remembrancer, Settings
from remembrancer.interfaces.charts.strength import StrengthCurve
from remembrancer.interfaces.cli import fading
from remembrancer.interfaces.cli.plot import Plot
from remembrancer.interfaces.wire.memories import CurveOut
from remembrancer.testing.doubles import NOW, FixedClock

DAY = timedelta(days=1)


def falling(high: float = 1.0, low: float = 0.0, *, days: int = 100) -> list[tuple[datetime, float]]:
    return [(NOW + step * days / 10 * DAY, high + (low - high) * step / 10) for step in range(11)]


def drawn(plot: Plot, *, width: int = 50, encoding: str = "utf-8") -> list[str]:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=file, width=width, color_system=None).print(plot)
    file.seek(0)
    return file.read().splitlines()


def a_plot(*, high: float = 1.0, limit: float = 0.25, now: datetime = NOW + 50 * DAY) -> Plot:
    return Plot(StrengthCurve(falling(high), limit, now, NOW + 75 * DAY))


def test_the_axis_begins_at_nothing() -> None:
    assert drawn(a_plot())[-2].startswith("   0 └")


def test_the_threshold_is_drawn_at_its_own_row() -> None:
    [row] = [line for line in drawn(a_plot(), encoding="ascii") if line.startswith("0.25")]
    assert row.count("-") > 20


def test_now_is_marked_above_its_column() -> None:
    above, *rows = drawn(a_plot(), encoding="ascii")
    place = above.index("now")
    assert all(row[place] in "|*-" for row in rows[:12])


def test_now_at_the_end_stays_within_the_width() -> None:
    assert max(map(len, drawn(a_plot(now=NOW + 100 * DAY)))) <= 50


def test_the_crossing_is_marked_where_the_line_meets_the_limit() -> None:
    rows = [line for line in drawn(a_plot(), encoding="ascii") if "X" in line]
    assert len(rows) == 1
    assert abs(rows[0].index("X") - (6 + 0.75 * 43)) <= 1


def test_a_crossing_outside_the_plot_is_not_marked() -> None:
    assert "●" not in "".join(drawn(Plot(StrengthCurve(falling(1, 0.5), 0.25, NOW, NOW + 500 * DAY))))


def test_a_line_that_falls_at_once_is_drawn_without_gaps() -> None:
    cliff = [(NOW, 1.0), (NOW + DAY, 1.0), (NOW + 2 * DAY, 0.0), (NOW + 100 * DAY, 0.0)]
    rows = drawn(Plot(StrengthCurve(cliff, 0.0, NOW, None)), encoding="ascii")[1:13]
    assert all("*" in row for row in rows)


def test_a_short_time_is_shown_to_the_minute() -> None:
    assert drawn(Plot(StrengthCurve(falling(days=1), 0.25, NOW, None)), width=60)[-1].split() == [
        "2026-03-04", "09:00", "2026-03-05", "09:00",
    ]  # fmt: skip


def test_a_curve_that_begins_with_a_use_is_labelled_so() -> None:
    clock = FixedClock()
    settings = Settings(db=":memory:", background_index=False)
    with Remembrancer.open(settings=settings, embedder="none", clock=clock) as rem:
        memory = rem.remember("used", occurred_at=NOW)
        clock.advance(20 * DAY)
        before = [str(block) for block in fading.curve(CurveOut.of(rem.health.curve(memory.id)))]
        rem.mark([memory.id], "used")
        clock.advance(20 * DAY)
        after = [str(block) for block in fading.curve(CurveOut.of(rem.health.curve(memory.id)))]
    assert before[-1].startswith("Strength ")
    assert after[-1] == "Drawn since it was last used or reviewed, on Tuesday 24 March 2026."
