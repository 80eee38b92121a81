"""Text to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, cast

from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.arithmetic import SumOfBits

WORDS: Final = "embed_question"
COMPUTES: Final = "query_now"
ARITHMETIC: Final = "arithmetic"
"""What tells a kind of embedder from others."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of some texts, in the order of the texts.

    `vectors`: float32, shape (n, dim), rows of unit length. `truncated`: bool, shape (n,): the text was longer
    than the model reads, and only its beginning is in the vector.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to embed, and its context: what was said before it. The context influences the vectors, and gets none of
    its own.
    """

    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddedPassages:
    """Vectors of passages, in their order, with the fields of `Embedded`: of the text, embedded after its context.

    `words`: for each passage, the embeddings of its text's own tokens, float32 (tokens, dim), unit rows.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]
    words: tuple[NDArray[np.float32], ...]


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """A question's vector, float32 (dim,), and the embeddings of its tokens, float32 (tokens, dim), all of unit length.

    `spelled`: for each token, the word of the question that it is part of. `sum_of_bits`: how this embedder's
    library compares words by their bits, where it does so faster than others.
    """

    vector: NDArray[np.float32]
    words: NDArray[np.float32]
    spelled: tuple[str, ...]
    sum_of_bits: SumOfBits | None = None


class Embedder(Protocol):
    """A model that maps texts to vectors. Vectors of different `model_id`s are never compared."""

    @property
    def model_id(self) -> str:
        """Names the model and its precision; stored beside every vector."""
        ...

    @property
    def dim(self) -> int | None:
        """The number of components of a vector; None until the first answer if it is not known before."""
        ...

    def reads(self, text: str) -> bool:
        """Whether the model was trained for this text's script. If not, its vectors are meaningless."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable when the model does not answer."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """A unit vector of `dim` float32 components. Raises ModelUnavailable."""
        ...

    async def close(self) -> None: ...


def token_embedder(embedder: Embedder | None) -> TokenEmbedder | None:
    """The same embedder, where it also gives the vectors of words."""
    return cast("TokenEmbedder", embedder) if embedder is not None and _offers(type(embedder), WORDS) else None


class ComputingEmbedder(Embedder, Protocol):
    """An embedder that needs nothing but arithmetic for a question, and does it in the thread that asks."""

    @property
    def computes(self) -> bool:
        """Whether it does so by now: the model may not be loaded yet."""
        ...

    def query_now(self, text: str) -> NDArray[np.float32]:
        """The vector that `embed_query` gives. Raises ModelUnavailable."""
        ...

    def question_now(self, text: str) -> EmbeddedQuestion:
        """What `embed_question` gives, where the embedder is a `TokenEmbedder`. Raises ModelUnavailable."""
        ...


def computing(embedder: Embedder | None) -> ComputingEmbedder | None:
    """The same embedder, where it computes now."""
    if embedder is None or not _offers(type(embedder), COMPUTES):
        return None
    able = cast("ComputingEmbedder", embedder)
    return able if able.computes else None


class ReportingEmbedder(Embedder, Protocol):
    """An embedder that reports how this machine computes its vectors."""

    @property
    def arithmetic(self) -> str:
        """A few words, such as "8-bit products: exact"; "" before the model is loaded or where nothing is special."""
        ...


def arithmetic(embedder: Embedder | None) -> str:
    """What the embedder reports of this machine's arithmetic; "" where it reports nothing."""
    if embedder is None or not _offers(type(embedder), ARITHMETIC):
        return ""
    return cast("ReportingEmbedder", embedder).arithmetic


@lru_cache(maxsize=64)
def _offers(kind: type[Embedder], name: str) -> bool:
    """Asked of each class once: to ask a protocol each time takes a hundredth of a whole recall."""
    return hasattr(kind, name)


class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives token embeddings, which late interaction compares."""

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Raises ModelUnavailable when the model does not answer."""
        ...

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Embed a question, with its tokens. The vector is the same as from `embed_query`. Raises ModelUnavailable."""
        ...
