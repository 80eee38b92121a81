"""The change feed that an index reads, and consistent reads of a store.

A store numbers the changes of each workspace: a write that changes a memory, its cues or their vectors takes the next
number, and each memory stores the number of its last change. An index keeps the last number it has read and continues
after it. Erased rows are in no change, so a second number counts erasures; when it has grown, an index is rebuilt.

All calls are synchronous: they run inside `Store.read`, in a thread of the store, on one snapshot.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from uuid import UUID

from remembrancer.domain.listing import USUAL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.candidates import States
    from remembrancer.domain.event import Event
    from remembrancer.domain.journal import ListingPosition
    from remembrancer.domain.listing import MemoryListing, MemoryPlace
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.query import Filter
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.validation import JsonValue
    from remembrancer.ports.journal import EventFilter, FoundEvent


AROUND: Final = 2
"""The number of turns that `ChangeFeed.around` looks in each direction: as far as `ContextRules` reach."""
NEVER: Final = 2**63 - 1
ALWAYS: Final = -(2**63)
"""The greatest and the least time, in microseconds since 1970 UTC."""


class UnreadableRow(Exception):
    """A row holds a value that this package never writes. The store adds the file's name to the message."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"a row has an invalid value: {error}")


class WorkspaceState(NamedTuple):
    """The numbers of a workspace's last change and last erasure, which never decrease. `model`: the one whose vectors
    answer; None: it has no vectors yet. `says_names`: whether a memory may have the tag `domain.names.ALIAS`.
    """

    change: int
    erasures: int
    model: str | None = None
    says_names: bool = True


class CueTurn(NamedTuple):
    """The turn that a cue consists of. `stream`: its whole scope, session included; `seq`: its position there.

    `occurred_at` in microseconds since 1970 UTC. `role` as `domain.event.Role`; `actor`: "" if not named.
    """

    stream: Scope
    seq: int
    occurred_at: int
    role: str
    actor: str


class ChangedCue(NamedTuple):
    """A cue as an index reads it. `ref` identifies it in this store and is never reused.

    `terms`: its terms, packed by `packed_terms`; `length`: their number, with repeats. `vector`: of the requested
    model, float32 (dim,), unit length; None: missing. `flags` as `domain.memory.CueFlag`. `turn`: None for a cue
    without an event, as in notes and facts.
    """

    ref: int
    terms: bytes
    length: int
    vector: NDArray[np.float32] | None
    flags: int
    turn: CueTurn | None


class CueWords(NamedTuple):
    """The part of a cue that ranks it, and that counts its words for the turns around it. Fields as in
    `ChangedMemory` and `ChangedCue`.

    `is_kept`: whether the reader may see its memory and the filter keeps it. `read_to`: the `seq` up to which the turns
    that follow in its stream have been read with it; 0: none.
    """

    memory: UUID
    occurred_to: int
    is_kept: bool
    read_to: int
    ref: int
    terms: bytes
    length: int
    turn: CueTurn | None


class ChangedMemory(NamedTuple):
    """A memory as an index reads it, with all its cues by ordinal. Times in microseconds since 1970 UTC, 0 for never.

    A scope part or source that is not set is "". The memory is current (`Filter.current_at`) from `current_from` to
    `current_until`, exclusive. The terms and turns of its cues change only with `revision`.
    """

    id: UUID
    revision: int
    project: str
    crew: str
    agent: str
    session: str
    visibility: str
    tier: str
    kind: str
    source: str
    occurred_from: int
    occurred_to: int
    current_from: int
    current_until: int
    last_reviewed_at: int
    last_retrieved_at: int
    last_shown_at: int
    last_used_at: int
    importance: float
    importance_floor: float
    confidence: float
    stability: float
    priority: int
    retrieved: int
    shown: int
    used: int
    worked: float
    failed: float
    tags: tuple[str, ...]
    metadata: Mapping[str, JsonValue]
    cues: Sequence[ChangedCue]


def current_span(
    recorded_at: int,
    valid_from: int | None,
    valid_until: int | None,
    is_superseded: bool,
    superseded_at: int | None,
    is_retired: bool,
    retired_at: int | None,
) -> tuple[int, int]:
    """The `current_from` and `current_until` of a memory. If the time of its supersession or retirement is unknown, it
    was never current.
    """
    until = NEVER if valid_until is None else valid_until
    if is_superseded:
        until = min(until, ALWAYS if superseded_at is None else superseded_at)
    if is_retired:
        until = min(until, ALWAYS if retired_at is None else retired_at)
    return recorded_at if valid_from is None else max(recorded_at, valid_from), until


