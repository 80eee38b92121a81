"""Requests under idempotency keys: done once, and answered each time as the first time."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from remembrancer.domain.reply import ClaimOutcome, IdempotencyClaim, UnderWay
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context

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
