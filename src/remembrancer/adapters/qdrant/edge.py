"""Qdrant's engine in this process, over a folder (qdrant-edge-py)."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import qdrant_edge as edge

from remembrancer.adapters.qdrant.address import QdrantFolder
from remembrancer.adapters.qdrant.transport import (
    BUILD,
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

QUANTISED_FROM_KB: Final = 10_000
"""`purge` quantises the vectors of segments from this size on."""
CONFIG_FILE: Final = "edge_config.json"
LOCK_FILE: Final = "remembrancer.lock"
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

    def __init__(self, path: Path) -> None:
        self.users = 1
        self._lock = _locked(path)
        try:
            self.shard = _shard_of(path)
        except BaseException:
            self._lock.close()
            raise

    def close(self) -> None:
        self.shard.flush()
        self.shard.close()
        self._lock.close()


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
            opened = None if self._shard is None else _OPENED.get(self._path)
            self._shard = None
            if opened is None:
                return
            opened.users -= 1
            if not opened.users:
                del _OPENED[self._path]
                opened.close()

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
                    opened = _OPENED[self._path] = _Opened(self._path)
                else:
                    opened.users += 1
                self._shard = opened.shard
            return self._shard


def _locked(path: Path) -> IO[bytes]:
    """The folder's lock, held until it is closed. The engine locks only its log, which is not used."""
    is_ours = not path.exists() or not any(path.iterdir()) or (path / LOCK_FILE).exists()
    if not is_ours:
        raise Unfit("the folder holds other files")
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / LOCK_FILE).open("ab")
    except OSError as error:
        raise QdrantUnavailable(f"the folder cannot be used: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise QdrantUnavailable("another process has the folder open") from error
    return lock


def _shard_of(path: Path) -> edge.EdgeShard:
    try:
        is_made = (path / CONFIG_FILE).exists()
        shard = edge.EdgeShard.load(str(path)) if is_made else edge.EdgeShard.create(str(path), _config())
    except Exception as error:
        raise QdrantUnavailable(
            f"the folder cannot be opened, and may be deleted: {' '.join(str(error).split())}"
        ) from error
    for name, kind in FIELDS.items():
        if name not in shard.info().payload_schema:
            shard.update(edge.UpdateOperation.create_field_index(name, _PARAMS[kind]))
    return shard


def _config() -> edge.EdgeConfig:
    return edge.EdgeConfig(
        sparse_vectors={TERMS: edge.EdgeSparseVectorParams()},
        # No graph: it takes 50 times as long as quantising alone, and searches of 100,000 points are no faster for it.
        hnsw_config=edge.HnswIndexConfig(m=0, payload_m=0, ef_construct=BUILD, full_scan_threshold=10_000),
        quantization_config=edge.ScalarQuantizationConfig(
            type=edge.ScalarType.Int8, quantile=QUANTILE, memory=edge.Memory.Pinned
        ),
        # Segments with any deleted point are written anew, but only when `purge` asks for it.
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=QUANTISED_FROM_KB, deleted_threshold=1e-9, vacuum_min_vector_number=1
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
