"""The reference store passes the contract."""

from __future__ import annotations

from typing import cast

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.ports.index import Index
from remembrancer.ports.journal import Journal
from remembrancer.ports.store import Store
from remembrancer.testing.index_contract import HistoryContract
from remembrancer.testing.store_contract import JournalSuite, StoreContract
from remembrancer.testing.textbook_index import TextbookIndex


class TestReferenceStore(StoreContract, HistoryContract):
    runs = 1  # compared with itself: this only shows that the steps can be taken

    async def make_store(self) -> Store:
        return ReferenceStore()

    def make_index(self) -> Index:
        return TextbookIndex()


class JournalAlone:
    """A store of one role only: the journal of a reference store."""

    def __init__(self) -> None:
        self._whole = ReferenceStore()

    def __getattr__(self, name: str) -> object:
        if name != "close" and name not in dir(Journal):
            raise AttributeError(name=name, obj=self)
        return getattr(self._whole, name)


class TestJournalAlone(JournalSuite):
    """The suite of one role runs over a store that has no other."""

    async def make_store(self) -> Store:
        return cast("Store", JournalAlone())
