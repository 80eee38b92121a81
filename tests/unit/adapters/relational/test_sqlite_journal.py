"""Positions where several write at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.testing.doubles import READER, SCOPE, an_event

WRITERS = 3
EACH = 40


def test_reading_on_from_the_last_position_misses_no_entry_of_several_connections(tmp_path: Path) -> None:
    async def write(store: RelationalStore, writer: int) -> None:
        for number in range(EACH):
            event = an_event(f"{writer}: {number}", event_id=UUID(int=writer * EACH + number + 1))
            await store.append(SCOPE, [Entry(event)])

    async def follow(store: RelationalStore) -> list[tuple[int, str]]:
        position, seen = 0, list[tuple[int, str]]()
        while len(seen) < WRITERS * EACH:
            page = await store.recorded(READER, EventFilter(), after=position, limit=7)
            seen += [(one.position, one.event.text) for one in page.entries]
            position = page.position
        return seen

    async def at_once() -> list[tuple[int, str]]:
        stores = [RelationalStore(SqliteFile(str(tmp_path / "store.db")), analyse=analysed) for _ in range(WRITERS + 1)]
        try:
            following = asyncio.create_task(follow(stores[0]))
            await asyncio.gather(*(write(store, writer) for writer, store in enumerate(stores[1:])))
            return await following
        finally:
            for store in stores:
                await store.close()

    seen = asyncio.run(at_once())
    assert [position for position, _ in seen] == list(range(1, WRITERS * EACH + 1))
    assert {text for _, text in seen} == {f"{writer}: {number}" for writer in range(WRITERS) for number in range(EACH)}
