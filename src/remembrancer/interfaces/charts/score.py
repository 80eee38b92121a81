"""Charts of the parts of a score: terms as one stacked bar, factors as a chain of meters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from remembrancer.domain.recall import PRODUCT, Part
from remembrancer.interfaces.charts.frame import Picture, key, ornament, small_picture, swatch, table
from remembrancer.interfaces.charts.scale import finite
from remembrancer.interfaces.charts.svg import NOTHING, element, joined, percent
from remembrancer.policies.ranking import leading
from remembrancer.policies.ranking.signals import MEANINGS
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.recall import PartOut

BAR, NESTED = 16.0, 5.0
METER: Final = 8.0
BARE: Final = 10.0
LABELLED: Final = 6
"""The most parts that are labelled below a bar; the others are labelled together."""
_LEAST: Final = 0.03
"""Parts below this share of the score are labelled together with the others."""
SIGNALS: Final = {
    "similarity": "blue",
    "dense_leg": "blue",
    "late_interaction": "blue",
    "passage_words": "blue",
    "lexical": "ochre",
    "lexical_leg": "ochre",
    "bm25": "ochre",
    "coverage": "ochre",
    "time": "green",
    "speaker": "green",
    "session_words": "violet",
    "session": "violet",
    "nearby": "violet",
}
OTHER: Final = "slate"
"""The hue of every other signal."""
_PRODUCT: Final = "chart-slate"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A term or factor: its name, the CSS classes of its colour, its own value, and what it adds to the score."""

    node: Part
    name: str
    colour: str
    value: float | None
    adds: float


def score_bar(parts: PartOut, *, scale: float) -> Markup:
    """The parts of a score with their values. `scale`: the score whose bar fills the width.

    Terms are one stacked bar, in the order of the preset; a thin bar below a term has its own terms. Factors are a
    chain of meters; a full meter is 1, or the greatest factor.
    """
    root = _part(parts)
    nodes, multiplied = leading.pieces_of(root)
    pieces = _pieces(nodes)
    if multiplied:
        return _chain(pieces, root.contribution)
    return _bar(pieces, _number(root.contribution), scale)


def score_legend(parts: Iterable[PartOut]) -> Markup:
    """The legend of several bars; empty if no part of them is a term."""
    colours, chained = _colours_of(parts)
    entries = [(_patch(colour), name) for name, colour in colours.items()]
    legend = key(entries, label="Parts of a score") if entries else NOTHING
    words = "Factors are multiplied: a full meter takes nothing away."
    return legend + (element("p", words, class_="chart-told") if chained else NOTHING)


def score_table(parts: PartOut) -> Markup:
    """A table of the whole tree of a score: each node's value and contribution; × for a factor."""
    return table("Score in numbers", ["Part", "Value", "Adds"], _rows(_part(parts), 0, multiplied=False))


def bare_bar(parts: PartOut, width: float) -> Markup:
    """The terms of a score as a stacked bar without labels, BARE pixels high; a product is one grey piece."""
    nodes, multiplied = leading.pieces_of(_part(parts))
    pieces = [] if multiplied else _pieces(nodes)
    marks = joined(
        element("rect", x=begin * width, width=length * width, height=BARE, class_=f"chart-part {piece.colour}")
        for piece, _, begin, length in _segments(pieces, 1.0)
    )
    return marks or element("rect", width=width, height=BARE, class_=f"chart-part {_PRODUCT}")


def bare_legend(parts: Iterable[PartOut]) -> list[tuple[Markup, str]]:
    """The legend of several bars of `bare_bar`, for a document."""
    colours, chained = _colours_of(parts)
    product = [(_patch(_PRODUCT), "a product, of factors such as those below the bar")] if chained else []
    return [*((_patch(colour), name) for name, colour in colours.items()), *product]


def _colours_of(parts: Iterable[PartOut]) -> tuple[dict[str, str], bool]:
    """The CSS classes of each term by its name, and whether any of the scores is a product."""
    colours, chained = dict[str, str](), False
    for each in parts:
        nodes, multiplied = leading.pieces_of(_part(each))
        chained = chained or multiplied
        colours.update({piece.name: piece.colour for piece in _pieces(nodes) if not multiplied})
    return colours, chained


def _bar(pieces: Sequence[_Piece], score: float, scale: float) -> Markup:
    full = score / scale if scale > 0 and math.isfinite(scale) else 1.0
    marks = element("rect", x="0", width="100%", y="0", height=BAR, rx=3.0, class_="chart-track")
    for piece, share, begin, length in _segments(pieces, min(max(full, 0.0), 1.0)):
        marks += _segment(piece, share, begin, length) + _nested(piece, begin, length)
    deep = any(_additive(piece.node) for piece in pieces)
    picture = Picture(marks=marks, height=BAR + NESTED + 2 if deep else BAR)
    description = ", ".join(f"{piece.name} {_value_text(piece.adds)}" for piece in pieces if piece.adds)
    label = f"Score {score:.2f}" + (f": {description}" if description else "")
    return element(
        "div", small_picture("score-bar", label, picture), _labels(pieces, score), class_="chart chart-score"
    )


def _segments(pieces: Sequence[_Piece], full: float) -> Iterator[tuple[_Piece, float, float, float]]:
    """(piece, share of the score, begin, length) of each piece that contributes; all in [0, 1].

    `full`: the length of the whole score.
    """
    total, reached = sum(max(piece.adds, 0.0) for piece in pieces), 0.0
    for piece in pieces:
        share = max(piece.adds, 0.0) / total if total else 0.0
        if length := share * full:
            yield piece, share, reached, length
        reached += length


