"""A bump chart of the memories that several presets return for one question, ranked by each preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from markupsafe import Markup

from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.frame import ContainerWidths, Picture, empty, figure, table
from remembrancer.interfaces.charts.score import bare_bar, bare_legend
from remembrancer.interfaces.charts.svg import FONT, NOTHING, SMALL, element, fitted, joined, text_width, wrapped
from remembrancer.interfaces.text import counted, minute, titled

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.comparison import ComparedOut, ComparisonOut, PlaceOut

HEAD, ROW, FOOT = 48.0, 38.0, 4.0
DISC: Final = 12.5
BESIDE: Final = 112.0
"""Pixels for titles, on either side of the columns."""
WIDE_COLUMN, NARROW_COLUMN = 66.0, 48.0
LISTED, LISTED_COLUMN, LISTED_ROW = 300.0, 128.0, 84.0
"""In a document: the width of either margin (memories, reasons), the width of a preset, the least height of a row."""
LINE: Final = 16.0
MOST_LINES: Final = 12
"""The most lines of a reason."""
_CRAMPED: Final = 72.0


def comparison_chart(comparison: ComparisonOut, *, query: str = "") -> Markup:
    """A figure with a column for each preset, best rank at the top, and a line for each memory between the columns.

    A memory that only one preset returns has a second ring. The numbers refer to the list below the chart. `query` is
    appended to its links, such as "?agent=coder".
    """
    if not comparison.answers:
        return empty("comparison", "No presets to compare", "")
    if not comparison.memories:
        return empty("comparison", "No preset returns anything", f"For \u201c{fitted(comparison.query, 500.0)}\u201d.")
    pictures = [
        _drawn(comparison, BESIDE, WIDE_COLUMN, ContainerWidths.WIDE),
        _drawn(comparison, 0.0, NARROW_COLUMN, ContainerWidths.NARROW),
    ]
    description = f"\u201c{fitted(comparison.query, 500.0)}\u201d. {_alike(comparison)}".rstrip()
    below = _memories(comparison, query) + _degraded(comparison)
    return figure("comparison", title=_finding(comparison), description=description, pictures=pictures, below=below)


def comparison_table(comparison: ComparisonOut) -> Markup:
    """A table of each memory's rank and score under each preset, or why the preset does not return it."""
    heads = ["Memory", *(answer.preset for answer in comparison.answers)]
    rows = ([_titled(one, 480.0), *map(_cell, one.places)] for one in comparison.memories)
    return table("Ranks and scores in numbers", heads, rows) if comparison.memories else NOTHING


def comparison_document(comparison: ComparisonOut) -> str:
    """An SVG document: the chart, and below it a row for each memory with the reason why the presets differ.

    For each preset the row has the memory's rank, its score, what each group of signals adds to it as a bar, and the
    groups that add the most; or why the memory is not returned. A row is as high as its texts need.
    """
    title = f"What each preset returns for \u201c{comparison.query}\u201d"
    if not comparison.memories:
        return document("comparison", title, "No preset returns anything.", [])
    description = (
        f"{_finding(comparison)}. {_alike(comparison)} As of {minute(comparison.asked_at)} UTC. Bars: what the score is"
        " made of; a full bar is the best score of the preset. A second ring: returned by that preset only."
    )
    chart = _drawn(comparison, LISTED, LISTED_COLUMN, ContainerWidths.ANY)
    bests = [
        max(
            (one.places[column].score or 0.0 for one in comparison.memories if one.places[column].returned), default=0.0
        )
        for column in range(len(comparison.answers))
    ]
    rows, down = NOTHING, 0.0
    for number, one in enumerate(comparison.memories):
        row, lines = _listed(number, one, bests)
        rows += element("g", row, transform=f"translate(0 {down:g})")
        down += max(LISTED_ROW, 18.0 + LINE * lines)
    table = Picture(marks=rows, height=down, width=chart.width)
    shown = (place.groups for one in comparison.memories for place in one.places if place.returned)
    return document(
        "comparison", title, description, [chart, table], bare_legend(groups for groups in shown if groups is not None)
    )


