"""Test doubles: a settable clock, sequential ids, and embedders without a model; also builders of events and
memories.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

import numpy as np

from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Tier
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.errors import ModelUnavailable
from remembrancer.language.cues import analysed
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, EmbeddedQuestion, Passage
from remembrancer.ports.quantised import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOW: Final = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
SCOPE: Final = Scope(workspace="acme", crew="platform", agent="ana", session="monday")
READER: Final = Reader(SCOPE)
_IDS: Final = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11")


class FixedClock:
    """A clock that shows the same time until it is moved.

    >>> clock = FixedClock()
    >>> clock.advance(timedelta(minutes=5))
    >>> clock().isoformat()
    '2026-03-04T09:05:00+00:00'
    """

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> None:
        self.now += by


class SequentialIds:
    """A source of ascending ids, the same in every run.

    >>> ids = SequentialIds()
    >>> str(ids()), str(ids())
    ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002')
    """

    def __init__(self) -> None:
        self._last = 0

    def __call__(self) -> UUID:
        self._last += 1
        return UUID(f"00000000-0000-7000-8000-{self._last:012x}")


class HashEmbedder:
    """Embeds texts without a model: texts that share words have similar vectors, texts that share stems somewhat
    similar ones.

    Each word, and each run of three characters in it, is hashed to one component. A text has the same vector in every
    process.
    """

    def __init__(self, dim: int = 256, *, max_words: int = 256) -> None:
        self._dim = dim
        self._max_words = max_words

    @property
    def model_id(self) -> str:
        return f"hash-{self._dim}"

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def computes(self) -> bool:
        return True

    def reads(self, text: str) -> bool:
        """True for any text: hashing works for every script."""
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        vectors = np.zeros((len(texts), self._dim), dtype=np.float32)
        truncated = np.zeros(len(texts), dtype=np.bool_)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
            truncated[row] = len(_words(text)) > self._max_words
        return Embedded(vectors, truncated)

    def query_now(self, text: str) -> NDArray[np.float32]:
        return self._vector(text)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.query_now(text)

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self._dim)
        for feature, weight in _features(_words(text)[: self._max_words]):
            digest = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
            vector[digest % self._dim] += weight if digest >> 63 else -weight
        length = math.sqrt(float(np.dot(vector, vector)))
        if (
            length == 0.0
        ):  # Without words, or with words that cancel out, it is still a unit vector, as the port requires.
            vector[0] = length = 1.0
        return (vector / length).astype(np.float32)


class WordHashEmbedder(HashEmbedder):
    """A HashEmbedder with token embeddings: each word has its own vector, the same in every text.

    The context of a text changes its vector and its token embeddings a little.
    """

    COLOUR: Final = 0.25
    """The weight of the preceding text in a vector; the text itself has weight 1."""

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        plain = await self.embed_documents([passage.text for passage in passages])
        vectors = plain.vectors.copy()
        words: list[NDArray[np.float32]] = []
        spelled = tuple(tuple(_words(passage.text)[: self._max_words]) for passage in passages)
        for row, passage in enumerate(passages):
            directions = self._directions(spelled[row])
            if passage.context:
                vectors[row : row + 1] = _mixed(vectors[row : row + 1], self.COLOUR * self._vector(passage.context))
                directions = _mixed(directions, self.COLOUR * self._direction(passage.context))
            words.append(directions)
        return EmbeddedPassages(vectors, plain.truncated, tuple(words), spelled, alone=plain.vectors)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        return self.question_now(text)

    def question_now(self, text: str) -> EmbeddedQuestion:
        spelled = re.findall(r"\w+", text)[: self._max_words]
        words = self._directions([word.casefold() for word in spelled])
        return EmbeddedQuestion(self.query_now(text), words, tuple(spelled))

    def _directions(self, words: Sequence[str]) -> NDArray[np.float32]:
        rows = [self._direction(word) for word in words[: self._max_words]]
        return np.array(rows, dtype=np.float32).reshape(-1, self._dim)

    def _direction(self, text: str) -> NDArray[np.float32]:
        """A unit vector with normally distributed components: its signs approximate it as well as those of a model's
        vectors.
        """
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        return a_vector(*np.random.default_rng(seed).normal(size=self._dim))


class FailingEmbedder(HashEmbedder):
    """An embedder whose model never answers."""

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        raise ModelUnavailable("the model does not answer")

    def query_now(self, text: str) -> NDArray[np.float32]:
        raise ModelUnavailable("the model does not answer")


def an_event(
    text: str = "The deploy failed",
    *,
    event_id: UUID | None = None,
    scope: Scope = SCOPE,
    at: datetime = NOW,
    key: str | None = None,
) -> Event:
    """An event. Other fields can be set with `dataclasses.replace`. Its id is derived from its text unless one is
    given.
    """
    return Event(
        id=uuid5(_IDS, f"event {text}") if event_id is None else event_id,
        scope=scope,
        seq=1,
        occurred_at=at,
        recorded_at=at,
        type="message",
        severity=Severity.INFO,
        priority=Priority.NORMAL,
        actor=None,
        role=Role.USER,
        text=text,
        payload={},
        refs={},
        key=key,
        origin=Origin.USER,
    )


def a_memory(
    text: str = "The deploy failed", *, memory_id: UUID | None = None, scope: Scope = SCOPE, at: datetime = NOW
) -> Memory:
    """A memory. Other fields can be set with `dataclasses.replace`. Its id is derived from its text unless one is
    given.
    """
    return Memory(
        id=uuid5(_IDS, f"memory {text}") if memory_id is None else memory_id,
        scope=scope,
        visibility=Visibility.WORKSPACE,
        tier=Tier.EPISODIC,
        kind="note",
        title=None,
        text=text,
        source=None,
        origin=Origin.USER,
        occurred_from=at,
        occurred_to=at,
        recorded_at=at,
    )


def indexed(memory: Memory, *turns: str, event_ids: Sequence[UUID] = ()) -> MemoryWrite:
    """The memory with one cue per turn, or without turns with one cue of its title and text."""
    texts = turns or (f"{memory.title or ''} {memory.text}".strip(),)
    cues = (Cue(memory_id=memory.id, ordinal=ordinal, text=text) for ordinal, text in enumerate(texts))
    return MemoryWrite(memory, tuple(analysed(cue) for cue in cues), tuple(event_ids))


def a_vector(*components: float) -> NDArray[np.float32]:
    """A unit vector in this direction, rounded to the 8 bits that a store keeps."""
    vector = np.array(components, dtype=np.float64)
    return rounded((vector / math.sqrt(float(np.dot(vector, vector)))).astype(np.float32))


NOWHERE: Final = UUID(int=404)
"""An id that no row has."""
MATE: Final = Scope(workspace="acme", crew="platform", agent="bob", session="monday")
"""A crew mate's scope."""
HIDDEN: Final = replace(a_memory("hidden", scope=MATE), visibility=Visibility.OWN)
"""A memory that only the crew mate sees."""


def _mixed(vectors: NDArray[np.float32], colour: NDArray[np.float32]) -> NDArray[np.float32]:
    """The sum of each row and `colour`, scaled to length 1 again."""
    mixed = vectors + colour
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _features(words: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Words, and with less weight their runs of three characters, which make forms of one word similar."""
    for word in words:
        yield word, 1.0
        edged = f"<{word}>"
        for start in range(len(edged) - 2):
            yield edged[start : start + 3], 0.3
