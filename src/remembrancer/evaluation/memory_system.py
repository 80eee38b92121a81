"""The memory as it is measured: through its public interface, as a program would use it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from remembrancer.compose import choose_preset
from remembrancer.config import Settings
from remembrancer.domain.event import EventDraft, Role
from remembrancer.evaluation.locomo import Transcript, Turn
from remembrancer.evaluation.system import Ranker
from remembrancer.facade import AsyncRemembrancer
from remembrancer.ports.embedder import Embedder

ASKED_AFTER: Final = timedelta(days=1)
"""Questions are asked this long after the last turn. The clock stands there, so that every run sees the same ages."""


class MemorySystem:
    """The memory under the settings' preset, each conversation in a workspace of its own within one database.

    `degraded` fills with what a recall had to do without, and why.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None) -> None:
        """`embedder` takes the place of the one that the settings name; it stays open."""
        self._settings = settings
        self._embedder = embedder
        self.degraded: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The preset's own, also where the settings name a file."""
        return choose_preset(self._settings.preset).name

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        asked_at = transcript.turns[-1].occurred_at + ASKED_AFTER
        memory = await AsyncRemembrancer.open(
            settings=self._settings.model_copy(update={"workspace": f"locomo-{transcript.id}"}),
            embedder=self._embedder,
            clock=_Standing(asked_at),
        )
        async with memory:
            events = await memory.observe_many(_draft(turn, transcript.speakers) for turn in transcript.turns)
            await memory.index_now()
            turn_of = {event.id: turn.id for event, turn in zip(events, transcript.turns, strict=True)}
            yield _MemoryRanker(memory, turn_of, self.degraded)


class _MemoryRanker:
    def __init__(self, memory: AsyncRemembrancer, turn_of: Mapping[UUID, str], degraded: dict[str, str]) -> None:
        self._memory = memory
        self._turn_of = turn_of
        self._degraded = degraded

    async def rank(self, question: str, *, limit: int) -> list[str]:
        recall = await self._memory.recall(question, limit=limit)
        self._degraded.update(recall.degraded)
        cued = [hit.cue.event_id for hit in recall]
        return [self._turn_of[event_id] for event_id in cued if event_id is not None and event_id in self._turn_of]


@dataclass(frozen=True, slots=True)
class _Standing:
    """A clock that stands still."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


def _draft(turn: Turn, speakers: tuple[str, str]) -> EventDraft:
    return EventDraft(
        text=turn.text,
        role=Role.USER if turn.speaker == speakers[0] else Role.ASSISTANT,
        actor=turn.speaker,
        occurred_at=turn.occurred_at,
        session=turn.session,
        key=turn.id,
    )
