"""Words that were read are kept until their memory changes or there are too many."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from remembrancer.adapters.sqlite.resident import kept_words
from remembrancer.adapters.sqlite.resident.kept_words import KeptWords

ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))
ALL_SEEN = np.ones(4, dtype=np.bool_)
SIGNS = np.zeros((5, 48), dtype=np.uint8)


def kept(*identifiers: UUID) -> KeptWords:
    words = KeptWords()
    for slot, identifier in enumerate(identifiers):
        words.keep(identifier, slot, 0, SIGNS)
    return words


def test_what_is_kept_is_found() -> None:
    assert list(kept(ONE).of({ONE: 0, TWO: 0}, ALL_SEEN)) == [ONE]


def test_another_cue_s_words_are_not_those_that_are_kept() -> None:
    assert kept(ONE).of({ONE: 1}, ALL_SEEN) == {}


def test_what_the_reader_does_not_see_is_not_found() -> None:
    assert list(kept(ONE, TWO).of({ONE: 0, TWO: 0}, np.array([False, True]))) == [TWO]


def test_what_is_dropped_takes_no_room() -> None:
    words = kept(ONE)
    words.drop(ONE)
    assert (words.of({ONE: 0}, ALL_SEEN), words.nbytes) == ({}, 0)


def test_the_same_kept_again_takes_its_room_once() -> None:
    words = kept(ONE)
    before = words.nbytes
    words.keep(ONE, 0, 1, SIGNS)
    assert words.nbytes == before


def test_beyond_its_room_what_was_read_first_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_words, "MAX_BYTES", 2 * kept(ONE).nbytes)
    assert list(kept(ONE, TWO, THREE).of({ONE: 0, TWO: 0, THREE: 0}, ALL_SEEN)) == [TWO, THREE]
