"""Baseline segmenters: no boundary, random boundaries, fixed windows, and TextTiling.

Each returns one segmentation of a dialogue, as lengths in turns, or several whose metrics are averaged. A baseline sees
the whole dialogue; its parameters come from the tuning part of the data set only.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from remembrancer.evaluation.segmentation_data import Dialogue, DialogueSet
from remembrancer.evaluation.segmentation_metrics import lengths
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS: Final = 100
"""Random segmentations per dialogue."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

BoundaryTuple = tuple[int, ...]
"""Lengths of the segments in turns, in order."""


class Method(Protocol):
    """A way to segment a dialogue."""

    @property
    def name(self) -> str: ...

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        """One or more segmentations. `vectors`: one unit vector per text, float32, shape (turns, dim); None without an
        embedder.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoBoundaries:
    """No boundary: each dialogue is one segment."""

    name: str = "none"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        return [(len(dialogue.texts),)]


@dataclass(frozen=True, slots=True)
class RandomBoundaries:
    """A boundary before each turn with probability `rate`; DRAWS segmentations, seeded by `seed` and the
    dialogue's id.
    """

    rate: float
    seed: int
    name: str = "random"

    @classmethod
    def of(cls, tuning: DialogueSet, seed: int) -> RandomBoundaries:
        """The rate is the share of turns, other than each dialogue's first, that begin a segment in the tuning part."""
        boundaries = sum(len(one.lengths) - 1 for one in tuning.dialogues)
        return cls(boundaries / (tuning.turns - len(tuning.dialogues)), seed)

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        turns = len(dialogue.texts)
        digest = hashlib.sha256(f"{self.seed}\n{dialogue.id}".encode()).digest()
        drawn = np.random.default_rng(int.from_bytes(digest[:8])).random((DRAWS, turns - 1)) < self.rate
        return [lengths((np.flatnonzero(row) + 1).tolist(), turns) for row in drawn]


@dataclass(frozen=True, slots=True)
class WindowBaseline:
    """A boundary every `length` turns."""

    length: int
    name: str = "fixed windows"

    @classmethod
    def of(cls, tuning: DialogueSet) -> WindowBaseline:
        """The length is the mean segment length of the tuning part, rounded half up, at least 1."""
        return cls(max(1, math.floor(tuning.mean_length + 0.5)))

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        turns = len(dialogue.texts)
        return [lengths(range(self.length, turns, self.length), turns)]


@dataclass(frozen=True, slots=True)
class Tiling:
    """The step that the variants of TextTiling share: from the cohesion score at each gap to boundaries.

    Scores are smoothed `rounds` times by the mean with both neighbours. The depth of a gap is the sum of how far the
    nearest peak on each side is above it. Boundaries are the gaps whose depth exceeds mean + `cutoff` standard
    deviations of all depths (and 0), deepest first, none within `min_gap` gaps of a deeper one. Source: Hearst,
    Computational Linguistics 23(1), 1997, §5.
    """

    rounds: int
    cutoff: float
    min_gap: int

    def gaps(self, scores: Sequence[float]) -> list[int]:
        """The indices of the boundaries in `scores`, ascending."""
        smoothed = list(scores)
        for _ in range(self.rounds):
            smoothed = [float(np.mean(smoothed[max(0, at - 1) : at + 2])) for at in range(len(smoothed))]
        depths = [_peak(smoothed[at::-1]) + _peak(smoothed[at:]) - 2 * score for at, score in enumerate(smoothed)]
        if not depths:
            return []
        least = max(float(np.mean(depths)) + self.cutoff * float(np.std(depths)), 0.0)
        chosen: list[int] = []
        for at in sorted(range(len(depths)), key=lambda at: -depths[at]):
            if depths[at] > least and all(abs(at - other) > self.min_gap for other in chosen):
                chosen.append(at)
        return sorted(chosen)


@dataclass(frozen=True, slots=True)
class TextTiling:
    """TextTiling as published, with the published sizes and HC, the stricter of the two published cutoffs.

    Pseudo-sentences have `width` words; stop words are dropped. Blocks of `block` pseudo-sentences are compared by the
    cosine of their word counts, smoothed once. A boundary moves to the nearest end of a turn.
    """

    width: int = 20
    block: int = 10
    tiling: Tiling = Tiling(rounds=1, cutoff=-0.5, min_gap=3)
    name: str = "texttiling"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        words = [_words(text) for text in dialogue.texts]
        ends = np.cumsum([len(each) for each in words])
        stream = [word for each in words for word in each]
        bags = [_bag(stream[at : at + self.width]) for at in range(0, len(stream), self.width)]
        scores: list[float] = []
        for at in range(1, len(bags)):
            # Near an end, both blocks shrink to the same size, as in the usual implementations.
            size = min(self.block, at, len(bags) - at)
            scores.append(_cosine(_sum(bags[at - size : at]), _sum(bags[at : at + size])))
        starts = {int(np.argmin(np.abs(ends[:-1] - (gap + 1) * self.width))) + 1 for gap in self.tiling.gaps(scores)}
        return [lengths(sorted(starts), len(dialogue.texts))]


@dataclass(frozen=True, slots=True)
class TurnTiling:
    """TextTiling for dialogue: each turn is a pseudo-sentence.

    The parameters minimise Pk and WindowDiff on the tuning parts of the three sets of
    docs/decisions/0014-segmentation.md; one choice serves all sets.
    """

    block: int = 3
    tiling: Tiling = Tiling(rounds=2, cutoff=1.5, min_gap=3)
    name: str = "texttiling by turns"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        bags = [_bag(_words(text)) for text in dialogue.texts]
        scores = [
            _cosine(_sum(bags[max(0, at - self.block) : at]), _sum(bags[at : at + self.block]))
            for at in range(1, len(bags))
        ]
        return [lengths([gap + 1 for gap in self.tiling.gaps(scores)], len(bags))]


@dataclass(frozen=True, slots=True)
class VectorTiling:
    """TurnTiling over vectors: blocks are compared by the cosine of the sums of their turns' vectors. The parameters
    were chosen as those of TurnTiling.
    """

    block: int = 5
    tiling: Tiling = Tiling(rounds=0, cutoff=1.5, min_gap=3)
    name: str = "texttiling by vectors"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        turns = len(dialogue.texts)
        if vectors is None:
            return [(turns,)]
        rows = vectors.astype(np.float64)
        scores = [
            _vector_cosine(rows[max(0, at - self.block) : at].sum(axis=0), rows[at : at + self.block].sum(axis=0))
            for at in range(1, turns)
        ]
        return [lengths([gap + 1 for gap in self.tiling.gaps(scores)], turns)]


def _peak(scores: Sequence[float]) -> float:
    """The highest score before the scores first fall."""
    height = scores[0]
    for score in scores[1:]:
        if score < height:
            break
        height = score
    return height


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _bag(words: Sequence[str]) -> Counter[str]:
    return Counter(word for word in words if word not in STOP_WORDS)


def _sum(bags: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for bag in bags:
        total.update(bag)
    return total


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    """Cosine similarity of two bags of words; 0 if either is empty."""
    squares = sum(count * count for count in one.values()) * sum(count * count for count in other.values())
    return sum(count * other[word] for word, count in one.items()) / math.sqrt(squares) if squares else 0.0


def _vector_cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Cosine similarity of two vectors; 0 if either is zero."""
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 0.0
