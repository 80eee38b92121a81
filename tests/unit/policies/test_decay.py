from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from golden_tables import cells, column, every_row, number, table

from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.decay import (
    MAX_DAYS,
    Curve,
    Ebbinghaus,
    Exponential,
    HalfLife,
    LinearRamp,
    PowerLaw,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = dict[str, str]
CURVES: dict[str, Callable[[Row], Curve]] = {
    "decay_linear_ramp": lambda row: LinearRamp(days=number(row["days"]), floor=number(row["floor"])),
    "decay_half_life": lambda row: HalfLife(days=number(row["days"]), floor=number(row["floor"])),
    "decay_exponential": lambda row: Exponential(days=number(row["days"])),
    "decay_ebbinghaus": lambda row: Ebbinghaus(rate=number(row["rate"]), spacing=number(row["spacing"])),
    "decay_power_law": lambda row: PowerLaw(exponent=number(row["exponent"])),
}
AGES = np.array([-36_525.0, -1.0, 0.0, 1e-6, 0.5, 1.0, 30.0, 365.0, 36_525.0])
EXAMPLES: list[Curve] = [
    LinearRamp(days=180, floor=0.1),
    HalfLife(days=90, floor=0.1),
    Exponential(days=7),
    Ebbinghaus(rate=0.03, spacing=0.1),
    PowerLaw(),
]


def left(curve: Curve, ages: NDArray[np.float64], *, exposures: float = 0, stability: float = 2.3065) -> list[float]:
    return curve.retention(ages, np.full(len(ages), exposures), np.full(len(ages), stability)).tolist()


@every_row([(name, row) for name in CURVES for row in table(name)], name=lambda named: f"{named[0]} {cells(named[1])}")
def test_retention_equals_the_computed_table(named: tuple[str, Row]) -> None:
    name, row = named
    exposures, stability = number(row.get("exposures", "0")), number(row.get("stability", "1"))
    found = left(CURVES[name](row), column([row], "age"), exposures=exposures, stability=stability)
    assert found == pytest.approx([number(row["expected"])], rel=1e-11, abs=1e-300)


@every_row([row for row in table("decay_power_law") if row["by_fsrs"]], cells)
def test_over_whole_days_py_fsrs_and_the_formula_agree(row: Row) -> None:
    if number(row["age"]).is_integer():
        assert number(row["by_fsrs"]) == pytest.approx(number(row["by_formula"]), rel=1e-11)


def test_elapsed_time_is_not_cut_to_whole_days() -> None:
    assert left(PowerLaw(), np.array([0.999, 0.0])) == [pytest.approx(0.94689, abs=1e-5), 1.0]


@pytest.mark.parametrize("curve", EXAMPLES, ids=lambda curve: type(curve).__name__)
@pytest.mark.parametrize("stability", [1e-6, 2.3065, 36_500.0])
@pytest.mark.parametrize("exposures", [0, 1, 1_000_000])
def test_every_curve_begins_at_one_and_never_rises(curve: Curve, stability: float, exposures: int) -> None:
    found = left(curve, AGES, exposures=exposures, stability=stability)
    assert found[:3] == [1.0, 1.0, 1.0]
    assert found == sorted(found, reverse=True)
    assert all(0 <= one <= 1 for one in found)


@pytest.mark.parametrize("curve", EXAMPLES, ids=lambda curve: type(curve).__name__)
def test_nothing_is_left_of_no_memories(curve: Curve) -> None:
    assert left(curve, np.empty(0)) == []


@pytest.mark.parametrize("curve", EXAMPLES, ids=lambda curve: type(curve).__name__)
def test_each_memory_fades_for_itself(curve: Curve) -> None:
    together = left(curve, AGES)
    assert together == [left(curve, AGES[place : place + 1])[0] for place in range(len(AGES))]


@pytest.mark.parametrize(("curve", "days"), [(LinearRamp, 90), (HalfLife, 180), (Exponential, 180 * math.log(2))])
def test_a_constant_has_the_meaning_of_its_name(curve: type[LinearRamp | HalfLife | Exponential], days: float) -> None:
    assert left(curve(days=180), np.array([days])) == pytest.approx([0.5], rel=1e-12)


@pytest.mark.parametrize("days", [0.0, -1.0, MAX_DAYS + 1, math.nan, math.inf])
@pytest.mark.parametrize("curve", [LinearRamp, HalfLife, Exponential])
def test_a_time_constant_that_is_no_time_is_refused(
    curve: type[LinearRamp | HalfLife | Exponential], days: float
) -> None:
    with pytest.raises(InvalidInput, match=r"^days: .*greater than 0, at most 36,500 days"):
        curve(days=days)


@pytest.mark.parametrize("floor", [-0.1, 1.1, math.nan])
@pytest.mark.parametrize("curve", [LinearRamp, HalfLife])
def test_a_lower_bound_outside_the_unit_interval_is_refused(curve: type[LinearRamp | HalfLife], floor: float) -> None:
    with pytest.raises(InvalidInput, match=r"^floor: .*from 0 to 1"):
        curve(days=1, floor=floor)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate": 0.0, "spacing": 0.1}, r"^rate: .*greater than 0"),
        ({"rate": math.nan, "spacing": 0.1}, r"^rate: "),
        ({"rate": 101.0, "spacing": 0.1}, r"^rate: "),
        ({"rate": 0.03, "spacing": -0.1}, r"^spacing: "),
    ],
)
def test_a_rate_or_spacing_out_of_range_is_refused(given: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Ebbinghaus(**given)


@pytest.mark.parametrize("exponent", [0.0, -0.5, 11.0, math.nan])
def test_an_exponent_out_of_range_is_refused(exponent: float) -> None:
    with pytest.raises(InvalidInput, match=r"^exponent: "):
        PowerLaw(exponent=exponent)
