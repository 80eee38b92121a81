"""The memory as it is measured: through its public interface, as a program would use it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from remembrancer.compose import choose_preset
from remembrancer.config import Settings
from remembrancer.domain.event import EventDraft
from remembrancer.domain.recall import Hit, Recall, Stage
from remembrancer.evaluation.dataset import MAX_AT_ONCE, Transcript, Turn
from remembrancer.evaluation.system import Block, Fate, Ranker
from remembrancer.facade import AsyncRemembrancer
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.reranker import Reranker

BATCH: Final = 10_000
"""Turns that are observed at once: the most there may be."""
LISTED: Final = MAX_AT_ONCE
"""Memories of one moment that are looked at for a turn's: all there can be."""

AGENT: Final = "evaluation"

FATES: Final = {
    Stage.RETURNED: Fate.RETURNED,
    Stage.LIMIT: Fate.LIMIT,
    Stage.DUPLICATE: Fate.DUPLICATE,
    Stage.ALIKE: Fate.ALIKE,
    Stage.FLOOR: Fate.FLOOR,
    Stage.MIN_SCORE: Fate.FLOOR,
    Stage.ROW_MISSING: Fate.GONE,
}


class MemorySystem:
    """The memory under the settings' preset, each conversation in a workspace of its own within one database.

    `degraded` fills with what a recall had to do without, and why.
    """

    scores_are_fractions = True

    def __init__(self, settings: Settings, embedder: Embedder | None, reranker: Reranker | None = None) -> None:
        """`embedder` and `reranker` take the place of those that the settings name; they stay open."""
        self._settings = settings
        self._embedder = embedder
        self._reranker = reranker
        self._preset = choose_preset(settings.preset)
        # A strict preset answers nobody who does not say who they are.
        self._agent = AGENT if self._preset.sight.strict else None
        self.degraded: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The preset's own, also where the settings name a file."""
        return self._preset.name

    def beside(self, settings: Settings) -> MemorySystem:
        """One of other settings, with the same models."""
        return MemorySystem(settings, self._embedder, self._reranker)

    def depth(self, asked: int) -> int:
        """How far down an answer can be read under this preset."""
        return self._preset.limits.capped(asked)

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        # What was said is recorded when the last of it was: no question is asked before.
        clock = _Standing(transcript.ends)
        memory = await AsyncRemembrancer.open(
            settings=replace(self._settings, workspace=transcript.id, agent=self._agent),
            embedder=self._embedder,
            reranker=self._reranker,
            clock=clock,
        )
        async with memory:
            turn_of: dict[UUID, str] = {}
            for start in range(0, len(transcript.turns), BATCH):
                batch = transcript.turns[start : start + BATCH]
                events = await memory.observe_many(_draft(turn) for turn in batch)
                turn_of |= {event.id: turn.id for event, turn in zip(events, batch, strict=True)}
            await memory.jobs.index_now()
            yield _MemoryRanker(
                self, memory, clock, _Remembered(memory, transcript, turn_of, self._preset.hidden_kinds)
            )


@dataclass(slots=True)
class _Standing:
    """A clock that stands still until it is set: every run sees the same ages."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


class _Remembered:
    """Which memory holds which turn: looked up when asked for, and kept. No question finds those of `hidden` kinds."""

    def __init__(
        self, memory: AsyncRemembrancer, transcript: Transcript, turn_of: Mapping[UUID, str], hidden: Collection[str]
    ) -> None:
        self.turn_of = turn_of
        self._hidden = hidden
        self._memory = memory
        self._said_at = {turn.id: turn.occurred_at for turn in transcript.turns}
        self._looked_at: set[UUID] = set()
        self._of_turn: dict[str, UUID] = {}

    async def of(self, turn_id: str) -> UUID | None:
        """The memory that was formed from the turn; None where there is none."""
        if turn_id not in self._of_turn:
            at = self._said_at[turn_id]
            for memory in await self._memory.timeline(at, at + timedelta(microseconds=1), limit=LISTED):
                if memory.id not in self._looked_at and memory.kind not in self._hidden:
                    self._looked_at.add(memory.id)
                    dossier = await self._memory.show(memory.id)
                    self._of_turn |= {self.turn_of[event.id]: memory.id for event in dossier.events}
        return self._of_turn.get(turn_id)

    def turn(self, hit: Hit) -> str | None:
        """The turn that a hit's best cue is; None where that is no turn."""
        return None if hit.cue.event_id is None else self.turn_of.get(hit.cue.event_id)


class _MemoryRanker:
    def __init__(
        self, system: MemorySystem, memory: AsyncRemembrancer, clock: _Standing, remembered: _Remembered
    ) -> None:
        self._system = system
        self._memory = memory
        self._clock = clock
        self._remembered = remembered

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Recalled:
        self._clock.now = asked_at
        recall = await self._memory.recall(question, limit=self._system.depth(limit))
        self._system.degraded.update(recall.degraded)
        turns = [(turn, hit.score) for hit in recall if (turn := self._remembered.turn(hit)) is not None]
        return _Recalled(
            ranked=tuple(turn for turn, _ in turns),
            scores=tuple(score for _, score in turns),
            recall=recall,
            remembered=self._remembered,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recalled:
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    recall: Recall = field(repr=False)
    remembered: _Remembered = field(repr=False)

    def block(self, max_chars: int) -> Block:
        rendered = self.recall.block(max_chars=max_chars)
        turns = [self.remembered.turn(hit) for hit in rendered.hits]
        return Block(tuple(turn for turn in turns if turn is not None), len(rendered.text))

    async def fate(self, turn_id: str) -> Fate:
        if turn_id in self.ranked:
            return Fate.RETURNED
        memory_id = await self.remembered.of(turn_id)
        if memory_id is None:
            return Fate.NOT_INGESTED
        fate = self.recall.trace.fates.get(memory_id)
        return Fate.NO_CANDIDATE if fate is None else FATES[fate.stage]


def _draft(turn: Turn) -> EventDraft:
    return EventDraft(
        text=turn.text,
        role=turn.role,
        actor=turn.actor,
        occurred_at=turn.occurred_at,
        session=turn.session,
        key=turn.id,
    )
