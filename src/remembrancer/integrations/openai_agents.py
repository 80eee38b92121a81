"""A session of the OpenAI Agents SDK over a memory: `pip install 'remembrancer[openai-agents]'`.

from agents import Agent, Runner
from remembrancer import Remembrancer
from remembrancer.integrations.openai_agents import RemembrancerSession, recall_tool

with Remembrancer.open("agent.db") as memory:
    agent = Agent(name="Travel", tools=[recall_tool(memory)])
    await Runner.run(agent, "Book my seat", session=RemembrancerSession(memory, "monday"))
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

from agents import FunctionTool, function_tool
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from remembrancer.integrations.history import History
from remembrancer.integrations.recalling import QueryText, recalled

if TYPE_CHECKING:
    from agents import TResponseInputItem

    from remembrancer import Remembrancer
    from remembrancer.domain.event import Event

NAME: Final = "openai-agents"
ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class RemembrancerSession(SessionABC):
    """The items of one session are events in the journal, so that they are recalled in later sessions, and episodes and
    facts are formed from them. They come back as they were added, oldest first.

    An addition records all of its items or none. A popped item is no longer recalled; after `clear_session`, what was
    said still is. Both stay in the journal: `memory.erase(session=…)` removes them for good. What an item has besides
    its text is at most 64 KiB of JSON. The memory is used in a thread.
    """

    def __init__(
        self, memory: Remembrancer, session_id: str, *, session_settings: SessionSettings | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings
        self._history = History(memory, session_id, NAME)
        self._popping = asyncio.Lock()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest items, oldest first. `limit`: how many, if not all and not as the settings say."""
        most = resolve_session_limit(limit, self.session_settings)
        events = await asyncio.to_thread(self._history.events)
        kept = events if most is None else events[-most:] if most > 0 else []
        return [self._item(event) for event in kept]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        if items:
            drafts = [_drafted(cast("dict[str, Any]", item)) for item in items]
            await asyncio.to_thread(self._history.add, drafts)

    async def pop_item(self) -> TResponseInputItem | None:
        async with self._popping:
            return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._history.clear)

    def _pop(self) -> TResponseInputItem | None:
        events = self._history.events()
        if not events:
            return None
        self._history.remove(events[-1])
        return self._item(events[-1])

    def _item(self, event: Event) -> TResponseInputItem:
        kept = self._history.kept(event)
        item: Any = kept["item"]
        if kept["text"] is not None:
            *path, last = kept["text"]
            inside = item
            for step in path:
                inside = inside[step]
            inside[last] = event.text
        return cast("TResponseInputItem", item)


def recall_tool(memory: Remembrancer, *, limit: int | None = None, max_chars: int = 4_000) -> FunctionTool:
    """A tool with which an agent recalls. Its answer is a block marked as untrusted, of at most `max_chars` characters.
    `limit`: the most memories in it; None: the preset's.
    """

    @function_tool(name_override="recall")
    async def recall(query: QueryText) -> str:
        """Find what is remembered about something: decisions, facts, what was said or happened in earlier sessions."""
        return await asyncio.to_thread(recalled, memory, query, limit=limit, max_chars=max_chars)

    return recall


def _drafted(item: dict[str, Any]) -> dict[str, Any]:
    """The item as `History.add` takes it. The text is stored once: the item beside it has none."""
    path = _path_of_text(item)
    kept, text = item, ""
    if path is not None:
        kept, text = _without(item, path)
    is_output = str(item.get("type", "")).endswith("_output")
    return {
        "text": text,
        "instead": f"calls {item['name']}" if item.get("name") else f"an item of type {item.get('type', 'message')}",
        "role": "tool" if is_output else ROLES.get(str(item.get("role", "")), "assistant"),
        "kept": {"item": kept, "text": list(path) if path is not None and text.strip() else None},
    }


def _path_of_text(item: dict[str, Any]) -> tuple[str | int, ...] | None:
    """The place of an item's text: its content or output, or that of its only part with text; else None."""
    for name in ("content", "output"):
        value = item.get(name)
        if isinstance(value, str):
            return (name,)
        if isinstance(value, list):
            parts = [number for number, part in enumerate(cast("list[Any]", value)) if _is_text(part)]
            if len(parts) == 1:
                return (name, parts[0], "text")
    return None


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(cast("dict[str, Any]", part).get("text"), str)


def _without(item: dict[str, Any], path: tuple[str | int, ...]) -> tuple[dict[str, Any], str]:
    """A copy of the item with an empty text, and the text; the item itself if the text is blank."""
    copied: Any = dict(item)
    inside = copied
    for step in path[:-1]:
        value: Any = inside[step]
        inside[step] = list(cast("list[Any]", value)) if isinstance(value, list) else dict(value)
        inside = inside[step]
    text = str(inside[path[-1]])
    if not text.strip():
        return item, text
    inside[path[-1]] = ""
    return copied, text
