"""The index over pgvector passes the contract on a real server.

`make test` runs the parts that the HNSW index has to do with; `make test-pgvector` runs every rule.
"""

from __future__ import annotations

import psycopg
import pytest
from postgres_server import Schemas

from remembrancer.adapters.relational.postgres.pgvector import PgVectorSource
from remembrancer.adapters.relational.postgres.server import PostgresServer, open_store
from remembrancer.index.candidates import CandidateIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import MODEL
from remembrancer.testing.contract.candidates import CandidateReadsContract
from remembrancer.testing.contract.finding import IndexSuite
from remembrancer.testing.contract.past import FoundInThePastContract
from remembrancer.testing.contract.search import FreshnessContract, UnionContract
from remembrancer.testing.contract.visibility import FoundSharingContract
from remembrancer.testing.contract.wall import IndexWallContract
from remembrancer.testing.contract.world import OTHER_MODEL
from remembrancer.testing.index_contract import IndexContract

INDEXED = (*((MODEL, dim) for dim in (2, 3, 4, 384)), (OTHER_MODEL, 4))
"""The models of the contract, with the dimensions of their vectors."""


class OnPgVector(IndexSuite):
    """Every vector is found through the HNSW index, however few there are."""

    @pytest.fixture(autouse=True)
    def on_server(self, postgres: Schemas) -> None:
        self.schemas = postgres
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")

    async def make_store(self) -> Store:
        url = f"{self.schemas.take()}%20-cenable_sort%3Doff"  # the planner takes the index of however few vectors
        store = open_store(url, analyse=analysed, create=True)
        for model, dim in INDEXED:
            self.source = PostgresServer(url).candidate_source(model, dim, install=True)
        return store

    def make_index(self) -> Index:
        assert isinstance(self.source, PgVectorSource)
        self.source.exact = 0
        return CandidateIndex(self.source)


class TestPgVector(
    OnPgVector,
    CandidateReadsContract,
    UnionContract,
    FreshnessContract,
    FoundSharingContract,
    FoundInThePastContract,
    IndexWallContract,
):
    """Vectors, freshness, visibility, earlier times, and the isolation of workspaces."""


class EveryCallOfTheIndex(OnPgVector, IndexContract):
    """All of the contract."""
