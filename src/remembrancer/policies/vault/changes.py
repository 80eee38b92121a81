"""The changes that bring a memory to the state of its entry in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, Status, Tier, holds
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import Conflict
from remembrancer.policies.admission.flagging import reflagged
from remembrancer.policies.admission.formation import memory_of_draft, own_cue
from remembrancer.policies.learning.learnings import made_to_say, memory_of_learning, strengthened
from remembrancer.policies.vault.chunks import Chunk
from remembrancer.policies.vault.places import VaultOwner
from remembrancer.values import dataclass

DOCUMENT: Final = "document"
"""The kind of memories made from a document's text, which has no learning's header."""
VAULT: Final = "vault"
"""The metadata field with the name of a memory's vault."""
ENTRY: Final = "entry"
"""The metadata field with the memory's own id. A memory derived from it may inherit its metadata, but
has another id.
"""


_OF_STORE: Final = frozenset(
    "id recorded_at superseded_by superseded_at retired_at consolidated_at revision status strength".split()
)
"""Fields of a memory that only the store sets."""
_OF_A_PLACE: Final = frozenset({VAULT, ENTRY, *VaultOwner(job="", task="").metadata})


class Trust(StrEnum):
    """The side that wins a conflict: the file if both changed, or the file in any case, as if the store were empty."""

    BOTH = "both"
    FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The settings of a sync. `project`: the vault is this project's folder. `pinned_tag`: the tag of memories in every
    answer. `now`: aware.
    """

    workspace: str
    project: str | None
    vault: str
    pinned_tag: str
    now: datetime
    trust: Trust = Trust.BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOrigin:
    """The fields of a memory that come from its file, besides its text: owner, source, tags and metadata.

    `since`: the creation time of entries without one.
    """

    scope: Scope
    source: str
    tags: tuple[str, ...]
    metadata: dict[str, JsonValue]
    since: datetime

    @classmethod
    def of(cls, terms: Terms, place: VaultOwner, path: str, since: datetime) -> FileOrigin:
        """The properties of a file. Raises InvalidInput for a folder whose name cannot be that of a project or crew,
        and for a path too long for a source.
        """
        return cls(
            scope=place.scope(terms.workspace),
            source=validation.name("path", path),
            tags=(terms.pinned_tag,) if place.institutional else (),
            metadata={VAULT: terms.vault, **place.metadata},
            since=since,
        )

    def metadata_of(self, identifier: UUID) -> dict[str, JsonValue]:
        return {**self.metadata, ENTRY: str(identifier)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change of one memory: `memory` is its new state; `read` its previous state, if it existed."""

    path: str
    memory: Memory
    read: Memory | None = None
    inserted: MemoryWrite | None = None
    revised: MemoryWrite | None = None
    strength: Strength | None = None
    status_change: StatusChange | None = None

    @property
    def is_empty(self) -> bool:
        return self.inserted is None and self.revised is None and self.strength is None and self.status_change is None

    def revises_what_holds(self, at: datetime) -> bool:
        """Whether the change revises an active memory. Only such revisions can be part of an effect."""
        return self.revised is not None and self.read is not None and holds(self.read, at)


def of_entry(memory: Memory | None, learning: Learning, origin: FileOrigin, terms: Terms) -> Change:
    """The change from a memory to the state of a learning. A superseded memory keeps its text and stays retired."""
    metadata = origin.metadata_of(learning.id)
    fresh = memory_of_learning(
        learning,
        scope=origin.scope,
        source=origin.source,
        tags=origin.tags,
        metadata=metadata,
        otherwise_at=origin.since,
        now=terms.now,
    )
    if memory is None:
        return Change(path=origin.source, memory=fresh.memory, inserted=fresh)
    # The metadata may include fields inherited from a memory of another file.
    elsewhere = {name: value for name, value in memory.metadata.items() if name not in _OF_A_PLACE}
    said = made_to_say(
        replace(memory, metadata=elsewhere),
        learning,
        scope=origin.scope,
        source=origin.source,
        tags=origin.tags,
        metadata=metadata,
    )
    strength = memory.strength
    if terms.trust is Trust.FILES:
        # The header has only a day; a time on that day is the same date, more precise.
        usage = replace(fresh.memory.strength.usage, last_retrieved_at=strength.usage.last_retrieved_at)
        strength = replace(fresh.memory.strength, usage=usage)
    return _towards(memory, said, strengthened(strength, learning), learning.status, origin.source)


