"""Score expressions: a preset's scores as data, evaluated together with their explanation.

An expression is a tree of frozen nodes over named signals. A signal that is absent for a candidate (NaN) adds nothing
to `Weighted` or `Rrf`, and makes a `Product` absent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, assert_never

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.recall import PRODUCT, Part
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatColumn = NDArray[np.float64]
    """One number per candidate, shape (n,); NaN where absent."""


OUTCOME: Final = "outcome"
"""The signal by which `with_outcomes` changes scores."""
NO_EVIDENCE: Final = 0.5
"""The expected outcome of a memory without evidence."""


@dataclass(frozen=True, slots=True)
class Signal:
    """The value of a named signal."""

    name: str


@dataclass(frozen=True, slots=True)
class Const:
    """The same number, in [0, 1], for every candidate."""

    value: float

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 1:
            raise InvalidInput("Const", self.value, "a number from 0 to 1")


@dataclass(frozen=True, slots=True)
class Weighted:
    """The weighted sum of the terms. Weights are at least 0 and sum to at most 1."""

    terms: tuple[tuple[Expression, float], ...]

    def __post_init__(self) -> None:
        for _, weight in self.terms:
            if not 0 <= weight <= 1:
                raise InvalidInput("Weighted", weight, "weights in [0, 1]")
        total = sum(weight for _, weight in self.terms)
        if not self.terms or total > 1 + 1e-9:
            raise InvalidInput("Weighted", total, "weights that sum to at most 1")


@dataclass(frozen=True, slots=True)
class Product:
    """The product of the factors."""

    factors: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if not self.factors:
            raise InvalidInput("Product", self.factors, "at least one factor")


@dataclass(frozen=True, slots=True)
class MinMax:
    """The inner value rescaled over the candidates: the least becomes 0, the greatest 1; if all are equal, 1.

    `least`: a fixed lower end of the range; values at or below it become 0, even if all are equal.
    """

    inner: Expression
    least: float | None = None

    def __post_init__(self) -> None:
        if self.least is not None and not math.isfinite(self.least):
            raise InvalidInput("MinMax.least", self.least, "a finite number")


@dataclass(frozen=True, slots=True)
class Rrf:
    """Reciprocal rank fusion, scaled to [0, 1]: the mean over the inner rankings of (k + 1) / (k + rank), rank from 1.

    Equal values share the best rank of their group, so a tie never depends on the order of the rows. A candidate
    without a value in a ranking gets 0 from it. Source: Cormack, Clarke and Büttcher, SIGIR 2009 (with k = 60), divided
    by its greatest value, n / (k + 1).
    """

    rankings: tuple[Expression, ...]
    k: int = 60

    def __post_init__(self) -> None:
        if not self.rankings:
            raise InvalidInput("Rrf", self.rankings, "at least one ranking")
        validation.whole("Rrf.k", self.k, 1, 1_000_000)


@dataclass(frozen=True, slots=True)
class Clamp:
    """The inner value, limited to [0, 1]."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Saturating:
    """The function x / (1 + x): maps [0, ∞) to [0, 1) in the same order; negative values become 0."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Greatest:
    """The greatest of the terms; absent terms are ignored."""

    terms: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if not self.terms:
            raise InvalidInput("Greatest", self.terms, "at least one term")


Expression = Signal | Const | Weighted | Product | MinMax | Rrf | Clamp | Saturating | Greatest


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """An expression evaluated for all candidates, with its parts, for explanations.

    `values`: shape (n,), NaN if absent. `shares`: what each part adds to `values`, in the order of the expression.
    """

    label: str
    values: FloatColumn
    parts: tuple[Scored, ...] = ()
    shares: tuple[FloatColumn, ...] = ()

    def explain(self, row: int) -> Part:
        """The score tree of one candidate. The root's contribution is its score."""
        return self.at(np.array([row])).explained()[0]

    def at(self, rows: NDArray[np.int64]) -> Scored:
        """The values of the given rows, in their order."""
        return Scored(
            self.label,
            self.values.take(rows),
            tuple(part.at(rows) for part in self.parts),
            tuple(share.take(rows) for share in self.shares),
        )

    def explained(self) -> list[Part]:
        """The score tree of each candidate, in order."""
        return _parts(self, _or_nothing(self.values).tolist())


