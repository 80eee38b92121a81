"""What is evaluated on: conversations, and questions whose answers are known turn by turn, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import Role
from remembrancer.errors import InvalidInput

TURN_SPACING: Final = timedelta(seconds=10)
"""Turns without a time of their own follow each other at this distance, so that their order is kept."""

ASKED_AFTER: Final = timedelta(days=1)
"""A question that does not say when it is asked is asked this long after the last turn."""

MAX_AT_ONCE: Final = 10_000
"""Turns of one conversation at one moment: as many as a listing of the memory has rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance. `id` is unique within its conversation; `session` None: it belongs to no session."""

    id: str
    text: str
    occurred_at: datetime
    session: str | None = None
    actor: str | None = None
    role: str = Role.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, its `id` unique within its conversation.

    `evidence`: ids of the turns that answer it, at least one. Where nothing that was said answers it (`answerable` is
    false) it names the turns that look as if they did, which may be none. `sessions`: those of the evidence, each once;
    a turn without a session is one of its own. `foreign`: the conversation whose question it is, where that is another
    than it is asked of.
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
    """What was said, in its order, at least one turn: all that a system may see."""

    id: str
    turns: tuple[Turn, ...]

    @property
    def ends(self) -> datetime:
        """When the last of it was said."""
        return max(turn.occurred_at for turn in self.turns)

    def session_of(self) -> dict[str, str]:
        """The session of each turn, by the turn's id; a turn without one is a session of its own."""
        return {turn.id: turn.id if turn.session is None else turn.session for turn in self.turns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A transcript, and the questions about it. `excluded`: how many had no usable evidence and are left out.

    `foreign`: questions about others, which are asked of this one too; see evaluation.foreign.
    """

    transcript: Transcript
    questions: tuple[Question, ...]
    excluded: int = 0
    foreign: tuple[Question, ...] = ()

    @property
    def id(self) -> str:
        return self.transcript.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Conversations of different ids. `sha256` is that of the content read, several files one after the other.

    `categories`: those of the answerable questions, in the order they are told. `unanswerable`: what the questions are
    called that nothing answers.
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
        return sum(len(conversation.transcript.turns) for conversation in self.conversations)

    @property
    def has_sessions(self) -> bool:
        """Whether any turn belongs to a session."""
        return any(turn.session is not None for one in self.conversations for turn in one.transcript.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which conversations are measured: the `first` so many, or `only` those named; all where neither is said.

    `tuned`: those of them on which the configuration was chosen; they and the untouched ones are told apart too.
    """

    first: int | None = None
    only: Sequence[str] = field(default=())
    tuned: Sequence[str] = field(default=())

    def of(self, dataset: Dataset) -> Dataset:
        """The data set with the chosen conversations alone, in its own order.

        Raises InvalidInput for what is not there, and where `tuned` names all that is chosen.
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
    for name in names:
        if name not in known:
            raise InvalidInput(argument, name, f"ids of {len(known)} conversations: {', '.join(known)}")
    return frozenset(names)
