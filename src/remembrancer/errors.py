"""The errors Remembrancer raises on purpose: few, by meaning, each with one wire code.

Expected outcomes (nothing found, a leg that is down, a bad record in an import) are values, not errors.
"""

from __future__ import annotations

from typing import ClassVar


class RemembrancerError(Exception):
    """The base of every error Remembrancer raises on purpose."""

    code: ClassVar[str] = "error"


class InvalidInput(RemembrancerError, ValueError):
    """An argument, a record or a setting is not what is allowed. Nothing was written."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument = argument
        self.value = value
        self.allowed = allowed
        super().__init__(f"{argument}: {_shown(value)} is not allowed; expected {allowed}")


class NotFound(RemembrancerError, LookupError):
    """No such row within the reader's sight. Says the same whether it is absent or merely not visible."""

    code: ClassVar[str] = "not_found"

    def __init__(self, what: str, identifier: object) -> None:
        self.what = what
        self.identifier = identifier
        super().__init__(f"no {what} {identifier} here")


class Conflict(RemembrancerError):
    """The row is not what the writer believed: read it again. Nothing was written."""

    code: ClassVar[str] = "conflict"


class Unsupported(RemembrancerError):
    """This backend, or this file's version, cannot do what was asked."""

    code: ClassVar[str] = "unsupported"


class EmbedderMismatch(RemembrancerError):
    """A vector does not belong to the model or dimension it was offered for."""

    code: ClassVar[str] = "embedder_mismatch"


class StoreUnavailable(RemembrancerError):
    """The store cannot be opened, read or written now: locked, full, read-only, damaged or missing."""

    code: ClassVar[str] = "store_unavailable"


class ModelUnavailable(RemembrancerError):
    """An embedder or a language model cannot be loaded or does not answer."""

    code: ClassVar[str] = "model_unavailable"


class PermissionDenied(RemembrancerError):
    """The caller's rights do not reach this far."""

    code: ClassVar[str] = "permission_denied"


def _shown(value: object) -> str:
    """The value as an error shows it: its repr, cut to a line's length."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
