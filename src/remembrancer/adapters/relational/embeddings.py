"""The vectors of cues, and the cues that still need one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import numpy as np

from remembrancer.adapters.relational.columns import as_written
from remembrancer.adapters.relational.lookup import by_ids
from remembrancer.adapters.relational.memories import add_relation, next_change
from remembrancer.adapters.relational.past import NOW, Then
from remembrancer.adapters.relational.rows import CUE_TEXT
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.scope import SCOPE_PARTS, Scope
from remembrancer.domain.stream import CONTEXT_GAP
from remembrancer.domain.vector_space import SpaceRole
from remembrancer.errors import EmbedderMismatch
from remembrancer.ports.embeddings import MAX_CONTEXT_TURN_CHARS, CueVector, FailedCue, PendingCue, PrecedingTurn
from remembrancer.ports.jobs import MAX_ERROR_CHARS
from remembrancer.ports.quantised import vector_bytes, vector_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader

FIRST_RETRY: Final = timedelta(seconds=30)
LAST_RETRY: Final = timedelta(days=1)
_GAP: Final = CONTEXT_GAP // timedelta(microseconds=1)

_PENDING: Final = (
    f"c.n, m.id, m.project, m.crew, m.agent, m.session, {CUE_TEXT}, c.heading,"
    " e.project, e.crew, e.agent, e.session, e.seq, e.occurred_at,"
    " CASE WHEN e.role IN ('user', 'assistant') THEN coalesce(e.actor, '') ELSE '' END"
)


def untried(
    connection: Connection, scope: Scope, model: str, limit: int, *, after: int, before: int, token_embeddings: bool
) -> tuple[PendingCue, ...]:
    """Cues numbered above `after` that have no vector and never failed, by number.

    `token_embeddings`: also cues that have a vector but no token embeddings.
    """
    rows = connection.execute(
        f"SELECT {_PENDING} FROM cues c JOIN memories m ON m.n = c.memory LEFT JOIN events e ON e.n = c.event"
        " LEFT JOIN embeddings v ON v.cue = c.n AND v.model = ?"
        " LEFT JOIN vector_retries r ON r.cue = c.n AND r.model = ?"
        f" WHERE c.workspace = ? AND c.n > ? AND ({missing(token_embeddings=token_embeddings)}) AND r.cue IS NULL"
        " ORDER BY c.n LIMIT ?",
        (model, model, scope.workspace, after, limit),
    )
    return _pending(connection, scope, rows, before)


def pending_of(
    connection: Connection,
    scope: Scope,
    model: str,
    memory_id: UUID,
    *,
    before: int = 0,
    token_embeddings: bool = False,
) -> tuple[PendingCue, ...]:
    """Cues of one memory that have no vector, by ordinal. `token_embeddings`: also those that have a vector but no
    token embeddings.
    """
    rows = connection.execute(
        f"SELECT {_PENDING} FROM memories m JOIN cues c ON c.memory = m.n LEFT JOIN events e ON e.n = c.event"
        " LEFT JOIN embeddings v ON v.cue = c.n AND v.model = ?"
        " WHERE m.workspace = ? AND m.id = ? AND c.last IS NULL"
        f" AND ({missing(token_embeddings=token_embeddings)}) ORDER BY c.ordinal",
        (model, scope.workspace, memory_id.bytes),
    )
    return _pending(connection, scope, rows, before)


def missing(*, token_embeddings: bool) -> str:
    """The condition for a cue `c` without a vector `v`, or without token embeddings."""
    without = "NOT EXISTS (SELECT 1 FROM word_vectors w WHERE w.cue = c.n AND w.model = v.model)"
    return f"v.n IS NULL OR {without}" if token_embeddings else "v.n IS NULL"


def due_again(
    connection: Connection, scope: Scope, model: str, limit: int, now: datetime, *, before: int
) -> tuple[PendingCue, ...]:
    """Cues whose embedding failed and whose retry is due, those with the fewest failures first."""
    rows = connection.execute(
        f"SELECT {_PENDING} FROM vector_retries r JOIN cues c ON c.n = r.cue"
        " JOIN memories m ON m.n = c.memory LEFT JOIN events e ON e.n = c.event"
        " WHERE r.model = ? AND r.retry_at <= ? AND c.workspace = ?"
        " ORDER BY r.attempts, c.n LIMIT ?",
        (model, micros(now), scope.workspace, limit),
    )
    return _pending(connection, scope, rows, before)


def failed_vectors(connection: Connection, scope: Scope, model: str, *, limit: int) -> tuple[FailedCue, ...]:
    rows = connection.execute(
        "SELECT m.id, c.ordinal, r.attempts, r.retry_at, r.error FROM vector_retries r JOIN cues c ON c.n = r.cue"
        " JOIN memories m ON m.n = c.memory WHERE r.model = ? AND c.workspace = ? ORDER BY r.retry_at, c.n LIMIT ?",
        (model, scope.workspace, limit),
    )
    return tuple(
        FailedCue(UUID(bytes=memory), ordinal, attempts, moment(retry_at), error)
        for memory, ordinal, attempts, retry_at, error in rows
    )


def _pending(
    connection: Connection, scope: Scope, rows: Iterable[tuple[Any, ...]], before: int
) -> tuple[PendingCue, ...]:
    return tuple(
        PendingCue(
            number,
            UUID(bytes=memory),
            Scope(
                workspace=scope.workspace, **{part: name or None for part, name in zip(SCOPE_PARTS, owner, strict=True)}
            ),
            text,
            heading,
            speaker or "",
            _said_before(connection, (scope.workspace, *stream), seq, at, before) if seq is not None and before else (),
        )
        for (number, memory, *owner), (text, heading, *stream, seq, at, speaker) in (
            (row[:6], row[6:]) for row in list(rows)
        )
    )


def _said_before(
    connection: Connection, stream: tuple[Binding, ...], seq: int, at: int, limit: int
) -> tuple[PrecedingTurn, ...]:
    """Up to `limit` turns of talk before event `seq` of a stream, oldest first, and none from before a gap in time."""
    rows = connection.execute(
        "SELECT occurred_at, coalesce(actor, ''), text FROM events"
        " WHERE workspace = ? AND project = ? AND crew = ? AND agent = ? AND session = ? AND seq < ?"
        " AND role IN ('user', 'assistant') ORDER BY seq DESC LIMIT ?",
        (*stream, seq, limit),
    )
    said: list[PrecedingTurn] = []
    for told_at, speaker, text in rows:
        if abs(at - told_at) > _GAP:
            break
        said.append(PrecedingTurn(speaker, text[-MAX_CONTEXT_TURN_CHARS:]))
        at = told_at
    return tuple(reversed(said))


def last_cue(connection: Connection, scope: Scope) -> int:
    """The highest number of a cue of the workspace; 0: it has none. Another workspace's write under way may get a lower
    number than one that is visible.
    """
    return connection.execute("SELECT coalesce(max(n), 0) FROM cues WHERE workspace = ?", (scope.workspace,)).get


def embedded(connection: Connection, scope: Scope, model: str, digests: Collection[bytes]) -> dict[bytes, CueVector]:
    found: dict[bytes, CueVector] = {}
    for digest in digests:
        # One by one: a text that was told often has many vectors, of which one is enough.
        rows = connection.execute(
            "SELECT v.cue, v.vector, v.truncated, v.dim, w.signs FROM embeddings v JOIN cues c ON c.n = v.cue"
            " LEFT JOIN word_vectors w ON w.cue = v.cue AND w.model = v.model"
            " WHERE v.digest = ? AND v.model = ? AND c.workspace = ? LIMIT 1",
            (digest, model, scope.workspace),
        )
        with as_written():
            for ref, vector, truncated, dim, signs in rows:
                tokens = None if signs is None else np.frombuffer(signs, np.uint8).reshape(-1, -(-dim // 8))
                found[digest] = CueVector(ref, vector_of(vector, dim), bool(truncated), tokens, digest)
    return found


def put_vectors(
    connection: Connection,
    scope: Scope,
    model: str,
    vectors: Sequence[CueVector],
    *,
    at: datetime,
    relations: Sequence[Relation] = (),
) -> int:
    for dim in {len(item.vector) for item in vectors}:
        require_dim(connection, scope.workspace, model, dim)
    change = next_change(connection, scope.workspace)
    stored = 0
    for item in vectors:
        data = vector_bytes(item.vector)
        inserted = connection.count(
            "INSERT INTO embeddings (cue, model, dim, truncated, vector, indexed_at, digest)"
            " SELECT n, ?, ?, ?, ?, ?, ? FROM cues WHERE n = ? AND workspace = ? ON CONFLICT DO NOTHING",
            (model, len(item.vector), int(item.truncated), data, micros(at), item.digest, item.ref, scope.workspace),
        )
        if inserted or (item.token_embeddings is not None and _remade(connection, scope, model, item, data, at)):
            stored += 1
            if item.token_embeddings is not None:
                put_token_embeddings(connection, item.ref, model, np.ascontiguousarray(item.token_embeddings).tobytes())
            connection.execute("DELETE FROM vector_retries WHERE cue = ? AND model = ?", (item.ref, model))
            connection.execute(
                "UPDATE memories SET change = ? WHERE n = (SELECT memory FROM cues WHERE n = ?)", (change, item.ref)
            )
    if stored:
        _answer_first(connection, scope.workspace, model, at)
    for edge in relations:
        add_relation(connection, scope, edge, replace_weight=False)
    return stored


def _answer_first(connection: Connection, workspace: str, model: str, at: datetime) -> None:
    """Let the model answer, if none does."""
    connection.execute(
        "INSERT INTO vector_spaces (workspace, model, role, since) SELECT workspace, ?, ?, ? FROM vector_models"
        " WHERE workspace = ? AND model = ? AND NOT EXISTS"
        " (SELECT 1 FROM vector_spaces s WHERE s.workspace = vector_models.workspace AND s.role = ?)"
        " ON CONFLICT (workspace, model) DO UPDATE SET role = excluded.role, since = excluded.since",
        (model, SpaceRole.ANSWERS.value, micros(at), workspace, model, SpaceRole.ANSWERS.value),
    )


def _remade(connection: Connection, scope: Scope, model: str, item: CueVector, data: bytes, at: datetime) -> bool:
    """Replace a vector that was stored without token embeddings. Returns whether it did."""
    updated = connection.count(
        "UPDATE embeddings SET truncated = ?, vector = ?, indexed_at = ?, digest = ? WHERE cue = ? AND model = ?"
        " AND EXISTS (SELECT 1 FROM cues c WHERE c.n = cue AND c.workspace = ?)"
        " AND NOT EXISTS (SELECT 1 FROM word_vectors w WHERE w.cue = embeddings.cue AND w.model = embeddings.model)",
        (int(item.truncated), data, micros(at), item.digest, item.ref, model, scope.workspace),
    )
    return updated > 0


def drop_vectors(connection: Connection, scope: Scope, model: str) -> int:
    here = (scope.workspace, model)
    connection.execute(
        "UPDATE memories SET change = ? WHERE n IN (SELECT c.memory FROM cues c JOIN embeddings v ON v.cue = c.n"
        " WHERE c.workspace = ? AND v.model = ?)",
        (next_change(connection, scope.workspace), *here),
    )
    of_model = "WHERE cue IN (SELECT n FROM cues WHERE workspace = ?) AND model = ?"
    for table in ("word_vectors", "vector_retries"):
        connection.execute(f"DELETE FROM {table} {of_model}", here)
    connection.execute("DELETE FROM vector_models WHERE workspace = ? AND model = ?", here)
    return connection.count(f"DELETE FROM embeddings {of_model}", here)


def put_token_embeddings(connection: Connection, cue: int, model: str, signs: bytes) -> None:
    connection.execute(
        "INSERT INTO word_vectors (cue, model, signs) VALUES (?, ?, ?)"
        f" ON CONFLICT ({connection.dialect.unique('cue', 'model')}) DO UPDATE SET signs = excluded.signs",
        (cue, model, signs),
    )


def vectors(
    connection: Connection, reader: Reader, model: str, ids: Sequence[UUID], *, then: Then = NOW
) -> dict[UUID, NDArray[np.float32]]:
    rows = by_ids(
        connection,
        reader,
        ids,
        "m.id, v.vector, v.dim",
        "JOIN embeddings v ON v.n = (SELECT w.n FROM cues c JOIN embeddings w ON w.cue = c.n AND w.model = ?"
        f" WHERE c.memory = m.n AND {then.cues} ORDER BY c.ordinal LIMIT 1)",
        model,
        then=then,
    )
    with as_written():
        return {UUID(bytes=identifier): vector_of(data, dim) for identifier, data, dim in rows}


def require_dim(connection: Connection, workspace: str, model: str, dim: int) -> None:
    """Raises EmbedderMismatch unless `dim` is the dimension of the model's first vector in the workspace."""
    known: int = connection.execute(
        "INSERT INTO vector_models (workspace, model, dim) VALUES (?, ?, ?)"
        " ON CONFLICT (workspace, model) DO UPDATE SET dim = vector_models.dim RETURNING dim",
        (workspace, model, dim),
    ).get
    if known != dim:
        raise EmbedderMismatch(f"model {model!r} has vectors of {known} dimensions here, this one has {dim}")


def wait_after(attempts: int) -> timedelta:
    """The wait after `attempts` failures (1 or more); it doubles each time."""
    return min(FIRST_RETRY * (1 << min(attempts - 1, 20)), LAST_RETRY)


def defer_vectors(
    connection: Connection, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime
) -> None:
    for ref in refs:
        failed: int | None = connection.execute(
            "SELECT attempts FROM vector_retries WHERE cue = ? AND model = ?", (ref, model)
        ).get
        attempts = 1 if failed is None else failed + 1
        connection.execute(
            "INSERT INTO vector_retries (cue, model, attempts, retry_at, error)"
            " SELECT n, ?, ?, ?, ? FROM cues WHERE n = ? AND workspace = ?"
            f" ON CONFLICT ({connection.dialect.unique('cue', 'model')}) DO UPDATE"
            " SET attempts = excluded.attempts, retry_at = excluded.retry_at, error = excluded.error",
            (model, attempts, micros(now + wait_after(attempts)), error[:MAX_ERROR_CHARS], ref, scope.workspace),
        )
