"""Qdrant's engine in this process, over a folder (qdrant-edge-py)."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import qdrant_edge as edge

from remembrancer.adapters.qdrant.address import QdrantFolder
from remembrancer.adapters.qdrant.transport import (
    BUILD,
    EDGES,
    FIELDS,
    OVERSAMPLING,
    QUANTILE,
    TERMS,
    Found,
    QdrantUnavailable,
    RestValues,
    Shape,
    Unfit,
)

INDEXED_FROM_KB: Final = 100_000
"""A segment of vectors below this size is searched whole: at 100,000 points that takes five milliseconds."""
CONFIG_FILE: Final = "edge_config.json"
_PARAMS: Final[Mapping[str, Any]] = {
    "tenant": edge.KeywordIndexParams(is_tenant=True),
    "keyword": edge.KeywordIndexParams(),
    "uuid": edge.UuidIndexParams(),
    "integer": edge.IntegerIndexParams(lookup=True, range=False),
    "range": edge.IntegerIndexParams(lookup=False, range=True),
    "float": edge.FloatIndexParams(),
}


class _Opened:
    """A folder that this process has open, however many stores use it."""

    def __init__(self, shard: edge.EdgeShard) -> None:
        self.shard = shard
        self.users = 1


_OPENED: Final[dict[Path, _Opened]] = {}
_OPENING: Final = threading.Lock()


class EdgeTransport:
    """See `Transport`. The folder is opened by the first call and closed by `close`; meanwhile no other process can
    open it.
    """

    def __init__(self, folder: QdrantFolder) -> None:
        self._path = folder.path
        self._shard: edge.EdgeShard | None = None

    def shape(self) -> Shape:
        with self._called() as shard:
            fields = frozenset(shard.info().payload_schema)
            names = _vectors_of(self._path)
            return Shape(vectors=names, fields=fields, has_terms=True)

    def add_vector(self, name: str, dim: int) -> None:
        if name not in _vectors_of(self._path):
            self._update(edge.UpdateOperation.create_dense_vector(name, dim, edge.Distance.Dot))

    def upsert(self, points: Sequence[RestValues], *, only: RestValues | None = None) -> None:
        written = [edge.Point(one["id"], _vectors(one["vector"]), one["payload"]) for one in points]
        condition = None if only is None else filter_of(only)
        self._update(edge.UpdateOperation.upsert_points(written, condition=condition))

    def delete(self, matching: RestValues) -> None:
        self._update(edge.UpdateOperation.delete_points_by_filter(filter_of(matching)))

    def retrieve(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Found]:
        with self._called() as shard:
            found = shard.retrieve(list(ids), with_payload=True, with_vector=vectors)
        return [_found(one) for one in found]

    def nearest(self, query: Any, *, using: str, matching: RestValues, limit: int) -> Sequence[Found]:
        nearest = edge.Query.Nearest(_vector(query), using=using)
        quantised = edge.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
        request = edge.QueryRequest(
            limit=limit,
            query=nearest,
            filter=filter_of(matching),
            with_payload=["memory"],
            params=edge.SearchParams(quantization=quantised),
        )
        with self._called() as shard:
            return [_found(one, one.score) for one in shard.query(request)]

    def scroll(self, matching: RestValues, *, limit: int, after: str | None) -> tuple[Sequence[Found], str | None]:
        request = edge.ScrollRequest(offset=after, limit=limit, filter=filter_of(matching), with_payload=True)
        with self._called() as shard:
            found, following = shard.scroll(request)
        return [_found(one) for one in found], None if following is None else str(following)

    def count(self, matching: RestValues) -> int:
        with self._called() as shard:
            return shard.count(edge.CountRequest(filter=filter_of(matching)))

    def settle(self) -> None:
        with self._called() as shard:
            shard.flush()

    def purge(self) -> None:
        with self._called() as shard:
            shard.optimize()
            shard.flush()

    def close(self) -> None:
        with _OPENING:
            shard, self._shard = self._shard, None
            opened = _OPENED.get(self._path)
            if shard is None or opened is None:
                return
            opened.users -= 1
            if not opened.users:
                del _OPENED[self._path]
                shard.flush()
                shard.close()

    def _update(self, operation: edge.UpdateOperation) -> None:
        with self._called() as shard:
            shard.update(operation)

    @contextmanager
    def _called(self) -> Generator[edge.EdgeShard]:
        """The engine raises plain `Exception`, with the reason as its text."""
        try:
            yield self._shard or self._open()
        except (QdrantUnavailable, Unfit):
            raise
        except Exception as error:
            raise QdrantUnavailable(" ".join(str(error).split())) from error

    def _open(self) -> edge.EdgeShard:
        with _OPENING:
            if self._shard is None:
                opened = _OPENED.get(self._path)
                if opened is None:
                    opened = _OPENED[self._path] = _Opened(_shard_of(self._path))
                else:
                    opened.users += 1
                self._shard = opened.shard
            return self._shard


def _shard_of(path: Path) -> edge.EdgeShard:
    is_made = (path / CONFIG_FILE).exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        holds_others = not is_made and any(path.iterdir())
    except OSError as error:
        raise QdrantUnavailable(f"the folder cannot be used: {error}") from error
    if holds_others:
        raise Unfit("the folder holds other files")
    try:
        shard = edge.EdgeShard.load(str(path)) if is_made else edge.EdgeShard.create(str(path), _config())
    except Exception as error:
        if "WouldBlock" in str(error):
            raise QdrantUnavailable("another process has the folder open") from error
        raise QdrantUnavailable(f"the folder cannot be opened: {' '.join(str(error).split())}") from error
    for name, kind in FIELDS.items():
        if name not in shard.info().payload_schema:
            shard.update(edge.UpdateOperation.create_field_index(name, _PARAMS[kind]))
    return shard


def _config() -> edge.EdgeConfig:
    return edge.EdgeConfig(
        sparse_vectors={TERMS: edge.EdgeSparseVectorParams()},
        hnsw_config=edge.HnswIndexConfig(m=0, payload_m=EDGES, ef_construct=BUILD, full_scan_threshold=10_000),
        quantization_config=edge.ScalarQuantizationConfig(
            type=edge.ScalarType.Int8, quantile=QUANTILE, memory=edge.Memory.Pinned
        ),
        # Segments with any deleted point are written anew, but only when `purge` asks for it.
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=INDEXED_FROM_KB, deleted_threshold=1e-9, vacuum_min_vector_number=1
        ),
        # The log would keep deleted points. Without it, `settle` comes before the number of the last change is written.
        wal_enabled=False,
    )


def _vectors_of(path: Path) -> dict[str, int]:
    config = json.loads((path / CONFIG_FILE).read_text(encoding="utf-8"))
    return {name: one["size"] for name, one in config.get("vectors", {}).items()}


def _vectors(vectors: RestValues) -> dict[str, Any]:
    return {name: _vector(one) for name, one in vectors.items()}


def _vector(vector: Any) -> Any:
    if not isinstance(vector, dict):
        return vector
    sparse = cast("RestValues", vector)
    return edge.SparseVector(sparse["indices"], sparse["values"])


def _found(point: Any, score: float = 0.0) -> Found:
    named: RestValues = point.vector or {}
    vectors = {name: _plain(one) for name, one in named.items()}
    return Found(str(point.id), score, point.payload or {}, vectors)


def _plain(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": list(vector.indices), "values": list(vector.values)}
    return list(vector)


def filter_of(matching: RestValues) -> edge.Filter:
    """The engine's form of a filter of the REST API."""
    parts: dict[str, Any] = {part: [_condition(one) for one in conditions] for part, conditions in matching.items()}
    return edge.Filter(**parts)


def _condition(one: RestValues) -> Any:
    match one:
        case {"has_id": ids}:
            return edge.HasIdCondition(set(ids))
        case {"key": key, "match": {"value": value}}:
            return edge.FieldCondition(key, match=edge.MatchValue(value))
        case {"key": key, "match": {"any": values}}:
            return edge.FieldCondition(key, match=edge.MatchAny(values))
        case {"key": key, "range": bounds}:
            return edge.FieldCondition(key, range=edge.RangeFloat(**bounds))
        case _:
            return filter_of(one)
