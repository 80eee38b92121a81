"""The JSON shapes of API keys. A digest is never included, a token only when its key is created."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, Field

from remembrancer.domain.api_key import Right
from remembrancer.interfaces.wire.shape import Wire

if TYPE_CHECKING:
    from remembrancer.domain.api_key import ApiKey, NewKey


class KeyOut(Wire):
    """An API key. `usable`: neither revoked nor expired at the time of the answer. `expires_at` null: the key does not
    expire.

    `project`, `crew`, `agent`, `session`, `role`: what the key is bound to; null: its holder chooses.
    """

    id: UUID
    workspace: str
    name: str
    right: Right
    usable: bool
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    revoked_at: AwareDatetime | None
    project: str | None
    crew: str | None
    agent: str | None
    session: str | None
    role: str | None

    @classmethod
    def of(cls, key: ApiKey, *, now: datetime) -> Self:
        return cls.copied(key, usable=key.usable_at(now))


class KeysOut(Wire):
    """API keys, newest first."""

    keys: list[KeyOut]

    @classmethod
    def of(cls, keys: Iterable[ApiKey], *, now: datetime) -> Self:
        return cls(keys=[KeyOut.of(key, now=now) for key in keys])


class NewKeyOut(Wire):
    """A new API key. `token`: the secret that clients send. It is included in this answer only."""

    key: KeyOut
    token: str = Field(repr=False)

    @classmethod
    def of(cls, made: NewKey, *, now: datetime) -> Self:
        return cls.copied(made, key=KeyOut.of(made.key, now=now))
