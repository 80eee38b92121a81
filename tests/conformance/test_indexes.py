"""Each index passes the contract, over each store that it can read."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.scope import Scope
from remembrancer.index import file
from remembrancer.index.candidates import CandidateIndex
from remembrancer.index.resident import ResidentIndex
from remembrancer.index.workspace import WorkspaceIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.changes import ChangeFeed
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.contract.context_features import ContextContract
from remembrancer.testing.contract.neighbours import NeighbourCoverageContract
from remembrancer.testing.contract.past import FoundInThePastContract
from remembrancer.testing.contract.search import (
    DenseContract,
    FoundAfterImportContract,
    FreshnessContract,
    LexicalContract,
    UnionContract,
)
from remembrancer.testing.contract.token_embeddings import FoundWordsContract
from remembrancer.testing.index_contract import HistoryContract, IndexContract
from remembrancer.testing.simple_index import SimpleIndex
from remembrancer.testing.simple_source import SimpleSource
from remembrancer.testing.textbook_index import TextbookIndex


class TestResidentIndexOverSqlite(IndexContract):
    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> None:
        self.files = (tmp_path / f"{number}.db" for number in itertools.count())

    async def make_store(self) -> Store:
        return RelationalStore(SqliteFile(str(next(self.files))), analyse=analysed)

    def make_index(self) -> Index:
        return ResidentIndex()


class TestResidentIndexOverTheReferenceStore(IndexContract):
    """The resident index depends on no database: it reads any store's change feed."""

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return ResidentIndex()


class TestResidentIndexOfManyTexts(
    LexicalContract, DenseContract, UnionContract, FreshnessContract, FoundAfterImportContract
):
    """With the search that does not compare every vector; `scanned=0` enables it for any number of texts."""

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return ResidentIndex(scanned=0)


class RewrittenIndex(ResidentIndex):
    """Written to a file and read back after each use."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    @contextmanager
    def caught_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> Generator[WorkspaceIndex]:
        with super().caught_up(feed, scope, model) as index:
            yield index
            if feed.at is None:
                stored = index.stored()
                file.write(self._path, stored.arrays, stored.table)
                whole = Scope(workspace=scope.workspace)
                read = WorkspaceIndex.restored(file.read(self._path), whole, model, scanned=self._scanned)
                self._path.unlink()
                self._now.entry((whole, model, None)).index = read


class TestResidentIndexOfAFile(
    LexicalContract,
    UnionContract,
    FreshnessContract,
    FoundAfterImportContract,
    ContextContract,
    NeighbourCoverageContract,
    HistoryContract,
):
    runs = 1

    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "index"

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return RewrittenIndex(self.path)


class TestTextbookIndex(IndexContract):
    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return TextbookIndex()


class TestSimpleIndex(IndexContract):
    """An index without phrases, context features and token embeddings, which it declares as missing."""

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return SimpleIndex()


class TestCandidateIndex(IndexContract):
    """The index over a source that misses nothing answers as the resident index does."""

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return CandidateIndex(SimpleSource())


class TestCandidateIndexOverSqlite(
    UnionContract, NeighbourCoverageContract, FoundWordsContract, FoundInThePastContract
):
    """What it reads from the records in statements of its own."""

    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> None:
        self.files = (tmp_path / f"{number}.db" for number in itertools.count())

    async def make_store(self) -> Store:
        return RelationalStore(SqliteFile(str(next(self.files))), analyse=analysed)

    def make_index(self) -> Index:
        return CandidateIndex(SimpleSource())
