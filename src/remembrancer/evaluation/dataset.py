"""Data sets for evaluation: conversations, and questions with the ids of the turns that answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import Role
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

TURN_SPACING: Final = timedelta(seconds=10)
"""A turn without a time is dated this long after the turn before it, which keeps the order of the turns."""

ASKED_AFTER: Final = timedelta(days=1)
"""A question without a time is asked this long after the last turn."""

MAX_AT_ONCE: Final = 10_000
"""The most turns of one conversation with the same time: the most rows that a listing of the memory returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetTurn:
    """One utterance. `id` is unique within its conversation; `session` None: the turn belongs to no session."""

    id: str
    text: str
    occurred_at: datetime
    session: str | None = None
    actor: str | None = None
    role: str = Role.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetQuestion:
    """A question; `id` is unique within its conversation.

    `evidence`: ids of the turns that answer it, at least one. If no turn answers it (`answerable` is false), `evidence`
    names turns that look like an answer, and may be empty. `sessions`: the sessions of the evidence, without repeats; a
    turn without a session counts as a session of its own. `foreign`: the id of the conversation that the question was
    taken from, when that is not the one it is asked of.
    """

    id: str
    text: str
    category: str
    asked_at: datetime
    evidence: tuple[str, ...]
    sessions: tuple[str, ...]
    answerable: bool = True
    foreign: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The turns of one conversation, in order, at least one. A system under test sees nothing else of the data set."""

    id: str
    turns: tuple[DatasetTurn, ...]

    @property
    def ends(self) -> datetime:
        """The time of the latest turn."""
        return max(turn.occurred_at for turn in self.turns)

    def session_of(self) -> dict[str, str]:
        """The session of each turn, by turn id; a turn without a session is a session of its own."""
        return {turn.id: turn.id if turn.session is None else turn.session for turn in self.turns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A transcript and its questions. `excluded`: number of questions left out because they have no usable evidence.

    `foreign`: questions taken from other conversations that are asked of this one too; see evaluation.foreign.
    """

    transcript: Transcript
    questions: tuple[DatasetQuestion, ...]
    excluded: int = 0
    foreign: tuple[DatasetQuestion, ...] = ()

    @property
    def id(self) -> str:
        return self.transcript.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Conversations with distinct ids. `sha256`: of the content read; several files are concatenated.

    `categories`: of the answerable questions, in report order. `unanswerable`: the data set's name for questions
    without an answer.
    """

    name: str
    sha256: str
    conversations: tuple[Conversation, ...]
    categories: tuple[str, ...]
    unanswerable: str = "unanswerable"

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(conversation.id for conversation in self.conversations)

    @property
    def turns(self) -> int:
        """Number of turns of all conversations."""
        return sum(len(conversation.transcript.turns) for conversation in self.conversations)

    @property
    def has_sessions(self) -> bool:
        """Whether any turn belongs to a session."""
        return any(turn.session is not None for one in self.conversations for turn in one.transcript.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The conversations to measure: the `first` n, or those named in `only`; all when neither is given.

    `tuned`: ids of the selected conversations that the configuration was tuned on; these and the others are also
    reported separately.
    """

    first: int | None = None
    only: Sequence[str] = field(default=())
    tuned: Sequence[str] = field(default=())

    def of(self, dataset: Dataset) -> Dataset:
        """The data set with the selected conversations only, in its own order.

        Raises InvalidInput for an unknown id, for `first` together with `only`, and when `tuned` names every selected
        conversation.
        """
        if self.first is not None and self.only:
            raise InvalidInput("only", list(self.only), "no ids beside a number of conversations")
        chosen = dataset.conversations
        if self.first is not None:
            chosen = chosen[: validation.whole("conversations", self.first, 1, len(chosen))]
        if self.only:
            names = _known("only", self.only, dataset.ids)
            chosen = tuple(conversation for conversation in chosen if conversation.id in names)
        tuned = _known("tuned", self.tuned, tuple(conversation.id for conversation in chosen))
        if len(tuned) == len(chosen):
            raise InvalidInput("tuned", sorted(tuned), "at least one conversation left untouched")
        return replace(dataset, conversations=chosen)


def _known(argument: str, names: Sequence[str], known: Sequence[str]) -> frozenset[str]:
    """The names as a set. Raises InvalidInput for one that is not in `known`."""
    for name in names:
        if name not in known:
            raise InvalidInput(argument, name, f"ids of {len(known)} conversations: {', '.join(known)}")
    return frozenset(names)