def _listed(number: int, one: ComparedOut, bests: Sequence[float]) -> tuple[Markup, int]:
    """The row of one memory, whose cells are aligned with the columns of the chart, and its lines of text. `bests`: the
    best score under each preset.
    """
    right = LISTED + LISTED_COLUMN * len(bests)
    heading = fitted(one.cue.heading, LISTED - 56.0, SMALL)
    texts = wrapped(titled(one.memory), LISTED - 56.0, 4, SMALL)
    why = wrapped(one.why, LISTED - 24.0, MOST_LINES, SMALL)
    marks = element("line", x1=0.0, x2=right + LISTED, y1=0.0, y2=0.0, class_="chart-grid")
    marks += _disc(number, DISC + 2.0, 24.0)
    marks += _lines([heading], 40.0, 18.0, "chart-note")
    marks += _lines(texts, 40.0, 35.0, None)
    lines = [1 + len(texts), len(why)]
    for column, (place, best) in enumerate(zip(one.places, bests, strict=True)):
        cell, taken = _place(place, LISTED + LISTED_COLUMN * column + 6.0, best or 1.0)
        marks += cell
        lines.append(taken)
    return marks + _lines(why, right + 12.0, 18.0, "chart-note"), max(lines)


def _place(place: PlaceOut, left: float, best: float) -> tuple[Markup, int]:
    """The cell of one preset, and the lines of text that it takes."""
    room = LISTED_COLUMN - 12.0
    if not place.returned or place.rank is None or place.score is None:
        reason = wrapped(place.reason or "", room, MOST_LINES, SMALL)
        return _lines(reason, left, 18.0, "chart-note"), len(reason)
    marks = _lines([f"{place.rank}"], left, 18.0, "chart-strong")
    marks += _lines([f"{place.score:.2f}"], left + 22.0, 18.0, None)
    if place.groups is not None:
        bar = bare_bar(place.groups, room * place.score / best)
        marks += element("g", bar, transform=f"translate({left:g} 26)")
    leading = wrapped(place.leading or "", room, MOST_LINES, SMALL)
    return marks + _lines(leading, left, 51.0, "chart-note"), 2 + len(leading)


def _lines(lines: Sequence[str], left: float, top: float, class_: str | None) -> Markup:
    return joined(
        element("text", line, x=left, y=top + row * LINE, font_size=SMALL, class_=class_)
        for row, line in enumerate(lines)
        if line
    )


def _drawn(comparison: ComparisonOut, beside: float, column: float, room: ContainerWidths) -> Picture:
    columns = len(comparison.answers)
    width = columns * column + 2 * beside
    lowest = max((rank for one in comparison.memories for rank in _ranks(one) if rank), default=1)
    xs = [beside + (index + 0.5) * column for index in range(columns)]
    heads = zip(comparison.answers, xs, strict=True)
    marks = joined(_head(answer.preset, index, x, column, width) for index, (answer, x) in enumerate(heads))
    marks += joined(_line(one, xs) for one in comparison.memories)
    marks += joined(_discs(number, one, xs) for number, one in enumerate(comparison.memories))
    if beside:
        marks += joined(_beside(one, xs, beside) for one in comparison.memories)
    return Picture(marks=marks, height=HEAD + lowest * ROW + FOOT, width=width, room=room)


def _head(preset: str, index: int, x: float, column: float, width: float) -> Markup:
    """The name above a column, on up to two lines. In narrow columns, names alternate between two lines to have twice
    the width.
    """
    staggered = column < _CRAMPED
    lines = wrapped(preset, (1.8 * column if staggered else column) - 6.0, 1 if staggered else 2, SMALL)
    marks = NOTHING
    for row, words in enumerate(lines):
        half = text_width(words, SMALL) / 2
        middle = min(max(x, half), max(width - half, half))
        y = 16.0 if staggered and index % 2 == 0 else 32.0 - LINE * (len(lines) - 1 - row)
        marks += element("text", words, x=middle, y=y, text_anchor="middle", class_="chart-strong", font_size=SMALL)
    return marks


def _line(one: ComparedOut, xs: Sequence[float]) -> Markup:
    """A line from each column to the next, if both presets return the memory."""
    ranks = _ranks(one)
    marks = NOTHING
    for index in range(len(ranks) - 1):
        here, there = ranks[index], ranks[index + 1]
        if here and there:
            y0, y1, x0, x1 = _down(here), _down(there), xs[index], xs[index + 1]
            middle = (x0 + x1) / 2
            path = f"M{x0:.1f} {y0:.1f} C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
            marks += element("path", d=path, class_="chart-thread")
    return marks


