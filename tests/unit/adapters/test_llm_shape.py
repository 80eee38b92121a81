from __future__ import annotations

from typing import Any

import pytest

from remembrancer.adapters.llm.model import schema_violations

SCHEMA = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "kind": {"enum": ["rule", "fact"]}},
                "required": ["text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
}


@pytest.mark.parametrize("value", [{"facts": []}, {"facts": [{"text": "a", "kind": "rule"}]}, {"facts": [], "more": 1}])
def test_a_value_that_the_schema_allows_has_no_faults(value: dict[str, Any]) -> None:
    assert schema_violations(value, SCHEMA) == ""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, '$ does not meet "required": ["facts"]'),
        ({"facts": {}}, '$.facts does not meet "type": "array"'),
        ({"facts": [{"text": 3}]}, '$.facts[0].text does not meet "type": "string"'),
        ({"facts": [{"text": "a", "kind": "joke"}]}, '$.facts[0].kind does not meet "enum": ["rule", "fact"]'),
        ({"facts": [{"text": "a", "secret": 1}]}, "$.facts[0] has a property that the schema does not name"),
    ],
)
def test_faults_are_described_by_place_and_rule(value: dict[str, Any], told: str) -> None:
    assert schema_violations(value, SCHEMA) == told


def test_the_content_of_a_wrong_answer_is_not_shown() -> None:
    assert "hunter2" not in schema_violations(
        {"facts": [{"text": "a", "kind": "hunter2", "hunter2": "hunter2"}]}, SCHEMA
    )


def test_of_many_faults_five_are_reported() -> None:
    assert schema_violations({"facts": [{"text": number} for number in range(20)]}, SCHEMA).count("does not meet") == 5


@pytest.mark.parametrize("text", [float("nan"), float("inf"), "caf\ud83d"])
def test_values_that_json_does_not_have_are_faults(text: object) -> None:
    assert schema_violations({"facts": [], "more": text}, SCHEMA) == (
        "the answer contains a number or a character that JSON does not allow"
    )