def _segment(piece: _Piece, share: float, begin: float, length: float) -> Markup:
    meaning = MEANINGS.get(piece.node.label, "")
    description = f"{piece.name}: adds {_value_text(piece.adds)}, {share:.0%} of the score"
    description += f"; its value is {_value_text(piece.value)}" + (f": {meaning}" if meaning else "")
    # The edge of each part, in the colour of the ground, makes a gap between neighbours.
    return element(
        "rect",
        element("title", description),
        x=percent(begin),
        width=percent(length),
        y="0",
        height=BAR,
        class_=f"chart-part {piece.colour}",
    )


def _nested(piece: _Piece, begin: float, length: float) -> Markup:
    """A thin bar below a segment, with the terms of that part."""
    if not _additive(piece.node):
        return NOTHING
    marks = NOTHING
    for each, _, start, wide in _segments(_pieces(piece.node.parts), length):
        title = element("title", f"{each.name}: {_value_text(each.adds)} of {piece.name}")
        across = {"x": percent(begin + start), "width": percent(wide)}
        marks += element("rect", title, **across, y=BAR + 2, height=NESTED, class_=f"chart-part {each.colour}")
    return marks


def _labels(pieces: Sequence[_Piece], score: float) -> Markup:
    """Labels of the parts that contribute most, in the order of the bar, and one label for all others."""
    adding = [piece for piece in pieces if piece.adds]
    greatest = sorted(adding, key=lambda piece: -abs(piece.adds))[:LABELLED]
    labelled = [piece for piece in adding if piece in greatest and abs(piece.adds) >= _LEAST * abs(score)]
    entries = [(_patch(piece.colour), f"{piece.name} {_value_text(piece.adds)}") for piece in labelled]
    rest = [piece for piece in adding if piece not in labelled]
    if rest:
        which = rest[0].name if len(rest) == 1 else f"{len(rest)} others"
        entries.append((NOTHING, f"{which} {_value_text(sum(piece.adds for piece in rest))}"))
    return (
        key(entries, label="Parts of the score")
        if entries
        else element("p", "No part adds anything.", class_="chart-told")
    )


def _chain(pieces: Sequence[_Piece], score: float) -> Markup:
    full = max([1.0, *(piece.value for piece in pieces if piece.value is not None)])
    steps = joined(_factor(piece, full, first=number == 0) for number, piece in enumerate(pieces))
    end = element(
        "li", element("span", "score", class_="chart-name"), _value_label(_value_text(score)), class_="chart-end"
    )
    chain = element("ol", steps, end, class_="chart-chain", aria_label="Factors of the score")
    return element("div", chain, class_="chart chart-score")


def _factor(piece: _Piece, full: float, *, first: bool) -> Markup:
    value = piece.value or 0.0
    marks = element("rect", x="0", width="100%", y="0", height=METER, rx=2.0, class_="chart-track")
    length = min(max(value / full, 0.0), 1.0)
    whole = [(piece, 1.0, 0.0, length)] if length else []
    inner = _segments(_pieces(piece.node.parts), length) if _additive(piece.node) else whole
    for each, _, begin, wide in inner:
        across = {"x": percent(begin), "width": percent(wide)}
        marks += element("rect", **across, y="0", height=METER, class_=f"chart-part {each.colour}")
    meaning = MEANINGS.get(piece.node.label, "")
    return element(
        "li",
        element("span", piece.name if first else f"× {piece.name}", class_="chart-name", title=meaning or None),
        _value_label(_value_text(piece.value)),
        ornament("meter", Picture(marks=marks, height=METER)),
    )


def _value_label(text: str) -> Markup:
    return element("span", text, class_="chart-value")


def _pieces(nodes: Sequence[Part]) -> list[_Piece]:
    return [_Piece(node, _words(node), _colour(node), finite(node.value), _number(node.contribution)) for node in nodes]


def _colour(node: Part) -> str:
    """The CSS classes for the first signal in a part. The same signal has the same colour in every score."""
    if node.label == PRODUCT:
        return _PRODUCT
    leaf = node
    while leaf.parts:
        leaf = leaf.parts[0]
    return f"chart-{SIGNALS.get(leaf.label, OTHER)}"


def _words(node: Part) -> str:
    words = " × ".join(map(leading.named, node.parts)) if node.is_product else leading.named(node)
    return words.replace("_", " ")


def _additive(node: Part) -> bool:
    return not node.is_product and len([part for part in node.parts if _number(part.contribution) > 0]) > 1


def _rows(part: Part, depth: int, *, multiplied: bool) -> Iterator[list[str]]:
    value = "absent" if part.value is None else f"{part.value:.3f}"
    yield [f"{'· ' * depth}{part.label.replace('_', ' ')}", value, "×" if multiplied else f"{part.contribution:.3f}"]
    for inner in part.parts:
        yield from _rows(inner, depth + 1, multiplied=multiplied or part.is_product)


def _patch(colour: str) -> Markup:
    mark = element("rect", x=1.0, width=12.0, y=1.0, height=12.0, rx=2.0, class_=f"chart-part {colour}")
    return swatch(mark, width=14.0)


def _part(part: PartOut) -> Part:
    return Part(part.label, part.value, part.contribution, tuple(map(_part, part.parts)))


def _number(value: float) -> float:
    return finite(value) or 0.0


def _value_text(value: float | None) -> str:
    return "absent" if value is None else f"{value:.2f}"
