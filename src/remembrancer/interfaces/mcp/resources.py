"""The resources, a memory with its sources and the transcript of a session; and the prompt, a task after memories."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import Message
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, InputRequiredResult
from pydantic import Field

from remembrancer.domain import validation
from remembrancer.domain.api_key import Right
from remembrancer.domain.event import Event
from remembrancer.engine.inspect import MemoryDetails
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.interfaces.mcp.blocks import line, listing, minute
from remembrancer.interfaces.mcp.parameters import BLOCK_CHARS, MAX_BLOCK_CHARS, MIN_BLOCK_CHARS
from remembrancer.interfaces.mcp.tool import MemoryOf, error_text, refuse_unknown
from remembrancer.interfaces.mcp.tools import recalled_text
from remembrancer.policies.rendering.frame import Item
from remembrancer.values import dataclass

MEMORY: Final = "memory://{id}"
JOURNAL: Final = "journal://{session}"
MARKDOWN: Final = "text/markdown"
MAX_CHARS: Final = 200_000
"""The longest resource: the longest text, and as much around it."""
MAX_ENTRIES: Final = 500


@dataclass(frozen=True, slots=True)
class Resources:
    memory_of: MemoryOf

    async def memory(self, id: str, context: Context[Any, Any]) -> str:  # noqa: A002  the variable of the template
        """One memory: its text, when it happened and is valid, its strength, the turns it came from, its revisions and
        its relations.
        """
        with refusing("memory://"):
            memory = await self.memory_of(context, Right.READ)
            return details_text(await memory.show(id))

    async def journal(self, session: str, context: Context[Any, Any]) -> str:
        """The transcript of a session, oldest first: its last 500 entries."""
        with refusing("journal://"):
            memory = await self.memory_of(context, Right.READ)
            total = await memory.journal.count(session=session)
            if not total:
                raise NotFound("session", repr(session))
            newest_first = await memory.journal.list(limit=MAX_ENTRIES, session=session)
            return transcript_text(newest_first, total)

    async def context_for_task(
        self,
        context: Context[Any, Any],
        task: Annotated[str, Field(description="The task, in your own words.")],
        max_chars: Annotated[
            str, Field(description="The maximum length of the block, 500 to 100000 characters; default: 4000.")
        ] = str(BLOCK_CHARS),
    ) -> str:
        """A task, preceded by the memories that are relevant to it."""
        with refusing("context_for_task"):
            if not max_chars.isascii() or not max_chars.isdigit():  # the protocol passes prompt arguments as texts
                allowed = f"a whole number from {MIN_BLOCK_CHARS} to {MAX_BLOCK_CHARS}"
                raise InvalidInput("max_chars", max_chars, allowed)
            room = validation.whole("max_chars", int(max_chars[:10]), MIN_BLOCK_CHARS, MAX_BLOCK_CHARS)
            memory = await self.memory_of(context, Right.READ)
            found = await memory.recall(task, mark=False)
            known = recalled_text(found, found.block(max_chars=room, ids=True), room)
            return f"What is remembered that may bear on the task below:\n\n{known}\n\nThe task:\n\n{task}"


@contextmanager
def refusing(doing: str) -> Generator[None, None, None]:
    """Raise errors with the codes of the protocol: -32602 if something is not found or not allowed, -32603 for
    everything else.
    """
    try:
        yield
    except MCPError:
        raise
    except Exception as error:  # noqa: BLE001  the outer edge of a resource or prompt
        code = INVALID_PARAMS if isinstance(error, InvalidInput | NotFound) else INTERNAL_ERROR
        raise MCPError(code=code, message=error_text(error, doing)) from None


def details_text(details: MemoryDetails) -> str:
    """Markdown. Outside the untrusted block there are only ids, times, numbers and fixed words."""
    memory = details.memory
    strength, usage = memory.strength, memory.strength.usage
    facts = {
        "kind": memory.kind,
        "tier": memory.tier.value,
        "status": memory.status.value,
        "origin": memory.origin.value,
        "role": None if memory.role is None else memory.role.value,
        "happened": minute(memory.occurred_from),
        "until": minute(memory.occurred_to) if memory.duration else None,
        "recorded": minute(memory.recorded_at),
        "holds from": None if memory.valid_from is None else minute(memory.valid_from),
        "holds until": None if memory.valid_until is None else minute(memory.valid_until),
        "superseded by": None if memory.superseded_by is None else f"memory://{memory.superseded_by}",
        "revision": str(memory.revision),
        "strength": f"importance {strength.importance:.2f}, confidence {strength.confidence:.2f}",
        "use": f"shown {usage.shown}, used {usage.used}, helped {usage.helped}, harmed {usage.harmed}",
    }
    head = "".join(f"- {name}: {value}\n" for name, value in facts.items() if value is not None)
    listed = listing(_text_lines(details), MAX_CHARS)
    left = listed.of - len(listed.placed)
    relations = "".join(
        f"- memory://{one.source} {one.kind.value} memory://{one.target} (weight {one.weight:g})\n"
        for one in details.relations
    )
    parts = [
        f"# Memory {memory.id}\n\n{head}",
        listed.text,
        f"{left} more lines do not fit." if left else "",
        f"## Relations\n\n{relations}" if relations else "",
    ]
    return "\n".join(part for part in parts if part)


def transcript_text(newest_first: tuple[Event, ...], total: int) -> str:
    """Markdown, oldest first: as many of the last entries as fit, without gaps."""
    left, shown = MAX_CHARS, list[Item[Event]]()
    for event in newest_first:
        item = _turn(event)
        left -= len(item.text)
        if left < 0:
            break
        shown.append(item)
    listed = listing(reversed(shown), 2 * MAX_CHARS)
    earlier = total - len(shown)
    head = f"# Journal of a session: {total:,} entries" + (f", the last {len(shown):,}" if earlier else "")
    return f"{head}\n\n{listed.text}"


def _text_lines(details: MemoryDetails) -> Iterator[Item[None]]:
    """Every text written by others, each with a fixed label, the memory's own text first."""
    memory = details.memory
    yield line(None, ("text",), memory.text)
    for name, value in (
        ("said by", memory.actor),
        ("title", memory.title),
        ("source", memory.source),
        ("topic", memory.topic_key),
        ("tags", ", ".join(memory.tags)),
    ):
        if value:
            yield line(None, (name,), value)
    for event in details.events:
        yield Item(None, _turn(event).text)
    for revision in details.revisions:
        before = f"revision {revision.number}, until {minute(revision.replaced_at)}"
        yield line(None, (before,), revision.text)


def _turn(event: Event) -> Item[Event]:
    who = event.role.value if event.actor is None else f"{event.role.value} {event.actor}"
    what = () if event.type == "message" else (event.type, event.severity.value)
    return line(event, (who, minute(event.occurred_at), *what), event.text)


class MemoryPrompt(Prompt):
    """A prompt whose errors name the argument and what is allowed."""

    async def render(
        self, arguments: dict[str, Any] | None, context: Context[Any, Any]
    ) -> list[Message] | InputRequiredResult:
        with refusing(self.name):
            known = self.arguments or []
            refuse_unknown(arguments or {}, [argument.name for argument in known])
            for argument in known:
                if argument.required and argument.name not in (arguments or {}):
                    raise InvalidInput(argument.name, None, "a text")
            return await super().render(arguments, context)
