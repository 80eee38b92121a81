"""The PostgreSQL store passes the contract, on a real server."""

from __future__ import annotations

import pytest
from postgres_server import Schemas

from remembrancer.index.resident import ResidentIndex
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.index_contract import HistoryContract
from remembrancer.testing.store_contract import StoreContract


class OnPostgres(HistoryContract):
    runs = 1
    partitions = 0

    @pytest.fixture(autouse=True)
    def on_server(self, postgres: Schemas) -> None:
        self.schemas = postgres

    async def make_store(self) -> Store:
        return self.schemas.connections.open_store(self.schemas.take(partitions=self.partitions))

    def make_index(self) -> Index:
        return ResidentIndex()


class TestPostgres(OnPostgres, StoreContract):
    pass


class TestPartitioned(OnPostgres):
    """The state machine, whose steps take most statements, on tables divided by workspace."""

    runs = 1
    partitions = 2


class Partitioned(TestPartitioned, StoreContract):
    """All of the contract on such tables: `make test-partitions`."""
