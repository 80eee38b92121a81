"""The keys of the caller's workspace."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path

from remembrancer.domain.api_key import BINDINGS
from remembrancer.interfaces.http.access import Administering
from remembrancer.interfaces.http.bodies import KeyIn
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.keys import KeyOut, KeysOut, NewKeyOut

router = router_of("keys")

KeyId = Annotated[UUID, Path(description="The key's id.", examples=["01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"])]


@router.post("/v1/keys", status_code=HTTPStatus.CREATED, summary="Create a key")
async def create_key(memory: Administering, body: KeyIn) -> NewKeyOut:
    """Create a key for this workspace. Its `token` is in this response only: the server keeps just its SHA-256."""
    lasting = None if body.expires_in is None else timedelta(seconds=body.expires_in)
    bound = {part: getattr(body, part) for part in BINDINGS}
    return NewKeyOut.of(await memory.keys.create(body.name, body.right, lasting, **bound), now=memory.now)


@router.get("/v1/keys", summary="List the keys")
async def keys(memory: Administering) -> KeysOut:
    """The keys of this workspace, newest first, including expired and revoked ones, without their tokens."""
    return KeysOut.of(await memory.keys.list(), now=memory.now)


@router.delete("/v1/keys/{key_id}", summary="Revoke a key", responses=MISSING)
async def revoke_key(memory: Administering, key_id: KeyId) -> KeyOut:
    """Revoke a key. It is refused from the next request on."""
    return KeyOut.of(await memory.keys.revoke(key_id), now=memory.now)
