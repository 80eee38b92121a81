"""Reads in the audit trail: which calls, and the ids in their answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from remembrancer.domain.audit import Touched
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory

if TYPE_CHECKING:
    from uuid import UUID

    from remembrancer.domain.scope import Scope
    from remembrancer.ports.store import Store

READS: Final = frozenset(
    {
        "get",
        "graph",
        "health.decay",
        "health.fading",
        "health.forecasts",
        "journal.conversation",
        "journal.conversations",
        "journal.get",
        "journal.list",
        "journal.page",
        "journal.recorded",
        "journal.titles",
        "learnings.promotable",
        "memories",
        "preferences",
        "presets.compare",
        "recall",
        "recalls.replay",
        "recent",
        "show",
        "timeline",
        "why_not",
    }
)
"""The calls whose answers hold texts of memories or events. With the setting `audit_reads`, each adds an entry."""
MOST_WAITING: Final = 1_000
"""The most entries of reads that are not written yet. A call waits while there are more."""
_PARTS: Final = ("memory", "memories", "hits", "pinned", "event", "events", "entries", "turn", "turns", "episodes")
"""The attributes of answers that hold memories or events, or other answers."""
_log = logging.getLogger("remembrancer")


def seen_in(answer: object) -> Touched:
    """The ids of the memories and events in an answer, in its order; the number of its parts if it has none."""
    memories: dict[UUID, None] = {}
    events: dict[UUID, None] = {}

    def visit(one: object) -> None:
        if isinstance(one, Memory):
            memories[one.id] = None
        elif isinstance(one, Event):
            events[one.id] = None
        elif isinstance(one, dict):
            visit(tuple(one.values()))
        elif hasattr(one, "__slots__") and not isinstance(one, str | bytes):
            for part in _PARTS:
                visit(getattr(one, part, None))
        elif isinstance(one, Iterable) and not isinstance(one, str | bytes):
            for each in one:
                visit(each)

    visit(answer)
    ids = {"memories": tuple(memories), "events": tuple(events)}
    return Touched(ids={kind: found for kind, found in ids.items() if found})


class ReadLog:
    """Adds entries of reads in the background, so that no read waits for a write; `close` waits for the last ones.

    What is not written when the process is killed is lost: at most `MOST_WAITING` entries, usually those of the last
    milliseconds.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: set[asyncio.Task[None]] = set()

    async def add(self, scope: Scope, touched: Touched) -> None:
        """Add an entry soon, for who is acting now."""
        while len(self._waiting) >= MOST_WAITING:
            await asyncio.wait(self._waiting, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.get_running_loop().create_task(self._store.add_to_trail(scope, [touched]))
        self._waiting.add(task)
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """Wait until all entries are written."""
        while self._waiting:
            await asyncio.wait(self._waiting)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a read is missing in the audit trail: %s", type(error).__name__)
