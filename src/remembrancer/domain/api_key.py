"""API keys: their rights and tokens."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

SECRET_BYTES: Final = 32
DIGEST_BYTES: Final = 32
BINDINGS: Final = (*SCOPE_PARTS, "role")
_TOKEN: Final = re.compile(r"rem_[A-Za-z0-9_-]{43}")
_HIDDEN: Final = "(not shown)"
"""Replaces a token in error texts, because errors are logged."""


class Right(StrEnum):
    """The right of a key. Each right includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def allows(self, needed: Right) -> bool:
        """Whether this right includes `needed`.

        >>> Right.ADMIN.allows(Right.WRITE), Right.READ.allows(Right.WRITE)
        (True, False)
        """
        weakest_first = list(Right)
        return weakest_first.index(self) >= weakest_first.index(needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key to one workspace, without its token. `digest`: the SHA-256 of the token, 32 bytes.

    `project`, `crew`, `agent`, `session` and `role`: what the key is bound to. Its holder acts as these and as no
    other; those that are None are the holder's claim in each request. A key that may administer is not bound, because
    it can make others.

    The token is 32 random bytes and cannot be guessed, so it needs neither a salt nor a slow hash.
    """

    id: UUID
    workspace: str
    name: str
    right: Right
    digest: bytes = field(repr=False)
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None
    role: str | None = None

    def __post_init__(self) -> None:
        validation.name("workspace", self.workspace)
        _no_token("name", self.name)  # listings show names
        validation.name("name", self.name)
        validation.choice("right", self.right, Right)
        if len(self.digest) != DIGEST_BYTES:
            raise InvalidInput("digest", f"{len(self.digest)} bytes", f"{DIGEST_BYTES} bytes of SHA-256")
        for part, value in self.bound.items():
            validation.name(part, value)
        if self.bound and self.right is Right.ADMIN:
            raise InvalidInput("right", self.right.value, "read or write for a key that is bound")
        created = validation.moment("created_at", self.created_at)
        expires = validation.optional_moment("expires_at", self.expires_at)
        validation.optional_moment("revoked_at", self.revoked_at)
        if expires is not None and expires <= created:
            raise InvalidInput("expires_at", expires.isoformat(), f"a time after created_at ({created.isoformat()})")

    @property
    def bound(self) -> dict[str, str]:
        """The parts of the scope, and the role, that the holder cannot choose."""
        values = {part: getattr(self, part) for part in BINDINGS}
        return {part: value for part, value in values.items() if value is not None}

    def usable_at(self, now: datetime) -> bool:
        """Whether the key is valid at `now`: not revoked, and `now` is before `expires_at`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key with its token. The token is not stored."""

    key: ApiKey
    token: str = field(repr=False)


def token_of(secret: bytes) -> str:
    """The token of 32 random bytes: `rem_`, then base64url (RFC 4648, section 5) without padding, 43 characters.

    >>> token_of(bytes(32))
    'rem_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    if len(secret) != SECRET_BYTES:
        raise InvalidInput("secret", f"{len(secret)} bytes", f"{SECRET_BYTES} random bytes")
    return f"rem_{urlsafe_b64encode(secret).decode('ascii').rstrip('=')}"


def digest_of(token: object) -> bytes:
    """The SHA-256 of a token, by which its key is found. Raises InvalidInput without showing the token."""
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise InvalidInput("token", _HIDDEN, "rem_ and 43 letters, digits, '-' or '_'")
    return sha256(token.encode("ascii")).digest()


def key_id(argument: str, value: object) -> UUID:
    """The id of a key, from a UUID or its text. Raises InvalidInput without showing the value, which may be a token."""
    _no_token(argument, value)
    return validation.identifier(argument, value)


def _no_token(argument: str, value: object) -> None:
    if isinstance(value, str) and _TOKEN.search(value):
        raise InvalidInput(argument, _HIDDEN, "no token: tokens are never stored or shown")
