"""Which texts to read for passages in context: each text once, although it is the context of several passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.adapters.embedders.local.graphs import Pieces, ReadAlone
from remembrancer.ports.embedder import Passage
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG: Final = 400
"""A turn with more characters is not read whole for the context of another, but only the characters that count."""

TextPart = tuple[int, slice]
"""Pieces of a text: the text's index in `ReadingPlan.texts`, and the slice of its pieces."""


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """`passages`: the texts of the passages. `texts`: those of passages and contexts that differ for the model, which
    does not distinguish "Yes" from "yes". `own`: for each passage, the index of its text in `texts`. `context`: for
    each passage, the parts of other texts that it attends to; () for a passage without context.
    """

    passages: tuple[Pieces, ...]
    texts: tuple[Pieces, ...]
    own: tuple[int, ...]
    context: tuple[tuple[TextPart, ...], ...]

    def states(self, alone: Sequence[ReadAlone], passage: int) -> NDArray[np.float32]:
        """The states that a passage attends to, float32 (layers, read, dim)."""
        return np.concatenate([alone[text].states[:, part] for text, part in self.context[passage]], axis=1)


def planned(
    passages: Sequence[Passage], first: Callable[[str], Pieces], last: Callable[[str], Pieces], most: int
) -> ReadingPlan:
    """The plan for `passages`. `first`, `last`: the first and the last pieces of a text, at most `most` of them."""
    places: dict[bytes, int] = {}
    texts: list[Pieces] = []

    def place(pieces: Pieces) -> int:
        index = places.setdefault(pieces.ids.tobytes(), len(texts))
        if index == len(texts):
            texts.append(pieces)
        return index

    given = tuple(first(passage.text) for passage in passages)
    own = tuple(map(place, given))
    last = cache(last)  # a turn is in the context of several passages
    context: list[tuple[TextPart, ...]] = []
    for passage, text in zip(passages, given, strict=True):
        room = most - len(text.ids) if text.own.start < text.own.stop else 0
        parts: list[TextPart] = []
        for pieces, counted, ending in _context(passage, last):
            taken = min(counted, room)
            if taken:
                parts.append((place(pieces), slice(pieces.own.stop - taken, pieces.own.stop + ending)))
            room -= taken
        context.append(tuple(parts))
    return ReadingPlan(given, tuple(texts), own, tuple(context))


def _context(passage: Passage, last: Callable[[str], Pieces]) -> Iterator[tuple[Pieces, int, int]]:
    """The texts that a passage attends to, the most important first: its speaker, then the turns before it, without
    their speakers. Of each, the number of its last pieces that count, and of the special tokens after them, which is 1
    for a turn (docs/decisions/0048-embedded-once-more.md).
    """
    if passage.speaker:
        name = last(f"{passage.speaker}:")
        yield name, _count(name), 0
    for _, text, chars in passage.turns():
        end = last(text[len(text) - chars :])
        whole = end if chars == len(text) or len(text) > LONG else last(text)
        yield whole, min(_count(whole), _count(end)), 1


def _count(pieces: Pieces) -> int:
    return pieces.own.stop - pieces.own.start
