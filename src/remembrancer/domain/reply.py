"""Stored replies to requests with an idempotency key, so that a repeated request is executed once."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

FINGERPRINT_BYTES: Final = 32
MAX_CLAIM_KEY_CHARS: Final = 300
"""Room for the client's key (usually at most 255 characters) and its owner's name."""
MAX_REPLY_BYTES: Final = 8 << 20
"""The limit of a stored reply. Of a longer one only the status is stored."""
MAX_MEDIA_TYPE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A request made under an idempotency key. `key`: a hash of the client's, which may name a person; `fingerprint`:
    the SHA-256 of the request.
    """

    key: str
    fingerprint: bytes
    at: datetime

    def __post_init__(self) -> None:
        validation.name("key", self.key, max_chars=MAX_CLAIM_KEY_CHARS)
        validation.moment("at", self.at)
        if len(self.fingerprint) != FINGERPRINT_BYTES:
            raise InvalidInput("fingerprint", f"{len(self.fingerprint)} bytes", f"{FINGERPRINT_BYTES} bytes of SHA-256")


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP reply, stored so that it can be repeated unchanged."""

    status: int
    body: bytes = field(repr=False)
    media_type: str

    def __post_init__(self) -> None:
        validation.whole("status", self.status, 100, 599)
        validation.name("media_type", self.media_type, max_chars=MAX_MEDIA_TYPE_CHARS)


@dataclass(frozen=True, slots=True)
class ReplyNotStored:
    """The request was executed and answered with this status. Its reply was too long to store, or is `erased`: then
    what the request wrote may be erased too, and executing it again would write it anew.
    """

    status: int
    erased: bool = False


@dataclass(frozen=True, slots=True)
class RequestRunning:
    """The same request was made before and has no reply yet: it is still running, or its process ended without one.

    A claim older than the longest possible request can be released.
    """

    claim: IdempotencyClaim


@dataclass(frozen=True, slots=True)
class Claimed:
    """The key was new. The request must be executed, then answered or released by its claim."""

    claim: IdempotencyClaim


ClaimOutcome = Claimed | RequestRunning | Reply | ReplyNotStored
"""The outcomes of a claim. A key held by another request raises Conflict instead."""
