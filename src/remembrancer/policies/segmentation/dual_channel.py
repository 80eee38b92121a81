"""Segmentation turn by turn: each turn is compared with the open segment by rules, surprise, topic, and a model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.policies.segmentation.segments import (
    BY_MODEL,
    ENDED,
    SURPRISE,
    Boundaries,
    BoundaryQuestion,
    Decision,
    Note,
    Segment,
    SegmentationPlan,
    StreamTurn,
    surprise_in,
)
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_TURNS: Final = 1_000
MAX_CHARS: Final = 100_000
MAX_MINUTES: Final = 60.0 * 24 * 365

# Keys of the note.
ABOUT: Final = "about"
_JUDGED: Final = "judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class DualChannel:
    """Each turn is compared with the open segment before it. The first rule that applies decides:

    1. The segment has fewer than `fewest` turns: the turn belongs to it.
    2. It has `most` turns: the turn begins a new one.
    3. The pause before the turn is longer than `gap_minutes`: the turn begins a new one.
    4. The segment has less than `fewest_chars` characters, or the turn less than `shortest`: the turn belongs to it.
    5. The turn's surprise is above `surprise`: it begins a new one.
    6. Its topic similarity is at least `similarity`: it belongs to the segment.
    7. A model is asked; without one the turn begins a new segment.

    Surprise is 1 - the cosine of the turn's vector and the mean of the segment's vectors (the event model), within [0,
    1]. Topic similarity is the cosine with a running mean of vectors; each new turn has the weight `pace` in it. If the
    turn has no vector, it belongs to the segment, unless a model decides otherwise.

    A segment has the surprise of its first turn; 0 if a rule about length or time began it, because that turn was not
    compared. Source: PlastMem, "episodic memory": creation, surprise detection.
    """

    fewest: int = 3
    most: int = 50
    gap_minutes: float = 15.0
    fewest_chars: int = 100
    shortest: int = 5
    surprise: float = 0.65
    similarity: float = 0.5
    pace: float = 0.2

    def __post_init__(self) -> None:
        validation.whole("dual_channel.most", self.most, 1, MAX_TURNS)
        validation.whole("dual_channel.fewest", self.fewest, 1, self.most)
        validation.number("dual_channel.gap_minutes", self.gap_minutes, 0.0, MAX_MINUTES)
        validation.whole("dual_channel.fewest_chars", self.fewest_chars, 0, MAX_CHARS)
        validation.whole("dual_channel.shortest", self.shortest, 0, MAX_CHARS)
        validation.fraction("dual_channel.surprise", self.surprise)
        validation.number("dual_channel.similarity", self.similarity, -1.0, 1.0)
        validation.fraction("dual_channel.pace", self.pace)

    def plan(self, turns: Sequence[StreamTurn], note: Note, *, ended: bool, with_model: bool) -> SegmentationPlan:
        """Decide the turns before the first one that needs a model."""
        settled: list[Segment] = []
        opened = _Open(self, 0, surprise_in(note))
        judged, about = _judged_in(note), about_in(note)
        for place, turn in enumerate(turns):
            verdict = opened.verdict(turn)
            asks = with_model and verdict in _UNSURE
            if asks and place - opened.start >= judged:
                question = BoundaryQuestion(start=opened.start, end=place + 1, whole=False, before=about)
                return SegmentationPlan(
                    settled=tuple(settled), question=question, note=_note(opened.surprise, judged, about)
                )
            if verdict in _CUTS and not asks:
                surprise = opened.surprise_at(turn, verdict)
                settled.append(opened.ended(place, verdict.value))
                opened = _Open(self, place, surprise)
                judged, about = 0, ""
            opened.take(turn)
        if ended and turns:
            settled.append(opened.ended(len(turns), ENDED))
            return SegmentationPlan(settled=tuple(settled))
        return SegmentationPlan(settled=tuple(settled), note=_note(opened.surprise, judged, about))

    def apply(self, turns: Sequence[StreamTurn], plan: SegmentationPlan, answer: Boundaries | None) -> Decision:
        """Decide with the model's answer. Without one, the turn begins a new segment (rule 7), or belongs to the open
        one if it has no vector.
        """
        question = plan.question
        if question is None:
            return Decision(segments=plan.settled, note=plan.note)
        last = question.end - 1
        opened = _Open(self, question.start, surprise_in(plan.note))
        for turn in turns[question.start : last]:
            opened.take(turn)
        verdict = opened.verdict(turns[last])
        cuts = verdict in _CUTS if answer is None else len(answer.segments) > 1
        if not cuts:
            about = about_in(plan.note) if answer is None else answer.about
            return Decision(segments=plan.settled, note=_note(opened.surprise, last + 1 - question.start, about))
        ended = opened.ended(last, verdict.value if answer is None else BY_MODEL)
        return Decision(segments=(*plan.settled, ended), note=_note(opened.surprise_at(turns[last], verdict)))


def surprise_after(before: Sequence[StreamTurn], turn: StreamTurn) -> float | None:
    """The surprise of a turn after a segment, as in `DualChannel`; None if a vector is missing."""
    vectors = [one.vector for one in before if one.vector is not None]
    return _surprise(np.array(vectors).sum(axis=0, dtype=np.float64) if vectors else None, turn.vector)


def about_in(note: Note) -> str:
    """The model's summary of the open segment; "" if the note has none."""
    said = note.get(ABOUT)
    return said if isinstance(said, str) else ""


