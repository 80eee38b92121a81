"""MCP tools over the memory: bounded arguments, answers as text and data, and errors that a model can act on.

An error message says what is not allowed, not found or went wrong. It never has a traceback.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Self, cast

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from remembrancer.domain.api_key import Right
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.wire.shape import Wire
from remembrancer.policies.rendering.safe import one_line, safe

MemoryOf = Callable[[Context, Right], Awaitable[AsyncRemembrancer]]
"""The memory for the sender of a request, which needs that right. Raises PermissionDenied."""

JsonSchema = Mapping[str, Any]

_LEFT_OUT: Final = frozenset({"anyOf", "title", "default", "minLength", "maxLength", "maxItems", "minimum"})

_log: Final = logging.getLogger("remembrancer.mcp")


def answer(text: str, shape: Wire) -> CallToolResult:
    """A tool's answer: `text` is read by the model, `shape` by programs. Texts in `shape` are escaped as in a block,
    because a client may show them to the model as well.
    """
    data = _escaped(shape.model_dump(mode="json", exclude_unset=True))
    return CallToolResult(content=[TextContent(text=text)], structured_content=data)


def as_json(shape: Wire) -> CallToolResult:
    """The answer of a tool whose clients read its text as JSON: the same as the structured content."""
    made = answer("", shape)
    return CallToolResult(
        content=[TextContent(text=json.dumps(made.structured_content, ensure_ascii=False))],
        structured_content=made.structured_content,
    )


def _escaped(value: Any) -> Any:
    match value:
        case str():
            return safe(value)
        case list():
            return [_escaped(one) for one in cast("list[Any]", value)]
        case dict():
            return {safe(name): _escaped(one) for name, one in cast("dict[str, Any]", value).items()}
        case _:
            return value


def description_of(function: Callable[..., object]) -> str:
    """The function's docstring on one line: the description that models read."""
    return " ".join((inspect.getdoc(function) or "").split())


class MemoryTool(Tool):
    """A tool whose errors name the argument, its value and what is allowed.

    Clients give models the list of tools at every turn, so it has short schemas of the arguments, and none of the
    answers. `whole` and `answer_schema` are the schemas that are checked.
    """

    @cached_property
    def output_schema(self) -> None:
        return None

    @property
    def answer_schema(self) -> JsonSchema:
        """The JSON schema of the structured content."""
        return _untitled(self.fn_metadata.output_schema)

    @property
    def whole(self) -> JsonSchema:
        """The JSON schema of the arguments, with all limits and defaults."""
        return _untitled(self.fn_metadata.arg_model.model_json_schema())

    @classmethod
    def of(cls, function: Callable[..., Awaitable[CallToolResult]], title: str, annotations: ToolAnnotations) -> Self:
        """The tool of a function. Its docstring is the description that models read; its return type gives the answer's
        schema.
        """
        told = description_of(function)
        tool = cls.from_function(function, None, title, told, annotations=annotations, structured_output=True)
        tool.parameters = _brief(tool.parameters)
        return cast("Self", tool)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult:
        try:
            refuse_unknown(arguments, self.parameters["properties"])
            return await super().run(arguments, context, convert_result)
        except InvalidInput as error:
            return _failed(error_text(error, self.name))
        except ToolError as error:
            cause = error.__cause__
            # Arguments are validated before the call. An invalid answer after it would be a defect of this package.
            if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
                cause = not_allowed(cause, self.whole)
            return _failed(error_text(cause, self.name))


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def _untitled(schema: Any) -> Any:
    """A schema without the titles that pydantic generates: they say nothing."""
    if isinstance(schema, list):
        return [_untitled(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    members = cast("dict[str, Any]", schema)
    return {
        name: _untitled(member)
        for name, member in members.items()
        if name != "title" or not isinstance(member, str)  # a property may have the name "title"
    }


def _brief(parameters: JsonSchema) -> dict[str, Any]:
    """The schema of the arguments as clients see it, without lower limits, lengths and defaults: an error says what is
    allowed.
    """
    arguments = {name: _brief_one(one) for name, one in parameters["properties"].items()}
    required = {"required": parameters["required"]} if parameters.get("required") else {}
    return {"type": "object", "properties": arguments, **required}


def _brief_one(schema: JsonSchema) -> dict[str, Any]:
    """The schema of one argument, or of the elements of a list."""
    alternatives = [_brief_one(one) for one in _alternatives(schema)] if "anyOf" in schema else []
    kept = {name: value for name, value in schema.items() if name not in _LEFT_OUT and value is not None}
    if "items" in kept:
        kept["items"] = _brief_one(kept["items"])
    return {**(alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives} if alternatives else {}), **kept}


def refuse_unknown(arguments: Mapping[str, object], known: Collection[str]) -> None:
    """Raises InvalidInput for an unknown argument: ignored silently, it would seem to have had an effect."""
    for name, value in arguments.items():
        if name not in known:
            raise InvalidInput(name, value, "one of the arguments " + ", ".join(known))


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
    """The values that the schema of one argument allows, in words.

    >>> allowed({"type": "integer", "minimum": 1, "maximum": 50})
    'a whole number from 1 to 50'
    """
    return " or ".join(_allowed(one) for one in _alternatives(schema))


def error_text(error: BaseException | None, doing: str) -> str:
    """One line for the client. An error of the package gives its message. Of any other error only the type is given,
    because its message may quote a memory.
    """
    if isinstance(error, RemembrancerError):
        return one_line(str(error))
    kind, trace = type(error).__name__, None if error is None else error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next  # the place where the error was raised
    place = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    _log.error("unforeseen %s in %s%s", kind, doing, place)
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
