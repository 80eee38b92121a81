"""What was answered to a request under an idempotency key, so that it is done once however often it is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput

FINGERPRINT_BYTES: Final = 32
MAX_CLAIM_KEY_CHARS: Final = 300
"""Room for what a client sends (255 are usual), and for whose it is."""
MAX_REPLY_BYTES: Final = 8 << 20
"""Of a longer answer is kept only that there was one."""
MAX_MEDIA_TYPE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Claim:
    """A request made under a key. `fingerprint`: the SHA-256 of what it asks for, by which it is told from another."""

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
    """An answer over HTTP, to be given again as it was."""

    status: int
    body: bytes = field(repr=False)
    media_type: str

    def __post_init__(self) -> None:
        validation.whole("status", self.status, 100, 599)
        validation.name("media_type", self.media_type, max_chars=MAX_MEDIA_TYPE_CHARS)


@dataclass(frozen=True, slots=True)
class Unkept:
    """It was done and answered with this status; the answer itself is not there: it was too long to keep."""

    status: int


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The same request was made before and has no answer yet. It is being done, or was broken off by the end of its
    process: older than any request may take, its claim can be released.
    """

    claim: Claim


@dataclass(frozen=True, slots=True)
class Claimed:
    """The key was new, and is now this request's: it is to be done, then answered or released by its claim."""

    claim: Claim


ClaimOutcome = Claimed | UnderWay | Reply | Unkept
"""What becomes of a claim, but for a key that another request has, which is a Conflict."""
