"""What a segmenter is compared with: nothing, chance, a ruler, and TextTiling.

Each gives one segmentation of a dialogue, as lengths in turns, or several of which the mean counts. They see the whole
dialogue; of what they are set up by, they see the part of its set that is for tuning.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from remembrancer.evaluation.segmentation_data import Dialogue, DialogueSet
from remembrancer.evaluation.segmentation_metrics import lengths
from remembrancer.language.english.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS: Final = 100
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

Segmentation = tuple[int, ...]


class Method(Protocol):
    @property
    def name(self) -> str: ...

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        """`vectors`: of the texts by themselves, float32 (turns, dim), unit rows; None without an embedder."""
        ...


@dataclass(frozen=True, slots=True)
class Undivided:
    """Each dialogue is one segment."""

    name: str = "none"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        return [(len(dialogue.texts),)]


@dataclass(frozen=True, slots=True)
class Chance:
    """A boundary before each turn with the probability `rate`, DRAWS times, seeded for each dialogue."""

    rate: float
    seed: int
    name: str = "random"

    @classmethod
    def of(cls, tuning: DialogueSet, seed: int) -> Chance:
        """As many boundaries as are to be expected."""
        boundaries = sum(len(one.lengths) - 1 for one in tuning.dialogues)
        return cls(boundaries / (tuning.turns - len(tuning.dialogues)), seed)

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        turns = len(dialogue.texts)
        digest = hashlib.sha256(f"{self.seed}\n{dialogue.id}".encode()).digest()
        drawn = np.random.default_rng(int.from_bytes(digest[:8])).random((DRAWS, turns - 1)) < self.rate
        return [lengths((np.flatnonzero(row) + 1).tolist(), turns) for row in drawn]


@dataclass(frozen=True, slots=True)
class Windows:
    """A boundary every `length` turns."""

    length: int
    name: str = "fixed windows"

    @classmethod
    def of(cls, tuning: DialogueSet) -> Windows:
        """The mean length of a segment, rounded, halves up."""
        return cls(max(1, math.floor(tuning.mean_length + 0.5)))

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        turns = len(dialogue.texts)
        return [lengths(range(self.length, turns, self.length), turns)]


@dataclass(frozen=True, slots=True)
class Tiling:
    """What the forms of TextTiling share, from the scores of cohesion at each gap on.

    Scores are smoothed `rounds` times by the mean with both neighbours. A gap's depth is by how much the nearest peaks
    on both sides are above it, added up. Boundaries are the gaps whose depth is above mean + `cutoff` standard
    deviations of all depths, deepest first, none within `apart` gaps of one that is deeper.
    Source: Hearst, Computational Linguistics 23(1), 1997, §5.
    """

    rounds: int
    cutoff: float
    apart: int

    def gaps(self, scores: Sequence[float]) -> list[int]:
        """The places of the boundaries among the scores, in order."""
        smoothed = list(scores)
        for _ in range(self.rounds):
            smoothed = [float(np.mean(smoothed[max(0, at - 1) : at + 2])) for at in range(len(smoothed))]
        depths = [_peak(smoothed[at::-1]) + _peak(smoothed[at:]) - 2 * score for at, score in enumerate(smoothed)]
        if not depths:
            return []
        least = max(float(np.mean(depths)) + self.cutoff * float(np.std(depths)), 0.0)
        chosen: list[int] = []
        for at in sorted(range(len(depths)), key=lambda at: -depths[at]):
            if depths[at] > least and all(abs(at - other) > self.apart for other in chosen):
                chosen.append(at)
        return sorted(chosen)


@dataclass(frozen=True, slots=True)
class TextTiling:
    """As published: pseudo-sentences of `width` words, stop words left out, blocks of `block` of them compared by the
    cosine of their counts, smoothed once; a boundary moves to the nearest end of a turn. HC, the stricter of the two
    published cutoffs, and the published sizes.
    """

    width: int = 20
    block: int = 10
    tiling: Tiling = Tiling(rounds=1, cutoff=-0.5, apart=3)
    name: str = "texttiling"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        words = [_words(text) for text in dialogue.texts]
        ends = np.cumsum([len(each) for each in words])
        stream = [word for each in words for word in each]
        bags = [_bag(stream[at : at + self.width]) for at in range(0, len(stream), self.width)]
        scores: list[float] = []
        for at in range(1, len(bags)):
            # Where there is less than a block at an end, both are as short, as in the usual implementations.
            size = min(self.block, at, len(bags) - at)
            scores.append(_cosine(_sum(bags[at - size : at]), _sum(bags[at : at + size])))
        begun = {int(np.argmin(np.abs(ends[:-1] - (gap + 1) * self.width))) + 1 for gap in self.tiling.gaps(scores)}
        return [lengths(sorted(begun), len(dialogue.texts))]


@dataclass(frozen=True, slots=True)
class TurnTiling:
    """TextTiling fitted to talk: a turn is a pseudo-sentence. The numbers are those with the least Pk and WindowDiff on
    the parts for tuning of the three sets of docs/decisions/0014-segmentation.md, one choice for all.
    """

    block: int = 3
    tiling: Tiling = Tiling(rounds=2, cutoff=1.5, apart=3)
    name: str = "texttiling by turns"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        bags = [_bag(_words(text)) for text in dialogue.texts]
        scores = [
            _cosine(_sum(bags[max(0, at - self.block) : at]), _sum(bags[at : at + self.block]))
            for at in range(1, len(bags))
        ]
        return [lengths([gap + 1 for gap in self.tiling.gaps(scores)], len(bags))]


@dataclass(frozen=True, slots=True)
class VectorTiling:
    """The same over vectors: blocks are compared by the cosine of the sums of their turns' vectors. Its numbers were
    chosen in the same way.
    """

    block: int = 5
    tiling: Tiling = Tiling(rounds=0, cutoff=1.5, apart=3)
    name: str = "texttiling by vectors"

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[Segmentation]:
        turns = len(dialogue.texts)
        if vectors is None:
            return [(turns,)]
        rows = vectors.astype(np.float64)
        scores = [
            _between(rows[max(0, at - self.block) : at].sum(axis=0), rows[at : at + self.block].sum(axis=0))
            for at in range(1, turns)
        ]
        return [lengths([gap + 1 for gap in self.tiling.gaps(scores)], turns)]


def _peak(scores: Sequence[float]) -> float:
    """The height that is climbed to from the first of some scores, before it goes down."""
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
    squares = sum(count * count for count in one.values()) * sum(count * count for count in other.values())
    return sum(count * other[word] for word, count in one.items()) / math.sqrt(squares) if squares else 0.0


def _between(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 0.0
