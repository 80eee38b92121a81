"""The reference store keeps the contract that it is the model of."""

from __future__ import annotations

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.ports.index import Index
from remembrancer.ports.store import Store
from remembrancer.testing.index_contract import HistoryContract
from remembrancer.testing.store_contract import StoreContract
from remembrancer.testing.textbook_index import TextbookIndex


class TestReferenceStore(StoreContract, HistoryContract):
    runs = 2  # compared with itself: this only shows that the steps can be taken

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return TextbookIndex()
