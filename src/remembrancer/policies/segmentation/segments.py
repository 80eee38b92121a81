"""What segmentation is given, what it may ask, and what it decides.

    plan = segmenter.plan(turns, note, ended=False, with_model=False)
    answer = ... ask a model, where plan.question is not None
    decision = segmenter.apply(turns, plan, answer)

`turns` are those of a stream that are in no episode yet, in order, all of them. Nothing here keeps state: what must be
remembered from one time to the next goes into `Decision.note`, which the next plan is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Note = Mapping[str, JsonValue]

ENDED: Final = "end of the stream"
BY_MODEL: Final = "a model's word"
"""Why the last segment of a stream ends."""
SURPRISE: Final = "surprise"
"""What notes call the surprise of the turn that began the open segment."""


def surprise_in(note: Note) -> float:
    """The surprise of the turn that began the segment which is open, in [0, 1]; 0 where the note does not say: nothing
    came before the first of a stream.
    """
    said = note.get(SURPRISE)
    return min(max(float(said), 0.0), 1.0) if isinstance(said, int | float) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One event of the stream. `vector`: float32 (dim,), unit length; None without an embedder."""

    at: datetime
    speaker: str
    text: str
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Turns `start` to `end`, exclusive. `surprise` in [0, 1]: how unexpected the turn was that began it.

    `reason`: why it ends where it does, in a word or two ("time gap"). `title`, `summary`: where a model gave them
    along with the boundary.
    """

    start: int
    end: int
    surprise: float
    reason: str
    title: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryQuestion:
    """What a model is asked about turns `start` to `end`, exclusive.

    `whole`: into which segments they fall, each with title, summary and surprise; otherwise: whether the last of them
    begins something new. `before`: the summary of the episode before, or what the conversation has been about so far.
    """

    start: int
    end: int
    whole: bool
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """A model's answer, checked: the segments that the asked turns fall into, in order and without a gap, in the places
    of all turns; for a question about the last turn only, one segment or two. `model`: what the talk is about now.
    """

    segments: tuple[Segment, ...]
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`settled`: segments that are decided already. `question`: what is left to ask; None: nothing.

    `note`: as `Decision.note`, where nothing is asked or nobody answers.
    """

    settled: tuple[Segment, ...] = ()
    question: BoundaryQuestion | None = None
    note: Note = field(default_factory=validation.no_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`segments`: complete, in order, from the first turn on without a gap; the turns after them stay in the tail."""

    segments: tuple[Segment, ...]
    note: Note = field(default_factory=validation.no_json)


class Segmenter(Protocol):
    """Pure: the same turns, note and answer give the same decision."""

    def plan(self, turns: Sequence[Turn], note: Note, *, ended: bool, with_model: bool) -> Plan:
        """`ended`: the stream has been silent so long that its last segment is complete, or somebody said so.
        `with_model`: a question can be asked.
        """
        ...

    def apply(self, turns: Sequence[Turn], plan: Plan, answer: Boundaries | None) -> Decision:
        """`answer` None: nobody was asked, or the answer was unusable: what is decided then is decided without."""
        ...
