"""A memory for measuring the dashboard: many conversations with their episodes, decisions, relations, reviews and runs
of the jobs, up to today.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from benchmarks.corpus import SEVERITIES, Words, embed_as_drawn, open_memory
from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.domain.memory import Tier
from remembrancer.ports.embedder import Embedder

TURNS: Final = 40
"""Turns of a conversation."""
EVERY: Final = timedelta(minutes=5)
"""The time from one turn to the next."""
AT_ONCE: Final = 50
"""Conversations that are recorded by one call."""
KINDS: Final = ("decision", "fact", "preference", "procedure")
TOLD: Final = 0.02
"""Memories that were told, not formed from turns, as a share of all."""
RELATED: Final = ("similar", "supports", "contradicts", "derived_from")
VERDICTS: Final = ("helpful", "helpful", "unhelpful", "harmful")
REVIEWED: Final = 300
"""Memories that were rated, and of those forgotten or superseded as many."""


async def fill(path: Path, size: int, embedder: Embedder) -> None:
    """Create a file with about `size` memories and their vectors."""
    words, chance = Words(seed=size), random.Random(size)
    async with await open_memory(path, embedder) as rem:
        episodes = await _conversations(rem, words, size)
        told = await _told(rem, words, round(size * TOLD))
        await _related(rem, chance, [*episodes, *told])
        for one in chance.sample(told, min(REVIEWED, len(told) // 4)):
            await rem.feedback(one, chance.choice(VERDICTS))
        aside = chance.sample(told, min(2 * REVIEWED, len(told) // 2))
        for one in aside[::2]:
            await rem.forget(one)
        for old, new in zip(aside[1::4], aside[3::4], strict=False):
            await rem.supersede(old, new)
        await embed_as_drawn(path, embedder, rem.scope, size)
        for job in ("index", "health"):
            await rem.maintain([job], force=True)


async def _conversations(rem: AsyncRemembrancer, words: Words, size: int) -> list[UUID]:
    """Record the turns, and an episode for each conversation. Returns the episodes' ids."""
    began, episodes = datetime.now(UTC) - size * EVERY, list[UUID]()
    count = -(-size // TURNS)
    for first in range(0, count, AT_ONCE):
        several = range(first, min(first + AT_ONCE, count))
        turns = await rem.observe_many(
            [_turn(words, number, began) for number in range(several[0] * TURNS, (several[-1] + 1) * TURNS)]
        )
        for place in several:
            of_session = turns[(place - first) * TURNS : (place - first + 1) * TURNS]
            episode = await rem.scoped(session=_session(place)).remember(
                "\n".join(f"{turn.actor}: {turn.text}" for turn in of_session[:12]),
                title=words.text()[:70].strip(),
                kind="episode",
                importance=(place % 10) / 10,
                events=[turn.id for turn in of_session],
            )
            episodes.append(episode.id)
    return episodes


def _turn(words: Words, number: int, began: datetime) -> EventDraft:
    return EventDraft(
        text=words.text(),
        actor=words.actors[number * 7 % 11 % len(words.actors)],
        role="assistant" if number % 5 == 0 else "user",
        session=_session(number // TURNS),
        occurred_at=began + number * EVERY,
        severity=SEVERITIES[number % len(SEVERITIES)],
    )


def _session(number: int) -> str:
    return f"session-{number:05d}"


async def _told(rem: AsyncRemembrancer, words: Words, count: int) -> list[UUID]:
    now = datetime.now(UTC)
    return [
        (
            await rem.remember(
                words.text(),
                kind=KINDS[number % len(KINDS)],
                tier=Tier.SEMANTIC if number % 2 else None,
                tags=[f"tag-{number % 17}"],
                source=f"source-{number % 5}",
                importance=(number % 10) / 10,
                occurred_at=now - timedelta(hours=number),
            )
        ).id
        for number in range(count)
    ]


async def _related(rem: AsyncRemembrancer, chance: random.Random, memories: Sequence[UUID]) -> None:
    """Each memory to one of its neighbours, and a few to many others."""
    for place, one in enumerate(memories[:-1]):
        other = memories[min(place + chance.randint(1, 9), len(memories) - 1)]
        await rem.link(one, other, RELATED[place % len(RELATED)], round(chance.random(), 2))
    for hub in memories[:: max(len(memories) // 5, 1)]:
        for other in chance.sample(list(memories), min(60, len(memories) // 2)):
            if other != hub:
                await rem.link(hub, other, "similar", 0.7)
