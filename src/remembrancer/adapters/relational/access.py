"""API keys of workspaces, and stored replies to requests with idempotency keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.columns import ID, TIME, Column, Columns, as_written, columns, insert_into, one_of
from remembrancer.adapters.relational.connection import Connection
from remembrancer.domain.api_key import BINDINGS, ApiKey, Right
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.reply import (
    MAX_REPLY_BYTES,
    Claimed,
    ClaimOutcome,
    IdempotencyClaim,
    Reply,
    ReplyNotStored,
    RequestRunning,
)
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, InvalidInput, NotFound

_KEYS: Final = Columns[ApiKey](
    "k",
    ApiKey,
    (
        Column("id", ID),
        *columns("workspace name"),
        Column("grants", one_of(Right), "right"),
        Column("digest"),
        *columns("created_at expires_at revoked_at", TIME),
        *columns(" ".join(BINDINGS)),
    ),
)


def put_key(connection: Connection, scope: Scope, key: ApiKey) -> None:
    if key.workspace != scope.workspace:
        raise InvalidInput("key.workspace", key.workspace, repr(scope.workspace))
    # If the id or the digest is taken, a table constraint fails, which is raised as Conflict.
    connection.execute(insert_into("api_keys", _KEYS.names), _KEYS.bindings(key))


def keys(connection: Connection, scope: Scope) -> tuple[ApiKey, ...]:
    return _KEYS.all(connection, "api_keys k WHERE workspace = ? ORDER BY created_at DESC, id DESC", (scope.workspace,))


def revoke_key(connection: Connection, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
    connection.execute(
        "UPDATE api_keys SET revoked_at = ? WHERE workspace = ? AND id = ? AND revoked_at IS NULL",
        (micros(at), scope.workspace, key_id.bytes),
    )
    key = _KEYS.first(connection, "api_keys k WHERE workspace = ? AND id = ?", (scope.workspace, key_id.bytes))
    if key is None:
        raise NotFound("key", key_id)
    return key


def key_of(connection: Connection, digest: bytes) -> ApiKey | None:
    return _KEYS.first(connection, "api_keys k WHERE digest = ?", (digest,))


def has_keys(connection: Connection, *, at: datetime) -> bool:
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?))",
        (micros(at),),
    ).get
    return bool(found)


def claim(connection: Connection, scope: Scope, claim: IdempotencyClaim, *, forget_before: datetime) -> ClaimOutcome:
    connection.execute("DELETE FROM claims WHERE workspace = ? AND at < ?", (scope.workspace, micros(forget_before)))
    row = connection.execute(
        "SELECT fingerprint, at, status, media_type, body FROM claims WHERE workspace = ? AND key = ?",
        (scope.workspace, claim.key),
    ).fetchone()
    if row is None:
        connection.execute(
            "INSERT INTO claims (workspace, key, fingerprint, at) VALUES (?, ?, ?, ?)",
            (scope.workspace, claim.key, claim.fingerprint, micros(claim.at)),
        )
        return Claimed(claim)
    fingerprint, at, status, media_type, body = row
    if fingerprint != claim.fingerprint:
        raise Conflict(f"key {claim.key!r} belongs to another request")
    with as_written():
        if status is None:
            return RequestRunning(replace(claim, at=moment(at)))
        return ReplyNotStored(status, erased=media_type is None) if body is None else Reply(status, body, media_type)


def answer(connection: Connection, scope: Scope, claim: IdempotencyClaim, reply: Reply) -> None:
    kept = reply.body if len(reply.body) <= MAX_REPLY_BYTES else None
    connection.execute(
        "UPDATE claims SET status = ?, media_type = ?, body = ?"
        " WHERE workspace = ? AND key = ? AND at = ? AND fingerprint = ? AND status IS NULL",
        (
            reply.status,
            reply.media_type,
            kept,
            scope.workspace,
            claim.key,
            micros(claim.at),
            claim.fingerprint,
        ),
    )


def release(connection: Connection, scope: Scope, claim: IdempotencyClaim) -> None:
    connection.execute(
        "DELETE FROM claims WHERE workspace = ? AND key = ? AND at = ? AND fingerprint = ? AND status IS NULL",
        (scope.workspace, claim.key, micros(claim.at), claim.fingerprint),
    )
