"""The reference store keeps the contract it is the model of."""

from __future__ import annotations

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.ports.store import Store
from remembrancer.testing.store_contract import StoreContract


class TestReferenceStore(StoreContract):
    runs = 2  # compared with itself: that the steps can be taken is all that can be told

    async def make_store(self) -> Store:
        return ReferenceStore()
