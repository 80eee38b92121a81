"""A storage of CrewAI's memory whose records are memories: `pip install 'remembrancer[crewai]'`.

from crewai import Crew
from remembrancer import Remembrancer
from remembrancer.integrations.crewai import crew_memory

with Remembrancer.open("crew.db") as memory:
    crew = Crew(agents=agents, tasks=tasks, memory=crew_memory(memory))
"""

# CrewAI needs packages that the development environment has in other versions; `make test-frameworks` has both.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from crewai.memory import Memory as CrewMemory
from crewai.memory.types import MemoryRecord, ScopeInfo

from remembrancer.domain.memory import MemoryDraft
from remembrancer.domain.strength import Exposure
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.facade.blocking import blocking

if TYPE_CHECKING:
    from remembrancer import AsyncRemembrancer, Memory, Remembrancer
    from remembrancer.domain.validation import JsonScalar
    from remembrancer.ports.embedder import Embedder

RECORD: Final = "crewai.record"
"""The kind of records."""
MOST_HITS: Final = 200
"""The limit of records that are ranked for one query."""
KNOWN_TEXTS: Final = 4_096
"""So many texts are known by their vectors, the newest."""
PAGE: Final = 1_000
MATCHED_CHARS: Final = 200
"""Longer texts of a filter are compared after the search, not by it."""


def crew_memory(memory: Remembrancer, **options: Any) -> CrewMemory:
    """CrewAI's `Memory` over `memory`, with its embedder. `options`: further arguments of `Memory`, such as `llm`."""
    storage = RemembrancerStorage(memory)
    return CrewMemory(storage=storage, embedder=storage.embed, **options)


class RemembrancerStorage:
    """A `StorageBackend` for `Memory(storage=storage, embedder=storage.embed)`, which `crew_memory` makes.

    CrewAI searches by a vector alone. `embed` gives the vectors of the memory's own embedder and knows the texts of the
    4,096 newest, so that a search ranks by meaning and by words as every recall does; a vector that it did not give
    raises InvalidInput. The score of a record is the cosine, negative as 0, as CrewAI's thresholds expect.

    A deleted record is retired: `memory.restore` brings it back, `memory.erase` removes it for good. An update keeps
    the revision before it. A query ranks at most 200 records; of those with nearly the same text it gives the best.
    Raises InvalidInput for a memory without an embedder.
    """

    def __init__(self, memory: Remembrancer) -> None:
        _require_embedder(memory)
        self._memory = memory
        self._texts: OrderedDict[bytes, str] = OrderedDict()
        self._dim: int | None = None
        self._lock = Lock()

    def __deepcopy__(self, memo: object) -> Self:
        """Copies of a crew use the same memory."""
        return self

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts, in order. Raises ModelUnavailable."""
        vectors = _vectors(self._memory, list(texts))
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                self._dim = len(vector)
                self._texts[_fingerprint(vector)] = text
                self._texts.move_to_end(_fingerprint(vector))
            while len(self._texts) > KNOWN_TEXTS:
                self._texts.popitem(last=False)
        return vectors

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records, each in a transaction, and embed them. One whose id is stored replaces it. Raises InvalidInput
        before any is stored.
        """
        for record in records:
            if record.embedding and len(record.embedding) != self._dim:
                raise _foreign("record.embedding", record.embedding)
        given = [_arguments(record) for record in records]
        for arguments in given:
            MemoryDraft(**arguments)
        for arguments in given:
            self._memory.remember(**arguments)
        self._memory.jobs.index_now()

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """The records that recall ranks best, by descending cosine. `categories`: a record has one of them."""
        query = self._text_of(query_embedding)
        wanted = _wanted(scope_prefix, categories, None, metadata_filter)
        found: dict[str, tuple[MemoryRecord, float, float]] = {}
        for tags in [[category] for category in categories] if categories else [[]]:
            hits = self._memory.recall(
                query,
                kinds=[RECORD],
                tags=tags,
                metadata=_matched(scope_prefix, metadata_filter),
                limit=MOST_HITS,
                floor="off",
                mark=False,
            )
            for hit in hits:
                record = _record(hit.memory)
                cosine = hit.explanation.signals.get("similarity") or 0.0
                if wanted(record) and cosine >= min_score:
                    found[record.id] = record, cosine, hit.score
        best = sorted(found.values(), key=lambda one: one[2], reverse=True)[:limit]
        return sorted(((record, cosine) for record, cosine, _ in best), key=lambda one: one[1], reverse=True)

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Retire the records for which all conditions hold. The number of them."""
        wanted = _wanted(scope_prefix, categories, older_than, metadata_filter)
        if record_ids is None:
            memories = list(self._every(scope_prefix, metadata_filter))
        else:
            memories = [memory for one in dict.fromkeys(record_ids) if (memory := self._stored(one))]
        retired = [memory for memory in memories if wanted(_record(memory))]
        for memory in retired:
            self._memory.forget(memory.id)
        return len(retired)

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with this id."""
        self.save([record])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        memory = self._stored(record_id)
        return None if memory is None else _record(memory)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Newest first by the time at which they were created."""
        newest = sorted(self._records(scope_prefix), key=lambda record: _aware(record.created_at), reverse=True)
        return newest[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        records = self._records(scope)
        times = sorted((record.created_at for record in records), key=_aware)
        return ScopeInfo(
            path=_path(_labels(scope)),
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=_children(scope, records),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        return _children(parent, self._records(parent))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return dict(Counter(category for record in self._records(scope_prefix) for category in record.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        return len(self._records(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Retire all records of the scope; None: all records."""
        self.delete(scope_prefix)

    def touch_records(self, record_ids: list[str]) -> None:
        """Count these records as retrieved, which keeps them from fading."""
        memories = [memory.id for one in record_ids if (memory := self._stored(one))]
        if memories:
            self._memory.mark(memories, Exposure.RETRIEVED)

    async def asave(self, records: list[MemoryRecord]) -> None:
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        return await asyncio.to_thread(
            self.search, query_embedding, scope_prefix, categories, metadata_filter, limit, min_score
        )

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        return await asyncio.to_thread(self.delete, scope_prefix, categories, record_ids, older_than, metadata_filter)

    def _text_of(self, vector: Sequence[float]) -> str:
        with self._lock:
            text = self._texts.get(_fingerprint(vector))
        if text is None:
            raise _foreign("query_embedding", vector)
        return text

    def _stored(self, record_id: str) -> Memory | None:
        try:
            return self._memory.get(topic_key=_topic(record_id))
        except NotFound:
            return None

    def _records(self, scope_prefix: str | None) -> list[MemoryRecord]:
        return [_record(memory) for memory in self._every(scope_prefix, None)]

    def _every(self, scope_prefix: str | None, metadata_filter: Mapping[str, Any] | None) -> Iterator[Memory]:
        matched, after = _matched(scope_prefix, metadata_filter), None
        while True:
            page = self._memory.memories(kinds=[RECORD], metadata=matched, after=after, limit=PAGE)
            yield from page.memories
            after = page.next
            if after is None:
                return


