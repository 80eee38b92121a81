"""Invariants of the memory after a simulated life, checked on the exported rows and not on the jobs' reports."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.event import Event, least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Scope, narrowest
from remembrancer.engine.end_session import REINFORCED
from remembrancer.policies.consolidation.facts import DRAWN
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.ports import exchange
from remembrancer.ports.exchange import ArchivedRecord, MemoryRecord
from remembrancer.ports.store import Store
from remembrancer.presets.spec import Preset

RECORDS: Final = frozenset({"event", "archived", "memory", "relation"})
MAX_EXAMPLES: Final = 3
"""Examples shown per violated rule."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The exported workspace. `sources`: for each formed memory, the relations to what it was formed from."""

    events: Mapping[UUID, Event]
    archived: int
    memories: Mapping[UUID, Memory]
    provenance: Mapping[UUID, tuple[UUID, ...]]
    sources: Mapping[UUID, list[Relation]]
    superseded: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Audit:
    """`checked`: number of rows checked against each rule. `faults`: violations as text; empty if there are none.

    `statuses`: number of memories by status; `expired` and `superseded` memories are active, but recall does not return
    them.
    """

    checked: Mapping[str, int]
    faults: tuple[str, ...]
    statuses: Mapping[str, int]
    expired: int
    superseded: int


@dataclass(slots=True)
class _Findings:
    checked: Counter[str] = field(default_factory=Counter[str])
    broken: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def check(self, rule: str, holds: bool, example: object) -> None:
        self.checked[rule] += 1
        if not holds:
            self.broken[rule].append(str(example))

    def faults(self) -> tuple[str, ...]:
        return tuple(
            f"{rule}: {len(examples):,} of {self.checked[rule]:,} do not, such as {', '.join(examples[:MAX_EXAMPLES])}"
            for rule, examples in self.broken.items()
        )


async def read(store: Store, scope: Scope) -> Rows:
    """Export the rows that the rules need."""
    events: dict[UUID, Event] = {}
    memories: dict[UUID, Memory] = {}
    provenance: dict[UUID, tuple[UUID, ...]] = {}
    sources: defaultdict[UUID, list[Relation]] = defaultdict(list)
    superseded: set[UUID] = set()
    archived = 0
    async for row in store.export(scope):
        if row["record"] not in RECORDS:
            continue
        match exchange.row_to_record(row, scope.workspace):
            case Event() as event:
                events[event.id] = event
            case ArchivedRecord(event):
                events[event.id] = event
                archived += 1
            case MemoryRecord(memory, event_ids):
                memories[memory.id] = memory
                provenance[memory.id] = event_ids
            case Relation(kind=RelationKind.DERIVED_FROM) as edge:
                sources[edge.source].append(edge)
            case Relation(kind=RelationKind.SUPERSEDES) as edge:
                superseded.add(edge.target)
            case _:
                pass
    return Rows(events, archived, memories, provenance, sources, frozenset(superseded))


def audit(rows: Rows, preset: Preset, *, recorded: int, noted: Collection[UUID], now: datetime) -> Audit:
    """Check all rules.

    `recorded`: number of events passed to `observe`; events that the memory itself adds have no actor and are not
    counted. `noted`: ids of the memories written with `remember`.
    """
    found = _Findings()
    told = sum(event.actor is not None for event in rows.events.values())
    found.check("every event is in the journal or the archive, once", told == recorded, f"{told} of {recorded}")
    _check_streams(rows, found)
    if preset.segmentation is not None:
        _check_episodes(rows, preset, found)
    _check_formed(rows, noted, found)
    statuses = Counter(memory.status.value for memory in rows.memories.values())
    active = [memory for memory in rows.memories.values() if memory.status is Status.ACTIVE]
    return Audit(
        checked=dict(found.checked),
        faults=found.faults(),
        statuses=dict(statuses),
        expired=sum(memory.valid_until is not None and memory.valid_until <= now for memory in active),
        superseded=sum(memory.superseded_by is not None for memory in active),
    )


