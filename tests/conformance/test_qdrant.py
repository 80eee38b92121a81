"""The index with Qdrant's candidates passes the contract: over its engine in this process, and over its REST API.

The REST API is that of a loopback server, `qdrant_server`. `make test-qdrant URL=…` runs every call on a real server.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from qdrant_places import Places
from qdrant_server import QdrantServerDouble

from remembrancer.adapters.qdrant.opening import open_source
from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.index.candidates import CandidateIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.contract.finding import Finder, request
from remembrancer.testing.contract.past import FoundInThePastContract
from remembrancer.testing.contract.search import DenseContract, FreshnessContract, UnionContract
from remembrancer.testing.contract.visibility import WORD
from remembrancer.testing.index_contract import IndexContract


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    places = Places(f"qdrant://{tmp_path_factory.mktemp('qdrant')}/{{}}")
    yield places
    places.close()


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with QdrantServerDouble(tmp_path_factory.mktemp("qdrant")) as server:
        places = Places(server.url("memory-{}"))
        yield places
        places.close()


class TestQdrantOverSqlite(IndexContract):
    one_index: Index | None = None

    @pytest.fixture(autouse=True)
    def in_folders(self, tmp_path: Path, folders: Places) -> Iterator[None]:
        self.files = (tmp_path / f"{number}.db" for number in itertools.count())
        self.places = folders
        yield
        if self.one_index is not None:
            asyncio.run(self.one_index.close())
        folders.empty()

    async def make_store(self) -> Store:
        return RelationalStore(SqliteFile(str(next(self.files))), analyse=analysed)

    def make_index(self) -> Index:
        return CandidateIndex(open_source(self.places.take()))

    async def seen(self, store: Store, reader: Reader, where: Filter) -> set[UUID]:
        """By one index for all workspaces of the store: their points are in one folder."""
        self.one_index = self.one_index or self.make_index()
        answer = await Finder(store, self.one_index).search(reader, request(WORD, where=where))
        assert answer.visible == len(answer.ids)
        return set(answer.ids)


class TestQdrantOverTheReferenceStore(UnionContract, FreshnessContract, FoundInThePastContract):
    """It depends on no database: it reads any store's change feed."""

    @pytest.fixture(autouse=True)
    def in_folders(self, folders: Places) -> Iterator[None]:
        self.places = folders
        yield
        folders.empty()

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return CandidateIndex(open_source(self.places.take()))


class TestQdrantOverItsRestApi(DenseContract, UnionContract, FreshnessContract):
    @pytest.fixture(autouse=True)
    def on_server(self, collections: Places) -> Iterator[None]:
        self.places = collections
        yield
        collections.empty()

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return CandidateIndex(open_source(self.places.take()))


@pytest.fixture(scope="module")
def on_a_real_server() -> Iterator[Places]:
    base, _, parameters = os.environ["QDRANT_URL"].partition("?")
    places = Places(f"{base.rstrip('/')}/remembrancer-test-{uuid4().hex[:8]}-{{}}?{parameters}")
    yield places
    places.remove()
    places.close()


class EveryCall(IndexContract):
    """All of the contract on a real server, in collections whose names begin with `remembrancer-test`."""

    @pytest.fixture(autouse=True)
    def on_server(self, on_a_real_server: Places) -> Iterator[None]:
        self.places = on_a_real_server
        yield
        on_a_real_server.empty()

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return CandidateIndex(open_source(self.places.take()))
