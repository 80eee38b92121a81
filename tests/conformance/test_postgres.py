"""The PostgreSQL store passes the contract, on a real server.

`make test` runs the parts that have statements or threads of their own there; `make test-postgres` runs every call.
"""

from __future__ import annotations

import pytest
from postgres_server import Schemas

from remembrancer.adapters.relational.postgres.server import open_store
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.contract.erasing import ErasedWholeContract, ReceiptContract
from remembrancer.testing.contract.filters import FilterContract
from remembrancer.testing.contract.memories import LifeContract, StatsContract
from remembrancer.testing.contract.notifications import NotificationsContract
from remembrancer.testing.contract.reading import ReadingContract
from remembrancer.testing.contract.transfer import ExportContract, ImportContract
from remembrancer.testing.index_contract import HistoryContract
from remembrancer.testing.store_contract import StoreContract


class OnPostgres(HistoryContract):
    """Stores in schemas of one server."""

    runs = 3

    @pytest.fixture(autouse=True)
    def on_server(self, postgres: Schemas) -> None:
        self.schemas = postgres

    async def make_store(self) -> Store:
        return open_store(self.schemas.take(), analyse=analysed, create=True)

    def make_index(self) -> Index:
        return ResidentIndex()


class TestPostgres(
    OnPostgres,
    LifeContract,
    StatsContract,
    ReadingContract,
    FilterContract,
    ExportContract,
    ImportContract,
    ErasedWholeContract,
    ReceiptContract,
    NotificationsContract,
):
    """Opening and closing, sizes, JSON and full text, snapshots, unique rows, the purge, subscriptions; and the state
    machine, whose steps take most other statements.
    """


class EveryCall(OnPostgres, StoreContract):
    """All of the contract."""
