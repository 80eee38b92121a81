"""Forming memories and their cues from events, and from drafts of memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Origin, Role, least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Cue, IndexedCue, Memory, MemoryDraft, MemoryWrite, Tier
from remembrancer.domain.names import ALIAS, tags_of_turn
from remembrancer.domain.recalled import own_spans, without_recalled
from remembrancer.domain.scope import Level, Scope, Visibility, narrowest
from remembrancer.domain.strength import INITIAL_STABILITY, Exposure, Strength
from remembrancer.errors import InvalidInput
from remembrancer.language.cues import analysed
from remembrancer.language.english.dates import spoken_date
from remembrancer.policies.admission.flagging import any_flagged, flagged_by_text, reflagged, with_flag
from remembrancer.policies.admission.importance import Importance
from remembrancer.policies.admission.passages import WHOLE_CHARS, passages
from remembrancer.values import copied, dataclass

SURPRISE_BOOST: Final = 0.5
"""The greatest addition to initial stability: a memory with surprise 1 starts with 1.5 times the stability."""

_ORIGIN_OF_ROLE: Final = {
    Role.USER: Origin.USER,
    Role.ASSISTANT: Origin.ASSISTANT,
    Role.SYSTEM: Origin.SYSTEM,
    Role.TOOL: Origin.TOOL,
}


def origin_of(role: Role) -> Origin:
    """The origin of an event's text, from the role of its author."""
    return _ORIGIN_OF_ROLE[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formation:
    """Options of forming memories. `kinds`: allowed kinds of a remembered note, the default first; empty: any, `note`
    by default.

    `event_tier`, `note_tier`: the tier of a memory formed from an event or remembered directly. `importance`: the
    initial importance of a memory formed from an event. `topics`: the level within which a topic key has one current
    memory, `workspace` to `agent`. `repeats`: what remembering the text of a memory again, without a key, counts as;
    None: the text is stored again.
    """

    kinds: tuple[str, ...] = ()
    event_tier: Tier = Tier.EPISODIC
    note_tier: Tier = Tier.SEMANTIC
    importance: Importance = field(default_factory=Importance)
    topics: Level = Level.AGENT
    repeats: Exposure | None = None

    def __post_init__(self) -> None:
        if self.topics is Level.SESSION:
            raise InvalidInput("formation.topics", "session", "one of workspace, project, crew, agent")
        for kind in self.kinds:
            validation.slug("formation.kinds", kind)

    def kind(self, asked: str | None) -> str:
        """The kind of a note; None: the default. Raises InvalidInput if it is not in `kinds`."""
        if asked is None:
            return self.kinds[0] if self.kinds else "note"
        if self.kinds and asked not in self.kinds:
            raise InvalidInput("kind", asked, "one of " + ", ".join(self.kinds))
        return asked


def stability_at_birth(surprise: float) -> float:
    """Initial stability in days: FSRS-6's x (1 + surprise / 2)."""
    return INITIAL_STABILITY * (1 + SURPRISE_BOOST * surprise)


def memory_id_of(event_id: UUID) -> UUID:
    """The id of the memory formed from an admitted event."""
    return derived_id(event_id, "memory")


def memory_of_event(event: Event, formation: Formation) -> MemoryWrite:
    """The memory of one event with its cues, which are those of the turn: another cue with the same text would be
    searched twice. That of a user who states a preference or gives an instruction gets its tags (`domain.preference`),
    and one that says a name gets that tag (`domain.names`).
    """
    memory = memory_without_cues(event, formation)
    cues = turn_cues(memory.id, [event], first=0)
    if tags := tags_of_turn(event.role, [tag for indexed in cues for tag in indexed.tags]):
        memory = replace(memory, tags=tags)
    return MemoryWrite(memory, cues, (event.id,))


def memory_without_cues(event: Event, formation: Formation) -> Memory:
    """The memory of one event, with the event's text verbatim, or the beginning of a long one; without what a recall
    inserted.
    """
    said = without_recalled(event.text)
    if said != event.text:
        event = replace(event, text=said)
    memory = Memory(
        id=memory_id_of(event.id),
        scope=event.scope,
        visibility=Visibility.WORKSPACE,
        tier=formation.event_tier,
        kind=event.type,
        title=None,
        text=event.beginning,
        source=None,
        origin=event.origin,
        actor=event.actor,
        role=event.role,
        occurred_from=event.occurred_at,
        occurred_to=event.occurred_at,
        recorded_at=event.recorded_at,
        strength=Strength(
            importance=formation.importance.of(event.type, event.severity, event.priority),
            importance_floor=formation.importance.floor(event.priority),
        ),
    )
    return with_flag(memory, flagged=any_flagged([event]))


def episode(memory: Memory, events: Sequence[Event]) -> MemoryWrite:
    """An episode: a memory of several turns, with a cue for its own text and one for each turn, or for each passage of
    a long one. Its span covers the turns. It is trusted no more than any of them.

    `events`: at least one, in the order of their stream.
    """
    spanning = replace(
        memory,
        occurred_from=min(event.occurred_at for event in events),
        occurred_to=max(event.occurred_at for event in events),
        origin=least_trusted([memory.origin, *(event.origin for event in events)]),
    )
    spanning = with_flag(spanning, flagged=memory.flagged or any_flagged(events))
    turns = turn_cues(memory.id, events, first=1)
    if ALIAS not in spanning.tags and _say_names(events, turns):
        spanning = replace(spanning, tags=(*spanning.tags, ALIAS))
    return MemoryWrite(spanning, (own_cue(spanning), *turns), tuple(event.id for event in events))


def _say_names(events: Sequence[Event], turns: Sequence[IndexedCue]) -> bool:
    """Whether a turn of a user or an assistant says another name of somebody."""
    role_of = {event.id: event.role for event in events}
    return any(
        turn.cue.event_id is not None and ALIAS in tags_of_turn(role_of[turn.cue.event_id], turn.tags) for turn in turns
    )


def turn_cues(memory_id: UUID, events: Iterable[Event], *, first: int) -> tuple[IndexedCue, ...]:
    """The cues of turns, numbered from `first` on: one for each turn, and one for each passage of a long one."""
    cues: list[Cue] = []
    for event in events:
        if says_anything(event):
            cues += passages_of(memory_id, event, first=first + len(cues))
    return tuple(map(analysed, cues))


def says_anything(event: Event) -> bool:
    """Whether the event has a text besides what a recall inserted."""
    return bool(without_recalled(event.text))


def passages_of(memory_id: UUID, event: Event, *, first: int = 0) -> Iterator[Cue]:
    """The cues of a turn, at least one, numbered from `first` on. Their heading is the speaker and the time. What a
    recall inserted is in none of them, unless there is nothing else.
    """
    heading = f"{event.actor or event.role}, {spoken_date(event.occurred_at)}"
    said = without_recalled(event.text) or event.text
    if len(said) <= WHOLE_CHARS:
        yield Cue(memory_id=memory_id, ordinal=first, text=said, heading=heading, event_id=event.id)
        return
    own = [place for start, end in own_spans(event.text) for place in passages(event.text, start, end)]
    for ordinal, (start, end) in enumerate(own, start=first):
        text = event.text[start:end]
        yield Cue(memory_id=memory_id, ordinal=ordinal, text=text, heading=heading, event_id=event.id, start=start)


def memory_of_draft(
    draft: MemoryDraft, *, scope: Scope, identifier: UUID, now: datetime, at: datetime | None = None
) -> MemoryWrite:
    """The memory of a draft. It happened at `draft.occurred_at`; if that is None, at `at`, or `now`."""
    occurred = draft.occurred_at or at or now
    memory = copied(
        draft,
        Memory,
        id=identifier,
        scope=scope,
        occurred_from=occurred,
        occurred_to=occurred,
        recorded_at=now,
        strength=copied(draft, Strength, stability=stability_at_birth(draft.surprise)),
    )
    memory = flagged_by_text(memory)
    return MemoryWrite(memory, (own_cue(memory),))


STAYS: Final = ("kind", "importance", "priority", "tags", "metadata")
"""The fields of a memory that an update of its topic keeps unless they are given."""


def revised(
    memory: Memory, draft: MemoryDraft, *, scope: Scope, now: datetime, left_out: Collection[str] = ()
) -> MemoryWrite:
    """The next revision of a memory, from a draft with the same topic key.

    Text, title, kind, tags, metadata, origin, session, importance, priority, times and expiry are the draft's;
    confidence, usage, source and `recorded_at` stay, and of `STAYS` those that the caller `left_out`. The visibility is
    the narrower of both, so that a private text does not become visible through a topic that was visible to more
    readers. A topic told in another scope belongs to what both scopes have in common.
    """
    of_strength = {name: getattr(memory.strength, name) for name in ("importance", "priority")}
    known = {name: getattr(memory, name) for name in ("kind", "tags", "metadata")} | of_strength
    told = replace(draft, **{name: value for name, value in known.items() if name in left_out})
    occurred = draft.occurred_at or now
    later = replace(
        memory,
        title=told.title,
        text=told.text,
        kind=told.kind,
        origin=told.origin,
        visibility=narrowest((memory.visibility, told.visibility)),
        scope=memory.scope.shared_with(scope).narrowed(session=scope.session),
        tags=told.tags,
        metadata=told.metadata,
        occurred_from=occurred,
        occurred_to=occurred,
        valid_from=told.valid_from,
        valid_until=told.valid_until,
        revision=memory.revision + 1,
        strength=replace(memory.strength, importance=told.importance, priority=told.priority),
    )
    later = reflagged(later, memory)
    return MemoryWrite(later, (own_cue(later),))


def says_the_same(later: Memory, earlier: Memory) -> bool:
    """Whether two revisions differ only in number, time and session."""
    kept = {name: getattr(earlier, name) for name in ("revision", "occurred_from", "occurred_to")}
    return replace(later, scope=later.scope.narrowed(session=earlier.scope.session), **kept) == earlier


def own_cue(memory: Memory) -> IndexedCue:
    """The cue of a memory's title and text. Its heading is the time."""
    text = memory.text if memory.title is None else f"{memory.title}\n{memory.text}"
    return analysed(Cue(memory_id=memory.id, ordinal=0, text=text, heading=spoken_date(memory.occurred_to)))
