from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.importance import Importance
from remembrancer.policies.consolidation.rules import Rules, by_owner, is_permanent, pattern_key, rule_text
from remembrancer.testing.doubles import SCOPE, a_memory

USUAL = Rules()
IMPORTANCE = Importance()


def entries(count: int) -> list[Memory]:
    return [a_memory(f"Entry {number}") for number in range(count)]


def floored(floor: float) -> Memory:
    memory = a_memory()
    return replace(memory, strength=replace(memory.strength, importance_floor=floor))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the saw binds", "  The  SAW\nbinds. "),
        ("the saw binds", "the saw binds!"),
        ("Straße", "STRASSE"),
        ("\uff33aw", "saw"),
    ],
)
def test_patterns_that_read_the_same_have_one_key(one: str, other: str) -> None:
    assert pattern_key(one) == pattern_key(other)


@pytest.mark.parametrize("other", ["the saw binds twice", "the saw does not bind", "the saw binds at 5", "a saw binds"])
def test_patterns_that_differ_in_a_word_have_two(other: str) -> None:
    assert pattern_key("the saw binds") != pattern_key(other)


def test_a_rule_has_a_condition_and_an_advice() -> None:
    assert rule_text(" the saw binds. ", "reset the fence. ") == "When the saw binds: reset the fence."


@pytest.mark.parametrize(("count", "enough"), [(0, False), (9, False), (10, True)])
def test_ten_entries_are_enough(count: int, enough: bool) -> None:
    assert USUAL.suffice(entries(count), IMPORTANCE) is enough


@pytest.mark.parametrize(("floor", "permanent"), [(0.0, False), (0.8, False), (0.85, False), (0.95, True)])
def test_a_permanent_entry_is_recognised_by_its_importance_minimum(floor: float, permanent: bool) -> None:
    assert is_permanent(floored(floor), IMPORTANCE) is permanent


def test_without_an_importance_floor_no_entry_counts_as_permanent() -> None:
    assert not is_permanent(floored(0.0), Importance(floors={}))


def test_entries_of_several_sessions_have_one_owner() -> None:
    one, other = a_memory("One"), a_memory("Other", scope=SCOPE.narrowed(session="sunday"))
    assert [[memory.text for memory in own] for own in by_owner([one, other]).values()] == [["One", "Other"]]


@pytest.mark.parametrize(
    "other",
    [
        replace(a_memory("Other"), visibility=Visibility.CREW),
        a_memory("Other", scope=SCOPE.narrowed(agent="bob")),
        a_memory("Other", scope=SCOPE.narrowed(crew="support")),
        a_memory("Other", scope=SCOPE.narrowed(project="p")),
    ],
)
def test_entries_that_others_may_see_have_another_owner(other: Memory) -> None:
    assert len(by_owner([a_memory("One"), other])) == 2


def test_session_visible_entries_of_two_sessions_have_separate_owners() -> None:
    one = replace(a_memory("One"), visibility=Visibility.SESSION)
    other = replace(one, scope=Scope(workspace="acme", crew="platform", agent="ana", session="sunday"))
    assert [owner.scope.session for owner in by_owner([one, other])] == ["monday", "sunday"]


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (10, [10]), (11, [6, 5]), (21, [7, 7, 7]), (25, [9, 9, 7])]
)
def test_entries_are_read_in_as_few_parts_as_may_be(count: int, sizes: list[int]) -> None:
    assert [len(part) for part in Rules(at_once=10).batches(entries(count))] == sizes


@pytest.mark.parametrize(
    ("field", "value"),
    [("lookback_hours", 0), ("entries", 0), ("evidence", 1), ("again_after_days", -1), ("at_once", 1), ("at_most", 0)],
)
def test_a_setting_out_of_range_is_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=rf"^rules\.{field}: {value} "):
        replace(USUAL, **{field: value})
