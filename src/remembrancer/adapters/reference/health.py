"""The inputs of the health metrics."""

from __future__ import annotations

from datetime import datetime

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.domain.strength import Exposure
from remembrancer.policies.ranking.selection import excluded_by
from remembrancer.ports.inspection import Vitals


def vitals(rows: Rows, reader: Reader, where: Filter, model: str | None, shown_since: datetime) -> Vitals:
    seen = {memory.id: memory for memory in rows.visible_memories(reader)}
    kept = sorted((memory for memory in seen.values() if not excluded_by(memory, where)), key=lambda memory: memory.id)
    with_vector = {memory.id for memory in kept if rows.has_all_vectors(memory.id, model)}
    edges = [
        (edge.source, edge.target)
        for edge in rows.relations.values()
        if edge.source != edge.target and edge.source in seen and edge.target in seen
    ]
    joined = {end for ends in edges for end in ends}
    ids = {memory.id for memory in kept}
    shown = [
        one
        for one in rows.exposures.values()
        if one.memory_id in ids and one.exposure is Exposure.SHOWN and one.at >= shown_since
    ]
    shown.sort(key=lambda one: (one.at, one.memory_id))
    return Vitals(
        ids=tuple(memory.id for memory in kept),
        occurred=tuple(memory.occurred_to for memory in kept),
        with_vector=len(with_vector),
        related=len(with_vector & joined),
        shown=tuple(one.similarity for one in shown if one.similarity is not None),
    )
