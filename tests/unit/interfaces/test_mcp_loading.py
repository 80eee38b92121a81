"""What `remembrancer mcp` loads before the first question, beside the connection of its client."""

from __future__ import annotations

import asyncio

from remembrancer import AsyncRemembrancer
from remembrancer.interfaces.mcp.serving import loading
from remembrancer.testing.doubles import HashEmbedder


class SlowEmbedder(HashEmbedder):
    """An embedder whose model is loaded when `may_load` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.may_load = asyncio.Event()
        self.is_loaded = asyncio.Event()

    async def load(self) -> None:
        self.begun.set()
        await self.may_load.wait()
        self.is_loaded.set()


def test_a_client_connects_while_the_embedder_is_loading() -> None:
    async def run() -> bool:
        embedder = SlowEmbedder()
        async with await AsyncRemembrancer.open(":memory:", embedder=embedder) as memory, loading(memory):
            await embedder.begun.wait()
            return embedder.is_loaded.is_set()

    assert not asyncio.run(asyncio.wait_for(run(), 30))


def test_the_embedder_is_loaded_without_a_question() -> None:
    async def run() -> None:
        embedder = SlowEmbedder()
        embedder.may_load.set()
        async with await AsyncRemembrancer.open(":memory:", embedder=embedder) as memory, loading(memory):
            await embedder.is_loaded.wait()

    asyncio.run(asyncio.wait_for(run(), 30))
