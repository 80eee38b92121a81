"""Charts of what a score is made of: a stacked bar of the five groups of signals, and a table of all signals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture, key, small_picture, swatch, table
from remembrancer.interfaces.charts.svg import NOTHING, element, joined, percent
from remembrancer.interfaces.palette import HUE_OF
from remembrancer.policies.ranking.groups import titled

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.recall import PartOut

BAR, BARE = 14.0, 10.0
Groups = Mapping[str, float]
"""The amount that each group of signals adds to a score, as in `ExplanationOut.groups`."""
_LEAST: Final = 0.005
"""Groups that add less are not labelled."""


def score_bar(groups: Groups, *, scale: float) -> Markup:
    """A score as a stacked bar of its groups, with labels. `scale`: the score whose bar fills the width."""
    score = sum(amount for _, amount in _finite(groups))
    full = min(score / scale, 1.0) if scale > 0 and math.isfinite(scale) else 1.0
    marks = element("rect", x="0", width="100%", y="0", height=BAR, rx=3.0, class_="chart-track")
    for group, amount, begin, length in _segments(groups, full):
        title = element("title", f"{group}: {amount:.2f}, {amount / score:.0%} of the score")
        across = {"x": percent(begin), "width": percent(length)}
        marks += element("rect", title, **across, y="0", height=BAR, class_=_part(group))
    labels = [(group, f"{group} {amount:.2f}") for group, amount in _finite(groups) if amount >= _LEAST]
    label = f"Score {score:.2f}" + (f": {', '.join(words for _, words in labels)}" if labels else "")
    told = key([(_patch(group), words) for group, words in labels], label="Parts of the score") if labels else NOTHING
    picture = small_picture("score-bar", label, Picture(marks=marks, height=BAR))
    return element("div", picture, told, class_="chart chart-score")


def score_table(parts: PartOut) -> Markup:
    """A table of the whole tree of a score: each part with its name in words and in presets, its value, and what it
    adds; × for a factor. Absent signals are left out.
    """
    return table("Raw signals", ["Signal", "In presets", "Value", "Adds"], _rows(parts, 0, multiplied=False))


def bare_bar(groups: Groups, width: float) -> Markup:
    """The stacked bar without labels, `width` by BARE pixels."""
    return joined(
        element("rect", x=begin * width, width=length * width, height=BARE, class_=_part(group))
        for group, _, begin, length in _segments(groups, 1.0)
    )


def bare_legend(several: Iterable[Groups]) -> list[tuple[Markup, str]]:
    """The legend of several bars: each group that one of them has, in the order of the groups."""
    used = {group for groups in several for group, _ in _finite(groups)}
    return [(_patch(group), group) for group in HUE_OF if group in used]


def _finite(groups: Groups) -> Iterator[tuple[str, float]]:
    return ((group, groups[group]) for group in HUE_OF if math.isfinite(added := groups.get(group, 0.0)) and added > 0)


def _segments(groups: Groups, full: float) -> Iterator[tuple[str, float, float, float]]:
    """(group, amount, begin, length) of each group; begin and length in [0, 1], `full` is the length of the score."""
    score, reached = sum(amount for _, amount in _finite(groups)), 0.0
    for group, amount in _finite(groups):
        length = amount / score * full
        yield group, amount, reached, length
        reached += length


def _rows(part: PartOut, depth: int, *, multiplied: bool) -> Iterator[list[str]]:
    if part.value is None:
        return
    name = titled(part.label)
    raw = part.label if name != part.label else ""
    yield [f"{'· ' * depth}{name}", raw, f"{part.value:.3f}", "×" if multiplied else f"{part.contribution:.3f}"]
    for inner in part.parts:
        yield from _rows(inner, depth + 1, multiplied=multiplied or part.multiplied)


def _part(group: str) -> str:
    # The edge of each part, in the colour of the ground, makes a gap between neighbours.
    return f"chart-part chart-{HUE_OF[group]}"


def _patch(group: str) -> Markup:
    return swatch(element("rect", x=1.0, width=12.0, y=1.0, height=12.0, rx=2.0, class_=_part(group)), width=14.0)
