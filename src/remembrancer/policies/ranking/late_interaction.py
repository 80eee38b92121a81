"""Late interaction: comparing a question and a text by the embeddings of their tokens.

Source: Khattab and Zaharia, ColBERT, SIGIR 2020; here the question's tokens are weighted by idf. Of a text's token
embeddings only the signs are stored, one bit per component: 48 bytes per token for 384 components. They are compared
with the question's full vectors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import simsimd

from remembrancer.language.lexical import analyse
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.arithmetic import SumOfBits

ASKING: Final = frozenset("when where who whom whose why how what which".split())
"""Question words. They are stop words, but their vectors are similar to those of answers."""
ASKING_IDF: Final = 3.0
"""The idf assumed for question words: about that of a word in every twentieth text."""

LONG: Final = 64
"""A text with more tokens is long: not all of them are stored (docs/decisions/0049-tokens-of-long-texts.md)."""

HALF: Final = 12
"""Stored tokens in half a passage. A passage is two halves; passages overlap by one half."""

_SIGN_LENGTH: Final = math.sqrt(2 / math.pi)
"""The mean cosine of a unit vector with the unit vector of its signs, if its components are normally distributed."""


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTokens:
    """A question's token embeddings, float32 (tokens, dim), unit rows. `weights` (tokens,) sum to 1. `sum_of_bits`: the
    function that compares them with sign bits.
    """

    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    sum_of_bits: SumOfBits


def sum_of_bits(bits: NDArray[np.uint8], levels: NDArray[np.int8], /) -> NDArray[np.int32]:
    """A `SumOfBits` that uses simsimd for one pair at a time."""
    # simsimd's type stubs return its own buffer type; numpy reads that without a copy.
    return np.asarray(cast("Any", simsimd.cdist(bits.view(np.int8), levels, "dot"))).astype(np.int32)


def weighted(
    vectors: NDArray[np.float32],
    spelled: Sequence[str],
    idf: Mapping[str, float],
    sums: SumOfBits | None = None,
) -> QuestionTokens | None:
    """The tokens of a question, weighted by the idf of their terms; the tokens of one word share its weight.

    `spelled`: for each vector, the word that contains its token. `sums`: the function that compares; None:
    `sum_of_bits`. Returns None if no token has a weight.
    """
    pieces = {word: spelled.count(word) for word in spelled}
    weights = np.array([_idf(word, idf) / pieces[word] for word in spelled], dtype=np.float32)
    kept = weights > 0
    if not kept.any():
        return None
    return QuestionTokens(vectors[kept], weights[kept] / weights.sum(), sums or sum_of_bits)


def _idf(word: str, idf: Mapping[str, float]) -> float:
    if word.casefold() in ASKING:
        return ASKING_IDF
    return max((idf.get(term, 0.0) for term in _terms(word)), default=0.0)


@lru_cache(maxsize=4096)
def _terms(word: str) -> tuple[str, ...]:
    """The terms of a word, cached: questions and texts share words."""
    return analyse(word).terms


def packed(vectors: NDArray[np.float32], spelled: Sequence[str] = ()) -> NDArray[np.uint8]:
    """The signs of a text's token embeddings (tokens, dim): one bit per component, uint8 (stored tokens, bytes), where
    a token has dim / 8 bytes, rounded up.

    `spelled`: for each vector, the word that contains its token. Of a text with more than `LONG` tokens, each word with
    a search term is stored once, where it stands first; punctuation and stop words are not stored. All are stored if no
    word has a term, or if the words are not known (()).
    """
    if len(spelled) > LONG:
        kept = [place for place in _firsts(spelled) if _terms(spelled[place])]
        vectors = vectors[kept] if kept else vectors
    return np.packbits(vectors > 0, axis=1)


def _firsts(spelled: Sequence[str]) -> Iterator[int]:
    """The places of the tokens of each word's first occurrence, whatever the case of its letters, in order. Adjacent
    equal words are one occurrence, because nothing tells them from several tokens of one word.
    """
    found: set[str] = set()
    place = 0
    for word, tokens in groupby(map(str.casefold, spelled)):
        after = place + len(list(tokens))
        if word not in found:
            yield from range(place, after)
        found.add(word)
        place = after


@dataclass(frozen=True, slots=True, eq=False)
class TokenSimilarities:
    """The MaxSim values of a question's tokens with several texts.

    - `nearest` (tokens, texts): the greatest cosine of each question token with any token of each text; NaN for a text
      without token embeddings.
    - `halves` (tokens, halves): the same for each half passage; `text_of` (halves,): the text it belongs to, in order.
    - `weights` (tokens,): the weight of each question token; they sum to 1.
    """

    nearest: NDArray[np.float64]
    halves: NDArray[np.float64]
    text_of: NDArray[np.int64]
    weights: NDArray[np.float32]

    def closeness(self) -> NDArray[np.float64]:
        """The similarity of each text to the question (MaxSim): shape (texts,), in [0, 1]; NaN without token
        embeddings.

        The sum over the question's tokens of weight x the greatest cosine with any token of the text. Source: Khattab
        and Zaharia, ColBERT, SIGIR 2020, with weights.
        """
        return np.clip(self._weighted(self.nearest), 0.0, 1.0)

    def closest_passage(self) -> NDArray[np.float64]:
        """The MaxSim of each text's best passage: shape (texts,), in [0, 1]; NaN without token embeddings.

        In a long text, some token is similar to any question token; all of them in one passage are better evidence. A
        text of at most two half passages is one passage.
        """
        closest = np.full(self.nearest.shape[1], np.nan)
        if not len(self.text_of):
            return closest
        close = self._weighted(self.halves)
        of_one_text = self.text_of[1:] == self.text_of[:-1]
        together = self._weighted(np.maximum(self.halves[:, :-1], self.halves[:, 1:]))
        close[:-1] = np.where(of_one_text, together, close[:-1])
        first = np.flatnonzero(_begins(self.text_of))
        closest[self.text_of[first]] = np.clip(np.maximum.reduceat(close, first), 0.0, 1.0)
        return closest

    def together(self, groups: NDArray[np.integer]) -> NDArray[np.float64]:
        """As `closeness`, with the texts of each group taken together; each text has its group's value.

        `groups`: shape (texts,); -1: a text of its own. NaN for a text without token embeddings.
        """
        present = np.flatnonzero(~np.isnan(self.nearest).any(axis=0))
        together = np.full(self.nearest.shape[1], np.nan)
        # Each text without a group gets a group of its own.
        own = np.where(groups < 0, groups.max(initial=0) + 1 + np.arange(len(groups)), groups)[present]
        if not len(present):
            return together
        in_groups = np.argsort(own, kind="stable")
        is_first = _begins(own[in_groups])
        best = np.maximum.reduceat(self.nearest[:, present[in_groups]], np.flatnonzero(is_first), axis=1)
        close = np.clip(self._weighted(best), 0.0, 1.0)
        together[present[in_groups]] = close[np.cumsum(is_first) - 1]
        return together

    def _weighted(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the question's tokens of weight x value, for each column of `values` (tokens, columns).

        A matrix product would round a column by its place among the others, which differs after an import.
        """
        return np.asarray((self.weights[:, np.newaxis] * values).sum(axis=0))


