"""A memory service of Google's Agent Development Kit over a memory: `pip install 'remembrancer[google-adk]'`.

from google.adk.runners import Runner
from remembrancer import Remembrancer
from remembrancer.integrations.google_adk import RemembrancerMemoryService

with Remembrancer.open("agent.db") as memory:
    runner = Runner(..., memory_service=RemembrancerMemoryService(memory))
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai.types import Content, Part

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from remembrancer import Remembrancer
    from remembrancer.domain.recall import Hit

NAME: Final = "google-adk"
USER: Final = "user"
"""ADK's author of what the user said; other authors are names of agents."""
MODEL: Final = "model"
BATCH: Final = 1_000


class RemembrancerMemoryService(BaseMemoryService):
    """Each user of each app has a workspace, `WORKSPACE/APP/USER`, and finds only what is in it. WORKSPACE is that of
    `memory`.

    Events with text become turns of their session, and are recorded once, however often they are added. A search gives
    what `recall` finds, best first, and nothing if nothing answers. `limit`: the most memories, from 1 to 200; None:
    the preset's. The memory is used in a thread.
    """

    def __init__(self, memory: Remembrancer, *, limit: int | None = None) -> None:
        self._memory = memory
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        memory = self._of(session.app_name, session.user_id)
        await asyncio.to_thread(_observe, memory, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add events to those of a session. Raises InvalidInput for `custom_metadata`, because turns have none."""
        if custom_metadata:
            raise InvalidInput("custom_metadata", custom_metadata, "nothing: turns have no metadata")
        await asyncio.to_thread(_observe, self._of(app_name, user_id), session_id, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories, all or none. One with an id is added once. `custom_metadata`: JSON, added to that of each."""
        drafts = [_remembered(entry, custom_metadata or {}) for entry in memories]
        await asyncio.to_thread(self._of(app_name, user_id).remember_many, drafts)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        memory = self._of(app_name, user_id)
        found = await asyncio.to_thread(memory.recall, query, limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Retire a memory: it is no longer found, also if its event is added again. `erase` removes it for good. Raises
        NotFound.
        """
        if memory_id:
            await asyncio.to_thread(self._of(app_name, user_id).forget, memory_id)

    def _of(self, app_name: str, user_id: str) -> Remembrancer:
        names = (quote(name, safe=" @+:,") for name in (app_name, user_id))  # a slash in a name is no separator
        return self._memory.of_workspace("/".join((self._memory.scope.workspace, *names)))


def _observe(memory: Remembrancer, session: str | None, events: Sequence[Event]) -> None:
    drafts = [draft for event in events if (draft := _turn(session, event))]
    for start in range(0, len(drafts), BATCH):
        memory.observe_many(drafts[start : start + BATCH])


def _turn(session: str | None, event: Event) -> dict[str, Any] | None:
    text = _text(event.content)
    if not text.strip():
        return None
    by_user = event.author == USER
    return {
        "text": text,
        "role": "user" if by_user else "assistant",
        "actor": None if by_user else event.author or None,
        "session": session,
        "occurred_at": datetime.fromtimestamp(event.timestamp, UTC),
        "key": _key("event", session or "", event.id),
    }


def _remembered(entry: MemoryEntry, metadata: Mapping[str, object]) -> dict[str, Any]:
    return {
        "text": _text(entry.content),
        "source": entry.author or None,
        "origin": "user" if entry.author in {USER, None} else "assistant",
        "occurred_at": _time(entry.timestamp),
        "metadata": {**entry.custom_metadata, **metadata},
        "key": _key("memory", entry.id) if entry.id else None,
    }


def _time(timestamp: str | None) -> datetime | None:
    """The time of an entry, which has no fixed format. One without an offset is in UTC."""
    if timestamp is None:
        return None
    try:
        time = datetime.fromisoformat(timestamp)
    except ValueError:
        raise InvalidInput("timestamp", timestamp, "a time in ISO 8601, such as 2026-03-04T09:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _text(content: Content | None) -> str:
    """The texts of the parts. A model's thoughts are left out, as are files, and calls of tools and their results."""
    parts = content.parts if content and content.parts else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(hit: Hit) -> MemoryEntry:
    memory = hit.memory
    return MemoryEntry(
        id=str(memory.id),
        content=Content(role=USER if memory.role == USER else MODEL, parts=[Part(text=memory.text)]),
        author=memory.source or memory.speaker or None,
        timestamp=memory.occurred_from.isoformat(),
        custom_metadata={
            **memory.metadata,
            "score": hit.score,
            "kind": memory.kind,
            "session": memory.scope.session,
        },
    )


def _key(*parts: str) -> str:
    """The key under which an event or a memory is recorded once."""
    named = "\0".join(parts)
    return f"{NAME}:{hashlib.sha256(named.encode('utf-8', 'surrogatepass')).hexdigest()}"
