"""Whether an answer has the shape that was asked for: a provider may promise it, and not every model keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_MOST_TOLD: Final = 5


def wrong_with(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What the schema finds wrong, place by place, at most five faults; empty: nothing.

    It names places and rules and not what stands there: the model knows what it wrote, and the ledger need not.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}, "required": ["days"]}
    >>> wrong_with({"days": 0}, schema)
    '$.days does not meet "minimum": 1'
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return "the answer holds a number or a character that JSON does not have"
    found: Iterator[ValidationError] = Draft202012Validator(schema).iter_errors(value)  # pyright: ignore[reportUnknownMemberType]  its stubs
    faults = sorted(found, key=lambda fault: fault.json_path)
    return "; ".join(_told(fault) for fault in faults[:_MOST_TOLD])


def _told(fault: ValidationError) -> str:
    if fault.validator == "additionalProperties":
        return f"{fault.json_path} has a property that the schema does not name"
    return f"{fault.json_path} does not meet {json.dumps(fault.validator)}: {json.dumps(fault.validator_value)[:200]}"
