from __future__ import annotations

import asyncio

import pytest

from remembrancer import Settings
from remembrancer.compose import context
from remembrancer.engine.search_state import SearchMode, search_state
from remembrancer.ports.embedder import Embedder
from remembrancer.testing.doubles import FailingEmbedder, HashEmbedder


@pytest.mark.parametrize(
    ("embedder", "mode"),
    [
        (None, SearchMode.SPARSE_ONLY),
        (FailingEmbedder(), SearchMode.VECTOR_DEGRADED),
        (HashEmbedder(), SearchMode.VECTOR),
    ],
)
def test_the_mode_depends_on_the_embedders_answer(embedder: Embedder | None, mode: SearchMode) -> None:
    async def ask() -> SearchMode:
        ctx = context(Settings(db=":memory:", embedder="none"), embedder=embedder)
        try:
            return (await search_state(ctx)).mode
        finally:
            await ctx.store.close()

    assert asyncio.run(ask()) is mode


def test_the_modes_are_the_words_every_surface_shows() -> None:
    assert [mode.value for mode in SearchMode] == ["vector", "vector-degraded", "sparse-only"]
