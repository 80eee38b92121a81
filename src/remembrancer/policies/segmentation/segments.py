"""The interface of segmentation: its input, the questions for a model, and its decision.

    plan = segmenter.plan(turns, note, ended=False, with_model=False)
    answer = ... ask a model, if plan.question is not None
    decision = segmenter.apply(turns, plan, answer)

`turns` are all turns of a stream that are in no episode yet, in order. Segmenters keep no state: `Decision.note` is
stored and passed to the next plan.
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
"""The `reason` of a segment that a model ended."""
SURPRISE: Final = "surprise"
"""The key, in notes, of the surprise of the open segment's first turn."""


EDGE: Final = 200
"""The characters at each end of a long turn that are embedded for segmentation."""


def edges(text: str) -> str:
    """A text of at most two EDGEs as it is; of a longer one, its first and last EDGE characters.

    A turn takes up a topic where it begins, and leaves it where it ends. Embedding both finds boundaries as well as
    embedding all of the turn, which takes up to three times as long (docs/decisions/0048-embedded-once-more.md).

    >>> len(edges("a" * 5_000))
    401
    """
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]} {text[-EDGE:]}"


def surprise_in(note: Note) -> float:
    """The surprise of the open segment's first turn, in [0, 1]; 0 if the note has none."""
    said = note.get(SURPRISE)
    return min(max(float(said), 0.0), 1.0) if isinstance(said, int | float) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTurn:
    """An event of the stream. `vector`: float32 (dim,), unit length; None without an embedder."""

    at: datetime
    speaker: str
    text: str
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The turns from `start` to `end` (exclusive). `surprise` in [0, 1]: how unexpected its first turn was.

    `reason`: why it ends there, in a word or two ("time gap"). `title`, `summary`: if a model gave them with the
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
    """A question for a model about the turns from `start` to `end` (exclusive).

    `whole` True: into which segments they fall, with title, summary and surprise; False: whether the last of them
    begins a new segment. `before`: the summary of the previous episode, or of the conversation so far.
    """

    start: int
    end: int
    whole: bool
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """A model's validated answer: the segments, in order and without gaps, as indexes of all turns; for a question
    about the last turn, one segment or two. `about`: the current topic of the conversation.
    """

    segments: tuple[Segment, ...]
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentationPlan:
    """The decisions about a tail, and the question for a model. `settled`: the segments that are decided. `question`:
    what to ask a model; None: nothing.

    `note`: as `Decision.note`, if no model is asked or none answers.
    """

    settled: tuple[Segment, ...] = ()
    question: BoundaryQuestion | None = None
    note: Note = field(default_factory=validation.no_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The result of segmentation. `segments`: complete segments, from the first turn on without gaps. The turns after
    them stay in the tail.
    """

    segments: tuple[Segment, ...]
    note: Note = field(default_factory=validation.no_json)


class Segmenter(Protocol):
    """Decides where episodes end. Pure: the same turns, note and answer give the same decision."""

    def plan(self, turns: Sequence[StreamTurn], note: Note, *, ended: bool, with_model: bool) -> SegmentationPlan:
        """Decide what can be decided without a model. `ended`: the last segment is complete, because the stream was
        closed or silent for long. `with_model`: whether a model can be asked.
        """
        ...

    def apply(self, turns: Sequence[StreamTurn], plan: SegmentationPlan, answer: Boundaries | None) -> Decision:
        """Complete the decision. `answer` None: no model was asked, or its answer was invalid; decide without it."""
        ...
