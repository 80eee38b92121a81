"""A malformed row in an otherwise valid file raises our own error in every method that reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from filled_schema import FilledSchema
from postgres_server import Schemas

from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.strength import Exposure
from remembrancer.errors import StoreUnavailable
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import EventFilter
from remembrancer.testing.contract.base import EVERYTHING, MODEL, exported, stored_token_embeddings
from remembrancer.testing.contract.finding import Finder, request
from remembrancer.testing.contract.world import DEPLOY, FORMER, MARKED, OLD, OOM, OTHER_MODEL, populate
from remembrancer.testing.doubles import NOW, READER, SCOPE

Read = Callable[[Any], Awaitable[object]]
NEVER: Final = 2**62
"""A time that no calendar has."""


async def _found(store: RelationalStore) -> object:
    return await Finder(store, ResidentIndex()).search(READER, request("deploy", model=MODEL))


RUINED: Final[dict[str, tuple[str, Read]]] = {
    "the kind of an edge": (
        "UPDATE relations SET kind = 'likes'",
        lambda store: store.relations(READER, [DEPLOY]),
    ),
    "the time of an edge": (
        f"UPDATE relations SET created_at = {NEVER}",
        lambda store: store.relations(READER, [DEPLOY]),
    ),
    "the time of a revision": (
        f"UPDATE revisions SET replaced_at = {NEVER}",
        lambda store: store.revisions(READER, OOM),
    ),
    "the time of a line of the audit": (
        f"UPDATE audit SET at = {NEVER} + length(action)",
        lambda store: store.audit(READER, FORMER),
    ),
    "the day of a snapshot": (
        "UPDATE health_snapshots SET day = 'today'",
        lambda store: store.snapshots(SCOPE, None, limit=9),
    ),
    "the time of a memory": (
        f"UPDATE memories SET occurred_to = {NEVER}",
        lambda store: store.health_inputs(READER, EVERYTHING, model=MODEL, shown_since=NOW),
    ),
    "a vector": (
        "UPDATE embeddings SET vector = x'00'",
        lambda store: store.vectors(READER, MODEL, [DEPLOY]),
    ),
    "the signs of words": (
        "UPDATE word_vectors SET signs = 'no bytes'",
        lambda store: stored_token_embeddings(store, {OLD: 0}, model=OTHER_MODEL),
    ),
    "a vector that an index reads": ("UPDATE embeddings SET vector = x'00'", _found),
    "vectors of several lengths": ("UPDATE embeddings SET vector = x'00000000' WHERE n % 2", _found),
    "terms that an index reads": ("UPDATE cues SET terms = 7", _found),
    "a time that an index reads": ("UPDATE memories SET last_used_at = 'never'", _found),
    "a count that an index reads": (f"UPDATE memories SET used = {NEVER}", _found),
    "tags that an index reads": ("UPDATE memories SET tags = '['", _found),
    "metadata that an index reads": ("UPDATE memories SET metadata = '{'", _found),
    "the id of a memory that an index reads": ("UPDATE memories SET id = x'00' || n", _found),
    "the place of a turn that an index reads": ("UPDATE events SET seq = 'first' || n", _found),
    "the kind of an exposure": ("UPDATE exposures SET kind = 'seen' || at", exported),
    "the time of an exposure": (f"UPDATE exposures SET at = {NEVER}", exported),
    "the rating of a review": ("UPDATE reviews SET rating = 9", lambda store: store.reviews(READER, DEPLOY)),
    "the time of a review": (f"UPDATE reviews SET evidence_until = {NEVER}", exported),
    "the time of what waits for a review": (
        f"UPDATE exposures SET at = {NEVER}",
        lambda store: store.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9),
    ),
    "the note of a stream": ("UPDATE streams SET note = '{'", lambda store: store.tail(SCOPE)),
    "the note of a stream that is exported": ("UPDATE streams SET note = 'no note'", exported),
    "the role of an archived event": (
        "UPDATE archive SET role = 'ghost'",
        lambda store: store.events(READER, EventFilter(archived=True), limit=9),
    ),
    "when an event was archived": (f"UPDATE archive SET archived_at = {NEVER}", exported),
    "the priority that an event was given": (
        "UPDATE priority_changes SET priority = 'loud' || at",
        lambda store: store.priority_changes(READER, MARKED),
    ),
    "when an event was given a priority": (f"UPDATE priority_changes SET at = {NEVER}", exported),
    "the role of an event that was recorded": (
        "UPDATE events SET role = 'ghost'",
        lambda store: store.recorded(READER, EventFilter(), limit=9),
    ),
    "the time of a run": (f"UPDATE runs SET ended_at = {NEVER}", lambda store: store.runs(SCOPE)),
    "the time of what waits": (f"UPDATE deferrals SET retry_at = {NEVER}", lambda store: store.deferrals(SCOPE)),
    "when a vector was made": (f"UPDATE embeddings SET indexed_at = {NEVER}", exported),
}


ON_A_SERVER: Final = {
    "a vector": r"UPDATE embeddings SET vector = '\x00'",
    "the signs of words": "",
    "a vector that an index reads": r"UPDATE embeddings SET vector = '\x00'",
    "vectors of several lengths": r"UPDATE embeddings SET vector = '\x00000000' WHERE n % 2 = 1",
    "terms that an index reads": "",
    "a time that an index reads": "",
    "the id of a memory that an index reads": "UPDATE memories SET id = int8send(n)",
    "the place of a turn that an index reads": "",
}
"""The statements that PostgreSQL has in other words; none where the column's type refuses what could not be read."""


@pytest.mark.parametrize("what", RUINED)
def test_a_row_that_was_never_written_so_raises_our_error(tmp_path: Path, what: str) -> None:
    statement, read = RUINED[what]
    path = tmp_path / "store.db"

    async def attempt() -> None:
        store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
        try:
            await populate(store, SCOPE)
            ruining = connect(str(path))
            ruining.execute(statement)
            ruining.close()
            with pytest.raises(StoreUnavailable, match="damaged"):
                await read(store)
        finally:
            await store.close()

    asyncio.run(attempt())


@pytest.fixture(scope="module")
def schema(server_of_postgres: Schemas) -> FilledSchema:
    return FilledSchema.of(server_of_postgres)


@pytest.mark.parametrize("what", [what for what in RUINED if ON_A_SERVER.get(what, "its own")])
def test_a_row_on_a_server_that_was_never_written_so_raises_our_error(schema: FilledSchema, what: str) -> None:
    statement, read = RUINED[what]

    async def attempt() -> None:
        store = schema.store()
        try:
            schema.schemas.execute(schema.address, ON_A_SERVER.get(what, statement))
            with pytest.raises(StoreUnavailable, match="damaged"):
                await read(store)
        finally:
            await store.close()

    asyncio.run(attempt())
