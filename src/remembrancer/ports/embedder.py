"""Embedders: models that map texts to vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, cast

from remembrancer.domain.calibration import REFERENCE
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.arithmetic import SumOfBits
    from remembrancer.domain.calibration import CosineScale

WORDS: Final = "embed_question"
COMPUTES: Final = "query_now"
ARITHMETIC: Final = "arithmetic"
"""The name of the method that distinguishes a `ReportingEmbedder`."""
LANGUAGES: Final = "languages"
"""The name of the method that distinguishes a `LanguageEmbedder`."""
CALIBRATION: Final = "calibration"
"""The name of the method that distinguishes a `CalibratedEmbedder`."""
LOADS: Final = "load"
"""The name of the method that distinguishes a `LoadableEmbedder`."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts, in the order of the texts.

    `vectors`: float32, shape (n, dim), rows of unit length. `truncated`: bool, shape (n,): the text was longer than the
    model's input, and the vector covers only its beginning.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to embed, and its context, which influences the vectors but is not embedded itself.

    `speaker`: who says the text; "" if nobody does. `before`: the turns before it as (speaker, text), oldest first;
    `chars`: their last characters that count.
    """

    text: str
    speaker: str = ""
    before: tuple[tuple[str, str], ...] = ()
    chars: int = 2_000

    def turns(self) -> Iterator[tuple[str, str, int]]:
        """The turns that count, the last first: speaker, text, and how many of its last characters count.

        >>> list(Passage("Yes", "Ben", (("Ben", "Good morning"), ("Ana", "Ready?")), chars=19).turns())
        [('Ana', 'Ready?', 6), ('Ben', 'Good morning', 7)]
        """
        room = self.chars
        for speaker, text in reversed(self.before):
            if room <= 0:
                return
            counted = min(len(text), room)
            yield speaker, text, counted
            room -= len(f"{speaker}:  ") + counted

    @property
    def context(self) -> str:
        """The context as one text; "" for none.

        >>> Passage("On Friday.", "Ben", (("Ana", "When do we ship?"),)).context
        'Ana: When do we ship? Ben: '
        """
        turns = [f"{speaker}: {text[len(text) - counted :]} " for speaker, text, counted in self.turns()]
        return "".join([*reversed(turns), f"{self.speaker}: " if self.speaker else ""])


@dataclass(frozen=True, slots=True)
class EmbeddedPassages:
    """Vectors of passages, in order, with the fields of `Embedded`. Each text is embedded in its context.

    `token_embeddings`: for each passage, the embeddings of its text's own tokens, float32 (tokens, dim), unit rows.
    `spelled`: for each passage, the word that contains each of these tokens; (): unknown, and every token is stored.
    `alone`: the vectors of the texts without their context, as `embed_documents` gives them, if they were computed too.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]
    token_embeddings: tuple[NDArray[np.float32], ...]
    spelled: tuple[tuple[str, ...], ...] = ()
    alone: NDArray[np.float32] | None = None

    def tokens(self) -> Iterator[tuple[NDArray[np.float32], tuple[str, ...]]]:
        """For each passage, its token embeddings, and their words or ()."""
        return zip(self.token_embeddings, self.spelled or ((),) * len(self.token_embeddings), strict=True)


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """A question's vector, float32 (dim,), and its token embeddings, float32 (tokens, dim), all of unit length.

    `spelled`: for each token, the word of the question that contains it. `sum_of_bits`: a faster `SumOfBits` from the
    embedder's library; None: numpy is used.
    """

    vector: NDArray[np.float32]
    token_embeddings: NDArray[np.float32]
    spelled: tuple[str, ...]
    sum_of_bits: SumOfBits | None = None


class Embedder(Protocol):
    """A model that maps texts to vectors. Vectors of different `model_id`s are never compared."""

    @property
    def model_id(self) -> str:
        """The name of the model and its precision; stored with every vector."""
        ...

    @property
    def dim(self) -> int | None:
        """The number of components of a vector; None if it is not known before the first answer."""
        ...

    def reads(self, text: str) -> bool:
        """Whether the model was trained for this text's script. If not, its vectors have no meaning."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Embed texts. Raises ModelUnavailable."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: a unit vector, float32 (dim,). Raises ModelUnavailable."""
        ...

    async def close(self) -> None:
        """Release its connections and threads. May be called twice."""
        ...


