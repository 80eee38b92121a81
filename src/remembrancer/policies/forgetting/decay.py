"""Forgetting curves: the share of strength left after some days.

Every curve is 1 at age 0, never increases with age and stays in [0, 1]. A negative age (a memory of the future) counts
as 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import FloatColumn

MAX_DAYS: Final = 36_500.0
"""The longest time constant of a curve: a hundred years."""


class _Curve:
    """A forgetting curve. Subclasses use only the age, unless they say otherwise."""

    __slots__ = ()
    reads_exposures: ClassVar[bool] = False
    reads_stability: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class _WithDays(_Curve):
    days: float

    def __post_init__(self) -> None:
        if not 0 < self.days <= MAX_DAYS:
            raise InvalidInput("days", self.days, f"a number greater than 0, at most {MAX_DAYS:,.0f} days")


@dataclass(frozen=True, slots=True)
class _WithFloor(_WithDays):
    floor: float = 0.0

    def __post_init__(self) -> None:
        _WithDays.__post_init__(self)
        validation.fraction("floor", self.floor)


@dataclass(frozen=True, slots=True)
class LinearRamp(_WithFloor):
    """Linear decay: max(floor, 1 - age / days)."""

    def retention(self, age: FloatColumn, exposures: FloatColumn, stability: FloatColumn) -> FloatColumn:
        """The share left, in [0, 1], shape (n,), as in every curve.

        `age` and `stability` in days, `exposures` a count; all of shape (n,).
        """
        return np.maximum(self.floor, 1.0 - np.maximum(age, 0.0) / self.days)


@dataclass(frozen=True, slots=True)
class HalfLife(_WithFloor):
    """Decay by half-lives: max(floor, 0.5^(age / days)): a half is left after `days`."""

    def retention(self, age: FloatColumn, exposures: FloatColumn, stability: FloatColumn) -> FloatColumn:
        return np.maximum(self.floor, np.exp2(-np.maximum(age, 0.0) / self.days))


@dataclass(frozen=True, slots=True)
class Exponential(_WithDays):
    """Exponential decay: exp(-age / days): 1/e (37 %) is left after `days`, the time constant."""

    def retention(self, age: FloatColumn, exposures: FloatColumn, stability: FloatColumn) -> FloatColumn:
        return np.exp(-np.maximum(age, 0.0) / self.days)


@dataclass(frozen=True, slots=True)
class Ebbinghaus(_Curve):
    """Ebbinghaus decay: exp(-rate * age / (1 + spacing * exposures)): each exposure slows forgetting down.

    `rate` per day, `spacing` per exposure. After Ebbinghaus 1885, in the exponential form.
    """

    reads_exposures: ClassVar[bool] = True

    rate: float
    spacing: float

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 100:
            raise InvalidInput("rate", self.rate, "a number greater than 0, at most 100 a day")
        validation.number("spacing", self.spacing, 0, 100)

    def retention(self, age: FloatColumn, exposures: FloatColumn, stability: FloatColumn) -> FloatColumn:
        return np.exp(-self.rate * np.maximum(age, 0.0) / (1.0 + self.spacing * exposures))


@dataclass(frozen=True, slots=True)
class PowerLaw(_Curve):
    """Retrievability in FSRS-6: (1 + factor * age / stability)^-exponent; 0.9 if the age equals the stability.

    factor = 0.9^(-1 / exponent) - 1. Elapsed time is not rounded to whole days. The exponent is parameter w[20].
    Source: open-spaced-repetition, FSRS-6 default parameters.
    """

    reads_stability: ClassVar[bool] = True

    exponent: float = 0.1542

    def __post_init__(self) -> None:
        if not 0.01 <= self.exponent <= 10:
            raise InvalidInput("exponent", self.exponent, "a number from 0.01 to 10")

    def retention(self, age: FloatColumn, exposures: FloatColumn, stability: FloatColumn) -> FloatColumn:
        factor = 0.9 ** (-1.0 / self.exponent) - 1.0
        return (1.0 + factor * np.maximum(age, 0.0) / stability) ** -self.exponent


Curve = LinearRamp | HalfLife | Exponential | Ebbinghaus | PowerLaw
