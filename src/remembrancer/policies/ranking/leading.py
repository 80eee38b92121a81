"""Short explanations of a score: the parts with the most weight, and those that differ most from other scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from remembrancer.domain.recall import Part
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class Weight:
    """A part of a score, named by its signals, and the value that it adds or the factor that it multiplies by."""

    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Weights:
    """The parts of a score: its factors if `multiplied`, else terms that are added.

    >>> str(Weights((Weight("similarity", 0.62), Weight("retention", 0.1)), multiplied=True))
    'similarity 0.62 × retention 0.10'
    """

    parts: tuple[Weight, ...]
    multiplied: bool

    def __str__(self) -> str:
        joined = " × " if self.multiplied else " + "
        return joined.join(f"{part.label} {part.value:.2f}" for part in self.parts)


def weights(score: Part) -> Weights:
    """The terms of a sum, or the factors of a product, including the factors of nested products."""
    pieces, multiplied = pieces_of(score)
    parts = [Weight(named(piece), (piece.value or 0.0) if multiplied else piece.contribution) for piece in pieces]
    return Weights(tuple(parts), multiplied=multiplied)


def pieces_of(score: Part) -> tuple[tuple[Part, ...], bool]:
    """The nodes of `weights`, and whether they are multiplied: the first level of the tree with more than one part."""
    node = score
    while not node.is_product and (whole := _whole_of(node)) is not None:
        node = whole
    return (tuple(_factors(node)) if node.is_product else node.parts or (node,)), node.is_product


def named(part: Part) -> str:
    """The name of a part: the labels of all its leaves, joined by " & "."""
    return " & ".join(dict.fromkeys(leaf.label for leaf in _leaves(part)))


def leading(score: Part, count: int = 2) -> Weights:
    """The parts with the most weight: the greatest terms, or the factors farthest from 1. Terms of 0 and factors of 1
    are left out.
    """
    every = weights(score)
    nothing = 1.0 if every.multiplied else 0.0
    telling = [part for part in every.parts if part.value != nothing]
    telling.sort(key=lambda part: abs(_apart(part.value, nothing, every.multiplied)), reverse=True)
    return replace(every, parts=tuple(telling[:count]))


def setting_apart(score: Part, others: Sequence[Part], *, above: bool, count: int = 2) -> tuple[Weight, ...]:
    """The parts by which a score is most above (or, if not `above`, below) the median of `others`, which may include
    it.

    Parts that are equal to two decimals are left out.
    """
    mine, theirs = weights(score), [weights(other) for other in others]
    telling: list[tuple[float, Weight]] = []
    for part in mine.parts:
        usual = _usual(part.label, theirs)
        distance = _apart(part.value, usual, mine.multiplied)
        if f"{part.value:.2f}" != f"{usual:.2f}" and (distance > 0) == above:
            telling.append((abs(distance), part))
    telling.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(part for _, part in telling[:count])


def _usual(label: str, several: Sequence[Weights]) -> float:
    """The median of a part. In a score without it, a term counts as 0 and a factor as 1."""
    return median(
        next((part.value for part in each.parts if part.label == label), 1.0 if each.multiplied else 0.0)
        for each in several
    )


def _apart(value: float, usual: float, multiplied: bool) -> float:
    """The difference from the median; of factors the logarithm of their ratio, so that halving and doubling are equally
    far.
    """
    least = 1e-9
    return math.log(max(value, least) / max(usual, least)) if multiplied else value - usual


def _factors(node: Part) -> Iterator[Part]:
    """The innermost factors of a product: a factor that is itself a product, or has its value from one, is expanded."""
    for factor in node.parts:
        inner = factor
        while not inner.is_product and (whole := _whole_of(inner)) is not None and whole.value == inner.value:
            inner = whole
        if inner.is_product:
            yield from _factors(inner)
        else:
            yield inner


def _whole_of(node: Part) -> Part | None:
    """The only part of a node, or the greatest one if the others do not count; else None."""
    if len(node.parts) == 1:
        return node.parts[0]
    giving = [part for part in node.parts if part.contribution]
    return giving[0] if len(giving) == 1 and giving[0].value == node.value else None


def _leaves(part: Part) -> list[Part]:
    return [leaf for inner in part.parts for leaf in _leaves(inner)] if part.parts else [part]
