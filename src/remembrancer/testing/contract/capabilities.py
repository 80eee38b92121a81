"""Contract of `Capabilities`: an index does what it declares, and what it does not declare is absent."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from remembrancer.ports.embeddings import CueVector
from remembrancer.testing.contract.base import MODEL
from remembrancer.testing.contract.finding import Finder, IndexSuite, request
from remembrancer.testing.contract.neighbours import say
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_vector

CAPABILITIES: Final = ("dense", "lexical", "phrases", "context", "token_embeddings")


class CapabilitiesContract(IndexSuite):
    @pytest.mark.parametrize("capability", CAPABILITIES)
    async def test_exactly_the_declared_capabilities_are_present(self, finder: Finder, capability: str) -> None:
        declared = bool(getattr(finder.index.capabilities, capability))
        assert await self._is_there(finder, capability) is declared

    async def _is_there(self, finder: Finder, capability: str) -> bool:
        """Whether an answer contains what the capability adds. Asserts that otherwise all of it is absent."""
        await say(finder, "to be a kestrel", "owl")
        for cue in await finder.store.pending(SCOPE, MODEL, limit=9, now=NOW):
            vector = CueVector(cue.ref, a_vector(1, 0), False, np.array([[128]], dtype=np.uint8))
            await finder.store.put_vectors(SCOPE, MODEL, [vector], at=NOW)
        asked = request("kestrel", vector=a_vector(1, 0), context_features=True)
        match capability:
            case "dense":
                answer = await finder.search(READER, asked)
                present = bool(answer.dense_rank.any())
                assert present or np.isnan(answer.similarity).all()
            case "lexical" | "phrases":
                by = request("kestrel") if capability == "lexical" else request(phrase=("to", "be"))
                answer = await finder.search(READER, by)
                present = bool(answer.lexical_rank.any())
                assert present or (answer.ids, answer.bm25_bound, answer.idf) == ((), 0.0, None)
            case "context":
                present = (await finder.search(READER, asked)).context_features is not None
            case _:
                answer = await finder.search(READER, asked)
                present = bool(await finder.token_embeddings(READER, MODEL, answer.ref.tolist()))
        return present

    async def test_a_lexical_score_lies_between_nothing_and_the_bound(self, finder: Finder) -> None:
        await say(finder, "kestrel", "kestrel kestrel owl", "owl")
        answer = await finder.search(READER, request("kestrel", "owl"))
        scores = answer.bm25[~np.isnan(answer.bm25)]
        assert ((scores >= 0) & (scores <= answer.bm25_bound)).all()

    async def test_a_declared_score_belongs_to_a_declared_search(self, finder: Finder) -> None:
        assert finder.index.capabilities.lexical or finder.index.capabilities.bm25 is None

    async def test_closing_twice_does_nothing(self, finder: Finder) -> None:
        await finder.index.close()
        await finder.index.close()