def token_embedder(embedder: Embedder | None) -> TokenEmbedder | None:
    """The embedder if it also gives token embeddings, else None."""
    return cast("TokenEmbedder", embedder) if embedder is not None and _offers(type(embedder), WORDS) else None


class ComputingEmbedder(Embedder, Protocol):
    """An embedder that can embed a question in the calling thread, without I/O."""

    @property
    def computes(self) -> bool:
        """Whether it can do so now; False while the model is not loaded."""
        ...

    def query_now(self, text: str) -> NDArray[np.float32]:
        """The same vector as `embed_query`. Raises ModelUnavailable."""
        ...

    def question_now(self, text: str) -> EmbeddedQuestion:
        """The same as `embed_question`, if the embedder is a `TokenEmbedder`. Raises ModelUnavailable."""
        ...


def computing(embedder: Embedder | None) -> ComputingEmbedder | None:
    """The embedder if it can compute in the calling thread now, else None."""
    if embedder is None or not _offers(type(embedder), COMPUTES):
        return None
    able = cast("ComputingEmbedder", embedder)
    return able if able.computes else None


class ReportingEmbedder(Embedder, Protocol):
    """An embedder that reports which arithmetic it uses on this machine."""

    @property
    def arithmetic(self) -> str:
        """A short text such as "8-bit products: exact"; "" before the model is loaded or without a report."""
        ...


def arithmetic(embedder: Embedder | None) -> str:
    """The embedder's report of its arithmetic on this machine; "" if it reports nothing."""
    if embedder is None or not _offers(type(embedder), ARITHMETIC):
        return ""
    return cast("ReportingEmbedder", embedder).arithmetic


class LanguageEmbedder(Embedder, Protocol):
    """An embedder that knows in which languages its model was trained."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Their codes (ISO 639-1); None if they are unknown."""
        ...


def languages(embedder: Embedder | None) -> frozenset[str] | None:
    """The languages that the embedder's model reads; None if they are unknown."""
    if embedder is None or not _offers(type(embedder), LANGUAGES):
        return None
    return cast("LanguageEmbedder", embedder).languages


class CalibratedEmbedder(Embedder, Protocol):
    """An embedder that may have been calibrated."""

    @property
    def calibration(self) -> CosineScale | None:
        """The measured cosines of its model; None if they were not measured."""
        ...


def calibration(embedder: Embedder | None) -> CosineScale | None:
    """The embedder's calibration; None if its cosines are used as they are."""
    if embedder is None or not _offers(type(embedder), CALIBRATION):
        return None
    found = cast("CalibratedEmbedder", embedder).calibration
    return None if found == REFERENCE else found


def is_uncalibrated(embedder: Embedder | None) -> bool:
    """Whether the embedder could be calibrated, and is not."""
    if embedder is None or not _offers(type(embedder), CALIBRATION):
        return False
    return cast("CalibratedEmbedder", embedder).calibration is None


class LoadableEmbedder(Embedder, Protocol):
    """An embedder whose model is loaded when it is first used, or before."""

    async def load(self) -> None:
        """Load the model; sends no text to a service. Raises ModelUnavailable."""
        ...


async def load(embedder: Embedder | None) -> None:
    """Load the embedder's model, if it is one that is loaded. Raises ModelUnavailable."""
    if embedder is not None and _offers(type(embedder), LOADS):
        await cast("LoadableEmbedder", embedder).load()


@lru_cache(maxsize=64)
def _offers(kind: type[Embedder], name: str) -> bool:
    """Whether a class has a method; cached, because checking a protocol on each call takes 1% of a recall."""
    return hasattr(kind, name)


class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives token embeddings, for late interaction."""

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Embed passages, with their tokens. Raises ModelUnavailable."""
        ...

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Embed a question, with its tokens. The vector is that of `embed_query`. Raises ModelUnavailable."""
        ...
