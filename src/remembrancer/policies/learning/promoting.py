"""The learnings that recur in enough jobs to be shared more widely."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.scope import Level, Visibility, level_of
from remembrancer.policies.consolidation.condensing import shared_attributes
from remembrancer.policies.consolidation.linkage import NEIGHBOURS, Pair, alike, linked_groups
from remembrancer.policies.consolidation.near_duplicates import claim_of
from remembrancer.policies.ranking.diversity import jaccard, words_of
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = Mapping[UUID, NDArray[np.float32]]
    """Unit vectors by memory; some memories may have none."""

MOST: Final = 1_000
"""The most memories that form one learning."""
ROWS: Final = 512
"""The cosine matrix is computed this many rows at a time."""

PROMOTED_FROM: Final = "promoted_from"
"""The metadata field with the ids of the memories that a memory was promoted from: the first five, because of the limit
of a file's header. The relations name all of them.
"""
NAMED: Final = 5

OF_A_JOB: Final = frozenset({"session_id", "session_task"})
"""Metadata fields that identify the job of a learning."""

_JOB: Final = re.compile(r"(?:^|/)(?:jobs|\.sessions)/(?P<job>[^/]+)/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """A learning is promoted to the project once it occurred in `jobs` different jobs.

    Two memories of these tiers are the same learning if their similarity is at least `similar` (cosine of their
    vectors, or Jaccard of their words if one has no vector) and they make the same claim (`near_duplicates`).
    """

    similar: float = 0.8
    jobs: int = 3
    tiers: tuple[Tier, ...] = (Tier.SEMANTIC,)

    def __post_init__(self) -> None:
        validation.number("promotion.similar", self.similar, 0.05, 1)
        validation.whole("promotion.jobs", self.jobs, 2, 1_000)


def job_of(memory: Memory) -> str | None:
    """The job of a learning: the folder of its file, its session, or the job named in its header."""
    folder = _JOB.search(memory.source or "")
    if folder:
        return folder["job"]
    if memory.scope.session is not None:
        return memory.scope.session
    named = memory.metadata.get("session_id")
    return named if isinstance(named, str) and named else None


def may_rise(memory: Memory, rule: Promotion) -> bool:
    """Whether the memory can be promoted: a job's learning visible to the whole workspace, without a topic key."""
    return (
        memory.tier in rule.tiers
        and memory.topic_key is None
        and memory.visibility is Visibility.WORKSPACE
        and level_of(memory.scope) > Level.PROJECT
        and job_of(memory) is not None
    )


class Learnings:
    """Memories in time order, with the similarity of pairs."""

    def __init__(self, memories: Sequence[Memory], vectors: Vectors, rule: Promotion, pinned_tag: str | None) -> None:
        self._memories = memories
        self._vectors = vectors
        self._rule = rule
        self._words = [words_of(memory.text) for memory in memories]
        self._claims = [claim_of(memory.text) for memory in memories]
        self._blocks = [_block(memory, pinned_tag) for memory in memories]
        self._place_of = {memory.id: place for place, memory in enumerate(memories)}
        self._of_level: defaultdict[Level, defaultdict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
        for place, memory in enumerate(memories):
            self._of_level[level_of(memory.scope)][self._blocks[place]].append(place)

    def recurring(self) -> tuple[tuple[Memory, ...], ...]:
        """Groups of memories that occurred in enough jobs, each in time order."""
        rising = [place for place, memory in enumerate(self._memories) if may_rise(memory, self._rule)]
        pairs = {pair: each for pair, each in self._pairs(rising).items() if self._same(*pair)}
        groups = linked_groups(pairs, self._same, most=MOST)
        found = (tuple(self._memories[place] for place in group) for group in groups)
        return tuple(group for group in found if len({job_of(memory) for memory in group}) >= self._rule.jobs)

    def of_level(self, level: Level) -> tuple[Memory, ...]:
        places = sorted(place for block in self._of_level[level].values() for place in block)
        return tuple(self._memories[place] for place in places)

    def known(self, group: Sequence[Memory], level: Level) -> Memory | None:
        """The first memory of that level with the same content as the group."""
        told = self._place_of[longest(group).id]
        for place in self._of_level[level].get(self._blocks[told], ()):
            if self._same(min(place, told), max(place, told)):
                return self._memories[place]
        return None

    def _same(self, one: int, other: int) -> bool:
        return (
            self._blocks[one] == self._blocks[other]
            and self._likeness(one, other) >= self._rule.similar
            and not self._claims[one].difference(self._claims[other])
        )

    def _likeness(self, one: int, other: int) -> float:
        mine = self._vectors.get(self._memories[one].id)
        theirs = self._vectors.get(self._memories[other].id)
        if mine is None or theirs is None:
            return jaccard(self._words[one], self._words[other])
        return float(mine @ theirs)

    def _pairs(self, places: Sequence[int]) -> dict[Pair, float]:
        """The pairs that are similar enough, by their words or vectors."""
        sets = [self._words[place] for place in places]
        by_words = alike(sets, [self._blocks[place] for place in places], least=self._rule.similar)
        pairs = {(places[one], places[other]): each for (one, other), each in by_words.items()}
        blocks: defaultdict[Hashable, list[int]] = defaultdict(list)
        for place in places:
            if self._memories[place].id in self._vectors:
                blocks[self._blocks[place]].append(place)
        for several in blocks.values():
            pairs |= self._near(several)
        return pairs

    def _near(self, places: Sequence[int]) -> dict[Pair, float]:
        matrix = np.stack([self._vectors[self._memories[place].id] for place in places])
        found: dict[Pair, float] = {}
        for start in range(0, len(places), ROWS):
            cosines = matrix[start : start + ROWS] @ matrix.T
            for row, near in enumerate(cosines, start=start):
                later = np.flatnonzero(near[row + 1 :] >= self._rule.similar) + row + 1
                best = later[np.argsort(-near[later], kind="stable")][:NEIGHBOURS]
                found |= {(places[row], places[int(other)]): float(near[other]) for other in best}
        return found


def longest(group: Sequence[Memory]) -> Memory:
    """The longest of memories with the same content; ties: the first."""
    return max(group, key=lambda memory: len(memory.text))


def _block(memory: Memory, pinned_tag: str | None) -> Hashable:
    """A key; only learnings with equal keys are promoted together. Of the scope it contains only the project."""
    attributes = shared_attributes(memory, sessions_apart=False, pinned_tag=pinned_tag)
    return (
        memory.scope.project,
        attributes.visibility,
        attributes.valid_from,
        attributes.valid_until,
        attributes.pinned,
        memory.kind,
        memory.tier,
    )
