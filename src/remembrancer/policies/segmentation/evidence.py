"""The evidence for an episode boundary before a turn, and its weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from remembrancer.language.english.turn_cues import asks, closes, refers_back
from remembrancer.policies.segmentation.likeness import Likeness, Measure, Usual
from remembrancer.policies.segmentation.segments import StreamTurn

BLOCK: Final = 2
"""The number of turns in a block: a turn and its answer."""
LINKED: Final = 3
"""The number of turns before a boundary in which a link is looked for."""
PEAK_BEFORE: Final = 4
PEAK_AFTER: Final = 2
"""The peaks on both sides of a dip in cohesion are looked for within this many turns."""
KNOWN: Final = 4
"""Terms of this many preceding turns count as known."""
MANNER: Final = 8
"""The mean length of turns is measured over this many turns before, and REACH after."""
SHORT: Final = 20.0
LONG: Final = 400.0
"""Lengths of turns, in characters, are limited to [SHORT, LONG]."""

REACH: Final = BLOCK + PEAK_AFTER
"""The number of turns after a boundary that its evidence depends on."""


class BoundaryEvidence(NamedTuple):
    """The evidence for a boundary before one turn. Similarities are z-scores relative to the stream's mean.

    - `cohesion`: similarity of the two turns before the boundary, taken together, to the two after it.
    - `link`: the greatest similarity of one of the three turns before to one of the two after.
    - `depth`: how much lower cohesion is than its peaks on both sides; the sum of both.
    - `following`: similarity of the turn to the two after it: a new topic continues.
    - `asked`: 1 if the turn before asks. `closed`: 1 if one of the two before closes a topic. `referring`: 1 if the
      turn refers back.
    - `new_words`: the share of its terms that the four turns before do not have; 0 without terms.
    - `length`: the mean of ln(characters) of the surrounding turns: long turns go with topics of more turns.

    Sources: cohesion and depth: Hearst, TextTiling, Computational Linguistics 23(1), 1997; question and answer belong
    together: Schegloff and Sacks, "Opening up closings", Semiotica 8, 1973 (adjacency pairs); new words: Youmans, "A
    new tool for discourse analysis", Language 67, 1991.
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


WEIGHTS: Final = BoundaryEvidence(
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
"""The weight of each feature in the log odds of a boundary. Logistic regression on the tuning parts of three data sets
with equal weight, rounded: docs/decisions/0014-segmentation.md.
"""

BIAS: Final = 2.5
"""The intercept. A boundary is placed if the result is above 0; chosen on the same data by Pk and WindowDiff."""


class TailReading:
    """The turns of a tail, and the stream's mean similarities before it."""

    def __init__(self, turns: Sequence[StreamTurn], usual: Mapping[Measure, Usual]) -> None:
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
        """The mean similarities after the turn `place`."""
        return self._usual[place]

    def score(self, place: int, start: int, end: int) -> float:
        """The log odds of a boundary, plus the intercept; a boundary is likely above 0. Arguments as in `evidence`."""
        found = self.evidence(place, start, end)
        return BIAS + sum(weight * each for weight, each in zip(WEIGHTS, found, strict=True))

    def evidence(self, place: int, start: int, end: int) -> BoundaryEvidence:
        """The evidence for a boundary before the turn `place`, in an episode that began with the turn `start`.

        `end`: the first turn that does not count, because it is not recorded yet or follows a pause. REACH turns from
        `place` on are read. start < place < end.
        """
        measure = self.likeness.measure(max(start, place - PEAK_BEFORE - BLOCK), min(end, place + REACH))
        usual = self._usual[min(place + REACH, end) - 1][measure]
        first, last = max(place - PEAK_BEFORE, start + 1), min(place + PEAK_AFTER, end - 1)
        cohesion = {
            at: usual.z_score(self.likeness.blocks(max(start, at - BLOCK), at, min(at + BLOCK, end), measure))
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
        return BoundaryEvidence(
            cohesion=cohesion[place],
            link=usual.z_score(link),
            depth=before + after - 2 * cohesion[place],
            following=usual.z_score(self.likeness.mean(place, place + 1, beyond, measure)) if followed else 0.0,
            asked=float(self._asks[place - 1]),
            closed=float(any(self._closes[max(start, place - BLOCK) : place])),
            referring=float(self._refers[place]),
            new_words=len(terms - known) / len(terms) if terms else 0.0,
            length=sum(manner) / len(manner),
        )

    def surprise(self, place: int, start: int) -> float:
        """The surprise of a turn after an episode that began with the turn `start`: 1 - the cosine of its vector and
        the mean of the episode's, within [0, 1]; 0 if a vector is missing. Source: PlastMem, "surprise detection".
        """
        if self.likeness.measure(start, place + 1) is Measure.WORDS:
            return 0.0
        return min(max(1 - self.likeness.blocks(start, place, place + 1, Measure.VECTORS), 0.0), 1.0)

    def _after(self, usual: Mapping[Measure, Usual], place: int) -> dict[Measure, Usual]:
        measure = self.likeness.measure(place - 1, place + 1)
        return {**usual, measure: usual[measure].seen(self.likeness.pair(place - 1, place, measure))}
