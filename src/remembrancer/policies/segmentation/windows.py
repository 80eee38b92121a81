"""Segmentation by windows of turns: a model is asked once about each window, because a single message
says too little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from datetime import timedelta
from itertools import pairwise
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.policies.segmentation.dual_channel import ABOUT, DualChannel, about_in, surprise_after
from remembrancer.policies.segmentation.segments import (
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
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.values import dataclass

MAX_SIZE: Final = 200
MAX_HOURS: Final = 24.0 * 365
MAX_ABOUT_CHARS: Final = 2_000

_DOUBLED: Final = "doubled"
_ENDED: Final = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """A model is asked into which segments a window falls, once the window is full: at `size` turns, or at `fewest`
    turns if its first turn is more than `hours` older than its last.

    The last segment stays open; its first turn begins the next window. If a full window is one segment, the next
    question waits for twice as many turns; if that window is one segment too, or is full by its `hours`, the segment is
    complete. At the end of the stream, the remaining turns are one more window, with all segments complete.

    A segment's surprise is that of its first turn relative to the previous segment (`surprise_after`) if the turns have
    vectors, else the one that the model gave. A segment that stayed open keeps the surprise it had when it was the last
    of its window. With vectors, a stream's first segment, and one after a complete window, have surprise 0, because
    there is nothing to compare with. Without a model, `otherwise` decides turn by turn; if a model's answer is invalid,
    it decides that window. Source: PlastMem, batch segmentation.
    """

    size: int = 20
    fewest: int = 5
    hours: float = 2.0
    otherwise: DualChannel | TopicShift = field(default_factory=DualChannel)

    def __post_init__(self) -> None:
        validation.whole("windows.size", self.size, 2, MAX_SIZE)
        validation.whole("windows.fewest", self.fewest, 1, self.size)
        validation.number("windows.hours", self.hours, 0.0, MAX_HOURS)

    def plan(self, turns: Sequence[StreamTurn], note: Note, *, ended: bool, with_model: bool) -> SegmentationPlan:
        """Ask about the first window; the next one is planned after that is decided."""
        if not with_model:
            return self.otherwise.plan(turns, note, ended=ended, with_model=False)
        doubled = note.get(_DOUBLED) is True
        end = self._window(turns, doubled=doubled)
        whole = ended and end in {None, len(turns)}
        if not turns or (end is None and not whole):
            return SegmentationPlan(note=note)
        question = BoundaryQuestion(start=0, end=end or len(turns), whole=True, before=about_in(note))
        return SegmentationPlan(question=question, note=_with(note, _ENDED, whole))

    def apply(self, turns: Sequence[StreamTurn], plan: SegmentationPlan, answer: Boundaries | None) -> Decision:
        question = plan.question
        if question is None:
            return Decision(segments=plan.settled, note=plan.note)
        asked = turns[question.start : question.end]
        first, *others = self._unanswered(asked) if answer is None else _compared(turns, answer.segments)
        if SURPRISE in plan.note:
            first = replace(first, surprise=surprise_in(plan.note))
        if plan.note.get(_ENDED) is True:
            *before, last = first, *others
            return _complete(*before, replace(last, reason=ENDED))
        if others:
            decided = _complete(first, *others[:-1])
            return replace(decided, note=_with(decided.note, SURPRISE, others[-1].surprise))
        if len(asked) == self.size and plan.note.get(_DOUBLED) is not True:
            return Decision(segments=(), note=_with(_with(plan.note, _ENDED, None), _DOUBLED, True))
        return _complete(first)

    def _window(self, turns: Sequence[StreamTurn], *, doubled: bool) -> int | None:
        """The number of turns of the window, if it is full by size or by time; else None."""
        full = 2 * self.size if doubled else self.size
        longest = timedelta(hours=self.hours)
        first = self.size + 1 if doubled else self.fewest
        for end in range(first, min(len(turns), full) + 1):
            if end == full or turns[end - 1].at - turns[0].at > longest:
                return end
        return None

    def _unanswered(self, asked: Sequence[StreamTurn]) -> Sequence[Segment]:
        return self.otherwise.plan(asked, {}, ended=True, with_model=False).settled


def _compared(turns: Sequence[StreamTurn], segments: Sequence[Segment]) -> Iterator[Segment]:
    """The segments with the surprise computed from vectors; without vectors, that of the model."""
    first = segments[0]
    yield first if turns[first.start].vector is None else replace(first, surprise=0.0)
    for before, segment in pairwise(segments):
        surprise = surprise_after(turns[before.start : before.end], turns[segment.start])
        yield segment if surprise is None else replace(segment, surprise=surprise)


def _complete(*segments: Segment) -> Decision:
    """A decision with these segments. The summary of the last one is kept for the question about the next window."""
    about = (segments[-1].summary or "")[:MAX_ABOUT_CHARS]
    return Decision(segments=segments, note=_with({}, ABOUT, about or None))


def _with(note: Note, name: str, value: JsonValue) -> Note:
    """The note with one value added or changed; None or False removes it."""
    told = {key: said for key, said in note.items() if key != name}
    return told if value is None or value is False else told | {name: value}
