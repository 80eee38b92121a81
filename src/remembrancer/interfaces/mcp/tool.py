"""MCP tools over the memory: bounded arguments, answers as text and data, and errors that a model can act on."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Self, cast

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from remembrancer.domain.api_key import Right
from remembrancer.errors import InvalidInput
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.mcp.refusals import not_allowed, refuse_unknown, told
from remembrancer.interfaces.wire.shape import Wire

MemoryOf = Callable[[Context, Right], Awaitable[AsyncRemembrancer]]
"""The memory for the sender of a request, which needs that right. Raises PermissionDenied."""


def answer(text: str, shape: Wire) -> CallToolResult:
    """`text` is read by the model, `shape` by programs."""
    return CallToolResult(content=[TextContent(text=text)], structured_content=shape.model_dump(mode="json"))


def description_of(function: Callable[..., object]) -> str:
    """The function's docstring on one line: the description that models read."""
    return " ".join((inspect.getdoc(function) or "").split())


class MemoryTool(Tool):
    """A tool whose errors name the argument, its value and what is allowed."""

    @classmethod
    def of(cls, function: Callable[..., Awaitable[CallToolResult]], title: str, annotations: ToolAnnotations) -> Self:
        """The tool of a function. Its docstring is the description that models read; its return type gives the output
        schema.
        """
        tool = cast(
            "Self",
            cls.from_function(
                function,
                title=title,
                description=description_of(function),
                annotations=annotations,
                structured_output=True,
            ),
        )
        tool.parameters = {**_untitled(tool.parameters), "additionalProperties": False}
        tool.fn_metadata.output_schema = _untitled(tool.fn_metadata.output_schema)
        return tool

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult:
        try:
            refuse_unknown(arguments, self.parameters)
            return await super().run(arguments, context, convert_result)
        except InvalidInput as error:
            return _failed(told(error, self.name))
        except ToolError as error:
            cause = error.__cause__
            # Before the call the arguments are validated, after it what we answer: that would be a defect of ours.
            if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
                cause = not_allowed(cause, self.parameters)
            return _failed(told(cause, self.name))


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def _untitled(schema: Any) -> Any:
    """A schema without the titles that pydantic generates: they use up context and say nothing."""
    if isinstance(schema, list):
        return [_untitled(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    members = cast("dict[str, Any]", schema)
    return {
        name: _untitled(member)
        for name, member in members.items()
        if name != "title" or not isinstance(member, str)  # a property may be called so
    }
