"""API keys to a workspace, and requests under idempotency keys."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from remembrancer.domain.api_key import ApiKey, NewKey, Right, digest_of, token_of
from remembrancer.domain.reply import ClaimOutcome, IdempotencyClaim, UnderWay
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput


async def create_key(
    ctx: Context, scope: Scope, *, name: str, right: Right, expires_at: datetime | None, secret: bytes
) -> NewKey:
    """Make a key to the scope's workspace. `secret`: 32 random bytes, of which only the digest of the token is kept.

    Raises InvalidInput for a name that is none, or an `expires_at` that is not after now.
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
    )
    await ctx.store.put_key(scope, key)
    return NewKey(key, token)


async def key_for(ctx: Context, token: str, now: datetime) -> ApiKey | None:
    """The key of that token, which names its workspace. None for a token that has not the shape, or that is unknown,
    expired or revoked: whoever shows it is not told which.
    """
    try:
        digest = digest_of(token)
    except InvalidInput:
        return None
    key = await ctx.store.key_of(digest)
    return key if key is not None and key.usable_at(now) else None


KEPT_FOR: Final = timedelta(hours=24)
"""How long a key stands for its request; after that it is new again."""


async def claim_request(
    ctx: Context, scope: Scope, key: str, fingerprint: bytes, *, longest: timedelta
) -> ClaimOutcome:
    """Claim a key for a request, as `Store.claim` does. `longest`: how long a request may take.

    One that has had no answer for longer was broken off, by the end of its process: its key is this request's then.
    Whatever it had written by that time stays. Raises InvalidInput, and Conflict for a key that another request has.
    """
    now = ctx.clock()
    made = IdempotencyClaim(key, fingerprint, now)
    outcome = await ctx.store.claim(scope, made, forget_before=now - KEPT_FOR)
    if not isinstance(outcome, UnderWay) or now - outcome.claim.at <= longest:
        return outcome
    # Only that very claim is released: of several who find it at once, the second finds the claim of the first.
    await ctx.store.release(scope, outcome.claim)
    return await ctx.store.claim(scope, made, forget_before=now - KEPT_FOR)
