"""Complete-linkage clustering: in each group every two members are similar."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from typing import Final

LOOKED_AT: Final = 64
"""Each set is compared with at most this many earlier sets that share a term, the most recent ones."""
NEIGHBOURS: Final = 32
"""The most similar sets kept for each set."""

_ROUNDING: Final = 1e-9

Pair = tuple[int, int]
"""Two indexes, the smaller first."""
Linked = Callable[[int, int], bool]
"""Whether two members, given by their indexes, the smaller first, may be in one group."""


def linked_groups(likeness: Mapping[Pair, float], linked: Linked, *, most: int) -> tuple[tuple[int, ...], ...]:
    """Groups of two to `most` indexes, all pairs of which are linked. Indexes are sorted; groups are ordered by their
    first.

    `likeness`: the similarity of the linked pairs. The most similar pairs are joined first, ties by index, so the
    result is deterministic.
    """
    group_of: dict[int, list[int]] = {}
    for one, other in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        mine, theirs = group_of.setdefault(one, [one]), group_of.setdefault(other, [other])
        if mine is theirs or len(mine) + len(theirs) > most:
            continue
        pairs = ((min(pair), max(pair)) for pair in product(mine, theirs))
        if all(pair in likeness or linked(*pair) for pair in pairs):
            mine += theirs
            group_of.update(dict.fromkeys(theirs, mine))
    distinct = {id(group): tuple(sorted(group)) for group in group_of.values() if len(group) > 1}
    return tuple(sorted(distinct.values()))


def alike(sets: Sequence[frozenset[str]], blocks: Sequence[Hashable], *, least: float) -> dict[Pair, float]:
    """The pairs of sets in the same block with a Jaccard similarity of at least `least` (more than 0). Empty sets have
    none.

    `blocks`: a key for each set. Only sets that share one of their rarest terms are compared (prefix filtering:
    Chaudhuri, Ganti and Kaushik, ICDE 2006). If very many sets share a term, `LOOKED_AT` and `NEIGHBOURS` limit the
    pairs.
    """
    placed: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, block in enumerate(blocks):
        placed[block].append(place)
    pairs: dict[Pair, float] = {}
    for places in placed.values():
        pairs |= _alike(sets, places, least)
    return pairs


def _alike(sets: Sequence[frozenset[str]], places: Sequence[int], least: float) -> dict[Pair, float]:
    held = Counter(term for place in places for term in sets[place])
    with_term: defaultdict[str, list[int]] = defaultdict(list)
    pairs: dict[Pair, float] = {}
    for place in places:
        rarest_first = sorted(sets[place], key=lambda term: (held[term], term))
        # Two similar sets share a term among the first few of each (prefix filtering).
        prefix = rarest_first[: len(rarest_first) - math.ceil(least * len(rarest_first) - _ROUNDING) + 1]
        candidates = {other for term in prefix for other in with_term[term][-LOOKED_AT:]}
        near = ((_likeness(sets[place], sets[other]), -other) for other in candidates)
        for each, other in heapq.nlargest(NEIGHBOURS, [one for one in near if one[0] >= least]):
            pairs[-other, place] = each
        for term in prefix:
            with_term[term].append(place)
    return pairs


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two non-empty sets, with one temporary set instead of two, because it is
    called very often.
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