def _embedder_of(memory: AsyncRemembrancer) -> Embedder:
    embedder = memory.context.embedder
    if embedder is None:
        raise InvalidInput("memory", "a memory without an embedder", "one opened with an embedder")
    return embedder


@blocking
async def _require_embedder(memory: AsyncRemembrancer) -> None:
    _embedder_of(memory)


@blocking
async def _vectors(memory: AsyncRemembrancer, texts: list[str]) -> list[list[float]]:
    return (await _embedder_of(memory).embed_documents(texts)).vectors.tolist()


def _fingerprint(vector: Sequence[float]) -> bytes:
    return hashlib.sha256(np.asarray(vector, dtype=np.float32).tobytes()).digest()


def _foreign(argument: str, vector: Sequence[float]) -> InvalidInput:
    allowed = (
        f"one of the {KNOWN_TEXTS:,} newest vectors of this storage: Memory(storage=storage, embedder=storage.embed)"
    )
    return InvalidInput(argument, f"a vector of {len(vector):,} numbers", allowed)


def _topic(record_id: str) -> str:
    """A name has at most 200 characters, an id any number."""
    return f"crewai:{hashlib.sha256(record_id.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _labels(scope: str | None) -> list[str]:
    return [label for label in (scope or "").split("/") if label]


def _path(labels: Sequence[str]) -> str:
    return "/" + "/".join(labels)


def _arguments(record: MemoryRecord) -> dict[str, Any]:
    return {
        "text": record.content,
        "kind": RECORD,
        "topic_key": _topic(record.id),
        "importance": record.importance,
        "tags": tuple(record.categories),
        "metadata": _metadata(record),
        "occurred_at": _aware(record.created_at),
    }


def _metadata(record: MemoryRecord) -> dict[str, Any]:
    """The record without its text and vector. Beside it stand what a search compares exactly: each beginning of its
    scope, and the short texts of its own metadata.
    """
    labels = _labels(record.scope)
    prefixes = {f"scope_{depth}": _path(labels[:depth]) for depth in range(1, len(labels) + 1)}
    texts = {f"metadata.{name}": value for name, value in record.metadata.items() if _is_matched(value)}
    return {**prefixes, **texts, "record": record.model_dump(mode="json", exclude={"content", "embedding"})}


def _is_matched(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MATCHED_CHARS


def _matched(scope_prefix: str | None, metadata_filter: Mapping[str, Any] | None) -> dict[str, JsonScalar]:
    """The part of the conditions that the memory's own filter decides."""
    labels = _labels(scope_prefix)
    texts = {f"metadata.{name}": value for name, value in (metadata_filter or {}).items() if _is_matched(value)}
    return {**texts, f"scope_{len(labels)}": _path(labels)} if labels else texts


def _wanted(
    scope_prefix: str | None,
    categories: Sequence[str] | None,
    older_than: datetime | None,
    metadata_filter: Mapping[str, Any] | None,
) -> Callable[[MemoryRecord], bool]:
    labels, absent = _labels(scope_prefix), object()

    def holds(record: MemoryRecord) -> bool:
        return (
            _labels(record.scope)[: len(labels)] == labels
            and (not categories or any(category in record.categories for category in categories))
            and (older_than is None or _aware(record.created_at) < _aware(older_than))
            and all(record.metadata.get(name, absent) == value for name, value in (metadata_filter or {}).items())
        )

    return holds


def _children(scope: str, records: Sequence[MemoryRecord]) -> list[str]:
    depth = len(_labels(scope)) + 1
    paths = (_labels(record.scope)[:depth] for record in records)
    return sorted({_path(labels) for labels in paths if len(labels) == depth})


def _record(memory: Memory) -> MemoryRecord:
    return MemoryRecord.model_validate({**memory.metadata["record"], "content": memory.text})  # type: ignore[dict-item]


def _aware(moment: datetime) -> datetime:
    """CrewAI's times without a zone are in UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
