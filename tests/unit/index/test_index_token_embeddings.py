"""Token embeddings that were read are cached until their text changes or there are too many."""

from __future__ import annotations

import numpy as np
import pytest

from remembrancer.index import vectors
from remembrancer.index.vectors import TokenEmbeddingCache

ONE, TWO, THREE = 1, 2, 3
SIGNS = np.zeros((5, 48), dtype=np.uint8)


def kept(*refs: int) -> TokenEmbeddingCache:
    words = TokenEmbeddingCache()
    for ref in refs:
        words.keep(ref, SIGNS)
    return words


def test_stored_token_embeddings_are_found() -> None:
    assert list(kept(ONE).of([ONE, TWO])) == [ONE]


def test_dropped_token_embeddings_take_no_room() -> None:
    words = kept(ONE, TWO)
    words.drop([ONE, TWO, THREE])
    assert (words.of([ONE, TWO]), words.nbytes) == ({}, 0)


def test_the_same_kept_again_takes_its_room_once() -> None:
    words = kept(ONE)
    before = words.nbytes
    words.keep(ONE, SIGNS)
    assert words.nbytes == before


def test_beyond_its_limit_the_first_read_entries_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MAX_CACHED_BYTES", 2 * kept(ONE).nbytes)
    assert list(kept(ONE, TWO, THREE).of([ONE, TWO, THREE])) == [TWO, THREE]
