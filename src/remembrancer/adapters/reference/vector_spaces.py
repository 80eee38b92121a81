"""The vector spaces of the reference store."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from remembrancer.adapters.reference.rows import Rows, StoredVector
from remembrancer.domain.scope import Scope
from remembrancer.domain.vector_space import SpaceRole, SpaceSize, SpaceSizes, VectorSpace
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.quantised import vector_bytes

_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def spaces(rows: Rows, scope: Scope) -> tuple[VectorSpace, ...]:
    return tuple(rows.spaces[model] for model in sorted(rows.spaces))


def space_sizes(rows: Rows, scope: Scope, *, since: datetime) -> SpaceSizes:
    vectors = Counter[str]()
    recent = Counter[str]()
    size = Counter[str]()
    for (_, model), stored in rows.vectors.items():
        vectors[model] += 1
        recent[model] += stored.indexed_at is not None and stored.indexed_at >= since
        signs = stored.token_embeddings
        size[model] += len(vector_bytes(stored.vector)) + (0 if signs is None else signs.nbytes)
    of = {model: SpaceSize(vectors[model], recent[model], size[model]) for model in sorted(vectors)}
    return SpaceSizes(len(rows.cues), of)


def build_space(rows: Rows, scope: Scope, model: str, *, at: datetime) -> bool:
    if model in rows.spaces and rows.spaces[model].role is not SpaceRole.DROPPED:
        return False
    for other in rows.spaces.values():
        if other.role is SpaceRole.BUILDING:
            raise Conflict(f"a change of embedder to {other.model} is under way in workspace {scope.workspace!r}")
    rows.spaces[model] = VectorSpace(model, SpaceRole.BUILDING, at)
    return True


def answer_with(
    rows: Rows,
    scope: Scope,
    model: str,
    *,
    at: datetime,
    allow_missing: bool = False,
    token_embeddings: bool = False,
) -> int:
    if model not in rows.spaces or rows.spaces[model].role not in {SpaceRole.BUILDING, SpaceRole.KEPT}:
        raise NotFound("vector space to switch to", model)
    before = rows.answering
    lacking = sum(
        is_missing(rows.vectors.get((ref, model)), token_embeddings=token_embeddings)
        for ref, other in rows.vectors
        if other == before
    )
    if not lacking or allow_missing:
        if before is not None:
            rows.spaces[before] = VectorSpace(before, SpaceRole.KEPT, at)
        rows.spaces[model] = VectorSpace(model, SpaceRole.ANSWERS, at)
    return lacking


def drop_space(rows: Rows, scope: Scope, model: str, *, at: datetime) -> int:
    if model not in rows.spaces:
        raise NotFound("vector space of the model", model)
    if rows.spaces[model].role is SpaceRole.ANSWERS:
        raise Conflict(f"the vectors of {model} answer in workspace {scope.workspace!r}; switch to others first")
    rows.spaces[model] = VectorSpace(model, SpaceRole.DROPPED, at)
    return drop_vectors(rows, scope, model)


def drop_vectors(rows: Rows, scope: Scope, model: str) -> int:
    gone = [place for place in rows.vectors if place[1] == model]
    for place in gone:
        del rows.vectors[place]
    rows.failures = {place: failure for place, failure in rows.failures.items() if place[1] != model}
    return len(gone)


def is_missing(stored: StoredVector | None, *, token_embeddings: bool) -> bool:
    """Whether a cue lacks a vector, or its token embeddings."""
    return stored is None or (token_embeddings and stored.token_embeddings is None)


def settle(rows: Rows) -> None:
    """Let the model with the most vectors answer, if none does; of several, the first by name."""
    counts = Counter(model for _, model in rows.vectors)
    if counts and rows.answering is None:
        model = min(counts, key=lambda name: (-counts[name], name))
        times = [one.indexed_at for (_, name), one in rows.vectors.items() if name == model and one.indexed_at]
        rows.spaces[model] = VectorSpace(model, SpaceRole.ANSWERS, max(times, default=_UNKNOWN))