def _discs(number: int, one: ComparedOut, xs: Sequence[float]) -> Markup:
    only = len([rank for rank in _ranks(one) if rank]) == 1
    marks = NOTHING
    for x, place in zip(xs, one.places, strict=True):
        rank = _rank(place)
        if not rank:
            continue
        tooltip = f"{_titled(one, 480.0)}: rank {rank} under {place.preset}"
        tooltip += f", score {place.score:.2f}" if place.score is not None else ""
        ring = element("circle", cx=x, cy=_down(rank), r=DISC + 4.0, class_="chart-ring")
        title = element("title", tooltip + (", only there" if only else ""))
        marks += element("g", title, ring if only else None, _disc(number, x, _down(rank)))
    return marks


def _disc(number: int, x: float, y: float) -> Markup:
    """The number of a memory in a circle: memories are told apart by it, since colours stand for parts of a score."""
    disc = element("circle", cx=x, cy=y, r=DISC, class_="chart-disc")
    return disc + element("text", str(number + 1), x=x, y=y + 4.5, text_anchor="middle", font_size=FONT)


def _beside(one: ComparedOut, xs: Sequence[float], room: float) -> Markup:
    """The title to the left of the first column and to the right of the last, if those presets return the memory."""
    ranks, marks = _ranks(one), NOTHING
    away = DISC + 12.0
    for rank, x, anchor in ((ranks[0], xs[0] - away, "end"), (ranks[-1], xs[-1] + away, "start")):
        if rank and (anchor == "end" or len(xs) > 1):
            words = _titled(one, room - 16.0)
            marks += element(
                "text", words, x=x, y=_down(rank) + 4.5, text_anchor=anchor, class_="chart-label", font_size=FONT
            )
    return marks


def _memories(comparison: ComparisonOut, query: str) -> Markup:
    """A numbered list: each memory's title as a link, the preset that alone returns it, and why the presets differ."""
    items = joined(
        element(
            "li",
            element("a", _titled(one, 560.0), href=f"/memories/{one.memory.id}{query}"),
            element("span", f"only {only}", class_="chart-only") if (only := _only(one)) else None,
            element("span", one.why, class_="chart-told") if one.why else None,
        )
        for one in comparison.memories
    )
    return element("ol", items, class_="chart-memories")


def _degraded(comparison: ComparisonOut) -> Markup:
    """The parts that could not be used, each reason once."""
    presets = dict[tuple[str, str], list[str]]()
    for answer in comparison.answers:
        for reason in answer.degraded.items():
            presets.setdefault(reason, []).append(answer.preset)
    items = joined(
        element("li", f"{'all' if len(names) == len(comparison.answers) > 1 else ', '.join(names)}: {part}: {why}")
        for (part, why), names in presets.items()
    )
    return element("ul", items, class_="chart-told", aria_label="What could not be used") if items else NOTHING


def _finding(comparison: ComparisonOut) -> str:
    presets, memories = len(comparison.answers), len(comparison.memories)
    if presets == 1:
        return f"{comparison.answers[0].preset} returns {counted(memories, 'memory')}"
    shared = sum(all(_ranks(one)) for one in comparison.memories)
    return f"{shared or 'None'} of {counted(memories, 'memory')} returned by all {presets} presets"


def _alike(comparison: ComparisonOut) -> str:
    """A sentence that names the two presets that agree most."""
    if not comparison.overlaps or len(comparison.answers) < 3:
        return ""
    most = max(comparison.overlaps, key=lambda each: each.share)
    return f"Most alike: {most.presets[0]} and {most.presets[1]}, which share {most.share:.0%}."


def _only(one: ComparedOut) -> str:
    found = [place.preset for place in one.places if _rank(place)]
    return found[0] if len(found) == 1 and len(one.places) > 1 else ""


def _cell(place: PlaceOut) -> str:
    rank = _rank(place)
    if not rank:
        return place.reason or "not returned"
    return f"{rank}" if place.score is None else f"{rank} ({place.score:.2f})"


def _ranks(one: ComparedOut) -> list[int | None]:
    return [_rank(place) for place in one.places]


def _rank(place: PlaceOut) -> int | None:
    return place.rank if place.returned else None


def _titled(one: ComparedOut, room: float) -> str:
    return fitted(one.memory.title or one.memory.text, room, FONT) or str(UUID(int=one.memory.id.int))


def _down(rank: int) -> float:
    return HEAD + (rank - 0.5) * ROW