def _judged_in(note: Note) -> int:
    """The number of turns of the open segment that a model has judged to belong together."""
    said = note.get(_JUDGED)
    return said if isinstance(said, int) else 0


def _note(surprise: float, judged: int = 0, about: str = "") -> Note:
    """A note with the values that differ from the defaults."""
    told: dict[str, JsonValue] = {SURPRISE: surprise, _JUDGED: judged, ABOUT: about}
    return {name: value for name, value in told.items() if value}


class _Verdict(StrEnum):
    BELONGS = "belongs"
    LENGTH = "length"
    TIME_GAP = "time gap"
    SURPRISE = "surprise"
    TOPIC = "topic"
    UNKNOWN = "no vector to compare"


_CUTS: Final = frozenset({_Verdict.LENGTH, _Verdict.TIME_GAP, _Verdict.SURPRISE, _Verdict.TOPIC})
_UNSURE: Final = frozenset({_Verdict.TOPIC, _Verdict.UNKNOWN})


class _Open:
    """The open segment: its turns' number, length and time, and its two mean vectors."""

    def __init__(self, rules: DualChannel, start: int, surprise: float) -> None:
        self.start = start
        self.surprise = surprise
        self._rules = rules
        self._turns = 0
        self._chars = 0
        self._last: StreamTurn | None = None
        self._sum: NDArray[np.float64] | None = None
        self._rolling: NDArray[np.float64] | None = None

    def take(self, turn: StreamTurn) -> None:
        self._turns += 1
        self._chars += len(turn.text)
        self._last = turn
        if turn.vector is None:
            return
        vector = turn.vector.astype(np.float64)
        if self._sum is None or self._rolling is None:
            self._sum = self._rolling = vector
            return
        self._sum = self._sum + vector
        rolled = (1 - self._rules.pace) * self._rolling + self._rules.pace * vector
        length = float(np.linalg.norm(rolled))
        self._rolling = rolled / length if length else vector

    def verdict(self, turn: StreamTurn) -> _Verdict:  # noqa: PLR0911  a return for each rule
        rules = self._rules
        if self._last is None or self._turns < rules.fewest:
            return _Verdict.BELONGS
        if self._turns >= rules.most:
            return _Verdict.LENGTH
        if turn.at - self._last.at > timedelta(minutes=rules.gap_minutes):
            return _Verdict.TIME_GAP
        if self._chars < rules.fewest_chars or len(turn.text) < rules.shortest:
            return _Verdict.BELONGS
        expected, topic = _cosine(self._sum, turn.vector), _cosine(self._rolling, turn.vector)
        if expected is None or topic is None:
            return _Verdict.UNKNOWN
        if 1 - expected > rules.surprise:
            return _Verdict.SURPRISE
        return _Verdict.BELONGS if topic >= rules.similarity else _Verdict.TOPIC

    def surprise_at(self, turn: StreamTurn, verdict: _Verdict) -> float:
        """The surprise of the turn that begins the next segment. `verdict`: the rule that began it."""
        if verdict in {_Verdict.LENGTH, _Verdict.TIME_GAP}:
            return 0.0
        return _surprise(self._sum, turn.vector) or 0.0

    def ended(self, place: int, reason: str) -> Segment:
        return Segment(start=self.start, end=place, surprise=self.surprise, reason=reason)


def _surprise(event_model: NDArray[np.float64] | None, vector: NDArray[np.float32] | None) -> float | None:
    cosine = _cosine(event_model, vector)
    return None if cosine is None else min(max(1 - cosine, 0.0), 1.0)


def _cosine(one: NDArray[np.float64] | None, other: NDArray[np.float32] | None) -> float | None:
    if one is None or other is None:
        return None
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other.astype(np.float64)))
    return float(one @ other.astype(np.float64)) / lengths if lengths else None
