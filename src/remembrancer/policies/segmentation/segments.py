"""The interface of segmentation: its input, its questions, and its decision.

    plan = segmenter.plan(turns, note, ended=False, with_model=False)
    answer = ... ask a model, where plan.question is not None
    decision = segmenter.apply(turns, plan, answer)

`turns` are all turns of a stream that are in no episode yet, in order. Segmenters keep no state: what has to be
remembered goes into `Decision.note` and is given to the next plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Note = Mapping[str, JsonValue]

ENDED: Final = "end of the stream"
BY_MODEL: Final = "a model's word"
"""The reason of a segment that a model ended."""
SURPRISE: Final = "surprise"
"""The name, in notes, of the surprise of the open segment's first turn."""


def surprise_in(note: Note) -> float:
    """The surprise of the open segment's first turn, in [0, 1]; 0 where the note has none."""
    said = note.get(SURPRISE)
    return min(max(float(said), 0.0), 1.0) if isinstance(said, int | float) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTurn:
    """One event of the stream. `vector`: float32 (dim,), unit length; None without an embedder."""

    at: datetime
    speaker: str
    text: str
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Turns from `start` up to `end`. `surprise` in [0, 1]: how unexpected its first turn was.

    `reason`: why it ends there, in a word or two ("time gap"). `title`, `summary`: where a model gave them with the
    boundary.
    """

    start: int
    end: int
    surprise: float
    reason: str
    title: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryQuestion:
    """The question to a model about turns from `start` up to `end`.

    `whole`: into which segments they fall, each with title, summary and surprise; otherwise: whether the last of them
    begins a new segment. `before`: the summary of the episode before, or of the conversation so far.
    """

    start: int
    end: int
    whole: bool
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """A model's checked answer: the segments that the turns fall into, in order and without gaps, as indexes of all
    turns; for a question about the last turn only, one segment or two. `model`: what the conversation is about now.
    """

    segments: tuple[Segment, ...]
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentationPlan:
    """`settled`: segments that are decided. `question`: what to ask a model; None: nothing.

    `note`: as `Decision.note`, for the case that nothing is asked or nobody answers.
    """

    settled: tuple[Segment, ...] = ()
    question: BoundaryQuestion | None = None
    note: Note = field(default_factory=validation.no_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`segments`: complete ones, from the first turn on without gaps. The turns after them stay in the tail."""

    segments: tuple[Segment, ...]
    note: Note = field(default_factory=validation.no_json)


class Segmenter(Protocol):
    """Pure: the same turns, note and answer give the same decision."""

    def plan(self, turns: Sequence[StreamTurn], note: Note, *, ended: bool, with_model: bool) -> SegmentationPlan:
        """`ended`: the last segment is complete, because the stream was silent for long or was closed. `with_model`: a
        model can be asked.
        """
        ...

    def apply(self, turns: Sequence[StreamTurn], plan: SegmentationPlan, answer: Boundaries | None) -> Decision:
        """`answer` None: nobody was asked, or the answer was unusable; the decision is then made without it."""
        ...
