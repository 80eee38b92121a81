"""Sealed contents: AES-256-GCM in chunks, by the package `cryptography`.

A form has a prefix (magic bytes, salt, length of the contents) and the chunks, each with a tag of 16 bytes. A form has
a key of its own, from its random salt, so that the numbers of chunks can be the nonces. Each tag also covers the
prefix: no chunk can be moved, repeated or cut off.
"""

from __future__ import annotations

import hmac
import os
import struct
from collections.abc import Iterator
from typing import IO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_MAGIC: Final = b"RMBR-SEA"
_PREFIX: Final = struct.Struct("<8s32sQ")
_CHUNK: Final = 1 << 20
_TAG: Final = 16
_NONCE_BYTES: Final = 12


class AesSealer:
    """See `Sealer`."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, plain: bytes | bytearray | memoryview) -> Iterator[bytes]:
        prefix = _PREFIX.pack(_MAGIC, os.urandom(32), len(plain))
        cipher = self._cipher(prefix)
        yield prefix
        with memoryview(plain) as whole:
            for number in range(_chunks(len(plain))):
                yield cipher.encrypt(_nonce(number), whole[number * _CHUNK : (number + 1) * _CHUNK], prefix)

    def open(self, file: IO[bytes]) -> bytearray:
        prefix = file.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size:
            raise ValueError("too short")
        magic, _, length = _PREFIX.unpack(prefix)
        count = _chunks(length)
        if magic != _MAGIC or os.fstat(file.fileno()).st_size != _PREFIX.size + length + count * _TAG:
            raise ValueError("not sealed, or cut")
        cipher, plain = self._cipher(prefix), bytearray(length)
        for number in range(count):
            try:
                chunk = cipher.decrypt(_nonce(number), file.read(_CHUNK + _TAG), prefix)
            except InvalidTag:
                raise ValueError("altered, or sealed under another key") from None
            plain[number * _CHUNK : (number + 1) * _CHUNK] = chunk
        return plain

    def _cipher(self, prefix: bytes) -> AESGCM:
        return AESGCM(hmac.digest(self._key, prefix, "sha256"))


def _chunks(length: int) -> int:
    return -(-length // _CHUNK)


def _nonce(number: int) -> bytes:
    return number.to_bytes(_NONCE_BYTES, "big")
