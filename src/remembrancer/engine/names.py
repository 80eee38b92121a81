"""Names learned from memories: which further names of speakers the reader's memories say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from remembrancer.domain.event import UNTRUSTED, Role
from remembrancer.domain.names import ALIAS
from remembrancer.domain.query import Filter
from remembrancer.language.learned_names import Said, learned_names
from remembrancer.language.reading import unknown_names
from remembrancer.ports.journal import EventFilter

if TYPE_CHECKING:
    from uuid import UUID

    from remembrancer.domain.event import Event
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.names import LearnedName
    from remembrancer.domain.scope import Reader
    from remembrancer.engine.context import Context
    from remembrancer.ports.changes import ReadView

READ: Final = 100
"""The memories with names that are read, the newest."""
_SPEAKERS: Final = frozenset({Role.USER, Role.ASSISTANT})


def learned(
    ctx: Context, view: ReadView, reader: Reader, where: Filter, participants: Collection[str], question: str
) -> tuple[LearnedName, ...]:
    """Other names of speakers according to the reader's memories at the time of the filter. Only names that the
    question may use are returned.

    Only the time of the filter applies: a question about one session may use a name said in another. Texts of untrusted
    origin, flagged memories and memories that the preset holds back are not read.
    """
    unknown = unknown_names(question, participants)
    state = view.state(reader.scope)
    if not unknown or not state.change or not (state.says_names or where.past):
        return ()
    saying = Filter(
        current_at=where.current_at,
        past=where.past,
        tags=frozenset({ALIAS}),
        without_tags=ctx.preset.hidden_tags,
    )
    found = [
        memory
        for memory in view.memories(reader, saying, limit=READ)
        if memory.origin not in UNTRUSTED and not memory.flagged
    ]
    return learned_names(_said(view, reader, found[::-1]), participants, unknown) if found else ()


def _said(view: ReadView, reader: Reader, memories: Collection[Memory]) -> Iterator[Said]:
    """The texts of the memories, each with its speaker: a turn's text, the turns of an episode, the text of a note."""
    several = [memory.id for memory in memories if memory.role is None]
    cues: Mapping[UUID, tuple[Cue, ...]] = view.cues(reader, several) if several else {}
    ids = frozenset(cue.event_id for one in cues.values() for cue in one if cue.event_id is not None)
    events: dict[UUID, Event] = {}
    if ids:
        found = view.events(reader, EventFilter(ids=ids, archived=True), limit=len(ids))
        events.update((event.id, event) for event in found)
    for memory in memories:
        turns: list[tuple[str, UUID]] = [
            (cue.text, cue.event_id) for cue in cues.get(memory.id, ()) if cue.event_id in events and cue.event_id
        ]
        if memory.role in _SPEAKERS or (memory.role is None and not turns):
            yield Said(memory.text, memory.role, memory.actor, memory.id)
        for text, event in turns:
            if events[event].role in _SPEAKERS:
                yield Said(text, events[event].role, events[event].actor, memory.id)
