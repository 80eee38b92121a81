"""One memory in the place of several: what it keeps of them, who may see it, and by what it is found."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.event import least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Cue, IndexedCue, Memory, Tier
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.domain.validation import MAX_TAGS, JsonValue
from remembrancer.policies.admission.formation import analysed, own_cue

SUMMARISED_BY: Final = "summarised_by"
"""The metadata that names what made a text of several: a model, or what stood in for one."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where memories belong, how far they may be seen, and while what they say holds: only those of one home become
    one, so that it is never seen by more, nor held for longer or shorter, than any of them.
    """

    scope: Scope
    visibility: Visibility
    valid_from: datetime | None
    valid_until: datetime | None
    standing: bool


def home_of(memory: Memory, *, sessions_apart: bool, standing_tag: str | None = None) -> Home:
    """`sessions_apart`: what was told in different sessions has different homes; so it always has where it may only be
    seen from its own. `standing_tag`: what has it stands in every answer, and is not mixed with what does not.
    """
    apart = sessions_apart or memory.visibility is Visibility.SESSION
    return Home(
        scope=memory.scope if apart else memory.scope.narrowed(session=None),
        visibility=memory.visibility,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        standing=standing_tag in memory.tags,
    )


def id_of(sources: Sequence[Memory], purpose: str) -> UUID:
    """The id of what is made of these, in this order and as they read now, for a purpose: each time the same."""
    told = ",".join(f"{memory.id}:{memory.revision}" for memory in sources)
    return derived_id(sources[0].id, f"{purpose} {told}")


def ids_told(memories: Iterable[Memory]) -> str:
    """Their ids as metadata has them: text, with commas between."""
    return ",".join(str(memory.id) for memory in memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """What several memories become: `by` says what made the text of theirs."""

    text: str
    title: str | None = None
    by: str


def one_of(
    sources: Sequence[Memory],
    said: Condensed,
    *,
    identifier: UUID,
    home: Home,
    tier: Tier,
    metadata: Mapping[str, JsonValue],
    now: datetime,
) -> Memory:
    """The memory that takes the place of its sources, at least one, all of that home.

    It happened while they did, is as important as the most important and trusted as the least trusted of them; their
    uses are added up. Of kind, source and metadata it has what they have in common, and all their tags.
    """
    sessions = {memory.scope.session for memory in sources}
    occurred_from, occurred_to = span(sources)
    return Memory(
        id=identifier,
        scope=sources[0].scope if len(sessions) == 1 else home.scope,
        visibility=home.visibility,
        tier=tier,
        kind=_in_common(memory.kind for memory in sources) or "note",
        title=said.title,
        text=said.text,
        source=_in_common(memory.source for memory in sources),
        origin=least_trusted(memory.origin for memory in sources),
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        recorded_at=now,
        valid_from=home.valid_from,
        valid_until=home.valid_until,
        tags=tags_of(sources),
        metadata={**shared(memory.metadata for memory in sources), **metadata, SUMMARISED_BY: said.by},
        strength=together([memory.strength for memory in sources]),
    )


def cues_of(memory: Memory, cues: Iterable[Cue], *, own: bool) -> tuple[IndexedCue, ...]:
    """What a memory is found by: its own words, where `own`, and all that its sources were found by, in their order.

    What a recall had put into a text is no word of it; what would say the same twice is there once.
    """
    given = [own_cue(memory).cue] if own else []
    for cue in cues:
        text = without_recalled(cue.text)
        if text.strip():
            given.append(replace(cue, text=text))
    distinct: dict[Hashable, Cue] = {}
    for cue in given:
        distinct.setdefault(_sameness(cue), cue)
    return tuple(
        analysed(replace(cue, memory_id=memory.id, ordinal=place)) for place, cue in enumerate(distinct.values())
    )


def span(memories: Sequence[Memory]) -> tuple[datetime, datetime]:
    """From when the first began to when the last ended."""
    return min(memory.occurred_from for memory in memories), max(memory.occurred_to for memory in memories)


def tags_of(memories: Iterable[Memory]) -> tuple[str, ...]:
    """All of theirs, in the order they turn up, as many as a memory may have."""
    return tuple(dict.fromkeys(tag for memory in memories for tag in memory.tags))[:MAX_TAGS]


def shared(several: Iterable[Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    """The entries that are in each, with the same value."""
    first, *others = several
    return {key: value for key, value in first.items() if all(key in other and other[key] == value for other in others)}


def together(strengths: Sequence[Strength]) -> Strength:
    """The strength of what stands for several, at least one.

    Importance, its floor, priority and surprise are the greatest of theirs: nothing fades sooner for standing together.
    Confidence is their mean: neither praise nor blame of one speaks for all. FSRS's state is that of the stablest.
    """
    stablest = max(strengths, key=lambda strength: strength.stability)
    usages = [strength.usage for strength in strengths]
    return Strength(
        importance=max(strength.importance for strength in strengths),
        importance_floor=max(strength.importance_floor for strength in strengths),
        priority=max(strength.priority for strength in strengths),
        confidence=min(1.0, sum(strength.confidence for strength in strengths) / len(strengths)),
        surprise=max(strength.surprise for strength in strengths),
        stability=stablest.stability,
        difficulty=stablest.difficulty,
        last_reviewed_at=stablest.last_reviewed_at,
        usage=Usage(
            retrieved=sum(usage.retrieved for usage in usages),
            shown=sum(usage.shown for usage in usages),
            used=sum(usage.used for usage in usages),
            helped=sum(usage.helped for usage in usages),
            unhelpful=sum(usage.unhelpful for usage in usages),
            harmed=sum(usage.harmed for usage in usages),
            last_retrieved_at=_latest(usage.last_retrieved_at for usage in usages),
            last_shown_at=_latest(usage.last_shown_at for usage in usages),
            last_used_at=_latest(usage.last_used_at for usage in usages),
        ),
    )


def _latest(moments: Iterable[datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _in_common(values: Iterable[str | None]) -> str | None:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _sameness(cue: Cue) -> Hashable:
    """Alike for cues that one search would find twice: one turn, or the same words under one heading."""
    return cue.event_id or (cue.heading, " ".join(cue.text.split()).casefold())
