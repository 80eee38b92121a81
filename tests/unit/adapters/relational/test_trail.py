"""The end of the audit trail that a store keeps in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.audit import AuditCheck, ChainChecker
from remembrancer.domain.scope import Scope
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import Appended, Entry
from remembrancer.testing.doubles import an_event

ANA = Scope(workspace="lab", agent="ana")
BEN = Scope(workspace="lab", agent="ben")


def opened(path: Path) -> RelationalStore:
    return RelationalStore(SqliteFile(str(path)), analyse=analysed)


async def told(store: RelationalStore, scope: Scope, number: int) -> None:
    await store.append(scope, [Entry(an_event(f"number {number}", scope=scope))])


async def checked(store: RelationalStore) -> AuditCheck:
    checker = ChainChecker(ANA.workspace)
    for one in await store.trail(ANA, limit=100):
        checker.add(one)
    return checker.result(await store.trail_names(ANA))


def test_a_transaction_that_is_taken_back_leaves_no_gap_in_the_trail(tmp_path: Path) -> None:
    async def work() -> AuditCheck:
        store = opened(tmp_path / "memory.db")
        await told(store, ANA, 1)
        event = an_event("number 2", scope=BEN)
        record = store.recorder("append", BEN, [Entry(event)])

        def recorded_then_failed(connection: Connection) -> None:
            record(connection, [Appended(event, created=True)])
            raise ArithmeticError("after the entry")

        with pytest.raises(ArithmeticError):
            await store.database.write(recorded_then_failed, workspace=BEN.workspace)
        await told(store, BEN, 3)  # the pseudonym of this name was taken back too
        await told(store, ANA, 4)
        found = await checked(store)
        await store.close()
        return found

    found = asyncio.run(work())
    assert (found.problem, found.entries, found.names) == ("", 3, 2)


def test_two_stores_that_take_turns_make_one_trail(tmp_path: Path) -> None:
    async def work() -> AuditCheck:
        stores = [opened(tmp_path / "memory.db"), opened(tmp_path / "memory.db")]
        for number in range(1, 9):
            await told(stores[number % 2], ANA if number % 3 else BEN, number)
        found = await checked(stores[0])
        for store in stores:
            await store.close()
        return found

    found = asyncio.run(work())
    assert (found.problem, found.entries, found.names) == ("", 8, 2)
