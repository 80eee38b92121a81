"""API keys of a workspace, and claiming idempotency keys."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from remembrancer.domain.api_key import ApiKey, NewKey, Right, digest_of, token_of
from remembrancer.domain.reply import ClaimOutcome, IdempotencyClaim, RequestRunning
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput


async def create_key(
    ctx: Context,
    scope: Scope,
    *,
    name: str,
    right: Right,
    expires_at: datetime | None,
    secret: bytes,
    **bound: Any,
) -> NewKey:
    """Create an API key for the scope's workspace. `secret`: 32 random bytes; only the digest of the token is stored.

    `bound`: what the key is bound to, by the names in `BINDINGS`. Raises InvalidInput for an invalid name, a role that
    the preset does not define, a bound key that may administer, or an `expires_at` that is not in the future.
    """
    now, token = ctx.clock(), token_of(secret)
    key = ApiKey(
        id=ctx.new_id(now),
        workspace=scope.workspace,
        name=name,
        right=right,
        digest=digest_of(token),
        created_at=now,
        expires_at=expires_at,
        **bound,
    )
    if key.role is not None:
        ctx.preset.access_policy.reach_of(key.role)
    await ctx.store.put_key(scope, key)
    return NewKey(key, token)


async def key_for(ctx: Context, token: str, now: datetime) -> ApiKey | None:
    """The key of a token, of any workspace. None for a malformed, unknown, expired or revoked token; the caller cannot
    distinguish these.
    """
    try:
        digest = digest_of(token)
    except InvalidInput:
        return None
    key = await ctx.store.key_of(digest)
    return key if key is not None and key.usable_at(now) else None


KEPT_FOR: Final = timedelta(hours=24)
"""The time that an idempotency key is stored."""


async def claim_request(
    ctx: Context, scope: Scope, key: str, fingerprint: bytes, *, longest: timedelta
) -> ClaimOutcome:
    """Claim an idempotency key for a request, as `Access.claim` does. `longest`: the longest time a request may take.

    A request without a reply for longer than that was interrupted, and its key is claimed for the new one. What the
    interrupted request wrote stays. Raises InvalidInput, and Conflict if another request has the key.
    """
    now = ctx.clock()
    made = IdempotencyClaim(key, fingerprint, now)
    outcome = await ctx.store.claim(scope, made, forget_before=now - KEPT_FOR)
    if not isinstance(outcome, RequestRunning) or now - outcome.claim.at <= longest:
        return outcome
    # Only that claim is released: of several callers that find it at once, the second finds the first one's new claim.
    await ctx.store.release(scope, outcome.claim)
    return await ctx.store.claim(scope, made, forget_before=now - KEPT_FOR)
