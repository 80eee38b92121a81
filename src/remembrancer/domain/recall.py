"""The answer to a question: hits with explanations, what was degraded, timings, and a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Literal, Protocol, overload
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.age import Age
from remembrancer.domain.memory import Cue, Memory
from remembrancer.domain.names import NamedSpeaker
from remembrancer.domain.query import QuestionKind
from remembrancer.values import dataclass

PRODUCT: Final = "product"
"""The label of a node that multiplies its parts; other nodes add theirs."""
OFF: Final = "off"
"""The `floor` of a recall without a relevance threshold."""
Floor = float | Literal["off"]
"""The least probability of a hit, in [0, 1], in place of the preset's relevance threshold; "off": none."""


@dataclass(frozen=True, slots=True)
class Part:
    """One node of a score's tree: its label, its value, and its contribution to the parent's value.

    The root's `contribution` is the score. `parts`: the child nodes, in the order of the expression.
    """

    label: str
    value: float | None
    contribution: float
    parts: tuple[Part, ...] = ()

    @property
    def is_product(self) -> bool:
        return self.label == PRODUCT


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit has its score.

    `signals`: every signal that the score may read; None if absent. `ranks`: the hit's rank, from 1, in each search
    that found it; equal values share the best rank, as in the score.

    If requested: `matched`, the words of the best cue, as written in it, that the question asks for, in the order of
    the question; `reason`, the explanation in words, on one line, strongest first ("close in meaning; the word
    'refund'; said by Ana on Saturday 14 March 2026").
    """

    score: Part
    signals: Mapping[str, float | None]
    ranks: Mapping[str, int]
    matched: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers the question. `score`, in [0, 1]; `rank`: from 1, by descending score. `cue`: its best turn
    or text.

    `turns`: the cues that are turns of its transcript, in order. `via`: the hit whose `similar` relation gave the
    score, if no search found the memory or the relation gave a higher score. `journal_only`: the hit is an event
    (`cue.event_id`) that formed no memory; `memory` has its text and is not stored.

    `replies_to`: the hit that only asks for what this one says, and that this one precedes. `newer`: a better hit that
    says the same later with another value, so that this one may be out of date.

    `probability`: the fraction of hits with this score and rank that answered the question, in [0, 1], with two
    decimals, measured on other data than it was fitted on. None: the ranking is not calibrated for the embedder, or no
    search found the hit.
    """

    rank: int
    score: float
    memory: Memory
    cue: Cue
    age: Age
    explanation: Explanation
    turns: tuple[Cue, ...] = ()
    via: UUID | None = None
    journal_only: bool = False
    replies_to: UUID | None = None
    newer: UUID | None = None
    probability: float | None = None

    @property
    def id(self) -> UUID:
        return self.memory.id


class RecallMode(StrEnum):
    """The text of a recall is a QUESTION, whose answer is wanted, or a MESSAGE, a turn of a conversation, to which some
    memories may matter although it does not ask for them.
    """

    QUESTION = "question"
    MESSAGE = "message"


class FlaggedRecall(StrEnum):
    """The treatment of flagged memories in recall: those of untrusted origins that tell a language model what to do.

    KEEP: it ranks them as others. LOWER: it multiplies their score by `LOWERED`. HOLD_BACK: it leaves them out, unless
    the filter names their tag.
    """

    KEEP = "keep"
    LOWER = "lower"
    HOLD_BACK = "hold_back"


LOWERED: Final = 0.5
"""The factor of the score of a flagged memory, if the preset lowers them."""
MAX_HELD_BACK: Final = 100
"""The most flagged memories that an answer counts."""


class Stage(StrEnum):
    """The stage of recall that a candidate reached last."""

    RETURNED = "returned"
    LIMIT = "below the limit"
    DUPLICATE = "the same text as a better hit"
    ALIKE = "too similar to better hits"
    THRESHOLD = "below the relevance threshold"
    MIN_SCORE = "below the requested minimum score"
    FLOOR = "below the requested probability"
    MESSAGE = "the message itself"
    ROW_MISSING = "deleted during the recall"


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The value that a candidate lacked to go further: `value` is less than `needed`, or equal and ranked behind it.
    `measure`: "score", "relevance" at the relevance threshold, or "probability" below a `floor`.
    """

    measure: str
    value: float
    needed: float


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A memory that is not among the hits because its score or its probability is too low. `score`: in [0, 1].
    `probability`: as of a Hit.
    """

    memory_id: UUID
    score: float
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """The outcome of one candidate: the stage, and why it was dropped. `rank`: among scored candidates, from 1.
    `shortfall`: at the stages THRESHOLD, MIN_SCORE, FLOOR and LIMIT, what it lacked. `probability`: as of a Hit.
    """

    stage: Stage
    score: float | None = None
    rank: int | None = None
    detail: str = ""
    shortfall: Shortfall | None = None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The computation of an answer: the search, and the outcome and score parts of each candidate.

    `embedded`: the part of the question that was embedded; names of speakers are left out. `kind`: what the question
    asks for; None if the preset reads only the terms of questions, and in a replay. `names`: the names of speakers in
    the question, and how each was matched.
    """

    searched: str
    embedded: str
    terms: tuple[str, ...]
    legs: Mapping[str, int]
    outcomes: Mapping[UUID, CandidateOutcome]
    scores: Mapping[UUID, Part] = field(default_factory=dict[UUID, Part])
    kind: QuestionKind | None = None
    names: tuple[NamedSpeaker, ...] = ()


class Detail(StrEnum):
    """The extent to which transcripts are rendered. AUTO: of memories that stand out; LOW: only of those that stand out
    most; HIGH: of all; NONE: only titles.
    """

    AUTO = "auto"
    LOW = "low"
    NONE = "none"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt block, and the hits that are in it, in order."""

    text: str
    hits: tuple[Hit, ...]


class Renderer(Protocol):
    """Turns memories into a prompt block of at most `max_chars` characters, wrapper included; empty without memories.

    `ids`: the line of each memory ends with its short id. Raises InvalidInput if the wrapper alone does not fit.
    """

    def hits(self, recall: Recall, *, max_chars: int, detail: Detail, ids: bool = False) -> Rendered: ...
    def pinned(self, recall: Recall, *, max_chars: int, ids: bool = False) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Sequence[Hit]):
    """The hits of a question, best first; itself a sequence of them.

    `degraded`: parts of the pipeline that were unavailable, and why ("dense": "no embedder"). `timings`: the duration
    of each stage; `search` excludes the time that passed while `embed` ran concurrently. `pinned`: memories that the
    preset adds to every answer, newest first; they are not among the hits. `below_threshold`: the memories that the
    answer would also have without its relevance threshold (`floor="off"`), best first. `flagged_held_back`: how many
    flagged memories (`Memory.flagged`) the preset held back, whether or not they answer the question, up to
    `MAX_HELD_BACK`. `recall_id`: if the answer was kept.
    """

    query: str
    asked_at: datetime
    hits: tuple[Hit, ...]
    degraded: Mapping[str, str]
    timings: Mapping[str, timedelta]
    trace: Trace
    renderer: Renderer = field(repr=False, compare=False)
    pinned: tuple[Memory, ...] = ()
    below_threshold: tuple[HeldBack, ...] = ()
    flagged_held_back: int = 0
    recall_id: UUID | None = None

    def render(self, *, max_chars: int = 4000, detail: Detail | str = Detail.AUTO) -> str:
        """A prompt block of the hits, marked as untrusted, of at most `max_chars` characters with its wrapper.

        Empty without hits. Raises InvalidInput if the wrapper alone does not fit.
        """
        return self.block(max_chars=max_chars, detail=detail).text

    def block(self, *, max_chars: int = 4000, detail: Detail | str = Detail.AUTO, ids: bool = False) -> Rendered:
        """The text of `render`, and the hits that fitted, to be passed to `mark`. `ids`: the line of each memory ends
        with its short id, which `forget`, `update` and `feedback` take.
        """
        detail = validation.choice("detail", detail, Detail)
        return self.renderer.hits(self, max_chars=max_chars, detail=detail, ids=ids)

    def render_pinned(self, *, max_chars: int = 4000, ids: bool = False) -> str:
        """A prompt block of the pinned memories, with its own limit. Empty if there are none. `ids`: as in `block`."""
        return self.renderer.pinned(self, max_chars=max_chars, ids=ids)

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]
