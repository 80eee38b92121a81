"""Rerankers: models that score a question and a text together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reranker(Protocol):
    """Scores a question and a text in one model input: slower than comparing vectors, and more accurate."""

    @property
    def model_id(self) -> str:
        """The name of the model. Scores of different models are not compared."""
        ...

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Relevance of each text to the question: float32, in [0, 1], shape (n,), in the order of `texts`.

        Of a text longer than the model's input, only the beginning counts. Raises ModelUnavailable if any score is
        missing or invalid.
        """
        ...

    async def close(self) -> None:
        """Release its connections and threads. May be called twice."""
        ...
