"""Keys and claims in a file: opened twice, opened again, and damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.reply import Claimed, Reply, RequestRunning
from remembrancer.errors import StoreUnavailable
from remembrancer.language.cues import analysed
from remembrancer.testing.contract.world import a_claim, a_key
from remembrancer.testing.doubles import NOW, SCOPE

T = TypeVar("T")
INSTANT = timedelta(microseconds=1)


def over(path: Path, steps: Callable[[RelationalStore], Awaitable[T]]) -> T:
    async def whole() -> T:
        store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
        try:
            return await steps(store)
        finally:
            await store.close()

    return asyncio.run(whole())


def test_of_two_that_have_the_file_open_one_gets_a_key(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"

    async def steps(store: RelationalStore) -> list[object]:
        other = RelationalStore(SqliteFile(str(path)), analyse=analysed)
        claims = [replace(a_claim(), at=NOW + number * INSTANT) for number in range(20)]
        try:
            return await asyncio.gather(
                *(
                    (store, other)[number % 2].claim(SCOPE, claim, forget_before=NOW)
                    for number, claim in enumerate(claims)
                )
            )
        finally:
            await other.close()

    outcomes = over(path, steps)
    [winner] = [outcome.claim for outcome in outcomes if isinstance(outcome, Claimed)]
    assert outcomes.count(RequestRunning(winner)) == 19


def test_keys_and_answers_outlive_the_process(tmp_path: Path) -> None:
    path, reply = tmp_path / "agent.db", Reply(200, b"done", "text/plain")

    async def before(store: RelationalStore) -> None:
        await store.put_key(SCOPE, a_key())
        await store.claim(SCOPE, a_claim(), forget_before=NOW)
        await store.answer(SCOPE, a_claim(), reply)

    async def after(store: RelationalStore) -> object:
        return await store.key_of(a_key().digest), await store.claim(SCOPE, a_claim(), forget_before=NOW)

    over(path, before)
    assert over(path, after) == (a_key(), reply)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE api_keys SET grants = 'all'",
        "UPDATE api_keys SET id = x'00'",
        "UPDATE claims SET status = 7, body = x''",
    ],
)
def test_a_row_that_was_never_written_so_is_damage_and_opens_nothing(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "agent.db"

    async def fill(store: RelationalStore) -> None:
        await store.put_key(SCOPE, a_key())
        await store.claim(SCOPE, a_claim(), forget_before=NOW)

    async def read(store: RelationalStore) -> None:
        await store.key_of(a_key().digest)
        await store.claim(SCOPE, a_claim(), forget_before=NOW)

    over(path, fill)
    connection = connect(str(path))
    connection.execute(damage)
    connection.close()
    with pytest.raises(StoreUnavailable, match=r"agent\.db: the file is damaged"):
        over(path, read)
