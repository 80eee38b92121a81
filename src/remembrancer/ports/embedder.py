"""Text to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of some texts, in the order of the texts.

    `vectors`: float32, shape (n, dim), rows of unit length. `truncated`: bool, shape (n,): the text was longer
    than the model reads, and only its beginning is in the vector.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Embedder(Protocol):
    """A model that places texts in one space. Vectors of different `model_id`s are never compared."""

    @property
    def model_id(self) -> str:
        """Names the model and its precision; stored beside every vector."""
        ...

    @property
    def dim(self) -> int | None:
        """Components of a vector; None until the first answer of a model whose size nobody knew beforehand."""
        ...

    def reads(self, text: str) -> bool:
        """Whether the model was made for such a text. Where it was not, its vectors say nothing of what is meant."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable when the model does not answer."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """A unit vector of `dim` float32 components. Raises ModelUnavailable."""
        ...

    async def close(self) -> None: ...
