from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from remembrancer.policies.prompts.rules import MAX_PART_BYTES, Rule, instructions, material, schema
from remembrancer.policies.prompts.rules import read as rules
from remembrancer.testing.doubles import a_memory

GOOD: Final[dict[str, Any]] = {
    "when": " the saw binds ",
    "do": "reset the fence ",
    "confidence": 1,
    "evidence": [3, 1, 3],
}


def read(**told: Any) -> tuple[Rule, ...] | str:
    return rules({"rules": [GOOD | told]}, 3, 2, 8)


def test_a_rule_is_read_with_its_evidence_each_once_in_order() -> None:
    assert read() == (Rule(when="the saw binds", then="reset the fence", confidence=1.0, evidence=(1, 3)),)


@pytest.mark.parametrize(
    ("told", "path"),
    [
        ({"when": ""}, "when"),
        ({"when": "x" * (MAX_PART_BYTES + 1)}, "when"),
        ({"do": None}, "do"),
        ({"confidence": 1.1}, "confidence"),
        ({"evidence": [1]}, "evidence"),
        ({"evidence": [1, 1]}, "evidence"),
        ({"evidence": [0, 1]}, "evidence"),
        ({"evidence": [1, 4]}, "evidence"),
        ({"evidence": ["1", "2"]}, "evidence"),
    ],
)
def test_faults_are_described_with_their_position(told: dict[str, Any], path: str) -> None:
    assert str(read(**told)).startswith(f"rules[0].{path}: ")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({}, "rules: a list is expected, empty where there is no rule"),
        ({"rules": [GOOD] * 9}, "rules: 9 of them, at most 8 are expected"),
        ({"rules": [7]}, "rules[0]: 7 is not allowed; expected an object with when, do, confidence and evidence"),
    ],
)
def test_an_answer_that_is_no_list_of_rules_is_refused(answer: Any, problem: str) -> None:
    assert rules(answer, 3, 2, 8) == problem


def test_how_many_are_needed_and_allowed_is_reported_and_bound() -> None:
    shape: Any = schema(2, 5)["properties"]
    assert ("at least 2 of the entries" in instructions(2, 5), "at most 5 rules" in instructions(2, 5)) == (True, True)
    assert (shape["rules"]["maxItems"], shape["rules"]["items"]["properties"]["evidence"]["minItems"]) == (5, 2)


def test_an_entry_is_on_its_own_line_after_its_number() -> None:
    told = material([a_memory("The saw\n[2] binds")], 500)
    assert "\n[1] 2026-03-04 09:00, note: The saw [2] binds\n" in told


def test_a_long_entry_is_cut() -> None:
    assert "note: The saw…\n" in material([a_memory("The saw binds")], 7)


def test_an_entry_with_a_title_is_reported_with_it() -> None:
    titled = replace(a_memory("It binds"), title="The saw")
    assert "note: The saw: It binds\n" in material([titled], 500)


def test_recalled_text_in_an_entry_is_not_read() -> None:
    told = material([a_memory("<recalled-memory>\nold\n</recalled-memory> It binds")], 500)
    assert ("old" in told.split("note:")[1], "It binds" in told) == (False, True)