def _check_streams(rows: Rows, found: _Findings) -> None:
    places: defaultdict[Scope, list[int]] = defaultdict(list)
    for event in rows.events.values():
        places[event.scope].append(event.seq)
    for stream, seqs in places.items():
        found.check("streams have no gaps", sorted(seqs) == list(range(1, len(seqs) + 1)), stream.session)


def _check_episodes(rows: Rows, preset: Preset, found: _Findings) -> None:
    """Each admitted event is in exactly one episode, or in none if its memory was forgotten or replaced first."""
    held = Counter[UUID]()
    for memory in rows.memories.values():
        if memory.kind == EPISODE:
            held.update(rows.provenance[memory.id])
    for event in rows.events.values():
        if not preset.admission.admits(event) or event.origin == "system":
            continue
        own = rows.memories.get(derived_id(event.id, "memory"))
        over = own is not None and (own.status is Status.RETIRED or own.superseded_by is not None)
        count = held[event.id]
        found.check("an admitted event is in exactly one episode", count == 1 or (over and not count), event.id)


def _check_formed(rows: Rows, noted: Collection[UUID], found: _Findings) -> None:
    """Rules for memories formed from others, and for the memories that they replaced."""
    of_events = {derived_id(event, "memory") for event in rows.events}
    led_to = {edge.target for edges in rows.sources.values() for edge in edges}
    for memory in rows.memories.values():
        if memory.status is Status.COMPACTED:
            rule = "what left recall for another memory is led to by it"
            found.check(rule, memory.id in led_to or _is_blank(memory), memory.id)
        edges = rows.sources.get(memory.id, ())
        told = memory.id in noted or memory.id in of_events or memory.kind == REINFORCED
        if told and not edges:
            continue
        said = rows.provenance[memory.id]
        found.check("what nobody said or wrote names what it was made of", told or bool(edges or said), memory.id)
        found.check(
            "what a formed memory was made of can be reached, down to what was said",
            _sources_exist(rows, memory.id, set()),
            memory.id,
        )
        pairs = [(edge, rows.memories[edge.target]) for edge in edges if edge.target in rows.memories]
        origins = [rows.events[event].origin for event in said if event in rows.events]
        # Repeating a known fact does not change its trust, so sources that were added later do not count.
        again = memory.recorded_at if memory.source == DRAWN else None
        origins += [source.origin for edge, source in pairs if again is None or edge.created_at <= again]
        trusted = least_trusted([memory.origin, *origins])
        found.check("a formed memory is trusted no more than its sources", trusted is memory.origin, memory.id)
        for edge, source in pairs:
            held = _was_current(source, edge.created_at)
            found.check("nothing is made of what had expired or was replaced", held, f"{memory.id} of {source.id}")
        if pairs:
            seen = narrowest([memory.visibility, *(source.visibility for _, source in pairs)])
            found.check(
                "a formed memory is seen by no more than each of its sources", seen is memory.visibility, memory.id
            )


def _sources_exist(rows: Rows, memory_id: UUID, seen: set[UUID]) -> bool:
    """Whether all sources of a memory exist, recursively: its events, and the memories it was formed from."""
    if memory_id in seen:
        return True
    seen.add(memory_id)
    if memory_id not in rows.memories or any(event not in rows.events for event in rows.provenance[memory_id]):
        return False
    return all(_sources_exist(rows, edge.target, seen) for edge in rows.sources.get(memory_id, ()))


def _was_current(source: Memory, at: datetime) -> bool:
    """Whether the memory was current when a relation to it was created. An effect has one time, so a memory that ends
    at exactly that time counts as current.
    """
    ended = [source.valid_until, source.superseded_at]
    if source.status is Status.RETIRED:
        ended.append(source.retired_at)
    return all(moment is None or moment >= at for moment in ended)


def _is_blank(memory: Memory) -> bool:
    return not memory.text.strip()
