"""Error messages for clients: what is not allowed, not found or went wrong, never a traceback."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic import ValidationError

from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.policies.rendering.safe import one_line

JsonSchema = Mapping[str, Any]

_log: Final = logging.getLogger("remembrancer.mcp")


def refuse_unknown(arguments: Mapping[str, object], schema: JsonSchema) -> None:
    """Raises InvalidInput for an unknown argument: ignored silently, it would seem to have had an effect."""
    for name, value in arguments.items():
        if name not in schema["properties"]:
            raise InvalidInput(name, value, "one of the arguments " + ", ".join(schema["properties"]))


def not_allowed(error: ValidationError, schema: JsonSchema) -> InvalidInput:
    """The first argument that does not match a tool's schema, as InvalidInput."""
    first = error.errors(include_url=False, include_context=False)[0]
    place: Sequence[str | int] = first["loc"]
    value = None if first["type"] == "missing" else first["input"]
    expected = cast("JsonSchema", schema["properties"][place[0]])
    for _ in place[1:]:
        expected = _alternatives(expected)[0].get("items", expected)
    return InvalidInput(".".join(map(str, place)), value, allowed(expected))


def allowed(schema: JsonSchema) -> str:
    """What the schema of one argument allows, in words.

    >>> allowed({"type": "integer", "minimum": 1, "maximum": 50})
    'a whole number from 1 to 50'
    """
    return " or ".join(_allowed(one) for one in _alternatives(schema))


def told(error: BaseException | None, doing: str) -> str:
    """One line for the client. An error of the package gives its message. Of any other error only the type is given,
    because its message may quote a memory.
    """
    if isinstance(error, RemembrancerError):
        return one_line(str(error))
    kind = type(error).__name__
    _log.error("unforeseen %s in %s%s", kind, doing, _place(error))
    return f"unexpected, please report it: {kind}"


def _alternatives(schema: JsonSchema) -> list[JsonSchema]:
    several: list[JsonSchema] = schema.get("anyOf", [schema])
    return [one for one in several if one.get("type") != "null"]


def _allowed(schema: JsonSchema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    match schema["type"]:
        case "integer":
            return f"a whole number from {schema['minimum']} to {schema['maximum']}"
        case "number":
            return f"a number from {schema['minimum']:g} to {schema['maximum']:g}"
        case "string":
            return f"a text of {schema.get('minLength', 0)} to {schema['maxLength']:,} characters"
        case _:
            return f"a list of at most {schema['maxItems']}, each {allowed(schema['items'])}"


def _place(error: BaseException | None) -> str:
    """The file and line where an error was raised."""
    trace = None if error is None else error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