def evaluate(  # noqa: C901, PLR0911  a case for each node
    expression: Expression, signals: Mapping[str, FloatColumn], count: int
) -> Scored:
    """Evaluate an expression for `count` candidates. Raises InvalidInput naming a signal that is not in the table."""
    match expression:
        case Signal(name):
            if name not in signals:
                raise InvalidInput("signal", name, "one of " + ", ".join(sorted(signals)))
            return Scored(name, signals[name])
        case Const(value):
            return Scored(f"{value:g}", np.full(count, value))
        case Weighted(terms):
            parts = tuple(evaluate(term, signals, count) for term, _ in terms)
            values = np.array([part.values for part in parts])
            shares = np.where(np.isnan(values), 0.0, values) * np.array([weight for _, weight in terms])[:, np.newaxis]
            return Scored("weighted sum", shares.sum(axis=0), parts, tuple(shares))
        case Product(factors):
            parts = tuple(evaluate(factor, signals, count) for factor in factors)
            values = np.ones(count)
            for part in parts:
                values = values * part.values
            return Scored(PRODUCT, values, parts, tuple(part.values for part in parts))
        case MinMax(inner, least):
            part = evaluate(inner, signals, count)
            values = _min_max(part.values, least)
            return Scored("min-max", values, (part,), (values,))
        case Rrf(rankings, k):
            parts = tuple(evaluate(ranking, signals, count) for ranking in rankings)
            shares = tuple(_or_nothing((k + 1) / (k + ranks_of(part.values)) / len(parts)) for part in parts)
            return Scored(f"reciprocal ranks (k={k})", _sum(shares, count), parts, shares)
        case Clamp(inner):
            part = evaluate(inner, signals, count)
            values = np.clip(part.values, 0.0, 1.0)
            return Scored("at most 1", values, (part,), (values,))
        case Saturating(inner):
            part = evaluate(inner, signals, count)
            held = np.maximum(part.values, 0.0)
            # Above 1, computed as 1 - 1 / (1 + x): the rounding of x / (1 + x) would exchange close values.
            values = np.where(held <= 1.0, held / (1.0 + held), 1.0 - 1.0 / (1.0 + held))
            return Scored("x / (1 + x)", values, (part,), (values,))
        case Greatest(terms):
            parts = tuple(evaluate(term, signals, count) for term in terms)
            values = _greatest(parts)
            return Scored("greatest of", values, parts, _to_the_first(values, parts))
        case _:
            assert_never(expression)


def with_outcomes(scored: Scored, outcome: FloatColumn, most: float) -> Scored:
    """Each score times 1 + `most` x (2 x outcome - 1), at most 1: from 1 - `most` to 1 + `most` times the score.

    A memory without evidence, whose outcome is 0.5, keeps its score exactly; without any evidence nothing changes.
    """
    if not most or not (outcome != NO_EVIDENCE).any():
        return scored
    values = np.minimum(scored.values * (1.0 + most * (2.0 * outcome - 1.0)), 1.0)
    # Of a score that falls, each part falls by the same share, so that no part is negative.
    kept = np.fmin(scored.values, values)
    return Scored("with outcomes", values, (scored, Scored(OUTCOME, outcome)), (kept, values - kept))


def signal_names(expression: Expression) -> frozenset[str]:
    """The names of all signals that the expression reads."""
    match expression:
        case Signal(name):
            return frozenset({name})
        case Const():
            return frozenset()
        case _:
            return frozenset(name for inner in inner_expressions(expression) for name in signal_names(inner))


def inner_expressions(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression."""
    match expression:
        case Signal() | Const():
            return ()
        case Weighted(terms):
            return tuple(term for term, _ in terms)
        case Product(factors):
            return factors
        case MinMax(inner) | Clamp(inner) | Saturating(inner):
            return (inner,)
        case Rrf(rankings):
            return rankings
        case Greatest(terms):
            return terms
        case _:
            assert_never(expression)


def _sum(shares: tuple[FloatColumn, ...], count: int) -> FloatColumn:
    total = np.zeros(count)
    for share in shares:
        total = total + share
    return total


def _or_nothing(values: FloatColumn) -> FloatColumn:
    """The values with NaN replaced by 0. `np.nan_to_num` also handles infinities, which took a fifth of the time of
    scoring.
    """
    return np.where(np.isnan(values), 0.0, values)


def _greatest(parts: tuple[Scored, ...]) -> FloatColumn:
    values = parts[0].values
    for part in parts[1:]:
        values = np.fmax(values, part.values)
    return values


def _to_the_first(values: FloatColumn, parts: tuple[Scored, ...]) -> tuple[FloatColumn, ...]:
    """Shares of a maximum: the first part that has the value gets all of it, the others get 0."""
    given = np.zeros(len(values), dtype=np.bool_)
    shares: list[FloatColumn] = []
    for part in parts:
        mine = (part.values == values) & ~given
        shares.append(np.where(mine, values, 0.0))
        given |= mine
    return tuple(shares)


def _min_max(values: FloatColumn, least: float | None) -> FloatColumn:
    present = ~np.isnan(values)
    if not present.any():
        return values
    low, high = float(values[present].min()) if least is None else least, float(values[present].max())
    if high <= low:
        return np.where(present, 1.0 if least is None else 0.0, np.nan)
    return np.maximum(values - low, 0.0) / (high - low)


def ranks_of(values: FloatColumn) -> FloatColumn:
    """The rank from 1 in descending order, ties sharing the best rank; NaN if absent."""
    present = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    ordered = np.sort(-values[present])
    ranks[present] = np.searchsorted(ordered, -values[present], side="left") + 1
    return ranks


def ranks_at(values: FloatColumn, rows: NDArray[np.int64]) -> FloatColumn:
    """The ranks of a few rows, as `ranks_of` gives them."""
    chosen = values.take(rows)
    return np.where(np.isnan(chosen), np.nan, np.count_nonzero(values > chosen[:, np.newaxis], axis=1) + 1)


def _parts(scored: Scored, contributions: Sequence[float]) -> list[Part]:
    """The parts of each candidate's tree; `contributions`: one for each candidate."""
    inner = [_parts(part, _or_nothing(share).tolist()) for part, share in zip(scored.parts, scored.shares, strict=True)]
    of_each = zip(*inner, strict=True) if inner else [()] * len(contributions)
    return [
        Part(scored.label, None if math.isnan(value) else value, contribution, parts)
        for value, contribution, parts in zip(scored.values.tolist(), contributions, of_each, strict=True)
    ]
