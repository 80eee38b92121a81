"""Memories as they were at an earlier time: past states, and a memory made from its past revision and state.

A revision is what a memory said; a state is what may change while it says the same. Both end at a time of recording:
what was believed as of a time is the revision and the state that had not ended by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from remembrancer.domain.memory import Cue, Memory, Revision, Status
from remembrancer.domain.scope import Reader, Scope, Visibility, narrowest
from remembrancer.domain.selection import can_see
from remembrancer.domain.strength import Strength
from remembrancer.values import copied, dataclass

SAID: Final = (
    *("title", "text", "kind", "tier", "source", "origin", "actor", "role"),
    *("occurred_from", "occurred_to", "valid_from", "tags", "metadata"),
)
"""The fields of a memory that a revision has under the same name, besides `visibility` and the session."""
KEPT: Final = ("valid_until", "superseded_by", "superseded_at", "retired_at", "status", "strength")
"""The fields of a memory that a state has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastState:
    """A state that a memory had until a time, since the end of the state before. Fields as in `Memory`."""

    memory_id: UUID
    until: datetime
    valid_until: datetime | None
    superseded_by: UUID | None
    superseded_at: datetime | None
    retired_at: datetime | None
    status: Status
    strength: Strength


def revision_of(memory: Memory, replaced_at: datetime) -> Revision:
    """The memory's present text and fields as a revision, to be kept when another one replaces it."""
    return copied(
        memory,
        Revision,
        memory_id=memory.id,
        number=memory.revision,
        session=memory.scope.session,
        replaced_at=replaced_at,
    )


def state_of(memory: Memory, until: datetime) -> PastState:
    """The memory's state, once it ends."""
    return copied(memory, PastState, memory_id=memory.id, until=until)


def same_state(one: Memory, other: Memory) -> bool:
    """Whether two forms of one memory have the same state."""
    return all(getattr(one, name) == getattr(other, name) for name in KEPT)


def at_revisions(
    reader: Reader,
    wanted: Mapping[UUID, int],
    memories: Mapping[UUID, Memory],
    revisions: Iterable[Revision],
    cues: Iterable[tuple[Cue, int, int | None]],
) -> dict[UUID, tuple[Memory, tuple[Cue, ...]]]:
    """See `ReadView.at_revisions`. `cues`: each with the first and the last revision that it belongs to."""
    before = {(one.memory_id, one.number): one for one in revisions}
    had: dict[UUID, list[Cue]] = {}
    for cue, first, last in cues:
        number = wanted.get(cue.memory_id, 0)
        if first <= number and (last is None or number <= last):
            had.setdefault(cue.memory_id, []).append(cue)
    found: dict[UUID, tuple[Memory, tuple[Cue, ...]]] = {}
    for identifier, memory in memories.items():
        revision = before.get((identifier, wanted[identifier]))
        if revision is None and memory.revision != wanted[identifier]:
            continue
        then = memory if memory.revision == wanted[identifier] else replace(memory, **_said(memory, revision))
        if can_see(reader, then.scope, then.visibility, then.strength.importance):
            found[identifier] = then, tuple(sorted(had.get(identifier, ()), key=lambda cue: cue.ordinal))
    return found


def as_it_was(memory: Memory, at: datetime, revision: Revision | None, state: PastState | None) -> Memory:
    """The memory as it was at a time, given its revision and state at that time (None: the present ones). Its
    visibility is the narrower of those of that time and now: a question about the past shows a reader only what they
    may see now and might see then.
    """
    consolidated = None if memory.consolidated_at is None or memory.consolidated_at > at else memory.consolidated_at
    return replace(
        memory,
        consolidated_at=consolidated,
        **_said(memory, revision),
        **({} if state is None else {name: getattr(state, name) for name in KEPT}),
    )


def _said(memory: Memory, revision: Revision | None) -> Mapping[str, Any]:
    if revision is None:
        return {}
    if revision.kind is None or revision.visibility is None:  # only its text was recorded
        return {"revision": revision.number, "title": revision.title, "text": revision.text}
    return {
        "revision": revision.number,
        "visibility": narrowest((memory.visibility, revision.visibility)),
        "scope": _scope(memory, revision),
        **{name: getattr(revision, name) for name in SAID},
    }


def _scope(memory: Memory, revision: Revision) -> Scope:
    """The scope at that time; but a memory that is limited to a session now, and was not then, stays in
    that session.
    """
    within = memory.visibility is Visibility.SESSION and revision.visibility is not Visibility.SESSION
    return memory.scope if within else memory.scope.narrowed(session=revision.session)
