"""Recording of what a coding agent's transcripts say, as they grow."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from remembrancer.domain.event import EventDraft
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ingest.claude_code import TranscriptParser
from remembrancer.ingest.fields import is_object
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.interfaces.hooks.place import Place
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer import AsyncRemembrancer

BATCH: Final = 500
"""Events recorded in one transaction."""
READ_BYTES: Final = 8 * 1024 * 1024
"""The bytes of a transcript read at once, unless one line is longer."""
REMEMBERED_TRANSCRIPTS: Final = 1_000
"""The transcripts whose positions are kept; of an older one, all lines are read again, and recorded once."""

_logger: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Reading:
    """A transcript that is being read. `at`: the bytes that were read; `transcript`: its parser and its state."""

    at: int
    transcript: TranscriptParser


@dataclass
class Capture:
    """Reads the new lines of the transcripts that notes name, and records what was said and done. `memory`: of any
    workspace.
    """

    memory: AsyncRemembrancer
    place: Place
    _readings: dict[str, _Reading] = field(default_factory=dict[str, _Reading])

    def __post_init__(self) -> None:
        try:
            kept = cast("dict[str, Any]", json.loads(self.place.transcripts.read_bytes()))
            self._readings = {path: _Reading(int(at), TranscriptParser(Path(path))) for path, at in kept.items()}
        except (OSError, ValueError, OverflowError, TypeError, AttributeError):
            self._readings = {}  # all is read again: the keys of the events are known

    def waiting(self) -> list[Path]:
        """The notes that wait, oldest first. Unfinished ones, whose names begin with a dot, are left out."""
        found = [Path(entry.path) for entry in os.scandir(self.place.waiting) if not entry.name.startswith(".")]
        return sorted(found, key=lambda note: note.stat().st_mtime if note.exists() else 0)

    async def take(self, note: Path) -> int:
        """Record what a note points to. Returns the number of new events.

        The note is removed after that, unless it was written again meanwhile. Raises RemembrancerError if the store is
        not available; the note stays.
        """
        written, told = _read_note(note)
        recorded = 0
        if is_object(told):
            path, workspace, session = (str(told.get(name, "")) for name in ("transcript", "workspace", "session"))
            try:
                memory = self.memory.of_workspace(workspace)
                recorded = await self._read(memory, Path(path))
                if note.name.startswith("end-") and session:
                    await memory.scoped(session=session).end_session()
                    self._readings.pop(path, None)
            except InvalidInput as error:
                _logger.warning("%s is not recorded: %s", path, error)
        self._keep()
        _remove(note, written)
        return recorded

    async def _read(self, memory: AsyncRemembrancer, path: Path) -> int:
        reading = self._readings.setdefault(str(path), _Reading(0, TranscriptParser(path)))
        recorded = 0
        try:
            reading.at = _start(path, reading.at)
            while lines := _whole_lines(path, reading.at):
                for batch in _batches(_drafts(reading.transcript, path, lines)):
                    recorded += await _record(memory, batch)
                reading.at += sum(map(len, lines))
        except OSError as error:
            _logger.warning("%s cannot be read: %s", path, error)
        return recorded

    def _keep(self) -> None:
        newest = list(self._readings.items())[-REMEMBERED_TRANSCRIPTS:]
        self._readings = dict(newest)
        written = self.place.transcripts.with_suffix(".new")
        written.write_text(json.dumps({path: reading.at for path, reading in newest}), encoding="utf-8")
        written.replace(self.place.transcripts)


def _read_note(note: Path) -> tuple[int, object]:
    """When a note was written, in nanoseconds, and what it says; None for one that is no JSON."""
    written = 0
    try:
        written = note.stat().st_mtime_ns
        return written, json.loads(note.read_bytes())
    except (OSError, ValueError) as error:
        _logger.warning("a note cannot be read: %s", error)
        return written, None


def _remove(note: Path, written: int) -> None:
    """Remove a note, unless it was written again since."""
    with suppress(FileNotFoundError):
        if note.stat().st_mtime_ns == written:
            note.unlink()


def _start(path: Path, at: int) -> int:
    """The position to read from: 0 if another file has this name now."""
    return 0 if path.stat().st_size < at else at


def _whole_lines(path: Path, start: int) -> list[bytes]:
    """The finished lines from a position on, as many as are read at once, but at least one if there is one."""
    with path.open("rb") as file:
        file.seek(start)
        read = file.read(READ_BYTES)
        while b"\n" not in read:
            more = file.read(READ_BYTES)
            if not more:
                return []
            read += more
    return read[: read.rindex(b"\n") + 1].splitlines(keepends=True)


def _drafts(transcript: TranscriptParser, path: Path, lines: Sequence[bytes]) -> Iterator[EventDraft]:
    for line in lines:
        try:
            record: object = json.loads(line)
            items = [*transcript.record(RecordLocation(path), record)] if is_object(record) else []
        except (InvalidInput, ValueError, RecursionError) as error:
            _logger.info("left out a line of %s: %s", path, error)
            continue
        for item in items:
            if isinstance(item, Problem):
                _logger.info("left out: %s", item)
            else:
                yield item


def _batches(drafts: Iterable[EventDraft]) -> Iterator[list[EventDraft]]:
    batch: list[EventDraft] = []
    for draft in drafts:
        batch.append(draft)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _record(memory: AsyncRemembrancer, batch: list[EventDraft]) -> int:
    """Record a batch, without drafts whose key belongs to an event with another text. Returns how many there are."""
    try:
        return len(await memory.observe_many(batch))
    except Conflict:
        recorded = 0
        for draft in batch:
            try:
                recorded += len(await memory.observe_many([draft]))
            except Conflict as error:
                _logger.info("left out: %s", error)
        return recorded
