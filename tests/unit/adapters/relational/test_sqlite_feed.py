"""The view of one read transaction: which statements it runs, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.language.cues import analysed
from remembrancer.ports.changes import ReadView
from remembrancer.testing.contract.base import remember
from remembrancer.testing.doubles import SCOPE, a_memory, indexed

T = TypeVar("T")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def reading(path: str, *work: Callable[[ReadView], T]) -> list[T]:
    async def whole() -> list[T]:
        store = RelationalStore(SqliteFile(path), analyse=analysed)
        await remember(store, indexed(a_memory("a kestrel")))
        try:
            return [await store.read(one) for one in work]
        finally:
            await store.close()

    return asyncio.run(whole())


def test_the_state_of_a_workspace_is_read_once_in_a_view(path: str) -> None:
    reading(path, lambda view: view.state(SCOPE))
    connection = connect(path)
    view = RelationalView(connection)
    before = view.state(SCOPE)
    connection.execute("UPDATE changes SET last = last + 1")
    assert view.state(SCOPE) == before
    assert RelationalView(connection).state(SCOPE).change == before.change + 1
    connection.close()


def test_each_read_has_a_view_of_its_own(path: str) -> None:
    first, second = reading(path, lambda view: view, lambda view: view)
    assert first is not second
