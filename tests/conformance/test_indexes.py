"""Each index passes the contract, over each store that it can read."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.index.candidates import CandidateIndex
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
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
from remembrancer.testing.index_contract import IndexContract
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
