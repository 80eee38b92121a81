"""A timeline of episodes; stronger episodes have darker and fuller bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from markupsafe import Markup

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.frame import Picture, empty, figure, key, swatch
from remembrancer.interfaces.charts.lines import AXIS, time_axis
from remembrancer.interfaces.charts.scale import day_text, through
from remembrancer.interfaces.charts.svg import FONT, NOTHING, element, fitted, joined, percent, text_width
from remembrancer.interfaces.text import counted, minute
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.memories import MemoryOut

STEPS: Final = ("very weak", "weak", "middling", "strong", "very strong")
"""Words for strength; each covers a fifth of [0, 1]."""
MOST: Final = 300
"""The most episodes drawn; of more, the latest."""
LANE, BAR = 28.0, 18.0
TOP: Final = 8.0
NAMED_LANES: Final = 12
"""If titles would need more lanes, only those that fit between the bars are written."""
_ROOM: Final = 640.0
"""The assumed width in pixels for placing titles, because the window's width is not known."""
_TITLE, _LEGIBLE = 190.0, 56.0
_MARK: Final = 14.0
"""The width in pixels of an episode that is too short for a bar."""
_SHORT: Final = 0.03
"""Shorter episodes, as a share of the width, are drawn as marks of a fixed width."""


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """An episode. `strength` in [0, 1], None if unknown; `kind` is shown in the tooltip."""

    id: UUID
    title: str
    start: datetime
    end: datetime
    strength: float | None
    kind: str

    @classmethod
    def of(cls, memory: MemoryOut, strength: float | None) -> Self:
        return cls(
            id=memory.id,
            title=memory.title or memory.text,
            start=memory.occurred_from,
            end=memory.occurred_to,
            strength=strength,
            kind=memory.kind,
        )


@dataclass(frozen=True, slots=True)
class _Placed:
    """An episode with its position: where its bar begins and ends, as shares of the width, its lane, and its title."""

    item: TimelineItem
    begin: float
    end: float
    lane: int
    title: str


def timeline_chart(episodes: Sequence[TimelineItem], *, since: datetime, until: datetime, query: str = "") -> Markup:
    """A figure with a bar from the begin to the end of each episode, linked to its page.

    Episodes outside the time are left out. No two bars of a lane touch. `query` is appended to the links, such as
    "?agent=coder". Raises InvalidInput if `until` is not after `since`.
    """
    if not since < until:
        raise InvalidInput("until", until, f"after {since.isoformat()}")
    inside = [each for each in episodes if each.start <= until and max(each.start, each.end) >= since]
    span = f"{day_text(since)} to {day_text(until)}"
    if not inside:
        return empty(
            "timeline", "Nothing happened in this time", f"No episode between {span.replace(' to ', ' and ')}."
        )
    drawn = sorted(inside, key=lambda each: (each.start, each.end, each.id), reverse=True)[:MOST]
    placed = _laid_out(drawn[::-1], since, until)
    down = TOP + (max(each.lane for each in placed) + 1) * LANE
    marks = time_axis(since, until, top=TOP, down=down) + joined(_episode(each, query) for each in placed)
    title = f"{counted(len(inside), 'episode')}{_strongest(drawn)}"
    description = f"{span}. The stronger, the fuller its mark." + (
        f" Drawn are the latest {MOST}." if len(inside) > MOST else ""
    )
    pictures = [Picture(marks=marks, height=down + AXIS)]
    return figure(
        "timeline", title=title, description=description, pictures=pictures, below=_legend(drawn), linked=True
    )


def step_of(strength: float | None) -> int | None:
    """The index in STEPS of a strength; None for None and NaN.

    >>> step_of(0.0), step_of(0.5), step_of(1.0), step_of(None)
    (0, 2, 4, None)
    """
    if strength is None or math.isnan(strength):
        return None
    return int(min(max(strength, 0.0), 1.0) * len(STEPS)) if strength < 1 else len(STEPS) - 1


