"""The SQLite store passes the contract: all of it in a file, and in memory the parts that differ there."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from pathlib import Path

import pytest

from remembrancer.adapters.encryption import EncryptionKey
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.contract.erasing import ErasedWholeContract, ReceiptContract
from remembrancer.testing.contract.memories import LifeContract, StatsContract
from remembrancer.testing.contract.transfer import ExportContract, ImportContract
from remembrancer.testing.contract.wall import ReadsContract
from remembrancer.testing.index_contract import HistoryContract
from remembrancer.testing.store_contract import StoreContract


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with empty tables: copying it takes a quarter of the time of making them."""
    path = tmp_path_factory.mktemp("empty") / "empty.db"
    asyncio.run(RelationalStore(SqliteFile(str(path)), analyse=analysed).close())
    return path


class TestSqliteFile(StoreContract, HistoryContract):
    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path, empty_file: Path) -> None:
        self.files = (shutil.copy(empty_file, tmp_path / f"{number}.db") for number in itertools.count())

    async def make_store(self) -> Store:
        return RelationalStore(SqliteFile(str(next(self.files))), analyse=analysed)

    def make_index(self) -> Index:
        return ResidentIndex()


class TestEncryptedSqliteFile(LifeContract, ExportContract, ErasedWholeContract):
    """What an encrypted file does by itself: opening and closing, snapshots, and the purge after an erasure."""

    runs = 1

    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> None:
        self.files = (tmp_path / f"{number}.db" for number in itertools.count())

    async def make_store(self) -> Store:
        key = EncryptionKey("00" * 32)
        return RelationalStore(SqliteFile(str(next(self.files)), encryption=key), analyse=analysed)

    def make_index(self) -> Index:
        return ResidentIndex()


class TestSqliteInMemory(
    LifeContract,
    StatsContract,
    ExportContract,
    ReadsContract,
    ImportContract,
    ErasedWholeContract,
    ReceiptContract,
    HistoryContract,
):
    """What has a code path of its own in memory: opening and closing, the size, the snapshot that an export reads, and
    the purge after an erasure. The statements are the same as in a file: the state machine takes steps through most of
    them here, too, and compares every answer with the reference store's.
    """

    runs = 1

    async def make_store(self) -> Store:
        return RelationalStore(SqliteFile(":memory:"), analyse=analysed)

    def make_index(self) -> Index:
        return ResidentIndex()
