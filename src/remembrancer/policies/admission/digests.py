"""Digests of what is embedded. An equal digest means an equal vector of the same model."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

DIGEST_BYTES: Final = 16


def digest(text: str, before: str | None = None, *, token_embeddings: bool = False) -> bytes:
    """Identifies the input of an embedding: BLAKE2b of a text and its context, `DIGEST_BYTES` long.

    `before`: the context in which the text is embedded, "" for none; None: by an embedder that reads no context.
    `token_embeddings`: whether token embeddings are stored too.

    >>> digest("Deploy failed") == digest("Deploy failed", "")
    False
    """
    parts = [text] if before is None else [text, before, "words" if token_embeddings else ""]
    hashed = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.digest()