def of_chunk(memory: Memory | None, identifier: UUID, chunk: Chunk, origin: FileOrigin, terms: Terms) -> Change:
    """The change from a memory to the text of a document's passage."""
    draft = MemoryDraft(
        text=without_recalled(chunk.text),
        title=chunk.title or None,
        kind=DOCUMENT,
        tier=Tier.SEMANTIC,
        source=origin.source,
        tags=origin.tags,
        metadata={**origin.metadata_of(identifier), "offset": chunk.offset},
        occurred_at=origin.since if memory is None else memory.occurred_to,
        key=f"{DOCUMENT}:{identifier}",
    )
    fresh = memory_of_draft(draft, scope=origin.scope, identifier=identifier, now=terms.now)
    if memory is None:
        return Change(path=origin.source, memory=fresh.memory, inserted=fresh)
    strength = fresh.memory.strength if terms.trust is Trust.FILES else memory.strength
    return _towards(memory, _like(memory, fresh), strength, Status.ACTIVE, origin.source)


def retiring(memory: Memory, path: str, why: str) -> Change:
    """The change that retires a memory whose text is no longer in the vault."""
    change = StatusChange(memory.id, Status.RETIRED, why)
    return Change(path=path, memory=replace(memory, status=Status.RETIRED), read=memory, status_change=change)


def effect_of(changes: Iterable[Change], at: datetime) -> Effect:
    """All changes as one effect, without the revisions of inactive memories."""
    several = tuple(changes)
    revised = [change for change in several if change.revises_what_holds(at)]
    return Effect(
        expected={change.memory.id: change.read.revision for change in revised if change.read is not None},
        inserted=tuple(change.inserted for change in several if change.inserted is not None),
        revised=tuple(change.revised for change in revised if change.revised is not None),
        status_changes=tuple(change.status_change for change in several if change.status_change is not None),
        adjusted={change.memory.id: _adjusting(change) for change in several if change.strength is not None},
    )


def _towards(memory: Memory, said: MemoryWrite, strength: Strength, status: Status, path: str) -> Change:
    """The change from a memory to its new state; empty if they are equal."""
    superseded = memory.superseded_by is not None
    differs = said.memory != memory and not superseded
    moves = memory.status is not status and not superseded
    reason = f"{path}, its folder in the vault, means {status.value}"
    return Change(
        path=path,
        memory=replace(
            said.memory if differs else memory, strength=strength, status=status if moves else memory.status
        ),
        read=memory,
        revised=said if differs else None,
        strength=strength if strength != memory.strength else None,
        status_change=StatusChange(memory.id, status, reason) if moves else None,
    )


def _like(memory: Memory, fresh: MemoryWrite) -> MemoryWrite:
    """The new text for an existing memory, keeping the fields that only the store sets."""
    stays = {name: getattr(memory, name) for name in _OF_STORE}
    later = reflagged(replace(fresh.memory, key=memory.key or fresh.memory.key, **stays), memory)
    return MemoryWrite(later, (own_cue(later),))


def _adjusting(change: Change) -> Callable[[Strength], Adjustment]:
    before, after = change.read, change.strength

    def adjusted(strength: Strength) -> Adjustment:
        if before is None or after is None or strength != before.strength:
            raise Conflict(f"memory {change.memory.id} was used or judged meanwhile")
        return Adjustment(after)

    return adjusted