class ChangeFeed(Protocol):
    """One snapshot of the records, as an index reads it. It does not check visibility; the index does."""

    @property
    def at(self) -> datetime | None:
        """The time as of which the records are read; None: as they are now.

        Feeds of different times are different records for an index: the same cue may belong to other memories. Later
        writes change what a feed of the past reports only where `state` has changed too.
        """
        ...

    def state(self, scope: Scope) -> WorkspaceState:
        """The present numbers, whatever `at` is."""
        ...

    def changes(self, scope: Scope, *, after: int, model: str | None, one_in: int = 1) -> Iterator[ChangedMemory]:
        """Memories of the workspace that have cues and a change number above `after`, ordered by that number.

        `one_in`: a power of two; above 1, only a fixed sample of about one memory in that many, which does not depend
        on what the memories say. The sample of a greater number is a part of that of a smaller one.

        As of a time: without those recorded later, each with its revision and state at that time, and with the vectors
        of that revision's cues, whenever these were made. Its visibility is the narrower of then and now.
        """
        ...

    def count_changed(self, scope: Scope, *, after: int) -> int:
        """The number of memories of the workspace, at present, with a change number above `after`."""
        ...

    def changed(self, scope: Scope, ids: Sequence[UUID], *, model: str | None) -> Iterator[ChangedMemory]:
        """The memories among these that `changes` gives, in any order."""
        ...

    def memories_of(self, scope: Scope, refs: Sequence[int]) -> Sequence[UUID]:
        """The memories that have any of these cues, in any order; cues that no memory has any more are left out."""
        ...

    def passages(self, reader: Reader, where: Filter, ids: Sequence[UUID]) -> Sequence[CueWords]:
        """The cues of these memories, in any order, whatever their visibility."""
        ...

    def around(self, reader: Reader, where: Filter, ids: Sequence[UUID]) -> Sequence[CueWords]:
        """The turns of these memories, and those up to `AROUND` turns away in the same stream, in any order, whatever
        their visibility. A turn is an event that is a cue of any memory.
        """
        ...

    def newest(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        spans: Sequence[tuple[datetime, datetime]] = (),
        phrase: Sequence[str] = (),
    ) -> Sequence[UUID]:
        """Memories with cues that the reader may see and the filter keeps, newest first, then by id. With `spans`:
        those that happened in one of these intervals [start, end). With `phrase`: those with a cue that contains these
        words next to each other.
        """
        ...

    def with_terms(self, reader: Reader, where: Filter, weights: Mapping[str, float], *, limit: int) -> Sequence[UUID]:
        """Memories that the reader may see and the filter keeps and that have a cue with any of these terms.

        In descending order of the greatest sum of weights (at least 0) of the terms of a cue; equal ones newest first.
        `limit`: the number of cues they are chosen by.
        """
        ...

    def index_token(self, scope: Scope, model: str | None) -> bytes | None:
        """The last token put by `IndexFiles.put_index_token`. None: there is none."""
        ...

    def token_embeddings(self, scope: Scope, model: str, refs: Sequence[int]) -> Mapping[int, NDArray[np.uint8]]:
        """The token embeddings of these cues, as in `CueVector.token_embeddings`; cues without any are left out."""
        ...

    def erased(self, scope: Scope, *, after: int) -> frozenset[UUID]:
        """The memories that erasures with a number above `after` removed, or rebuilt without the erased text."""
        ...

    def cues_with_phrase(self, scope: Scope, words: Sequence[str]) -> Sequence[int]:
        """The refs of the workspace's cues whose tokens contain these words next to each other, in this order. Cues of
        other revisions may be among them.
        """
        ...


class ReadView(ChangeFeed, Protocol):
    """One snapshot of the records, for functions that make several reads. Each method is as in the store."""

    def as_of(self, at: datetime) -> ReadView:
        """The same snapshot, read as the records were at a time: every method answers with the revisions and states at
        that time, and without what was recorded later. Weights of relations are the present ones. Erased records are
        not included.
        """
        ...

    def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]: ...

    def at_revisions(
        self, reader: Reader, revisions: Mapping[UUID, int]
    ) -> Mapping[UUID, tuple[Memory, tuple[Cue, ...]]]:
        """Each memory with what it said at that revision, its state of now, and the cues of that revision, by ordinal.

        Left out: memories that the reader may not see now or might not see then, erased ones, and revisions that are
        not kept.
        """
        ...

    def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]: ...

    def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
        listing: MemoryListing = USUAL,
    ) -> tuple[Memory, ...]: ...

    def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: ListingPosition | None = None,
    ) -> tuple[Event, ...]: ...

    def count_events(self, reader: Reader, where: EventFilter) -> int: ...

    def events_by_words(
        self, reader: Reader, where: EventFilter, weights: Mapping[str, int], *, limit: int, skip: int = 0
    ) -> tuple[FoundEvent, ...]:
        """Events whose `searchable_text` has any of these tokens, by descending score, ties by descending
        `occurred_at`, then id.

        `weights`: the weight of each token; a score is their sum. `skip`: how many of the first events to leave out.
        """
        ...

    def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]: ...

    def states(self, reader: Reader, where: Filter) -> tuple[Sequence[UUID], States]: ...

    def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]: ...


@lru_cache(maxsize=16_384)  # the words of a language recur
def term_hash(term: str) -> int:
    """A 32-bit hash (CRC-32) of a term. The chance that two given terms have the same one is 1 in 4 billion."""
    return zlib.crc32(term.encode("utf-8"))


def packed_terms(terms: Sequence[str]) -> bytes:
    """Distinct term hashes (little-endian uint32), then the number of occurrences of each (uint8, at most 255)."""
    counts = Counter(map(term_hash, terms))
    hashes = struct.pack(f"<{len(counts)}I", *counts)
    return hashes + bytes(counts.values() if len(terms) <= 255 else [min(count, 255) for count in counts.values()])


def unpacked_terms(packed: bytes) -> dict[int, int]:
    """The term hashes that `packed_terms` packed, each with its number of occurrences."""
    distinct = len(packed) // 5
    hashes = (int.from_bytes(packed[4 * place : 4 * place + 4], "little") for place in range(distinct))
    return dict(zip(hashes, packed[4 * distinct :], strict=True))
