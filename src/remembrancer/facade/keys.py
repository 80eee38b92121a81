"""`rem.keys`: API keys, by which other programs access this workspace over HTTP or MCP."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import cast

from remembrancer import engine
from remembrancer.domain import api_key, validation
from remembrancer.domain.api_key import SECRET_BYTES, ApiKey, NewKey, Right
from remembrancer.errors import InvalidInput
from remembrancer.facade.view import Identifier, View, one_listed

_EVER = datetime.min.replace(tzinfo=UTC)
"""Before any key's expiry: a key that is not revoked is usable at this time."""


class AsyncKeysApi(View):
    """Creates, lists and revokes the API keys of the workspace."""

    async def create(
        self,
        name: str,
        right: Right | str = Right.READ,
        expires_in: timedelta | None = None,
        *,
        project: str | None = None,
        crew: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        role: str | None = None,
    ) -> NewKey:
        """Create an API key with the right `read`, `write` or `admin` to this workspace.

        The result contains the key's token, which is not stored. `expires_in`: up to a hundred years; None: it never
        expires. A key with a `project`, `crew`, `agent`, `session` or `role` is bound to it: its holder acts as these
        and as no other, and reads no further than they may. Raises InvalidInput, also for a bound `admin` key.
        """
        ends = None if expires_in is None else validation.duration("expires_in", expires_in, timedelta(days=36_500))
        return await engine.keys.create_key(
            self._ctx,
            self._scope,
            name=name,
            right=validation.choice("right", right, Right),
            expires_at=None if ends is None else self._ctx.clock() + ends,
            secret=os.urandom(SECRET_BYTES),
            project=project,
            crew=crew,
            agent=agent,
            session=session,
            role=role,
        )

    async def list(self) -> tuple[ApiKey, ...]:
        """All keys of the workspace, including expired and revoked ones; newest first."""
        return await self._ctx.store.keys(self._scope)

    async def revoke(self, key_id: Identifier) -> ApiKey:
        """Revoke a key; it is invalid from the next request on. Raises NotFound."""
        ids = (key.id for key in await self.list())
        chosen = one_listed("key_id", key_id, "key", ids, whole=api_key.key_id)
        return await self._ctx.store.revoke_key(self._scope, chosen, at=self._ctx.clock())

    async def find(self, token: str) -> ApiKey | None:
        """The valid key with that token, in any workspace of this store; None if there is none. Raises InvalidInput if
        the token is not a text.
        """
        if not isinstance(cast("object", token), str):
            raise InvalidInput("token", "(not shown)", "a string")
        return await engine.keys.key_for(self._ctx, token, self._ctx.clock())

    async def exist(self, *, expired: bool = False) -> bool:
        """Whether any workspace of this store has a valid key; with `expired`, expired keys count too.

        A server that requires keys still requires them after the last one expires, but not after it is revoked.
        """
        return await self._ctx.store.has_keys(at=_EVER if expired else self._ctx.clock())
