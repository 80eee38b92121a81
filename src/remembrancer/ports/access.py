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
        """Store a new key. Raises Conflict if the workspace has its id or any workspace has its digest, InvalidInput if
        the key belongs to another workspace.
        """
        ...

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        """All keys to the workspace, including expired and revoked ones; newest first, ties by descending id."""
        ...

    async def revoke_key(self, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
        """Revoke a key; a revoked key stays unchanged. Raises NotFound."""
        ...

    async def key_of(self, digest: bytes) -> ApiKey | None:
        """The key with this digest, in any workspace, usable or not."""
        ...

    async def has_keys(self, *, at: datetime) -> bool:
        """Whether any workspace has a usable key at that time."""
        ...

    async def claim(self, scope: Scope, claim: IdempotencyClaim, *, forget_before: datetime) -> ClaimOutcome:
        """Claim an idempotency key for a request. If another request holds it, return the state of that request.

        Removes the workspace's claims made before `forget_before` first, with their replies. Of several concurrent
        claims, in any processes, exactly one returns `Claimed`. Raises Conflict, and writes nothing, if the request
        that holds the key has another fingerprint.
        """
        ...

    async def answer(self, scope: Scope, claim: IdempotencyClaim, reply: Reply) -> None:
        """Store the reply to a claimed request; if its body exceeds `MAX_REPLY_BYTES`, store only its status.

        An existing reply is kept. Nothing is written if the claim no longer exists or its key was claimed again.
        """
        ...

    async def release(self, scope: Scope, claim: IdempotencyClaim) -> None:
        """Remove the claim of a request that had no effect, so that its key can be claimed again. A claim is kept if it
        has a reply, or belongs to another request or time.
        """
        ...
