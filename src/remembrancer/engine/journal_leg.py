"""Journal entries as candidates of the lexical search, whether or not a memory was formed from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from remembrancer.domain.candidates import ContextFeatures, States
from remembrancer.domain.memory import searchable_text
from remembrancer.domain.scope import Visibility
from remembrancer.domain.selection import can_see, excluded_by
from remembrancer.domain.strength import Exposure
from remembrancer.language.lexical import analyse
from remembrancer.policies.admission.formation import memory_id_of, memory_without_cues, passages_of
from remembrancer.policies.ranking.entries import UNIT, weight
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.states import states_of
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.candidates import Candidates
    from remembrancer.domain.event import Event
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.query import Filter, LexicalQuery
    from remembrancer.domain.scope import Reader
    from remembrancer.engine.context import Context
    from remembrancer.ports.changes import ReadView
    from remembrancer.ports.index import SearchRequest


def with_journal(
    ctx: Context, view: ReadView, reader: Reader, request: SearchRequest, query: LexicalQuery, found: Candidates
) -> tuple[Candidates, Mapping[UUID, UnformedEntry]]:
    """Add journal entries to the candidates. Returns all candidates, and the entries that formed no memory, by the id
    of the one that would be formed.

    An entry is found by any term of the question in its text or payload, and scored by `policies.ranking.entries`; if
    it formed a memory, the memory gets the score. Lexical candidates are scored in the same way, so that all have one
    order. Equal scores are ordered newest first, then by id. At most the `depth` best entries are read. If no entry has
    a term of the question, the candidates are unchanged.

    The entry of a memory that was forgotten, replaced or revised does not count.
    """
    where = _events_of(ctx, request.where)
    if where is None or not query.terms:
        return found, {}
    texts = view.count_events(reader, where)
    weights = {
        term: weight(texts, view.count_events(reader, replace(where, words=(frozenset({term}),))))
        for term in query.terms
    }
    entries = _Entries(ctx, view, reader, request.where, query.terms)
    scores = dict(entries.best(where, weights, request.depth))
    if not scores:
        return found, {}
    lexical = [one for one, bm25 in zip(found.ids, found.bm25.tolist(), strict=True) if bm25 > 0]
    for one, cues in view.cues(reader, [one for one in lexical if one not in scores]).items():
        terms = {term for cue in cues for term in analyse(searchable_text(cue)).terms}
        scores[one] = sum(weighs for term, weighs in weights.items() if term in terms)
    return _joined(found, entries, scores, sum(weights.values()), request.depth), entries.unformed


def _events_of(ctx: Context, where: Filter) -> EventFilter | None:
    """The filter of entries for the filter of a question; None: no entry can match, because entries lack a property
    that it asks for.
    """
    formed_as = ctx.preset.formation.event_tier
    if where.tags or where.metadata or where.source is not None:
        return None
    if where.tiers is not None and formed_as not in where.tiers:
        return None
    if where.visibilities is not None and Visibility.WORKSPACE not in where.visibilities:
        return None
    return EventFilter(
        types=where.kinds,
        without_types=where.without_kinds,
        crew=where.crew,
        session=where.session,
        recorded_by=where.current_at,
        since=where.since,
        until=where.until,
    )


@dataclass(frozen=True, slots=True)
class UnformedEntry:
    """A journal entry without a memory, found by `terms`. `memory`: the one that would be formed from it."""

    memory: Memory
    event: Event
    terms: Collection[str]

    def cue(self) -> Cue:
        """The entry's text; of a long one the first of the passages with the most terms."""
        cues = list(passages_of(self.memory.id, self.event))
        if len(cues) == 1:
            return cues[0]
        texts = [cue.text.casefold() for cue in cues]
        return cues[max(range(len(cues)), key=lambda place: sum(term in texts[place] for term in self.terms))]


