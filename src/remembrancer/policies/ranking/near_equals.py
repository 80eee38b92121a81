"""Candidates that belong together: a question and its reply, and statements of one thing with different values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from remembrancer.language.english.values import StatedValue
from remembrancer.policies.ranking.diversity import jaccard

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from remembrancer.domain.candidates import Candidates

REPLIED_WITHIN: Final = 3_600_000_000
"""A reply comes within an hour, in microseconds."""
NEXT_BUT_ONE: Final = 0.75
"""The weight of words that are two turns away, of an index's `ContextRules`."""
ALIKE: Final = 2 / 3
"""The least Jaccard similarity of the words of two statements about one thing."""
SHARED: Final = 2
"""The least number of words that two statements about one thing share."""
COMPARABLE: Final = 0.8
"""The least share of an untrusted text's score that a user's statement about the same has, to come before it."""
NEARLY: Final = 0.5
"""The least Jaccard similarity of the words of two texts that say nearly the same."""


def reply_to(found: Candidates, index: int) -> int | None:
    """The candidate that is the next turn after this one in its session, and so has its words around it; None if that
    is not known. A turn that the question asks less about by its speaker is no reply.
    """
    around = found.context_features
    if around is None or around.stream[index] < 0 or not found.coverage[index] > 0:
        return None
    # Candidates are in order of time, newest first.
    for later in range(index - 1, -1, -1):
        if around.stream[later] != around.stream[index]:
            continue
        waited = found.states.occurred_from[later] - found.states.occurred_at[index]
        words = found.coverage[later] + around.neighbour_coverage[later]
        is_next = words >= NEXT_BUT_ONE * found.coverage[index] and waited <= REPLIED_WITHIN
        return later if is_next and around.speaker_match[later] >= around.speaker_match[index] else None
    return None


def is_newer_value(older: StatedValue, newer: StatedValue) -> bool:
    """Whether two statements are about one thing, and the newer one gives another value of it."""
    shared = len(older.words & newer.words)
    return shared >= SHARED and shared / len(older.words | newer.words) >= ALIKE and older.values != newer.values


def nearly_equal(words: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Whether two texts with these words say nearly the same."""
    return jaccard(words, other) >= NEARLY


def about_the_same(question: AbstractSet[str], text: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Whether two texts with these words share at least `SHARED` words of the question."""
    return len(question & text & other) >= SHARED
