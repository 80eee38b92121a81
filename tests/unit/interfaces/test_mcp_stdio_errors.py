"""The answers to lines over stdin that are no messages."""

from __future__ import annotations

import mcp_types
import pytest
from pydantic import ValidationError

from remembrancer.interfaces.mcp.stdio import error_of


def answered(line: str) -> tuple[object, int] | None:
    """The id and the code of the answer to a line that the SDK refuses."""
    with pytest.raises(ValidationError) as refused:
        mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    error = error_of(refused.value)
    return None if error is None else (error.id, error.error.code)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("no JSON", (None, -32700)),
        ('{"jsonrpc": "2.0", "id": 5, "method": "ping"', (None, -32700)),
        ("[" * 100_000, (None, -32700)),
        ('"a text"', (None, -32600)),
        ("7", (None, -32600)),
        ("null", (None, -32600)),
        ("[]", (None, -32600)),
        ('{"id": 5}', (5, -32600)),
        ('{"jsonrpc": "2.0", "id": 5, "method": 7}', (5, -32600)),
        ('{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": 7}', ("a", -32600)),
        ('{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"a": "\\ud800"}}', (5, -32600)),
        ('{"jsonrpc": "2.0", "id": "\\udfff", "method": "ping"}', (None, -32600)),
    ],
)
def test_a_line_that_is_no_message_is_answered_with_its_id_if_it_has_one(line: str, expected: object) -> None:
    assert answered(line) == expected


@pytest.mark.parametrize("line", ["", "  ", '{"jsonrpc": "2.0", "method": "notified", "params": {"a": "\\ud800"}}'])
def test_blank_lines_and_notifications_are_not_answered(line: str) -> None:
    assert answered(line) is None
