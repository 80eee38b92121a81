"""How well texts answer a question, read together with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reranker(Protocol):
    """A model that scores a question and a text together: slower than comparing vectors, and more accurate."""

    @property
    def model_id(self) -> str:
        """Names the model. Scores of different models are not compared."""
        ...

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Relevance of each text to the question: float32, in [0, 1], shape (n,), in the order of `texts`.

        A text that is longer than the model reads counts by its beginning. No texts give no scores. Raises
        ModelUnavailable when the model does not answer as it should; there are no scores for some of the texts.
        """
        ...

    async def close(self) -> None: ...
