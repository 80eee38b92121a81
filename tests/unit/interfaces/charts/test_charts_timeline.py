from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from charted import AT, HOSTILE, a_memory, classed, faults, percents, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.timeline import MOST, STEPS, TimelineItem, step_of, timeline_chart

SINCE = AT - timedelta(days=100)


def an_item(number: int, begin: float, end: float, strength: float | None = 0.5, title: str = "") -> TimelineItem:
    """An item from and to the given days after SINCE."""
    times = [SINCE + timedelta(days=days) for days in (begin, end)]
    return TimelineItem(UUID(int=number), title or f"Episode {number}", times[0], times[1], strength, "episode")


def links(items: list[TimelineItem]) -> list[str | None]:
    return [link.get("href") for link in read(timeline_chart(items, since=SINCE, until=AT)).iter("a")]


def test_a_bar_lies_where_its_time_is() -> None:
    bar = next(iter(read(timeline_chart([an_item(1, 25, 75)], since=SINCE, until=AT)).iter("a")))[1]
    assert (percents([bar], "x"), percents([bar], "width")) == ([25.0], [50.0])


def test_each_bar_is_a_link_to_its_memory() -> None:
    assert links([an_item(7, 1, 2)]) == [f"/memories/{UUID(int=7)}"]


def test_items_outside_the_time_range_are_left_out() -> None:
    assert links([an_item(1, -9, -1), an_item(2, 101, 102), an_item(3, -5, 5)]) == [f"/memories/{UUID(int=3)}"]


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 40)), min_size=2, max_size=25))
def test_no_two_bars_of_a_lane_touch(spans: list[tuple[float, float]]) -> None:
    items = [an_item(number, begin, begin + days) for number, (begin, days) in enumerate(spans)]
    taken = dict[str, list[tuple[float, float]]]()
    for link in read(timeline_chart(items, since=SINCE, until=AT)).iter("a"):
        mark = link[1]
        begin = percents([mark], "x")[0]
        width = percents([mark], "width")[0] if mark.attrib["width"].endswith("%") else 0.0
        taken.setdefault(mark.attrib["y"], []).append((begin, begin + width))
    for lane in taken.values():
        lane.sort()
        assert all(before[1] < after[0] for before, after in pairwise(lane))


@pytest.mark.parametrize(
    ("strength", "step"),
    [(0.0, 0), (0.19, 0), (0.2, 1), (0.5, 2), (0.99, 4), (1.0, 4), (7.0, 4), (-1.0, 0), (None, None), (math.nan, None)],
)
def test_strength_has_five_steps(strength: float | None, step: int | None) -> None:
    assert step_of(strength) == step


def test_the_stronger_the_fuller_is_the_mark() -> None:
    heights = [
        float(
            classed(timeline_chart([an_item(1, 1, 9, strength)], since=SINCE, until=AT), f"chart-strength-{step + 1}")[
                0
            ].attrib["height"]
        )
        for step, strength in enumerate((0.1, 0.3, 0.5, 0.7, 0.9))
    ]
    assert heights == pytest.approx([3.6, 7.2, 10.8, 14.4, 18.0])


def test_the_legend_names_each_step_and_unknown_values() -> None:
    legend = classed(timeline_chart([an_item(1, 1, 9, None)], since=SINCE, until=AT), "chart-key")[0]
    assert [words(item) for item in legend] == [*STEPS, "strength not known"]


def test_the_title_counts() -> None:
    items = [an_item(1, 1, 2, 0.9), an_item(2, 3, 4, 0.1)]
    assert title_of(timeline_chart(items, since=SINCE, until=AT)) == "2 episodes, 1 strong"


def test_of_very_many_the_latest_are_drawn_and_that_is_reported() -> None:
    items = [an_item(number, number / 5, number / 5) for number in range(MOST + 5)]
    chart = timeline_chart(items, since=SINCE, until=AT)
    assert len(list(read(chart).iter("a"))) == MOST
    assert f"Drawn are the latest {MOST}." in words(chart)
    assert f"/memories/{UUID(int=4)}" not in str(chart)


def test_nothing_in_the_time_is_described_in_words() -> None:
    chart = timeline_chart([], since=SINCE, until=AT)
    assert (title_of(chart), list(read(chart).iter("svg"))) == ("Nothing happened in this time", [])


def test_a_time_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InvalidInput, match="until"):
        timeline_chart([], since=AT, until=AT)


def test_hostile_titles_stay_text() -> None:
    chart = timeline_chart([an_item(1, 1, 2, title=HOSTILE)], since=SINCE, until=AT)
    assert faults(chart) == []
    assert '<script>alert("x")</script>' in words(chart)


def test_an_item_of_a_memory_has_its_title_or_text() -> None:
    titled, untitled = (TimelineItem.of(a_memory(1, text="Text", title=title), 0.5) for title in ("Title", None))
    assert (titled.title, untitled.title) == ("Title", "Text")


@given(
    st.lists(
        st.tuples(
            st.datetimes(timezones=st.just(UTC)),
            st.datetimes(timezones=st.just(UTC)),
            st.none() | st.floats(),
            st.text(),
        ),
        max_size=6,
    ),
    st.datetimes(timezones=st.just(UTC)).filter(lambda at: at.year < 9999),
    st.timedeltas(timedelta(microseconds=1), timedelta(days=300)),
)
def test_any_episodes_can_be_drawn(
    spans: list[tuple[datetime, datetime, float | None, str]], since: datetime, span: timedelta
) -> None:
    items = [TimelineItem(UUID(int=n), text, begin, end, how, "") for n, (begin, end, how, text) in enumerate(spans)]
    assert faults(timeline_chart(items, since=since, until=since + span)) == []
