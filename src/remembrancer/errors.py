"""The errors that Remembrancer raises. Each has one code on the wire.

Expected outcomes (nothing found, an unavailable search, an invalid record in an import) are values, not errors.
"""

from __future__ import annotations

from typing import ClassVar, Final


class RemembrancerError(Exception):
    """The base of all errors that Remembrancer raises."""

    code: ClassVar[str] = "error"


class InvalidInput(RemembrancerError, ValueError):
    """An argument, a record or a setting has a value that is not allowed. Nothing was written."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument = argument
        self.value = value
        self.allowed = allowed
        super().__init__(f"{argument}: {_shown(value)} is not allowed; expected {allowed}")


def unreadable(argument: str, path: object, what: str, error: Exception | None = None) -> InvalidInput:
    """The error for a path at which `what` cannot be read. `error`: of the attempt; None: no file is there."""
    match error:
        case None | FileNotFoundError() | IsADirectoryError() | NotADirectoryError():
            why = "there is no file at this path: check it"
        case PermissionError():
            why = "no permission to read this one: check its permissions"
        case OSError():
            why = error.strerror or str(error)
        case _:
            why = str(error)
    return InvalidInput(argument, str(path), f"{what} ({why})")


def unwritable(error: OSError) -> str:
    """The reason why a file cannot be written, and what to do."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return "its folder does not exist: create it, or give another path"
        case PermissionError():
            return "no permission to write there: give another path"
        case _:
            return f"cannot be written ({error.strerror or error})"


class NotFound(RemembrancerError, LookupError):
    """There is no such row that the reader can see. The message does not tell whether a hidden row exists."""

    code: ClassVar[str] = "not_found"

    def __init__(self, what: str, identifier: object) -> None:
        self.what = what
        self.identifier = identifier
        super().__init__(f"no {what} {identifier} here")


class Conflict(RemembrancerError):
    """The row is not in the state that the writer expected. Nothing was written; read it again."""

    code: ClassVar[str] = "conflict"


class OnHold(Conflict):
    """A legal hold forbids to erase a row that would be erased. Nothing was written; release the hold first."""

    code: ClassVar[str] = "on_hold"


class Unsupported(RemembrancerError):
    """This backend, or this version of the file, does not support the operation."""

    code: ClassVar[str] = "unsupported"


class EmbedderMismatch(RemembrancerError):
    """A vector has another model or dimension than required."""

    code: ClassVar[str] = "embedder_mismatch"


class StoreUnavailable(RemembrancerError):
    """The store cannot be opened, read or written now: it is locked, full, read-only, damaged or missing."""

    code: ClassVar[str] = "store_unavailable"


class ModelUnavailable(RemembrancerError):
    """A model cannot be loaded or does not answer."""

    code: ClassVar[str] = "model_unavailable"


class PermissionDenied(RemembrancerError):
    """The caller is not allowed to do this."""

    code: ClassVar[str] = "permission_denied"


_SHOWN_CHARS: Final = 200


def _shown(value: object) -> str:
    """The value as shown in an error: its repr, shortened to one line; the name of its type if it has no repr."""
    try:
        text = repr(value[:_SHOWN_CHARS] if isinstance(value, str | bytes) else value)
    except (RuntimeError, ValueError):  # nested too deeply, or a number of thousands of digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= 120 else f"{text[:117]}..."


def without_words(error: Exception) -> RuntimeError:
    """For logs: an error with the type's name and the traceback of another, without its message, which may quote a
    memory.
    """
    return RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