class _Entries:
    """Journal entries as memories: each as the memory formed from it, or the one that would be formed."""

    def __init__(self, ctx: Context, view: ReadView, reader: Reader, where: Filter, terms: Collection[str]) -> None:
        self._formation, self._view, self._reader, self._where = ctx.preset.formation, view, reader, where
        self._terms = terms
        self.memories: dict[UUID, Memory] = {}
        self.unformed: dict[UUID, UnformedEntry] = {}
        """The entries without a memory, by the id of the one in `memories`."""

    def best(self, where: EventFilter, weights: Mapping[str, int], depth: int) -> Iterator[tuple[UUID, int]]:
        """The ids of the first `depth` memories that the reader may see and the filter keeps, with their scores."""
        for skip in count(0, depth):
            page = self._view.events_by_words(self._reader, where, weights, limit=depth, skip=skip)
            listed = EventFilter(ids=frozenset(one.event.id for one in page), unformed=True)
            unformed = {event.id for event in self._view.events(self._reader, listed, limit=depth)}
            formed = self._view.get(self._reader, [memory_id_of(one.event.id) for one in page])
            for event, score in page:
                memory = formed.get(memory_id_of(event.id))
                if event.id in unformed:
                    memory = memory_without_cues(event, self._formation)
                    self.unformed[memory.id] = UnformedEntry(memory, event, self._terms)
                if memory is not None and self._keeps(memory):
                    self.memories[memory.id] = memory
                    yield memory.id, score
                if len(self.memories) == depth:
                    return
            if len(page) < depth:
                return

    def _keeps(self, memory: Memory) -> bool:
        """Whether the memory of an entry may be returned. A revised memory may not, because its text differs from the
        entry.
        """
        seen = can_see(self._reader, memory.scope, memory.visibility, memory.strength.importance)
        return seen and memory.revision == 1 and bool(memory.text) and not excluded_by(memory, self._where)


def _joined(found: Candidates, entries: _Entries, scores: Mapping[UUID, int], most: int, depth: int) -> Candidates:
    """The candidates and the further entries, with new lexical ranks by `scores`."""
    known = set(found.ids)
    added = [memory for one, memory in entries.memories.items() if one not in known]
    states = _each(np.concatenate, found.states, states_of(added))
    ids = (*found.ids, *(memory.id for memory in added))
    order = sorted(range(len(ids)), key=lambda place: (-int(states.occurred_at[place]), ids[place]))
    ids = tuple(ids[place] for place in order)
    lexical = sorted((place for place, one in enumerate(ids) if one in scores), key=lambda place: -scores[ids[place]])
    ranks = np.zeros(len(ids), dtype=np.int32)
    ranks[lexical[:depth]] = np.arange(1, len(lexical[:depth]) + 1)
    score = np.array([scores.get(one, np.nan) for one in ids], dtype=np.float32)
    none, blank = np.zeros(len(added), dtype=np.int32), np.full(len(added), np.nan, dtype=np.float32)

    def extended(column: NDArray[Any], rest: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([column, rest.astype(column.dtype)])[order]

    features = found.context_features
    return replace(
        found,
        ids=ids,
        cue=extended(found.cue, none),
        ref=extended(found.ref, none - 1),
        similarity=extended(found.similarity, blank),
        bm25=score / UNIT,
        coverage=score / most,
        dense_rank=extended(found.dense_rank, none),
        lexical_rank=ranks,
        states=_each(lambda columns: columns[0][order], states),
        bm25_bound=most / UNIT,
        preferences=None if found.preferences is None else extended(found.preferences, none),
        context_features=features
        and ContextFeatures(
            neighbour_coverage=extended(features.neighbour_coverage, blank),
            session=extended(features.session, blank),
            speaker_match=extended(features.speaker_match, blank),
            flags=extended(features.flags, none),
            rank=extended(features.rank, none),
            stream=extended(features.stream, none - 1),
        ),
    )


def _each(work: Callable[[Sequence[NDArray[Any]]], NDArray[Any]], *several: States) -> States:
    """States whose columns are the results of `work` for the same columns of `several`."""

    def made(name: str) -> Any:
        columns = [getattr(states, name) for states in several]
        if isinstance(columns[0], np.ndarray):
            return work(columns)
        return {key: work([column[key] for column in columns]) for key in Exposure}

    return States(**{field.name: made(field.name) for field in fields(States)})
