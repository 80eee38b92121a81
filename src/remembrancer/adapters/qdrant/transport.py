"""The calls that the source makes to Qdrant, carried by its engine in this process or by a server's REST API.

Filters and points are the JSON values of Qdrant's REST API. Only `edge.py` and `server.py` know a client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from remembrancer.values import dataclass

RestValues = dict[str, Any]

TERMS: Final = "terms"
"""The name of the sparse vector."""
OVERSAMPLING: Final = 3.0
"""The candidates that are compared again by their full vectors, after a search by the quantised ones: three for each
that is wanted.
"""
QUANTILE: Final = 0.99
EDGES: Final = 16
"""The edges of a point in the graph of its workspace (HNSW's m). There is no graph of all workspaces together."""
BUILD: Final = 128
"""HNSW's ef_construct."""
FIELDS: Final[Mapping[str, str]] = {
    "workspace": "tenant",
    "memory": "uuid",
    "labels": "integer",
    "seen": "range",
    "current_from": "range",
    "current_until": "range",
    "occurred_from": "range",
    "occurred_to": "range",
    "importance": "float",
    "space": "keyword",
}
"""The indexed payload fields: all that a filter may name. `tenant`: points of one value are stored together.
`integer`: looked up by value; `range`: compared.
"""


class QdrantUnavailable(Exception):
    """Qdrant does not answer, or refuses a call."""


class Unfit(Exception):
    """The folder or collection is not one that this package made, or has vectors of another dimension."""


class Found(NamedTuple):
    """A point. `score`: 0.0 unless it was searched for. `vector`: by name, if asked for."""

    id: str
    score: float
    payload: RestValues
    vector: RestValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The dense vectors of a collection by name, with their dimensions, and the indexed payload fields."""

    vectors: Mapping[str, int]
    fields: frozenset[str]
    has_terms: bool


class Transport(Protocol):
    """One folder or collection. Any thread may call any method; each raises QdrantUnavailable."""

    def shape(self) -> Shape:
        """Its shape. If there is no such folder or collection, it is made first. Raises Unfit."""
        ...

    def add_vector(self, name: str, dim: int) -> None:
        """Add a dense vector, compared by the dot product; nothing if it exists with this dimension."""
        ...

    def upsert(self, points: Sequence[RestValues], *, only: RestValues | None = None) -> None:
        """Write points. `only`: existing points are replaced only if they match this filter. Returns when done."""
        ...

    def delete(self, matching: RestValues) -> None:
        """Delete the points that match a filter. Returns when done."""
        ...

    def retrieve(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Found]: ...

    def nearest(self, query: Any, *, using: str, matching: RestValues, limit: int) -> Sequence[Found]:
        """The best points by the named vector, best first, with the field `memory`. `query`: a list of numbers, or a
        sparse vector as {"indices", "values"}.
        """
        ...

    def scroll(self, matching: RestValues, *, limit: int, after: str | None) -> tuple[Sequence[Found], str | None]:
        """A page of points by id, with payload; and where the next page starts, None after the last."""
        ...

    def count(self, matching: RestValues) -> int: ...

    def settle(self) -> None:
        """Return when what was written is on the disk."""
        ...

    def purge(self) -> None:
        """Write the files anew, without deleted points and with quantised vectors, if this process owns them."""
        ...

    def close(self) -> None: ...
