"""Records that could not be read, and their location in the file."""

from __future__ import annotations

from pathlib import Path

from remembrancer.values import dataclass

MAX_MESSAGE_CHARS = 400


@dataclass(frozen=True, slots=True)
class Problem:
    """A record, or a part of one, that was left out.

    `line` counts from 1. It is None for an export, which is one long line; then `record` identifies the record, as in
    "conversation 3, message 12".
    """

    path: Path
    line: int | None
    record: str | None
    message: str

    def __str__(self) -> str:
        where = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}" if self.record is None else f"{where}: {self.record}: {self.message}"


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """The location of a record in a file."""

    path: Path
    line: int | None = None
    record: str | None = None

    def problem(self, message: str | Exception) -> Problem:
        """A problem at this location. The message is put on one line, because it may quote the file."""
        text = " ".join(str(message).split())
        if len(text) > MAX_MESSAGE_CHARS:
            text = f"{text[: MAX_MESSAGE_CHARS - 1]}…"
        return Problem(self.path, self.line, self.record, text)
