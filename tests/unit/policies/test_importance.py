from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from golden_tables import cells, every_row, table

from remembrancer.domain.event import Event, Priority, Severity
from remembrancer.domain.strength import Strength
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.importance import Importance
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import an_event


@every_row(table("importance"), cells)
def test_an_event_matters_as_much_as_was_worked_out(row: dict[str, str]) -> None:
    importance = PRESETS[row["preset"]].formation.importance
    formed = importance.of(row["type"], Severity(row["severity"]), Priority(row["priority"]))
    assert (formed, importance.floor(Priority(row["priority"]))) == (float(row["expected"]), float(row["floor"]))


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_importance_is_a_fraction_not_below_its_floor(preset: str) -> None:
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


PLAIN = an_event("said")


def strength(importance: float, floor: float) -> Strength:
    return Strength(importance=importance, importance_floor=floor)


def marked(*priorities: Priority) -> list[Event]:
    return [replace(PLAIN, priority=priority) for priority in priorities]


@pytest.mark.parametrize("priority", Priority)
def test_a_memory_of_one_event_gets_the_initial_importance_of_the_new_priority(priority: Priority) -> None:
    importance = Importance()
    born = {one: strength(importance.of("message", Severity.INFO, one), importance.floor(one)) for one in Priority}
    for before in Priority:
        assert importance.marked_anew(born[before], marked(before), marked(priority)) == born[priority]


def test_an_importance_that_has_changed_is_lifted_and_not_lowered() -> None:
    before, after = marked(Priority.NORMAL), marked(Priority.PIN)
    lifted = Importance().marked_anew(Strength(importance=0.3), before, after)
    assert (lifted.importance, lifted.importance_floor) == (0.8, 0.8)
    higher = Importance().marked_anew(Strength(importance=0.9), before, after)
    assert (higher.importance, higher.importance_floor) == (0.9, 0.8)
    back = Importance().marked_anew(higher, after, before)
    assert (back.importance, back.importance_floor) == (0.9, 0.0)


def test_a_memory_of_several_events_keeps_the_highest_floor() -> None:
    before = marked(Priority.PERMANENT, Priority.NORMAL)
    pinned = Importance().marked_anew(strength(0.95, 0.95), before, marked(Priority.PERMANENT, Priority.PIN))
    assert pinned == strength(0.95, 0.95)
    let_go = Importance().marked_anew(pinned, before, marked(Priority.NORMAL, Priority.PIN))
    assert let_go == strength(0.95, 0.8)


def test_nothing_else_of_a_strength_changes_with_a_priority() -> None:
    lived = Strength(importance=0.5, priority=8, confidence=0.9, stability=30.0, difficulty=4.0)
    after = Importance().marked_anew(lived, marked(Priority.NORMAL), marked(Priority.HIGH))
    assert after == replace(lived, importance=0.85, importance_floor=0.85)
