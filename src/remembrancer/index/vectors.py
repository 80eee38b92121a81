"""Unit vectors as 8-bit integers with one scale per row (`ports.quantised`).

The signs are stored too, one bit per component, to select likely neighbours by reading an eighth of the bytes. They
are stored as columns of 64-bit words, because numpy counts the bits of long arrays quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np
import simsimd

from remembrancer.errors import EmbedderMismatch
from remembrancer.index.growing import GrowingArray
from remembrancer.ports.quantised import quantised

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD: Final = 64
_BLOCK: Final = 32_768
"""The rows whose signs are compared at a time, so that intermediate results stay in the processor's cache."""
_GATHERED: Final = 2_048
"""The rows that are gathered and compared at a time, for the same reason."""
_LEAST_SCALE: Final = float(np.finfo(np.float32).tiny)
_NO_PRODUCTS: Final = np.zeros(0)
_SAMPLED: Final = 65_536
"""With more rows than about this, the limit of the distance is estimated from every second, third … row."""


class VectorTable:
    """One row per cue, in the order of the cues; a cue without a vector has scale NaN."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._codes = GrowingArray[np.int8](np.int8, dim)
        self._signs = [GrowingArray[np.uint64](np.uint64) for _ in range(-(-dim // _WORD))]
        """For each 64 components, their signs in each row."""
        self._scales = GrowingArray[np.float32](np.float32)
        self._waiting = 0

    @classmethod
    def without_vectors(cls, cues: int, dim: int) -> Self:
        """A table of `cues` rows without vectors."""
        table = cls(dim)
        table.extend(np.full((cues, dim), np.nan, dtype=np.float32))
        return table

    @classmethod
    def restored(cls, arrays: Mapping[str, GrowingArray[Any]]) -> Self:
        """A table of the `arrays` of another."""
        table = cls(arrays["codes"].values.shape[1])
        table._codes, table._scales = arrays["codes"], arrays["scales"]
        table._signs = [arrays[f"signs.{word}"] for word in range(len(table._signs))]
        table._waiting = int(np.count_nonzero(np.isnan(table._scales.values)))
        return table

    def arrays(self) -> dict[str, GrowingArray[Any]]:
        """All arrays, by name."""
        signs = {f"signs.{word}": column for word, column in enumerate(self._signs)}
        return {"codes": self._codes, "scales": self._scales, **signs}

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays().values())

    @property
    def waiting(self) -> int:
        """The number of cues without a vector."""
        return self._waiting

    @property
    def present(self) -> NDArray[np.bool_]:
        """The cues with a vector, shape (cues,)."""
        return ~np.isnan(self._scales.values)

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Append rows, shape (n, dim); a row of NaN is a cue without a vector."""
        codes, scales = quantised(vectors)
        self._codes.extend(codes)
        for column, words in zip(self._signs, _sign_words(codes), strict=True):
            column.extend(words)
        self._scales.extend(scales)
        self._waiting += int(np.count_nonzero(np.isnan(scales)))

    def replace(self, row: int, vector: NDArray[np.float32]) -> None:
        codes, scales = quantised(vector[np.newaxis])
        self._waiting -= int(np.isnan(self._scales.values[row]))
        self._codes.values[row] = codes[0]
        for column, words in zip(self._signs, _sign_words(codes), strict=True):
            column.values[row] = words[0]
        self._scales.values[row] = scales[0]

    def similarities(self, query: NDArray[np.float32], cues: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Cosine of each cue, or of the given `cues`, with the unit vector `query`; NaN for a cue without a vector.

        Raises EmbedderMismatch for a query of another dimension.
        """
        self._require_dim(query)
        scale = max(float(np.abs(query).max()) / 127, _LEAST_SCALE)
        codes = np.rint(query / scale).astype(np.int8)[np.newaxis]
        rows, sizes = self._codes.values, self._scales.values
        if cues is None:
            blocks = [rows] if len(rows) else []
        else:
            sizes = sizes.take(cues)
            blocks = (rows.take(cues[start : start + _GATHERED], axis=0) for start in range(0, len(cues), _GATHERED))
        # simsimd's type stubs return its own buffer type; numpy reads that without a copy.
        compared = [np.asarray(cast("Any", simsimd.cdist(codes, block, "dot")))[0] for block in blocks]
        products: Any = np.concatenate([_NO_PRODUCTS, *compared]).astype(np.float32)
        return products * (sizes * np.float32(scale))

    def likely(self, query: NDArray[np.float32], kept: NDArray[np.bool_] | None, count: int) -> NDArray[np.int64]:
        """About `count` cues whose signs differ least from the query's, ascending; all, if there are not more.

        `kept`, shape (cues,): only these cues; None: all. Vectors whose signs differ in h of d components have an angle
        of about pi h / d. Source: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
        Raises EmbedderMismatch for a query of another dimension.
        """
        self._require_dim(query)
        eligible = kept
        if self._waiting:
            eligible = self.present if kept is None else self.present & kept
        total = len(self._scales) if eligible is None else int(np.count_nonzero(eligible))
        if total <= count:
            return np.arange(total) if eligible is None else np.flatnonzero(eligible)
        apart = self._apart(query)
        rows = slice(None, None, -(-total // _SAMPLED))
        sample = apart[rows] if eligible is None else apart.take(np.flatnonzero(eligible)[rows])
        near = apart <= _share_of(sample, count / total)
        return np.flatnonzero(near if eligible is None else near & eligible)

    def _apart(self, query: NDArray[np.float32]) -> NDArray[np.uint16]:
        """For each row, the number of components whose sign is not the query's, shape (cues,)."""
        asked = [words[0] for words in _sign_words(query[np.newaxis])]
        apart = np.zeros(len(self._scales), dtype=np.uint16)
        differing, bits = np.empty(_BLOCK, dtype=np.uint64), np.empty(_BLOCK, dtype=np.uint8)
        for start in range(0, len(apart), _BLOCK):
            counted = apart[start : start + _BLOCK]
            end = len(counted)
            for column, word in zip(self._signs, asked, strict=True):
                np.bitwise_xor(column.values[start : start + end], word, out=differing[:end])
                np.bitwise_count(differing[:end], out=bits[:end])
                np.add(counted, bits[:end], out=counted)
        return apart

    def _require_dim(self, query: NDArray[np.float32]) -> None:
        if len(query) != self.dim:
            raise EmbedderMismatch(f"the question's vector has {len(query)} dimensions, the texts' have {self.dim}")


def _sign_words(vectors: NDArray[np.int8] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """For each 64 components, which of them are above 0 in each vector, as the bits of a word; shape (words, n)."""
    bits = np.packbits(vectors > 0, axis=1)
    whole = np.zeros((len(bits), -(-vectors.shape[1] // _WORD) * 8), dtype=np.uint8)
    whole[:, : bits.shape[1]] = bits
    return whole.view(np.uint64).T


def _share_of(distances: NDArray[np.uint16], share: float) -> np.uint16:
    """The quantile `share`, below 1, of these distances. They have few values, so that counting them takes half the
    time of `np.partition`.
    """
    up_to = np.cumsum(np.bincount(distances))
    return np.uint16(np.searchsorted(up_to, int(share * len(distances)), side="right"))


MAX_CACHED_BYTES: Final = 64 << 20
"""Enough for the token embeddings of about forty thousand short turns."""
_OVERHEAD: Final = 300
"""Bytes of memory per cached cue besides its bits: the dict entry, the array and the bytes object."""


class TokenEmbeddingCache:
    """A cache of token embeddings by cue ref. When it exceeds `MAX_CACHED_BYTES`, the oldest entries are dropped."""

    def __init__(self) -> None:
        self._kept: dict[int, NDArray[np.uint8]] = {}
        self.nbytes = 0

    def of(self, refs: Iterable[int]) -> dict[int, NDArray[np.uint8]]:
        """The cached token embeddings of these refs."""
        return {ref: signs for ref in refs if (signs := self._kept.get(ref)) is not None}

    def keep(self, ref: int, signs: NDArray[np.uint8]) -> None:
        self.drop([ref])
        self._kept[ref] = signs
        self.nbytes += signs.nbytes + _OVERHEAD
        while self.nbytes > MAX_CACHED_BYTES:
            self.drop([next(iter(self._kept))])

    def drop(self, refs: Iterable[int]) -> None:
        """Remove the entries of changed cues; unknown refs are ignored."""
        for ref in refs:
            signs = self._kept.pop(ref, None)
            if signs is not None:
                self.nbytes -= signs.nbytes + _OVERHEAD
