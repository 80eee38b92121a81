"""A Qdrant server, over its REST API (qdrant-client)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from remembrancer.adapters.qdrant.address import QdrantServer
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

T = TypeVar("T")

TRIES: Final = 3
PAUSE_S: Final = 0.1
"""Before the second try; before the third twice as long."""
_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_CREATED: Final = frozenset({409})
"""The answer if another process has made it in the meantime."""
MOST_AT_ONCE: Final = 10_000
STRICT: Final = models.StrictModeConfig(
    enabled=True,
    max_query_limit=MOST_AT_ONCE,
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
    upsert_max_batchsize=1000,
    search_max_oversampling=OVERSAMPLING,
)
"""The server refuses a call that would read every point, or would return too many."""
_SCHEMAS: Final[Mapping[str, Any]] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "keyword": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD),
    "uuid": models.UuidIndexParams(type=models.UuidIndexType.UUID),
    "integer": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False),
    "range": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True),
    "float": models.FloatIndexParams(type=models.FloatIndexType.FLOAT),
}


class ServerTransport:
    """See `Transport`. Calls that fail for a moment are tried again, `TRIES` times in all; each is safe to repeat."""

    def __init__(self, server: QdrantServer) -> None:
        self._name = server.collection
        url = httpx.URL(server.url)
        self._client = QdrantClient(
            url=f"{url.scheme}://{url.netloc.decode()}",
            port=url.port,
            prefix=url.path.strip("/") or None,
            https=url.scheme == "https",
            headers={"api-key": server.api_key} if server.api_key else None,
            timeout=server.timeout_s,  # type: ignore[arg-type]  # httpx takes fractions
            check_compatibility=False,  # it would be asked at once, and only warn
        )

    def shape(self) -> Shape:
        if not self._asked(lambda: self._client.collection_exists(self._name)):
            self._make()
        info = self._asked(lambda: self._client.get_collection(self._name))
        params = info.config.params
        dense: Any = params.vectors or {}
        if not isinstance(dense, dict) or TERMS not in (params.sparse_vectors or {}):
            raise Unfit("the collection was not made by this package: give another name in the address")
        for name, kind in FIELDS.items():
            if name not in info.payload_schema:
                self._asked(lambda n=name, k=kind: self._client.create_payload_index(self._name, n, _SCHEMAS[k]))
        return Shape(
            vectors={name: one.size for name, one in cast("dict[str, models.VectorParams]", dense).items()},
            fields=frozenset(info.payload_schema),
            has_terms=True,
        )

    def add_vector(self, name: str, dim: int) -> None:
        if name not in self.shape().vectors:
            config = models.DenseVectorNameConfig(
                dense=models.DenseVectorConfig(size=dim, distance=models.Distance.DOT)
            )
            self._asked(lambda: self._client.create_vector_name(self._name, name, config), also=_CREATED)

    def upsert(self, points: Sequence[RestValues], *, only: RestValues | None = None) -> None:
        written = [models.PointStruct(**point) for point in points]
        self._asked(lambda: self._client.upsert(self._name, written, wait=True, update_filter=_filter(only)))

    def delete(self, matching: RestValues) -> None:
        selector = models.FilterSelector(filter=models.Filter(**matching))
        self._asked(lambda: self._client.delete(self._name, selector, wait=True))

    def retrieve(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Found]:
        found = self._asked(
            lambda: self._client.retrieve(self._name, list(ids), with_payload=True, with_vectors=vectors)
        )
        return [_found(one) for one in found]

    def nearest(self, query: Any, *, using: str, matching: RestValues, limit: int) -> Sequence[Found]:
        asked: Any = models.SparseVector(**cast("RestValues", query)) if isinstance(query, dict) else query
        quantised = models.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
        found = self._asked(
            lambda: self._client.query_points(
                self._name,
                query=asked,
                using=using,
                query_filter=models.Filter(**matching),
                search_params=models.SearchParams(quantization=quantised),
                limit=min(limit, MOST_AT_ONCE),
                with_payload=["memory"],
            )
        )
        return [_found(one, one.score) for one in found.points]

    def scroll(self, matching: RestValues, *, limit: int, after: str | None) -> tuple[Sequence[Found], str | None]:
        found, following = self._asked(
            lambda: self._client.scroll(
                self._name, scroll_filter=models.Filter(**matching), limit=limit, offset=after, with_payload=True
            )
        )
        return [_found(one) for one in found], None if following is None else str(following)

    def count(self, matching: RestValues) -> int:
        return self._asked(lambda: self._client.count(self._name, models.Filter(**matching), exact=True)).count

    def settle(self) -> None:
        """Each write has waited until the server applied it."""

    def purge(self) -> None:
        """The server writes its files anew by itself."""

    def close(self) -> None:
        self._client.close()

    def _make(self) -> None:
        self._asked(
            lambda: self._client.create_collection(
                self._name,
                vectors_config={},
                sparse_vectors_config={TERMS: models.SparseVectorParams()},
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=EDGES, ef_construct=BUILD),
                quantization_config=models.ScalarQuantization(
                    scalar=models.ScalarQuantizationConfig(
                        type=models.ScalarType.INT8, quantile=QUANTILE, always_ram=True
                    )
                ),
                on_disk_payload=True,
                strict_mode_config=STRICT,
            ),
            also=_CREATED,
        )

    def _asked(self, call: Callable[[], T], *, also: frozenset[int] = frozenset()) -> T | Any:
        """The answer of a call; None for a status in `also`."""
        for attempt in range(1, TRIES + 1):
            try:
                return call()
            except UnexpectedResponse as error:
                if error.status_code in also:
                    return None
                reason = f"the server answers {error.status_code}: {_said(error)}"
                if error.status_code not in _AGAIN or attempt == TRIES:
                    raise QdrantUnavailable(reason) from error
            except (ApiException, ResourceExhaustedResponse, httpx.HTTPError) as error:
                cause = error.source if isinstance(error, ResponseHandlingException) else error
                reason = f"the server does not answer: {' '.join(str(cause).split()) or type(cause).__name__}"
                # a call that timed out once would make the question wait as long again
                if attempt == TRIES or isinstance(cause, httpx.TimeoutException):
                    raise QdrantUnavailable(reason) from error
            time.sleep(PAUSE_S * attempt)
        raise AssertionError("unreachable")


def _said(error: UnexpectedResponse) -> str:
    try:
        status = error.structured()["status"]
        return str(status["error"])[:200]
    except (ValueError, KeyError, TypeError):
        return error.reason_phrase


def _filter(matching: RestValues | None) -> models.Filter | None:
    return None if matching is None else models.Filter(**matching)


def _found(point: Any, score: float = 0.0) -> Found:
    named: dict[str, Any] = point.vector or {}
    vectors = {name: _plain(one) for name, one in named.items()}
    return Found(str(point.id), score, point.payload or {}, vectors)


def _plain(vector: Any) -> Any:
    return vector.model_dump() if isinstance(vector, models.SparseVector) else vector
