"""The roles of a workspace's vector spaces, and their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.adapters.relational.embeddings import drop_vectors, missing
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.vector_space import SpaceRole, SpaceSize, SpaceSizes, VectorSpace
from remembrancer.errors import Conflict, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.scope import Scope


def spaces(connection: Connection, scope: Scope) -> tuple[VectorSpace, ...]:
    rows = connection.execute(
        "SELECT model, role, since FROM vector_spaces WHERE workspace = ? ORDER BY model", (scope.workspace,)
    )
    return tuple(VectorSpace(model, SpaceRole(role), moment(since)) for model, role, since in rows)


def space_sizes(connection: Connection, scope: Scope, *, since: datetime) -> SpaceSizes:
    cues: int = connection.execute("SELECT count(*) FROM cues WHERE workspace = ?", (scope.workspace,)).get
    rows = connection.execute(
        "SELECT v.model, count(*), coalesce(sum(CASE WHEN v.indexed_at >= ? THEN 1 ELSE 0 END), 0),"
        " sum(length(v.vector)) + coalesce(sum(length(w.signs)), 0)"
        " FROM cues c JOIN embeddings v ON v.cue = c.n LEFT JOIN word_vectors w ON w.cue = v.cue AND w.model = v.model"
        " WHERE c.workspace = ? GROUP BY v.model ORDER BY v.model",
        (micros(since), scope.workspace),
    )
    return SpaceSizes(cues, {model: SpaceSize(count, int(recent), int(size)) for model, count, recent, size in rows})


def build_space(connection: Connection, scope: Scope, model: str, *, at: datetime) -> bool:
    roles = {space.model: space.role for space in spaces(connection, scope)}
    if roles.get(model, SpaceRole.DROPPED) is not SpaceRole.DROPPED:
        return False
    other = next((name for name, role in roles.items() if role is SpaceRole.BUILDING), None)
    if other is not None:
        raise Conflict(f"a change of embedder to {other} is under way in workspace {scope.workspace!r}")
    _set(connection, scope, model, SpaceRole.BUILDING, at)
    return True


def answer_with(
    connection: Connection,
    scope: Scope,
    model: str,
    *,
    at: datetime,
    allow_missing: bool = False,
    token_embeddings: bool = False,
) -> int:
    roles = {space.model: space.role for space in spaces(connection, scope)}
    if roles.get(model) not in {SpaceRole.BUILDING, SpaceRole.KEPT}:
        raise NotFound("vector space to switch to", model)
    before = next((name for name, role in roles.items() if role is SpaceRole.ANSWERS), None)
    lacking: int = connection.execute(
        "SELECT count(*) FROM cues c JOIN embeddings a ON a.cue = c.n AND a.model = ?"
        " LEFT JOIN embeddings v ON v.cue = c.n AND v.model = ?"
        f" WHERE c.workspace = ? AND ({missing(token_embeddings=token_embeddings)})",
        (before or "", model, scope.workspace),
    ).get
    if not lacking or allow_missing:
        if before is not None:
            _set(connection, scope, before, SpaceRole.KEPT, at)
        _set(connection, scope, model, SpaceRole.ANSWERS, at)
    return lacking


def drop_space(connection: Connection, scope: Scope, model: str, *, at: datetime) -> int:
    role = {space.model: space.role for space in spaces(connection, scope)}.get(model)
    if role is None:
        raise NotFound("vector space of the model", model)
    if role is SpaceRole.ANSWERS:
        raise Conflict(f"the vectors of {model} answer in workspace {scope.workspace!r}; switch to others first")
    dropped = drop_vectors(connection, scope, model)
    _set(connection, scope, model, SpaceRole.DROPPED, at)
    return dropped


def settle(connection: Connection, workspace: str) -> None:
    """Let the model with the most vectors answer, if none does, as after an import; of several, the first by name."""
    connection.execute(
        "INSERT INTO vector_spaces (workspace, model, role, since)"
        " SELECT c.workspace, v.model, ?, coalesce(max(v.indexed_at), 0)"
        " FROM embeddings v JOIN cues c ON c.n = v.cue WHERE c.workspace = ?"
        " AND NOT EXISTS (SELECT 1 FROM vector_spaces s WHERE s.workspace = c.workspace AND s.role = ?)"
        " GROUP BY c.workspace, v.model ORDER BY count(*) DESC, v.model LIMIT 1"
        " ON CONFLICT (workspace, model) DO UPDATE SET role = excluded.role, since = excluded.since",
        (SpaceRole.ANSWERS.value, workspace, SpaceRole.ANSWERS.value),
    )


def _set(connection: Connection, scope: Scope, model: str, role: SpaceRole, at: datetime) -> None:
    connection.execute(
        "INSERT INTO vector_spaces (workspace, model, role, since) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (workspace, model) DO UPDATE SET role = excluded.role, since = excluded.since",
        (scope.workspace, model, role.value, micros(at)),
    )
