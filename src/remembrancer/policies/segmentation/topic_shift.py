"""Segmentation without a model: an episode ends where the topic shifts, or after a long pause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.policies.segmentation.evidence import REACH, TailReading
from remembrancer.policies.segmentation.likeness import PACE, USUAL, Measure, Pace, Usual
from remembrancer.policies.segmentation.segments import (
    ENDED,
    SURPRISE,
    Boundaries,
    Decision,
    Note,
    Segment,
    SegmentationPlan,
    StreamTurn,
    surprise_in,
)
from remembrancer.values import dataclass

TOPIC: Final = "topic"
TIME_GAP: Final = "time gap"
LENGTH: Final = "length"

RIVALS: Final = 3
"""A boundary is placed only if none of the next this many candidates has more evidence."""

MAX_TURNS: Final = 1_000
MAX_MINUTES: Final = 60.0 * 24 * 365
MAX_FACTOR: Final = 10_000.0
MAX_EAGERNESS: Final = 100.0

# Keys of the note.
_PACE: Final = "pace"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicShift:
    """An episode ends by the first of these rules that applies:

    1. before a pause of at least `gap_minutes` that is also at least `gap_factor` times the stream's usual pause;
    2. once it has `fewest` turns: where the evidence for a boundary (`BoundaryEvidence`) plus `eagerness` is above 0
       and not less than before any of the next RIVALS turns;
    3. at `most` turns: where the evidence was strongest in their second half.

    `eagerness`: 0 was best over chat, tasks and meetings; higher values give more and shorter episodes.

    A boundary is decided `ahead` turns after it, or earlier if the stream ends or pauses, so the result does not depend
    on how many turns are given at a time. The stream's running means are kept in the note. No model is asked. Turns
    without a vector are compared by their words.

    An episode's surprise is that of its first turn (`TailReading.surprise`); 0 after a pause and at the beginning of a
    stream, where there is nothing to compare with.
    """

    fewest: int = 2
    most: int = 50
    gap_minutes: float = 15.0
    gap_factor: float = 16.0
    eagerness: float = 0.0

    def __post_init__(self) -> None:
        validation.whole("topic_shift.most", self.most, 2, MAX_TURNS)
        validation.whole("topic_shift.fewest", self.fewest, 1, self.most // 2)
        validation.number("topic_shift.gap_minutes", self.gap_minutes, 0.0, MAX_MINUTES)
        validation.number("topic_shift.gap_factor", self.gap_factor, 1.0, MAX_FACTOR)
        validation.number("topic_shift.eagerness", self.eagerness, -MAX_EAGERNESS, MAX_EAGERNESS)

    @property
    def ahead(self) -> int:
        """The number of turns after a boundary that are read before it is decided."""
        return RIVALS + max(REACH, self.fewest)

    def plan(self, turns: Sequence[StreamTurn], note: Note, *, ended: bool, with_model: bool) -> SegmentationPlan:
        """Decides everything that can be decided; asks no question."""
        if not turns:
            return SegmentationPlan(note=note)
        reading = TailReading(turns, {measure: _usual_in(note, measure) for measure in Measure})
        paces = self._paces(turns, _pace_in(note))
        silences = [at for at in range(1, len(turns)) if self._is_gap(turns, at, paces[at - 1])]
        settled: list[Segment] = []
        start, surprise = 0, surprise_in(note)
        for end in (*silences, len(turns)):
            silent = end < len(turns)
            for cut, reason in self._shifts(reading, start, end, closed=silent or ended):
                settled.append(Segment(start=start, end=cut, surprise=surprise, reason=reason))
                start, surprise = cut, reading.surprise(cut, start)
            if silent or ended:
                reason = TIME_GAP if silent else ENDED
                settled.append(Segment(start=start, end=end, surprise=surprise, reason=reason))
                start, surprise = end, 0.0
        read = min(start, len(turns) - 1)
        return SegmentationPlan(settled=tuple(settled), note=_note(reading.usual(read), paces[read], surprise))

    def apply(self, turns: Sequence[StreamTurn], plan: SegmentationPlan, answer: Boundaries | None) -> Decision:
        return Decision(segments=plan.settled, note=plan.note)

    def _shifts(self, reading: TailReading, start: int, end: int, *, closed: bool) -> list[tuple[int, str]]:
        """The ends of the episodes in the turns from `start` to `end` (exclusive), with reasons; without
        the last one.
        """
        found: list[tuple[int, str]] = []
        scores: dict[int, float] = {}
        at = start + self.fewest
        while at < end and (closed or at + self.ahead <= end):
            rivals = range(at, min(at + RIVALS + 1, end))
            scores.update({one: reading.score(one, start, end) for one in rivals if one not in scores})
            best = max(scores[one] for one in rivals)
            if scores[at] == best and best + self.eagerness > 0 and end - at >= self.fewest:
                found.append((at, TOPIC))
            elif at - start == self.most:
                found.append((max(range(start + self.most // 2, at + 1), key=scores.__getitem__), LENGTH))
            else:
                at += 1
                continue
            start, scores = found[-1][0], {}
            at = start + self.fewest
        return found

    def _is_gap(self, turns: Sequence[StreamTurn], at: int, pace: Pace) -> bool:
        pause = turns[at].at - turns[at - 1].at
        return pause >= max(timedelta(minutes=self.gap_minutes), self.gap_factor * pace.usual)

    def _paces(self, turns: Sequence[StreamTurn], pace: Pace) -> list[Pace]:
        """The pace after each turn."""
        paces = [pace]
        for one, other in pairwise(turns):
            paces.append(paces[-1].seen(other.at - one.at, self.gap_factor))
        return paces


def _usual_in(note: Note, measure: Measure) -> Usual:
    match note.get(measure.value):
        case [int(count), int(mean) | float(mean), int(variance) | float(variance)] if count > 0:
            return Usual(count, float(mean), float(variance))
        case _:
            return USUAL[measure]


def _pace_in(note: Note) -> Pace:
    match note.get(_PACE):
        case [int(count), int(mean) | float(mean)] if count > 0:
            return Pace(count, float(mean))
        case _:
            return PACE


def _note(usual: Mapping[Measure, Usual], pace: Pace, surprise: float) -> Note:
    told: dict[str, JsonValue] = {_PACE: [pace.count, pace.mean], SURPRISE: surprise}
    for measure, one in usual.items():
        told[measure.value] = [one.count, one.mean, one.variance]
    return told
