"""What must hold of every memory after a life, read from an export: the rows, not what the jobs say they did."""

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

READ: Final = frozenset({"event", "archived", "memory", "relation"})
NAMED: Final = 3
"""Examples of each fault."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A workspace as its export has it. `sources`: by formed memory, the edges to what it was made of."""

    events: Mapping[UUID, Event]
    archived: int
    memories: Mapping[UUID, Memory]
    provenance: Mapping[UUID, tuple[UUID, ...]]
    sources: Mapping[UUID, list[Relation]]
    superseded: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Audit:
    """`checked`: how many rows each rule was held against. `faults`: what is broken, in words; empty: nothing is.

    `statuses`: memories by what became of them; `expired` and `superseded` are not in recall, though active.
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
            f"{rule}: {len(examples):,} of {self.checked[rule]:,} do not, such as {', '.join(examples[:NAMED])}"
            for rule, examples in self.broken.items()
        )


async def read(store: Store, scope: Scope) -> Rows:
    """All that the rules below are about."""
    events: dict[UUID, Event] = {}
    memories: dict[UUID, Memory] = {}
    provenance: dict[UUID, tuple[UUID, ...]] = {}
    sources: defaultdict[UUID, list[Relation]] = defaultdict(list)
    superseded: set[UUID] = set()
    archived = 0
    async for row in store.export(scope):
        if row["record"] not in READ:
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
    """`recorded`: events that were told to be recorded; those of the memory itself, which name nobody, come on top.
    `noted`: the memories that somebody wrote down.
    """
    found = _Findings()
    told = sum(event.actor is not None for event in rows.events.values())
    found.check("every event is in the journal or the archive, once", told == recorded, f"{told} of {recorded}")
    _streams(rows, found)
    if preset.segmentation is not None:
        _episodes(rows, preset, found)
    _formed(rows, noted, found)
    statuses = Counter(memory.status.value for memory in rows.memories.values())
    active = [memory for memory in rows.memories.values() if memory.status is Status.ACTIVE]
    return Audit(
        checked=dict(found.checked),
        faults=found.faults(),
        statuses=dict(statuses),
        expired=sum(memory.valid_until is not None and memory.valid_until <= now for memory in active),
        superseded=sum(memory.superseded_by is not None for memory in active),
    )


def _streams(rows: Rows, found: _Findings) -> None:
    places: defaultdict[Scope, list[int]] = defaultdict(list)
    for event in rows.events.values():
        places[event.scope].append(event.seq)
    for stream, seqs in places.items():
        found.check("streams have no gaps", sorted(seqs) == list(range(1, len(seqs) + 1)), stream.session)


def _episodes(rows: Rows, preset: Preset, found: _Findings) -> None:
    """What was forgotten or replaced before its stream was read may be in none."""
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


def _formed(rows: Rows, noted: Collection[UUID], found: _Findings) -> None:
    """Of memories that were made of others, and of those that made room for them."""
    of_events = {derived_id(event, "memory") for event in rows.events}
    led_to = {edge.target for edges in rows.sources.values() for edge in edges}
    for memory in rows.memories.values():
        if memory.status is Status.COMPACTED:
            rule = "what left recall for another memory is led to by it"
            found.check(rule, memory.id in led_to or _said_nothing(memory), memory.id)
        edges = rows.sources.get(memory.id, ())
        told = memory.id in noted or memory.id in of_events or memory.kind == REINFORCED
        if told and not edges:
            continue
        said = rows.provenance[memory.id]
        found.check("what nobody said or wrote names what it was made of", told or bool(edges or said), memory.id)
        found.check(
            "what a formed memory was made of can be reached, down to what was said",
            _grounded(rows, memory.id, set()),
            memory.id,
        )
        pairs = [(edge, rows.memories[edge.target]) for edge in edges if edge.target in rows.memories]
        origins = [rows.events[event].origin for event in said if event in rows.events]
        # A fact that is told again says what it said: whoever tells it again takes no trust from it, and gives none.
        again = memory.recorded_at if memory.source == DRAWN else None
        origins += [source.origin for edge, source in pairs if again is None or edge.created_at <= again]
        trusted = least_trusted([memory.origin, *origins])
        found.check("a formed memory is trusted no more than its sources", trusted is memory.origin, memory.id)
        for edge, source in pairs:
            held = _held(source, edge.created_at)
            found.check("nothing is made of what had expired or was replaced", held, f"{memory.id} of {source.id}")
        if pairs:
            seen = narrowest([memory.visibility, *(source.visibility for _, source in pairs)])
            found.check(
                "a formed memory is seen by no more than each of its sources", seen is memory.visibility, memory.id
            )


def _grounded(rows: Rows, memory_id: UUID, seen: set[UUID]) -> bool:
    """Whether all that a memory comes from is there: its events, and the memories it was made of, and theirs."""
    if memory_id in seen:
        return True
    seen.add(memory_id)
    if memory_id not in rows.memories or any(event not in rows.events for event in rows.provenance[memory_id]):
        return False
    return all(_grounded(rows, edge.target, seen) for edge in rows.sources.get(memory_id, ()))


def _held(source: Memory, at: datetime) -> bool:
    """Whether it held when an edge was drawn to it. What one effect does has one time: its own end is no end before."""
    ended = [source.valid_until, source.superseded_at]
    if source.status is Status.RETIRED:
        ended.append(source.retired_at)
    return all(moment is None or moment >= at for moment in ended)


def _said_nothing(memory: Memory) -> bool:
    return not memory.text.strip()
