"""The embedded store keeps the contract, in a file and in memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from remembrancer.adapters.sqlite.store import SqliteOptions, SqliteStore
from remembrancer.policies.formation import analysed
from remembrancer.ports.store import Store
from remembrancer.testing.contract.search import DenseContract, FreshnessContract, LexicalContract, UnionContract
from remembrancer.testing.store_contract import StoreContract


class TestSqliteFile(StoreContract):
    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> None:
        self.files = (tmp_path / f"{number}.db" for number in itertools.count())

    async def make_store(self) -> Store:
        return SqliteStore(str(next(self.files)), analyse=analysed)


class TestSqliteInMemory(StoreContract):
    runs = 3  # the same statements as in a file

    async def make_store(self) -> Store:
        return SqliteStore(":memory:", analyse=analysed)


class TestManyTexts(LexicalContract, DenseContract, UnionContract, FreshnessContract):
    """What is found among so many texts that not each is compared: here, among any."""

    async def make_store(self) -> Store:
        return SqliteStore(":memory:", analyse=analysed, options=SqliteOptions(scanned=0))
