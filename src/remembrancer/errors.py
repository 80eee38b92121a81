"""The errors that Remembrancer raises: few, by meaning, each with one wire code.

Expected outcomes (nothing found, a leg that is down, a bad record in an import) are values, not errors.
"""

from __future__ import annotations

from typing import ClassVar


class RemembrancerError(Exception):
    """The base of all errors that Remembrancer raises."""

    code: ClassVar[str] = "error"


class InvalidInput(RemembrancerError, ValueError):
    """An argument, a record or a setting is not allowed. Nothing was written."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument = argument
        self.value = value
        self.allowed = allowed
        super().__init__(f"{argument}: {_shown(value)} is not allowed; expected {allowed}")


class NotFound(RemembrancerError, LookupError):
    """The reader sees no such row. The message is the same whether the row does not exist or is not visible."""

    code: ClassVar[str] = "not_found"

    def __init__(self, what: str, identifier: object) -> None:
        self.what = what
        self.identifier = identifier
        super().__init__(f"no {what} {identifier} here")


class Conflict(RemembrancerError):
    """The row is not in the state that the writer expected: read it again. Nothing was written."""

    code: ClassVar[str] = "conflict"


class Unsupported(RemembrancerError):
    """This backend, or this version of the file, cannot do what was asked."""

    code: ClassVar[str] = "unsupported"


class EmbedderMismatch(RemembrancerError):
    """A vector does not have the model or dimension it should have."""

    code: ClassVar[str] = "embedder_mismatch"


class StoreUnavailable(RemembrancerError):
    """The store cannot be opened, read or written now: locked, full, read-only, damaged or missing."""

    code: ClassVar[str] = "store_unavailable"


class ModelUnavailable(RemembrancerError):
    """An embedder or a language model cannot be loaded or does not answer."""

    code: ClassVar[str] = "model_unavailable"


class PermissionDenied(RemembrancerError):
    """The caller does not have the right to do this."""

    code: ClassVar[str] = "permission_denied"


def _shown(value: object) -> str:
    """The value as an error shows it: its repr, shortened to one line."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
