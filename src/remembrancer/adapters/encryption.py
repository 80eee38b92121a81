"""The operator's encryption key, and the keys that are derived from it for one file.

A key of 32 bytes is used as it is. A passphrase goes through scrypt, with the salt of the file that it opens.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.ports.sealing import Sealer

KEY_BYTES: Final = 32
SALT_BYTES: Final = 16
COST: Final = {"n": 1 << 17, "r": 8, "p": 1}
"""The parameters of scrypt that OWASP's Password Storage Cheat Sheet recommends: 128 MiB of memory."""
MEMORY: Final = 256 << 20
"""OpenSSL's limit for scrypt, in bytes."""


class EncryptionKey:
    """A secret of the operator. Its text shows nothing of it.

    `secret`: 64 hexadecimal digits are a key of 32 bytes; any other text is a passphrase.
    """

    def __init__(self, secret: str) -> None:
        self._passphrase = ""
        self._key = b""
        if is_raw_key(secret):
            self._key = bytes.fromhex(secret)
        else:
            self._passphrase = secret

    def of_file(self, salt: bytes) -> FileKey:
        """The key of the file with this salt. For a passphrase, the first call for a salt takes half a second."""
        return FileKey(self._key or _stretched(self._passphrase, salt), salt)

    def __repr__(self) -> str:
        return "EncryptionKey('***')"


@dataclass(frozen=True, slots=True, repr=False)
class FileKey:
    """The key of one file, and the file's salt, which is no secret."""

    key: bytes
    salt: bytes

    def __repr__(self) -> str:
        return "FileKey('***')"

    def subkey(self, purpose: str) -> bytes:
        """A key for another purpose, from which neither this key nor another subkey can be computed: 32 bytes by HKDF
        with SHA-256 (RFC 5869), whose first block is all of them.
        """
        extracted = hmac.digest(self.salt, self.key, "sha256")
        return hmac.digest(extracted, f"remembrancer {purpose}".encode() + b"\x01", "sha256")

    def sealer(self, purpose: str) -> Sealer:
        """Encrypts other files of the same store. Raises ImportError without the package `cryptography`."""
        from remembrancer.adapters.sealing import AesSealer  # noqa: PLC0415  of an extra

        return AesSealer(self.subkey(purpose))


def is_raw_key(secret: str) -> bool:
    return len(secret) == 2 * KEY_BYTES and all(digit in "0123456789abcdefABCDEF" for digit in secret)


@lru_cache(maxsize=8)
def _stretched(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(passphrase.encode(), salt=salt, dklen=KEY_BYTES, maxmem=MEMORY, **COST)
