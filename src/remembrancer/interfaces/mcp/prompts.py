"""The prompt: a task, preceded by memories that are relevant to it."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import Message
from mcp_types import InputRequiredResult
from pydantic import Field

from remembrancer.domain import validation
from remembrancer.domain.api_key import Right
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.mcp.parameters import BLOCK_CHARS, MAX_BLOCK_CHARS, MIN_BLOCK_CHARS
from remembrancer.interfaces.mcp.reading import recalled_text
from remembrancer.interfaces.mcp.resources import refusing
from remembrancer.interfaces.mcp.tool import MemoryOf
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class Prompts:
    memory_of: MemoryOf

    async def context_for_task(
        self,
        context: Context[Any, Any],
        task: Annotated[str, Field(description="The task, in your own words.")],
        max_chars: Annotated[
            str,
            Field(description="The maximum length of the block, 500 to 100000 characters; default: 4000."),
        ] = str(BLOCK_CHARS),
    ) -> str:
        """A task, preceded by the memories that are relevant to it."""
        with refusing("context_for_task"):
            room = _whole("max_chars", max_chars)
            memory = await self.memory_of(context, Right.READ)
            found = await memory.recall(task)
            known = recalled_text(found, found.block(max_chars=room), room)
            return f"What is remembered that may bear on the task below:\n\n{known}\n\nThe task:\n\n{task}"


class MemoryPrompt(Prompt):
    """A prompt whose errors name the argument and what is allowed."""

    async def render(
        self, arguments: dict[str, Any] | None, context: Context[Any, Any]
    ) -> list[Message] | InputRequiredResult:
        with refusing(self.name):
            known = self.arguments or []
            names = [argument.name for argument in known]
            for name, value in (arguments or {}).items():
                if name not in names:
                    raise InvalidInput(name, value, "one of the arguments " + ", ".join(names))
            for argument in known:
                if argument.required and argument.name not in (arguments or {}):
                    raise InvalidInput(argument.name, None, "a text")
            return await super().render(arguments, context)


def _whole(argument: str, given: str) -> int:
    """A whole number given as text. The protocol passes all arguments of prompts as texts."""
    if not given.isascii() or not given.isdigit():
        raise InvalidInput(argument, given, f"a whole number from {MIN_BLOCK_CHARS} to {MAX_BLOCK_CHARS}")
    return validation.whole(argument, int(given[:10]), MIN_BLOCK_CHARS, MAX_BLOCK_CHARS)
