"""The memory as a system under test, used through its public interface as an application would."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from remembrancer.compose import choose_preset
from remembrancer.config import Settings
from remembrancer.domain.event import EventDraft
from remembrancer.domain.recall import Hit, Recall, RecallMode, Stage
from remembrancer.evaluation.dataset import MAX_AT_ONCE, DatasetTurn, Transcript
from remembrancer.evaluation.system import MeasuredBlock, Ranker, TurnOutcome
from remembrancer.facade import AsyncRemembrancer
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.reranker import Reranker
from remembrancer.values import dataclass

BATCH: Final = 10_000
"""Turns per `observe_many` call: the most that it accepts."""
LISTED: Final = MAX_AT_ONCE
"""Memories of one moment that are listed to find a turn's memory: the most that a listing returns."""

AGENT: Final = "evaluation"

OUTCOME_OF_STAGE: Final = {
    Stage.RETURNED: TurnOutcome.RETURNED,
    Stage.LIMIT: TurnOutcome.LIMIT,
    Stage.DUPLICATE: TurnOutcome.DUPLICATE,
    Stage.ALIKE: TurnOutcome.ALIKE,
    Stage.THRESHOLD: TurnOutcome.THRESHOLD,
    Stage.MIN_SCORE: TurnOutcome.THRESHOLD,
    Stage.FLOOR: TurnOutcome.THRESHOLD,
    Stage.MESSAGE: TurnOutcome.DUPLICATE,
    Stage.ROW_MISSING: TurnOutcome.GONE,
}


class MemorySystem:
    """The memory under the settings' preset. All conversations share one database; each has its own workspace.

    `degraded` collects the parts that a recall had to do without, each with the reason.
    """

    scores_are_fractions = True

    def __init__(self, settings: Settings, embedder: Embedder | None, reranker: Reranker | None = None) -> None:
        """`embedder` and `reranker` replace those that the settings name; the caller closes them."""
        self._settings = settings
        self._embedder = embedder
        self._reranker = reranker
        self._preset = choose_preset(settings.preset)
        # A preset with a strict access policy answers named agents only.
        self._agent = AGENT if self._preset.access_policy.strict else None
        self.degraded: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The preset's own name, also when the settings name a file."""
        return self._preset.name

    def beside(self, settings: Settings) -> MemorySystem:
        """A system with other settings and the same models."""
        return MemorySystem(settings, self._embedder, self._reranker)

    def depth(self, asked: int) -> int:
        """The number of turns of an answer that are read: `asked`, capped by its limit."""
        return self._preset.limits.capped(asked)

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        # Every turn is recorded at the time of the last one; all questions are asked later.
        clock = _FixedClock(transcript.ends)
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
                self, memory, clock, _TurnLookup(memory, transcript, turn_of, self._preset.hidden_kinds)
            )


@dataclass(slots=True)
class _FixedClock:
    """A clock that stands still until it is set, so that memories have the same ages in every run."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


class _TurnLookup:
    """Finds the memory of a turn and the turn of a hit. Lookups are cached; memories of `hidden` kinds are ignored,
    because no recall returns them.
    """

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
        """The id of the memory formed from the turn; None if there is none."""
        if turn_id not in self._of_turn:
            at = self._said_at[turn_id]
            for memory in await self._memory.timeline(at, at + timedelta(microseconds=1), limit=LISTED):
                if memory.id not in self._looked_at and memory.kind not in self._hidden:
                    self._looked_at.add(memory.id)
                    details = await self._memory.show(memory.id)
                    self._of_turn |= {self.turn_of[event.id]: memory.id for event in details.events}
        return self._of_turn.get(turn_id)

    def turn(self, hit: Hit) -> str | None:
        """The turn that the hit's best cue was made from; None if the cue was not made from a turn."""
        return None if hit.cue.event_id is None else self.turn_of.get(hit.cue.event_id)


class _MemoryRanker:
    def __init__(
        self, system: MemorySystem, memory: AsyncRemembrancer, clock: _FixedClock, remembered: _TurnLookup
    ) -> None:
        self._system = system
        self._memory = memory
        self._clock = clock
        self._remembered = remembered

    async def answer(
        self, question: str, *, asked_at: datetime, limit: int, mode: RecallMode = RecallMode.QUESTION
    ) -> _MemoryAnswer:
        self._clock.now = asked_at
        recall = await self._memory.recall(question, limit=self._system.depth(limit), mark=False, mode=mode)
        self._system.degraded.update(recall.degraded)
        turns = [(turn, hit.score) for hit in recall if (turn := self._remembered.turn(hit)) is not None]
        return _MemoryAnswer(
            ranked=tuple(turn for turn, _ in turns),
            scores=tuple(score for _, score in turns),
            recall=recall,
            remembered=self._remembered,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemoryAnswer:
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    recall: Recall = field(repr=False)
    remembered: _TurnLookup = field(repr=False)

    def block(self, max_chars: int) -> MeasuredBlock:
        rendered = self.recall.block(max_chars=max_chars)
        turns = [self.remembered.turn(hit) for hit in rendered.hits]
        return MeasuredBlock(tuple(turn for turn in turns if turn is not None), len(rendered.text))

    async def outcome(self, turn_id: str) -> TurnOutcome:
        if turn_id in self.ranked:
            return TurnOutcome.RETURNED
        memory_id = await self.remembered.of(turn_id)
        if memory_id is None:
            return TurnOutcome.NOT_INGESTED
        outcome = self.recall.trace.outcomes.get(memory_id)
        return TurnOutcome.NO_CANDIDATE if outcome is None else OUTCOME_OF_STAGE[outcome.stage]


def _draft(turn: DatasetTurn) -> EventDraft:
    return EventDraft(
        text=turn.text,
        role=turn.role,
        actor=turn.actor,
        occurred_at=turn.occurred_at,
        session=turn.session,
        key=turn.id,
    )
