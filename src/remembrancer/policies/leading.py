"""What of a score weighs most: its explanation in a few words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from remembrancer.domain.recall import Part


@dataclass(frozen=True, slots=True)
class Weight:
    """A part of a score, by what it is made of: what it adds, or what it multiplies by."""

    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Leading:
    """The parts that weigh most. `multiplied`: they are factors, the farthest from 1 first; else terms, greatest first.

    >>> str(Leading((Weight("similarity", 0.62), Weight("retention", 0.1)), multiplied=True))
    'similarity 0.62 × retention 0.10'
    """

    weights: tuple[Weight, ...]
    multiplied: bool

    def __str__(self) -> str:
        joined = " × " if self.multiplied else " + "
        return joined.join(f"{weight.label} {weight.value:.2f}" for weight in self.weights)


def leading(score: Part, count: int = 2) -> Leading:
    """The parts of a score that weigh most: where it is a product its factors, of whatever they are factors themselves.

    What changes nothing is left out: a term of 0, a factor of 1.
    """
    node = score
    while not node.is_product and (whole := _whole_of(node)) is not None:
        node = whole
    if node.is_product:
        factors = [Weight(_named(factor), factor.value or 0.0) for factor in _factors(node)]
        weights = sorted((each for each in factors if each.value != 1), key=_distance, reverse=True)
    else:
        terms = [Weight(_named(term), term.contribution) for term in node.parts or (node,)]
        weights = sorted((each for each in terms if each.value > 0), key=lambda each: each.value, reverse=True)
    return Leading(tuple(weights[:count]), multiplied=node.is_product)


def _factors(node: Part) -> Iterator[Part]:
    """What is multiplied in the end: a factor that is a product, or has all its value from one, gives its own factors."""
    for factor in node.parts:
        inner = factor
        while not inner.is_product and (whole := _whole_of(inner)) is not None and whole.value == inner.value:
            inner = whole
        if inner.is_product:
            yield from _factors(inner)
        else:
            yield inner


def _whole_of(node: Part) -> Part | None:
    """The one part that a value is made of: the only one, or the greatest where the others do not count."""
    if len(node.parts) == 1:
        return node.parts[0]
    giving = [part for part in node.parts if part.contribution]
    return giving[0] if len(giving) == 1 and giving[0].value == node.value else None


def _distance(weight: Weight) -> float:
    """Of a factor from 1, as halving and doubling are equally far; 0 is farther than all else."""
    return abs(math.log(weight.value)) if weight.value > 0 else math.inf


def _named(part: Part) -> str:
    """By all that it is made of."""
    return " & ".join(dict.fromkeys(leaf.label for leaf in _leaves(part)))


def _leaves(part: Part) -> list[Part]:
    return [leaf for inner in part.parts for leaf in _leaves(inner)] if part.parts else [part]
