from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
from golden_tables import cells, table

from remembrancer.domain.event import Priority, Severity
from remembrancer.errors import InvalidInput
from remembrancer.policies.importance import Importance
from remembrancer.presets.catalogue import PRESETS


@pytest.mark.parametrize("row", table("importance"), ids=cells)
def test_an_event_matters_as_much_as_was_worked_out(row: dict[str, str]) -> None:
    importance = PRESETS[row["preset"]].formation.importance
    formed = importance.of(row["type"], Severity(row["severity"]), Priority(row["priority"]))
    assert (formed, importance.floor(Priority(row["priority"]))) == (float(row["expected"]), float(row["floor"]))


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_importance_is_a_fraction_that_keeps_its_floor(preset: str) -> None:
    importance = PRESETS[preset].formation.importance
    for kind, severity, priority in product((*importance.by_type, "message"), Severity, Priority):
        assert importance.floor(priority) <= importance.of(kind, severity, priority) <= 1


def test_a_type_may_matter_less_but_never_less_than_nothing() -> None:
    importance = Importance(base=0.25, by_type={"chatter": -0.5})
    assert importance.of("chatter", Severity.INFO, Priority.NORMAL) == 0.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"base": 1.5}, r"^importance\.base: "),
        ({"base": math.nan}, r"^importance\.base: "),
        ({"by_type": {"My Type": 0.1}}, r"^importance\.by_type: "),
        ({"by_type": {"chatter": 2.0}}, r"^importance\.by_type\.chatter: "),
        ({"by_severity": {Severity.WARN: -2.0}}, r"^importance\.by_severity\.warn: "),
        ({"floors": {Priority.PIN: 1.5}}, r"^importance\.floors\.pin: "),
    ],
)
def test_a_part_out_of_range_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Importance(**given)
