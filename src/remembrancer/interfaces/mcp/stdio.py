"""MCP over stdin and stdout, with an answer to every line. The SDK's own transport ignores a line that is not a
message.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Final, Self, cast

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_NO_JSON: Final = ErrorData(code=PARSE_ERROR, message="this line is not JSON")
_NO_MESSAGE: Final = ErrorData(
    code=INVALID_REQUEST, message="this line is no JSON-RPC message: one object, in valid Unicode (no lone surrogates)"
)


async def run_over_stdio(server: MCPServer[Any]) -> None:
    """Serve until stdin ends."""
    lowlevel = server._lowlevel_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as the SDK's own method
    async with stdio_server() as (incoming, outgoing):
        answered = AnsweredInput(incoming, outgoing)
        await lowlevel.run(answered, outgoing, lowlevel.create_initialization_options())


class AnsweredInput:
    """A stream of the messages in another stream. Anything else is answered with an error and left out."""

    def __init__(self, incoming: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        return getattr(self._incoming, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(item := await self._incoming.receive(), Exception):
            error = error_of(item)
            if error is not None:
                await self._outgoing.send(SessionMessage(error))
        return item

    async def aclose(self) -> None:
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._incoming.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._incoming.__aexit__(exc_type, exc_val, exc_tb)


def error_of(refused: Exception) -> JSONRPCError | None:
    """The answer to a line that is not a message, with its id if it has one (JSON-RPC 2.0, section 5.1). None for a
    blank line, and for a notification, which is never answered.
    """
    value = _value(refused)
    if isinstance(value, str) and not value.strip():
        return None
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return JSONRPCError(jsonrpc="2.0", id=None, error=_NO_JSON)
    message = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if isinstance(message.get("method"), str) and "id" not in message:
        return None
    known = message.get("id")
    is_id = isinstance(known, int | str) and not isinstance(known, bool) and _is_unicode(known)
    return JSONRPCError(jsonrpc="2.0", id=known if is_id else None, error=_NO_MESSAGE)


def _value(refused: Exception) -> object:
    """The refused input: the line as text if it could not be read, otherwise its value."""
    if not isinstance(refused, ValidationError):
        return "?"
    errors = refused.errors(include_url=False, include_context=False)
    # The input of an error is the value at its place; where a field is missing, the object around it.
    whole = (error["input"] for error in errors if len(error["loc"]) < 2 or error["type"] == "missing")
    return json.dumps(next(whole, None)) if errors[0]["loc"] else errors[0]["input"]


def _is_unicode(known: int | str) -> bool:
    try:
        str(known).encode()
    except UnicodeEncodeError:
        return False
    return True
