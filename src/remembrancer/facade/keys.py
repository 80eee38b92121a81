"""`rem.keys`: API keys, with which other programs reach this workspace over HTTP or MCP."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from remembrancer import engine
from remembrancer.domain import api_key, validation
from remembrancer.domain.api_key import SECRET_BYTES, ApiKey, NewKey, Right
from remembrancer.facade.view import Identifier, View

_EVER = datetime.min.replace(tzinfo=UTC)
"""At this time no key had expired."""


class AsyncKeysApi(View):
    """Makes, lists and revokes the workspace's keys."""

    async def create(self, name: str, right: Right | str = Right.READ, expires_in: timedelta | None = None) -> NewKey:
        """Make a key whose holder may `read`, `write` or `admin` this workspace.

        The result holds the key's token, which is stored nowhere. `expires_in`: up to a hundred years; None: never.
        Raises InvalidInput.
        """
        ends = None if expires_in is None else validation.duration("expires_in", expires_in, timedelta(days=36_500))
        return await engine.keys.create_key(
            self._ctx,
            self._scope,
            name=name,
            right=validation.choice("right", right, Right),
            expires_at=None if ends is None else self._ctx.clock() + ends,
            secret=os.urandom(SECRET_BYTES),
        )

    async def list(self) -> tuple[ApiKey, ...]:
        """The workspace's keys, newest first, also those that have expired or are revoked."""
        return await self._ctx.store.keys(self._scope)

    async def revoke(self, key_id: Identifier) -> ApiKey:
        """Make a key invalid from its next request on. Raises NotFound."""
        return await self._ctx.store.revoke_key(self._scope, api_key.key_id("key_id", key_id), at=self._ctx.clock())

    async def find(self, token: str) -> ApiKey | None:
        """The valid key with that token, of any workspace of this store; None where there is none."""
        return await engine.keys.key_for(self._ctx, token, self._ctx.clock())

    async def exist(self, *, expired: bool = False) -> bool:
        """Whether any workspace of this store has a valid key or, with `expired`, one that is not revoked.

        A server that asks for keys goes on asking when the last one expires, and stops when it is revoked.
        """
        return await self._ctx.store.has_keys(at=_EVER if expired else self._ctx.clock())
