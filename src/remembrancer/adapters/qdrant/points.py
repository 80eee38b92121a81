"""Points and filters: how a cue is written to Qdrant, and how a reader and a filter are asked for.

A point holds no text, no tag and no name but the workspace's: all other values that a filter compares are hashes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.adapters.qdrant.transport import TERMS, RestValues
from remembrancer.domain.instants import micros
from remembrancer.domain.scope import Reach, Reader, Visibility
from remembrancer.domain.selection import value_key
from remembrancer.ports.changes import term_hash, unpacked_terms
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.query import Filter
    from remembrancer.ports.changes import ChangedCue, ChangedMemory

WORDS: Final = "words"
"""The space of points without a dense vector, for a memory without an embedder."""
_LABELLED: Final = ("project", "crew", "agent", "session", "visibility", "tier", "kind", "source")
SATURATION: Final = 0.9
LENGTH_WEIGHT: Final = 0.4
MEAN_LENGTH: Final = 16.0
"""BM25's k1 and b, and an assumed mean length, for the weights of terms in a point. They only choose candidates."""
BACKGROUND: Final = 100


@dataclass(frozen=True, slots=True)
class Space:
    """The points of one workspace and embedding model. The points of two models are apart, so that a model can be
    replaced while the other one answers.
    """

    workspace: str
    model: str | None

    @property
    def name(self) -> str:
        if self.model is None:
            return WORDS
        readable = re.sub(r"[^a-z0-9]+", "-", self.model.lower()).strip("-")[:40]
        return f"{readable}-{_hash(self.model):016x}"

    def vector(self, dim: int) -> str:
        """The name of the dense vector."""
        return f"{self.name}-{dim}"

    def point(self, ref: int) -> str:
        """The id of a cue's point."""
        return str(UUID(int=_hash("point", self.workspace, self.name) << 64 | ref))

    @property
    def mark(self) -> str:
        """The id of the point that holds the number of the last change."""
        return str(UUID(int=_hash("mark", self.workspace, self.name) << 64))

    @property
    def mark_label(self) -> int:
        """The label of the marks of all spaces of the workspace."""
        return _hash("mark", self.workspace)

    def matching(self, *others: RestValues) -> RestValues:
        """A filter for its points."""
        return {"must": [is_("workspace", self.workspace), is_("space", self.name), *others]}


def points_of(space: Space, memory: ChangedMemory, seen: int) -> Iterator[RestValues]:
    """A point for each cue. `seen`: the number of the last change that the snapshot has from which it was read."""
    payload = {
        "workspace": space.workspace,
        "space": space.name,
        "memory": str(memory.id),
        "seen": seen,
        "labels": sorted(_labels(memory)),
        "current_from": memory.current_from,
        "current_until": memory.current_until,
        "occurred_from": memory.occurred_from,
        "occurred_to": memory.occurred_to,
        "importance": float(memory.importance),
    }
    for cue in memory.cues:
        yield {"id": space.point(cue.ref), "vector": _vectors(space, cue), "payload": payload}


def _vectors(space: Space, cue: ChangedCue) -> RestValues:
    vectors: RestValues = {}
    counts = unpacked_terms(cue.terms)
    if counts:
        length = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * cue.length / MEAN_LENGTH)
        vectors[TERMS] = {
            "indices": list(counts),
            "values": [count * (SATURATION + 1) / (count + length) for count in counts.values()],
        }
    if cue.vector is not None:
        vectors[space.vector(len(cue.vector))] = cue.vector.tolist()
    return vectors


def terms_query(terms: Sequence[str], holding: Sequence[int], visible: int) -> RestValues:
    """The sparse vector of a question: each term with its idf, as in `ports.index.Bm25`, by the given counts.

    Not by Qdrant's own statistics, which count the points of all workspaces.
    """
    weights: dict[int, float] = {}
    for term, held in zip(terms, holding, strict=True):
        total = max(visible, held) + BACKGROUND
        weights[term_hash(term)] = math.log1p((total - held + 0.5) / (held + 0.5))
    return {"indices": list(weights), "values": list(weights.values())}


# ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_(key: str, value: str | int) -> RestValues:
    return {"key": key, "match": {"value": value}}


def is_any(key: str, values: Iterable[str | int]) -> RestValues:
    return {"key": key, "match": {"any": list(values)}}


def ranges(key: str, **bounds: float) -> RestValues:
    return {"key": key, "range": bounds}


def has_id(ids: Iterable[str]) -> RestValues:
    return {"has_id": list(ids)}


def kept_by(space: Space, reader: Reader, where: Filter) -> RestValues:
    """The points that the reader may see and the filter keeps, as `domain.selection` defines it."""
    at = micros(where.current_at)
    must = [*_seen_by(reader), ranges("current_from", lte=at), ranges("current_until", gt=at)]
    for name, values in (("kind", where.kinds), ("tier", where.tiers), ("visibility", where.visibilities)):
        if values is not None:
            must.append(_any_label(name, values))
    for name, value in (("source", where.source), ("crew", where.crew), ("session", where.session)):
        if value is not None:
            must.append(_label(name, value))
    must += [_label("tag", tag) for tag in sorted(where.tags)]
    must += [is_("labels", _hash(*value_key(key, value))) for key, value in where.metadata]
    if where.since is not None:
        must.append(ranges("occurred_to", gte=micros(where.since)))
    if where.until is not None:
        must.append(ranges("occurred_from", lt=micros(where.until)))
    must_not = [_label("tag", tag) for tag in sorted(where.without_tags)]
    must_not += [_label("kind", kind) for kind in sorted(where.without_kinds)]
    return space.matching(*must) | ({"must_not": must_not} if must_not else {})


def _seen_by(reader: Reader) -> Iterator[RestValues]:
    mine = reader.scope
    if mine.project is not None:
        yield _any_label("project", ("", mine.project))
    crew, agent, session = mine.crew or "", mine.agent or "", mine.session or ""
    yield {
        "should": [
            _label("visibility", Visibility.WORKSPACE),
            {"must": [_label("visibility", Visibility.CREW), _label("crew", crew)]},
            {"must": [_label("visibility", Visibility.OWN), _label("agent", agent)]},
            {"must": [_label("visibility", Visibility.SESSION), _label("agent", agent), _label("session", session)]},
        ]
    }
    own: list[RestValues] = [{"must": [_label("agent", ""), _any_label("crew", ("", crew))]}]
    if mine.agent is not None:
        own.append(_label("agent", agent))
    match reader.reach:
        case Reach.WORKSPACE:
            return
        case Reach.CREW_SHARED:
            shared = [_label("crew", crew)]
            if reader.shared_from > 0:
                shared.append(ranges("importance", gte=reader.shared_from))
            yield {"should": [{"must": shared}, *own]}
        case Reach.OWN:
            yield {"should": own}
        case Reach.SESSION:
            yield _label("session", session)
            yield {"should": own}


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _labels(memory: ChangedMemory) -> set[int]:
    """The hashes of its scope, visibility, tier, kind, source, tags and metadata values."""
    found = {_hash(name, getattr(memory, name)) for name in _LABELLED}
    found.update(_hash("tag", tag) for tag in memory.tags)
    found.update(
        _hash(*value_key(key, value)) for key, value in memory.metadata.items() if not isinstance(value, dict | list)
    )
    return found


def _label(name: str, value: str) -> RestValues:
    return is_("labels", _hash(name, value))


def _any_label(name: str, values: Iterable[str]) -> RestValues:
    return is_any("labels", [_hash(name, value) for value in sorted(values)])


@lru_cache(maxsize=4096)
def _hash(*parts: str) -> int:
    """A 63-bit hash. Two different values have the same one with a probability of 1 in 10^19."""
    joined = "\0".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(joined, digest_size=8).digest()) >> 1
