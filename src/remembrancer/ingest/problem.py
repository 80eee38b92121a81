"""What could not be taken from a file, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MAX_MESSAGE_CHARS = 400


@dataclass(frozen=True, slots=True)
class Problem:
    """One record, or one part of a record, that was left out.

    `line` counts from 1 and is None where lines mean nothing (an export is one long line); `record` then says
    which one, as in "conversation 3, message 12".
    """

    path: Path
    line: int | None
    record: str | None
    message: str

    def __str__(self) -> str:
        where = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}" if self.record is None else f"{where}: {self.record}: {self.message}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file a record stands."""

    path: Path
    line: int | None = None
    record: str | None = None

    def problem(self, message: str | Exception) -> Problem:
        """A problem at this place; the message is kept to one line, for it may quote the file."""
        text = " ".join(str(message).split())
        if len(text) > MAX_MESSAGE_CHARS:
            text = f"{text[: MAX_MESSAGE_CHARS - 1]}…"
        return Problem(self.path, self.line, self.record, text)