def compared(question: QuestionTokens, texts: Sequence[NDArray[np.uint8]]) -> TokenSimilarities:
    """Compare the token embeddings of a question with those of texts, as `packed` stores them.

    The cosine is estimated from signs: q · sign(x) / (√dim √(2/π)), unbiased for normally distributed components.
    """
    nearest = np.full((len(question.weights), len(texts)), np.nan)
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    if not sizes.any():
        return TokenSimilarities(nearest, nearest[:, :0], sizes[:0], question.weights)
    dim = question.vectors.shape[1]
    bits = np.unpackbits(np.concatenate(texts), axis=1, count=dim)
    # The question's components are rounded to 8 bits: three digits remain, and integers multiply in half the time.
    scales = np.abs(question.vectors).max(axis=1) / 127
    levels = np.rint(question.vectors / scales[:, np.newaxis]).astype(np.int8)
    held = question.sum_of_bits(bits, levels)
    text_of, starts = _halves(sizes)
    # q · sign(x) = 2 q · bits - sum of q. It increases with q · bits, so the maximum can be taken before the
    # conversion.
    most = 2 * np.maximum.reduceat(held, starts) - levels.sum(axis=1, dtype=np.int32)
    halves = (most * (scales / (math.sqrt(dim) * _SIGN_LENGTH))).T
    first = np.flatnonzero(_begins(text_of))
    nearest[:, text_of[first]] = np.maximum.reduceat(halves, first, axis=1)
    return TokenSimilarities(nearest, halves, text_of, question.weights)


def _begins(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before it. `np.diff` with `prepend` takes four times as long."""
    begins = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins


def _halves(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The text of each half passage, and the index of its first token among the tokens of all texts, in order."""
    counts = -(-sizes // HALF)
    text_of = np.repeat(np.arange(len(sizes)), counts)
    within = np.arange(len(text_of)) - np.repeat(np.cumsum(counts) - counts, counts)
    return text_of, np.repeat(np.cumsum(sizes) - sizes, counts) + within * HALF
