"""API keys, and the idempotency keys of requests."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.domain.api_key import ApiKey
    from remembrancer.domain.reply import ClaimOutcome, IdempotencyClaim, Reply
    from remembrancer.domain.scope import Scope


class Access(Protocol):
    """Keeps the API keys of a workspace and the idempotency claims of its requests. Neither is exported or counted."""

    async def put_key(self, scope: Scope, key: ApiKey) -> None:
        """Store a new key. Raises Conflict where its id is taken in the workspace or its digest in any workspace,
        InvalidInput for a key to another workspace.
        """
        ...

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        """All keys to the workspace, expired and revoked ones too, newest first, ties by descending id."""
        ...

    async def revoke_key(self, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
        """Revoke a key. A key that is revoked already stays as it is. Raises NotFound."""
        ...

    async def key_of(self, digest: bytes) -> ApiKey | None:
        """The key with that digest, usable or not, of any workspace. The key tells which one its holder may use."""
        ...

    async def has_keys(self, *, at: datetime) -> bool:
        """Whether any key to any workspace is usable at that time."""
        ...

    async def claim(self, scope: Scope, claim: IdempotencyClaim, *, forget_before: datetime) -> ClaimOutcome:
        """Claim an idempotency key for a request. Where another request holds it: what became of that request.

        Claims of the workspace from before `forget_before` are removed first, with their replies. Of several concurrent
        claims, in any processes, exactly one returns `Claimed`. Raises Conflict where the request that holds the key
        has another fingerprint; nothing is written then.
        """
        ...

    async def answer(self, scope: Scope, claim: IdempotencyClaim, reply: Reply) -> None:
        """Store the reply to a claimed request; of a body over `MAX_REPLY_BYTES`, only the fact that there was one.

        The first reply stays. Nothing is written where the claim no longer exists or its key has been claimed again.
        """
        ...

    async def release(self, scope: Scope, claim: IdempotencyClaim) -> None:
        """Remove the claim of a request that had no effect, so that its key can be claimed again. Claims that have a
        reply, or belong to another request or time, stay.
        """
        ...
