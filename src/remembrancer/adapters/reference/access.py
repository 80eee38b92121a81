"""API keys, and idempotency claims with their stored replies."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from remembrancer.adapters.reference.rows import Held, Rows
from remembrancer.domain.api_key import ApiKey
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
from remembrancer.errors import Conflict, NotFound


def revoke_key(rows: Rows, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
    key = rows.keys.get(key_id)
    if key is None:
        raise NotFound("key", key_id)
    if key.revoked_at is None:
        rows.keys[key_id] = replace(key, revoked_at=at)
    return rows.keys[key_id]


def claim(rows: Rows, scope: Scope, claim: IdempotencyClaim, *, forget_before: datetime) -> ClaimOutcome:
    rows.claims = {key: held for key, held in rows.claims.items() if held.claim.at >= forget_before}
    held = rows.claims.get(claim.key)
    if held is None:
        rows.claims[claim.key] = Held(claim)
        return Claimed(claim)
    if held.claim.fingerprint != claim.fingerprint:
        raise Conflict(f"key {claim.key!r} belongs to another request")
    return RequestRunning(held.claim) if held.answered is None else held.answered


def answer(rows: Rows, scope: Scope, claim: IdempotencyClaim, reply: Reply) -> None:
    if rows.claims.get(claim.key) == Held(claim):
        kept = len(reply.body) <= MAX_REPLY_BYTES
        rows.claims[claim.key] = Held(claim, reply if kept else ReplyNotStored(reply.status))


def release(rows: Rows, scope: Scope, claim: IdempotencyClaim) -> None:
    if rows.claims.get(claim.key) == Held(claim):
        del rows.claims[claim.key]
