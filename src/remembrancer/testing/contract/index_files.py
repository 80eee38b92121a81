"""Contract of the tokens of an index's files."""

from __future__ import annotations

from remembrancer.domain.erasure import Removal
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import MODEL, StoreSuite
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.doubles import SCOPE


async def token_of(store: Store, model: str | None) -> bytes | None:
    return await store.read(lambda view: view.index_token(SCOPE, model))


class IndexFilesContract(StoreSuite):
    """Tests of index tokens. Subclass it in a test module and implement `make_store`."""

    async def test_the_last_token_of_each_model_is_kept(self, store: Store) -> None:
        for model, token in ((MODEL, b"old"), (MODEL, b"new"), (None, b"of words")):
            assert await store.put_index_token(SCOPE, model, token, erasures=0)
        assert [await token_of(store, model) for model in (MODEL, None, "another")] == [b"new", b"of words", None]

    async def test_a_token_from_before_an_erasure_is_refused(self, store: Store) -> None:
        await store.erase(SCOPE, Removal(), a_receipt())
        assert not await store.put_index_token(SCOPE, MODEL, b"old", erasures=0)
        assert await token_of(store, MODEL) is None
