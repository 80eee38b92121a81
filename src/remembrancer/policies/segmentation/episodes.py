"""Forming the memory (episode) of a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.event import Event, least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, MemoryWrite, Tier
from remembrancer.domain.scope import Visibility, narrowest
from remembrancer.domain.strength import Strength
from remembrancer.policies.admission.formation import episode, own_cue, stability_at_birth, turn_cues
from remembrancer.policies.consolidation import extractive
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.policies.segmentation.segments import Segment
from remembrancer.values import dataclass

EXTRACTIVE: Final = "extractive"
"""The author of a summary made by the extractive method, without a model."""
SUMMARY_BY: Final = "summary_by"
"""The metadata field with the author of an episode's summary. Memories with it were formed from a stream, not by a
person.
"""
TURNS: Final = "turns"
"""The metadata field with the number of an episode's turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTelling:
    """The title and text of an episode; `by`: a model's id, or `EXTRACTIVE`."""

    title: str
    summary: str
    by: str


def told_extractively(turns: Sequence[extractive.AttributedText]) -> EpisodeTelling:
    """The title and text of an episode, extracted from its turns (at least one)."""
    summary = extractive.summary(turns) or f"{len(turns)} turns without a word that can be read"
    return EpisodeTelling(title=extractive.title(turns), summary=summary, by=EXTRACTIVE)


def episode_id(events: Sequence[Event]) -> UUID:
    """A deterministic id of the episode from the first to the last of these events of one stream."""
    return derived_id(events[0].id, f"episode until {events[-1].id}")


def formed(
    events: Sequence[Event],
    sources: Sequence[Memory],
    segment: Segment,
    told: EpisodeTelling,
    *,
    searched: bool,
    now: datetime,
) -> MemoryWrite:
    """The memory of a segment. `events`: its turns (at least one), in order; `sources`: the turns' own memories.

    `searched`: each turn is a cue, besides title and summary. The memory has the origin of its least trusted turn, the
    visibility of its least visible one, and the importance of the most important one.
    """
    memory = Memory(
        id=episode_id(events),
        scope=events[0].scope,
        visibility=narrowest([Visibility.WORKSPACE, *(source.visibility for source in sources)]),
        tier=Tier.EPISODIC,
        kind=EPISODE,
        title=told.title or None,
        text=told.summary,
        source=None,
        origin=least_trusted([*(event.origin for event in events), *(source.origin for source in sources)]),
        occurred_from=min(event.occurred_at for event in events),
        occurred_to=max(event.occurred_at for event in events),
        recorded_at=now,
        metadata={"reason": segment.reason, TURNS: len(events), SUMMARY_BY: told.by},
        strength=Strength(
            importance=max((source.strength.importance for source in sources), default=0.5),
            importance_floor=max((source.strength.importance_floor for source in sources), default=0.0),
            surprise=segment.surprise,
            stability=stability_at_birth(segment.surprise),
        ),
    )
    if searched:
        return episode(memory, events)
    return MemoryWrite(memory, (own_cue(memory),), tuple(event.id for event in events))


def told_without(
    memory: Memory, left: Sequence[Event], turns: Sequence[extractive.AttributedText], *, searched: bool
) -> MemoryWrite:
    """An episode after some of its turns were erased or forgotten. `left`: the remaining turns (at least one), in
    order; `turns`: their texts.

    The title and summary are extracted from the remaining turns, because the old ones may contain what was erased.
    """
    told = told_extractively(turns)
    later = replace(
        memory,
        title=told.title or None,
        text=told.summary,
        metadata={**memory.metadata, TURNS: len(left), SUMMARY_BY: told.by},
        revision=memory.revision + 1,
    )
    cues = [own_cue(later)]
    if searched:
        cues += turn_cues(later.id, left, first=1)
    return MemoryWrite(later, tuple(cues), tuple(event.id for event in left))
