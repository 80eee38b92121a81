"""What speaks for a new episode before a turn, and how much each of it weighs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from remembrancer.language.english.turn_cues import asks, closes, refers_back
from remembrancer.policies.segmentation.likeness import Likeness, Measure, Usual
from remembrancer.policies.segmentation.segments import Turn

BLOCK: Final = 2
"""Turns of a block: a turn and its answer."""
LINKED: Final = 3
"""A boundary is bridged by a turn as far before it as this."""
PEAK_BEFORE: Final = 4
PEAK_AFTER: Final = 2
"""How far from a dip in cohesion the peaks on its two sides may stand, in turns."""
KNOWN: Final = 4
"""Words count as known that stand in so many turns before."""
MANNER: Final = 8
"""So many turns before, and REACH after, say how long turns are here."""
SHORT: Final = 20.0
LONG: Final = 400.0
"""Characters: a shorter turn counts as that short, a longer one as that long."""

REACH: Final = BLOCK + PEAK_AFTER
"""The evidence for a boundary reads so many turns after it."""


class Evidence(NamedTuple):
    """Of a boundary before one turn. Likeness is told in standard deviations from what is usual for the stream.

    `cohesion`: likeness of the two turns before the boundary, taken together, to the two after it. `link`: the greatest
    likeness of one of three turns before to one of the two after: one answer holds a talk together. `depth`: by how
    much the peaks of cohesion on both sides are above it, added up. `following`: likeness of the turn to the two after
    it: what begins here goes on. `asked`: 1 where the turn before asks. `closed`: 1 where one of the two before closes
    a matter. `referring`: 1 where the turn refers back. `new_words`: the share of its terms that the four turns before
    do not have, 0 without terms. `length`: the mean of ln(characters) of the turns around: where much is said in a
    turn, a topic lasts for more of them.

    Sources: cohesion and depth: Hearst, TextTiling, Computational Linguistics 23(1), 1997; an answer belongs to its
    question: Schegloff and Sacks, "Opening up closings", Semiotica 8, 1973 (adjacency pairs); new words: Youmans,
    "A new tool for discourse analysis", Language 67, 1991.
    """

    cohesion: float
    link: float
    depth: float
    following: float
    asked: float
    closed: float
    referring: float
    new_words: float
    length: float


WEIGHTS: Final = Evidence(
    cohesion=-0.3,
    link=-0.3,
    depth=0.3,
    following=0.3,
    asked=-1.2,
    closed=1.0,
    referring=-0.6,
    new_words=1.9,
    length=-1.3,
)
"""What each adds to the log odds of a boundary, by its unit. Logistic regression on the parts for tuning of three data
sets, each of which counts the same, rounded: docs/decisions/0014-segmentation.md.
"""

BIAS: Final = 2.5
"""Added to the sum, so that a boundary is worth it above 0: chosen there as well, by Pk and WindowDiff."""


class Reading:
    """The turns of a tail, and what was usual before the first of them."""

    def __init__(self, turns: Sequence[Turn], usual: Mapping[Measure, Usual]) -> None:
        self.likeness = Likeness(turns)
        self._turns = turns
        self._asks = [asks(turn.text) for turn in turns]
        self._closes = [closes(turn.text) for turn in turns]
        self._refers = [refers_back(turn.text) for turn in turns]
        self._chars = [math.log(min(max(len(turn.text), SHORT), LONG)) for turn in turns]
        self._usual = [dict(usual)]
        for place in range(1, len(turns)):
            self._usual.append(self._after(self._usual[-1], place))

    def usual(self, place: int) -> Mapping[Measure, Usual]:
        """What is usual once the turn has been read."""
        return self._usual[place]

    def score(self, place: int, start: int, end: int) -> float:
        """How much speaks for a boundary there; above 0: more for than against. See `evidence`."""
        found = self.evidence(place, start, end)
        return BIAS + sum(weight * each for weight, each in zip(WEIGHTS, found, strict=True))

    def evidence(self, place: int, start: int, end: int) -> Evidence:
        """Of a boundary before the turn `place`, in an episode that began with the turn `start`.

        `end`: the first turn that does not count, because it is not there yet or comes after a silence. Of the turns
        from `place` on, REACH are read. start < place < end.
        """
        measure = self.likeness.measure(max(start, place - PEAK_BEFORE - BLOCK), min(end, place + REACH))
        usual = self._usual[min(place + REACH, end) - 1][measure]
        first, last = max(place - PEAK_BEFORE, start + 1), min(place + PEAK_AFTER, end - 1)
        cohesion = {
            at: usual.standing(self.likeness.blocks(max(start, at - BLOCK), at, min(at + BLOCK, end), measure))
            for at in range(first, last + 1)
        }
        before = max(cohesion[at] for at in range(first, place + 1))
        after = max(cohesion[at] for at in range(place, last + 1))
        link = max(
            self.likeness.pair(one, other, measure)
            for one in range(max(start, place - LINKED), place)
            for other in range(place, min(place + BLOCK, end))
        )
        beyond = min(place + 1 + BLOCK, end)
        followed = beyond > place + 1
        terms = set(self.likeness.terms(place))
        known = {term for at in range(max(start, place - KNOWN), place) for term in self.likeness.terms(at)}
        manner = self._chars[max(start, place - MANNER) : min(place + REACH, end)]
        return Evidence(
            cohesion=cohesion[place],
            link=usual.standing(link),
            depth=before + after - 2 * cohesion[place],
            following=usual.standing(self.likeness.mean(place, place + 1, beyond, measure)) if followed else 0.0,
            asked=float(self._asks[place - 1]),
            closed=float(any(self._closes[max(start, place - BLOCK) : place])),
            referring=float(self._refers[place]),
            new_words=len(terms - known) / len(terms) if terms else 0.0,
            length=sum(manner) / len(manner),
        )

    def surprise(self, place: int, start: int) -> float:
        """Of a turn, after the episode that began with the turn `start`: 1 - the cosine of its vector and the mean of
        the episode's, within [0, 1]; 0 where a vector is missing. Source: PlastMem, "surprise detection".
        """
        if self.likeness.measure(start, place + 1) is Measure.WORDS:
            return 0.0
        return min(max(1 - self.likeness.blocks(start, place, place + 1, Measure.VECTORS), 0.0), 1.0)

    def _after(self, usual: Mapping[Measure, Usual], place: int) -> dict[Measure, Usual]:
        measure = self.likeness.measure(place - 1, place + 1)
        return {**usual, measure: usual[measure].seen(self.likeness.pair(place - 1, place, measure))}