def _laid_out(items: Sequence[TimelineItem], since: datetime, until: datetime) -> list[_Placed]:
    """Episodes in lanes with room for all titles, or, if that takes too many lanes, with the titles that fit."""
    placed = list(_lanes(items, since, until, titled=True))
    if max(each.lane for each in placed) < NAMED_LANES:
        return placed
    placed = list(_lanes(items, since, until, titled=False))
    nexts = dict[int, float]()
    titled = list[_Placed]()
    for each in reversed(placed):
        free = (nexts.get(each.lane, 1.0) - each.end) * _ROOM - 2 * _MARK
        nexts[each.lane] = each.begin
        titled.append(replace(each, title=_title(each.item, free)))
    return titled[::-1]


def _lanes(items: Sequence[TimelineItem], since: datetime, until: datetime, *, titled: bool) -> Iterator[_Placed]:
    """The episodes, each in the first free lane. `items` are sorted by their start."""
    ends = list[float]()
    for item in items:
        begin, end = through(item.start, since, until), through(max(item.start, item.end), since, until)
        room = (1 - end) * _ROOM - 10.0
        title = _title(item, room) if titled else ""
        taken = max(end - begin, _MARK / 320) + (text_width(title, FONT) + 16.0 if title else 4.0) / _ROOM
        # The mark of a short episode is centred on its beginning.
        left = begin - _MARK / 2 / 320
        lane = next((lane for lane, taken_to in enumerate(ends) if taken_to <= left), len(ends))
        ends[lane : lane + 1] = [begin + taken]
        yield _Placed(item, begin, end, lane, title)


def _title(item: TimelineItem, room: float) -> str:
    """The title, cut to the room; empty if the room is too small for a legible title."""
    return fitted(item.title, min(_TITLE, room), FONT) if room > _LEGIBLE else ""


def _episode(placed: _Placed, query: str) -> Markup:
    item, top = placed.item, TOP + placed.lane * LANE + (LANE - BAR) / 2
    short = placed.end - placed.begin < _SHORT
    # A mark has a fixed width in pixels; a bar has a share of the width.
    inner = _mark(item.strength, "100%", "0") if not short else _mark(item.strength, _MARK, -_MARK / 2)
    width = percent(placed.end - placed.begin) if not short else 1.0
    bar = element("svg", inner, x=percent(placed.begin), y=top, width=width, height=BAR, overflow="visible")
    name = NOTHING
    if placed.title:
        beside = element("text", placed.title, x=_MARK / 2 + 5.0 if short else 6.0, y=13.5, font_size=FONT)
        at = percent(placed.end)
        name = element("svg", beside, x=at, y=top, overflow="visible", class_="chart-wide chart-label")
    return element("a", element("title", _tooltip(item)), bar, name, href=f"/memories/{item.id}{query}")


def _mark(strength: float | None, width: str | float, x: str | float) -> Markup:
    step = step_of(strength)
    frame = element("rect", x=x, width=width, height=BAR, rx=3.0, class_="chart-frame")
    if step is None:
        return frame + element("rect", x=x, width=width, y=BAR / 2 - 1, height=2.0, class_="chart-unknown")
    height = BAR * (step + 1) / len(STEPS)
    fill = element("rect", x=x, width=width, y=BAR - height, height=height, rx=3.0, class_=f"chart-strength-{step + 1}")
    return fill + frame


def _tooltip(item: TimelineItem) -> str:
    step = step_of(item.strength)
    strength = f"{STEPS[step]}, {item.strength:.2f}" if step is not None else "strength not known"
    until = f" to {minute(item.end)}" if item.end > item.start else ""
    return f"{item.title} ({', '.join(filter(None, (item.kind, f'{minute(item.start)}{until}', strength)))})"


def _strongest(items: Sequence[TimelineItem]) -> str:
    """The number of strong episodes, as a sentence; empty if no strength is known."""
    steps = [step_of(each.strength) for each in items]
    if all(step is None for step in steps):
        return ""
    strong = sum(step is not None and step >= 3 for step in steps)
    return f", {strong or 'none'} strong"


def _legend(items: Sequence[TimelineItem]) -> Markup:
    entries = [(_sample((step + 0.5) / len(STEPS)), words) for step, words in enumerate(STEPS)]
    if any(step_of(each.strength) is None for each in items):
        entries.append((_sample(None), "strength not known"))
    return key(entries, label="Strength")


def _sample(strength: float | None) -> Markup:
    return swatch(element("g", _mark(strength, 18.0, 0.0), transform="scale(1 0.77)"))
