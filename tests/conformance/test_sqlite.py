"""The embedded store keeps the contract, in a file and in memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from remembrancer.adapters.sqlite.store import SqliteStore
from remembrancer.policies.formation import analysed
from remembrancer.ports.store import Store
from remembrancer.testing.store_contract import StoreContract


class TestSqliteFile(StoreContract):
    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> None:
        self.files = (tmp_path / f"{number}.db" for number in itertools.count())

    async def make_store(self) -> Store:
        return SqliteStore(str(next(self.files)), analyse=analysed)


class TestSqliteInMemory(StoreContract):
    async def make_store(self) -> Store:
        return SqliteStore(":memory:", analyse=analysed)
