"""Adding the `similar` neighbours of hits."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer.domain.age import Age
from remembrancer.domain.memory import turns_of
from remembrancer.domain.recall import PRODUCT, Explanation, Hit, Part
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.selection import excluded_by
from remembrancer.engine.choose import text_key
from remembrancer.policies.ranking.groups import LED_FROM, RELATION

if TYPE_CHECKING:
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.query import Filter
    from remembrancer.domain.scope import Reader
    from remembrancer.ports.changes import ReadView


def walk(
    view: ReadView, reader: Reader, hits: tuple[Hit, ...], where: Filter, limit: int, min_score: float
) -> tuple[Hit, ...]:
    """The hits and their `similar` neighbours, best first, at most `limit`, none below `min_score`.

    Relations are followed in both directions. A neighbour's score is the hit's score times the relation's weight. The
    filter and the reader's access apply to it as to any hit; one that repeats the text of a better hit is left out.
    """
    there = {hit.id for hit in hits}
    ways: dict[UUID, tuple[float, Hit, float]] = {}
    by_id = {hit.id: hit for hit in hits}
    for edge in view.relations(reader, list(by_id)):
        if edge.kind is not RelationKind.SIMILAR or edge.created_at > where.current_at:
            continue
        for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
            if near in by_id and far not in there:
                score = by_id[near].score * edge.weight
                if far not in ways or score > ways[far][0]:
                    ways[far] = (score, by_id[near], edge.weight)
    rows = view.get(reader, list(ways))
    cues = view.cues(reader, list(rows))
    led = [
        _led(memory, cues[identifier], *ways[identifier], where.current_at)
        for identifier, memory in rows.items()
        if ways[identifier][0] >= min_score and identifier in cues and not excluded_by(memory, where)
    ]
    texts = {text_key(hit.cue, hit.memory) for hit in hits}
    fresh: list[Hit] = []
    for hit in sorted(led, key=_best_first):
        if text_key(hit.cue, hit.memory) not in texts:
            texts.add(text_key(hit.cue, hit.memory))
            fresh.append(hit)
    best = sorted((*hits, *fresh), key=_best_first)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best[:limit], start=1))


def _best_first(hit: Hit) -> tuple[float, timedelta, UUID]:
    return -hit.score, hit.age, hit.id


def _led(memory: Memory, cues: tuple[Cue, ...], score: float, hit: Hit, weight: float, at: datetime) -> Hit:
    parts = (
        Part(LED_FROM, hit.score, hit.score),
        Part(RELATION, weight, weight),
    )
    return Hit(
        rank=0,  # assigned after sorting
        score=score,
        memory=memory,
        cue=cues[0],
        age=Age.of(at - memory.occurred_to),
        explanation=Explanation(
            score=Part(PRODUCT, score, score, parts), signals={}, ranks={}, reason="similar to another hit"
        ),
        turns=turns_of(cues, cues[0]),
        via=hit.id,
    )
