"""API keys, and idempotency keys of requests."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.api_key import ApiKey
from remembrancer.domain.reply import Claim, ClaimOutcome, Reply
from remembrancer.domain.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


class Access(Protocol):
    """Keeps the API keys to a workspace and the claims of idempotent requests."""

    async def put_key(self, scope: Scope, key: ApiKey) -> None:
        """Keep a new key to the workspace. Keys and claims are of this store alone: in no export, counted nowhere.

        Conflict when its id is taken in the workspace, or its digest in any. InvalidInput for a key to another
        workspace.
        """
        ...

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        """The keys to the workspace, whoever made them, newest first, ties by id, the last first: also those that have
        expired or are revoked.
        """
        ...

    async def revoke_key(self, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
        """Let a key open nothing any more. One that is revoked already stays as it was then. NotFound."""
        ...

    async def key_of(self, digest: bytes) -> ApiKey | None:
        """The key with that digest, usable or not, of whichever workspace: it is by the key that its holder comes to
        have one. Every other call of theirs takes the workspace that stands in it.
        """
        ...

    async def has_keys(self, *, at: datetime) -> bool:
        """Whether any key to any workspace is usable at that time."""
        ...

    async def claim(self, scope: Scope, claim: Claim, *, forget_before: datetime) -> ClaimOutcome:
        """Claim a key for a request, if it is new; else say what became of the request that has it.

        First the claims of the workspace from before `forget_before` are forgotten, with their replies. Of several at
        once, in whichever processes, exactly one is told `Claimed`. Conflict when the request that has the key has
        another fingerprint; nothing is written then.
        """
        ...

    async def answer(self, scope: Scope, claim: Claim, reply: Reply) -> None:
        """Keep what a claimed request was answered; of a body of more than `MAX_REPLY_BYTES` only that it was.

        The first answer stays. A claim that is no longer there, or whose key another one has since, has no use for it:
        nothing is written then.
        """
        ...

    async def release(self, scope: Scope, claim: Claim) -> None:
        """Take back a claim whose request did nothing, so that the key is new again. One that is answered stays, and so
        does that of another request, or of the same one made at another time.
        """
        ...
