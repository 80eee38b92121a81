"""An embedder that keeps the embeddings of passages in a file, so that the same conversations are embedded once."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from remembrancer.ports.embedder import (
    ComputingEmbedder,
    Embedded,
    EmbeddedPassages,
    EmbeddedQuestion,
    Passage,
    TokenEmbedder,
)

BATCH: Final = 64

Kept = tuple[NDArray[np.float32], bool, NDArray[np.uint8], tuple[str, ...]]
"""A passage's vector, whether it was truncated, the signs of its token embeddings, and their words: all that the memory
uses.
"""


@dataclass(slots=True)
class KeptEmbedder:
    """`inner` gives token embeddings and computes questions at once, as the local embedder does."""

    inner: TokenEmbedder
    path: Path
    kept: dict[bytes, Kept] = field(default_factory=dict[bytes, Kept])

    def __post_init__(self) -> None:
        if self.path.exists():
            # Written by this program, in its own folder.
            self.kept = cast("dict[bytes, Kept]", pickle.loads(self.path.read_bytes()))  # noqa: S301

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def dim(self) -> int | None:
        return self.inner.dim

    @property
    def computes(self) -> bool:
        return cast("ComputingEmbedder", self.inner).computes

    def reads(self, text: str) -> bool:
        return self.inner.reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        return await self.inner.embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return await self.inner.embed_query(text)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        return await self.inner.embed_question(text)

    def query_now(self, text: str) -> NDArray[np.float32]:
        return cast("ComputingEmbedder", self.inner).query_now(text)

    def question_now(self, text: str) -> EmbeddedQuestion:
        return cast("ComputingEmbedder", self.inner).question_now(text)

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        keys = [self._key(passage) for passage in passages]
        new = [place for place, key in enumerate(keys) if key not in self.kept]
        for start in range(0, len(new), BATCH):
            part = new[start : start + BATCH]
            made = await self.inner.embed_passages([passages[place] for place in part])
            for row, place in enumerate(part):
                signs = np.packbits(made.token_embeddings[row] > 0, axis=1)
                words = made.spelled[row] if made.spelled else ()
                self.kept[keys[place]] = (made.vectors[row], bool(made.truncated[row]), signs, words)
        found = [self.kept[key] for key in keys]
        return EmbeddedPassages(
            np.stack([vector for vector, _, _, _ in found]),
            np.array([truncated for _, truncated, _, _ in found]),
            tuple(self._from_signs(signs, len(vector)) for vector, _, signs, _ in found),
            tuple(words for _, _, _, words in found),
        )

    def save(self) -> None:
        self.path.write_bytes(pickle.dumps(self.kept))

    async def close(self) -> None:
        """Does nothing: the owner of `inner` closes it."""

    def _key(self, passage: Passage) -> bytes:
        text = "\0".join(("words", self.inner.model_id, passage.context, passage.text))
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    @staticmethod
    def _from_signs(signs: NDArray[np.uint8], dim: int) -> NDArray[np.float32]:
        """Unit vectors with these signs: the memory keeps only the signs of token embeddings."""
        bits = np.unpackbits(signs, axis=1, count=dim).astype(np.float32)
        return (2 * bits - 1) / np.float32(np.sqrt(dim))
