"""An embedder that is asked with several API keys in turn, and asked again after a rate limit or an outage."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from remembrancer.adapters.endpoints import KeyRefused, TryLater
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.ports.embedder import Embedded

T = TypeVar("T")

DOCUMENTS_WAIT: Final = 60.0
"""The total time in seconds that embedding documents waits for a key; afterwards the index sweep tries again."""
QUESTION_WAIT: Final = 1.0
"""The time in seconds that embedding a question waits for a key: short, because a lexical search can answer instead."""
ROUNDS: Final = 4
"""The maximum number of tries of each key for one call."""
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
"""The longest wait in seconds after failures of a key. The first wait is `FIRST_WAIT`; each further
failure doubles it.
"""
REFUSED_WAIT: Final = 300.0
"""The wait in seconds after a key was refused."""


@dataclass
class _Key:
    """One key's embedder. `ready_at`: when it may be asked again, by the clock; `failures`: the number of failures in a
    row.
    """

    embedder: Embedder
    ready_at: float = 0.0
    failures: int = 0
    error: ModelUnavailable | None = None


class RotatingEmbedder:
    """The same model by several keys; with one key, it retries.

    After a rate limit, an outage or a refusal a key is not asked for a while: as long as the service asks for
    (`TryLater.wait`), else 1, 2, 4 … seconds, half of it at random, so that many processes do not come back at once.
    Meanwhile the others are asked. If no key is ready, the call waits for the first that is ready, within
    `DOCUMENTS_WAIT` or `QUESTION_WAIT`; if that is too short, it fails at once and no key is asked. Other failures,
    which another key would have as well, are raised as they are.
    """

    def __init__(
        self,
        embedders: Sequence[Embedder],
        *,
        round_robin: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        """`embedders`: one for each key, of one model. `round_robin`: each call begins with the next key; otherwise
        with the first, and the others are asked only while it is not ready. `clock`: seconds. `close` closes the
        embedders.

        Raises InvalidInput if there is none, or they are of different models.
        """
        models = {embedder.model_id for embedder in embedders}
        if len(models) != 1:
            raise InvalidInput("embedders", sorted(models), "one or more embedders of one model")
        self._keys = [_Key(embedder) for embedder in embedders]
        self._round_robin = round_robin
        self._next = 0
        self._sleep = sleep
        self._clock = clock
        self._uniform = uniform

    @property
    def model_id(self) -> str:
        return self._keys[0].embedder.model_id

    @property
    def dim(self) -> int | None:
        return next((key.embedder.dim for key in self._keys if key.embedder.dim is not None), None)

    def reads(self, text: str) -> bool:
        return self._keys[0].embedder.reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Vectors of documents, in their order. Raises ModelUnavailable if no key gives an answer in time."""
        return await self._ask(lambda embedder: embedder.embed_documents(texts), DOCUMENTS_WAIT)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question. Raises ModelUnavailable if no key gives an answer in time."""
        return await self._ask(lambda embedder: embedder.embed_query(text), QUESTION_WAIT)

    async def close(self) -> None:
        for key in self._keys:
            await key.embedder.close()

    async def _ask(self, call: Callable[[Embedder], Awaitable[T]], patience: float) -> T:
        deadline = self._clock() + patience
        order = list(self._order())
        for _ in range(ROUNDS):
            for key in order:
                if key.ready_at > self._clock():
                    continue
                try:
                    answer = await call(key.embedder)
                except (TryLater, KeyRefused) as error:
                    self._rest(key, error)
                    if self._clock() >= deadline:  # an outage that took long to show
                        raise self._failure(key) from error
                else:
                    key.ready_at, key.failures, key.error = 0.0, 0, None
                    return answer
            first = min(order, key=lambda key: key.ready_at)
            if first.ready_at > deadline:
                break
            await self._sleep(max(0.0, first.ready_at - self._clock()))
        raise self._failure(min(order, key=lambda key: key.ready_at))

    def _order(self) -> Iterator[_Key]:
        start = self._next
        if self._round_robin:
            self._next = (start + 1) % len(self._keys)
        yield from self._keys[start:]
        yield from self._keys[:start]

    def _rest(self, key: _Key, error: TryLater | KeyRefused) -> None:
        usual = min(FIRST_WAIT * 2 ** min(key.failures, 16), LONGEST_WAIT)
        if isinstance(error, KeyRefused):
            wait = REFUSED_WAIT
        elif error.wait is None:
            wait = usual / 2 + self._uniform(0, usual / 2)
        else:
            wait = error.wait + self._uniform(0, error.wait / 10)
        key.ready_at, key.failures, key.error = self._clock() + wait, key.failures + 1, error

    def _failure(self, key: _Key) -> ModelUnavailable:
        """The error of a key that is not asked for a while."""
        several = f"; none of {len(self._keys)} API keys gave an answer" if len(self._keys) > 1 else ""
        later = f"; not asked again for {max(0.0, key.ready_at - self._clock()):.0f} s"
        return ModelUnavailable(f"{key.error}{several}{later}")
