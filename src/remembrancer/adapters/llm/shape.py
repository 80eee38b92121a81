"""Validate answers against their JSON schema: not every model keeps to the schema that its provider promises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_MAX_VIOLATIONS: Final = 5


def schema_violations(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The schema violations, at most five, ordered by path; empty if there are none.

    The text names paths and rules but no values: the model knows what it wrote, and the spending ledger must not store
    it.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}, "required": ["days"]}
    >>> schema_violations({"days": 0}, schema)
    '$.days does not meet "minimum": 1'
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return "the answer holds a number or a character that JSON does not have"
    found: Iterator[ValidationError] = Draft202012Validator(schema).iter_errors(value)  # pyright: ignore[reportUnknownMemberType]  its stubs
    faults = sorted(found, key=lambda fault: fault.json_path)
    return "; ".join(_violation(fault) for fault in faults[:_MAX_VIOLATIONS])


def _violation(fault: ValidationError) -> str:
    if fault.validator == "additionalProperties":
        return f"{fault.json_path} has a property that the schema does not name"
    return f"{fault.json_path} does not meet {json.dumps(fault.validator)}: {json.dumps(fault.validator_value)[:200]}"
