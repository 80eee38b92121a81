"""Recording many events or memories in batches, and collecting those that cannot be recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, cast

from remembrancer.domain.event import Event, EventDraft
from remembrancer.domain.memory import Memory, MemoryDraft
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.domain.validation import parse_moment
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ingest import ImportedRecord, learnings, tags_of
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.sync import Remembrancer
from remembrancer.values import dataclass

BATCH: Final = 500
"""Events or memories written in one transaction."""

OnProblem = Callable[[Problem], None]


@dataclass(frozen=True)
class SkippedRecords:
    """Collects the records that could not be taken, and reports each on stderr."""

    call: Invocation
    problems: list[Problem] = field(default_factory=list[Problem])

    def __call__(self, problem: Problem) -> None:
        self.problems.append(problem)
        self.call.note(str(problem), style="yellow")


def record(
    memory: Remembrancer, offered: Iterable[EventDraft | Problem], path: Path, *, on_problem: OnProblem
) -> Iterator[Event]:
    """Record events in order, and yield them as recorded. `on_problem` is called for each that was left out.

    A draft whose key belongs to a different event is left out; the others of its batch are recorded.
    """
    batch: list[EventDraft] = []
    for item in offered:
        if isinstance(item, Problem):
            on_problem(item)
            continue
        batch.append(item)
        if len(batch) == BATCH:
            yield from _record(memory, batch, path, on_problem)
            batch = []
    yield from _record(memory, batch, path, on_problem)


def learn(memory: Remembrancer, path: Path, *, on_problem: OnProblem) -> Iterator[Memory]:
    """Keep the learnings of a file in order, and yield them as kept. `on_problem` is called for each that
    was left out.
    """
    for item in learnings(path):
        if isinstance(item, Problem):
            on_problem(item)
            continue
        try:
            yield from memory.learn([item], source=path.name, tags=tags_of(path))
        except Conflict as error:
            on_problem(RecordLocation(path, record=f"learning {item.id}").problem(error))


def take_over(
    memory: Remembrancer, offered: Iterable[ImportedRecord | Problem], *, on_problem: OnProblem
) -> Iterator[Memory | Event]:
    """Store records of another memory system in order, each in its scope, and yield them as stored. Then every memory
    that ended gets its successor. `on_problem` is called for each record that was left out.
    """
    stored: dict[tuple[str | None, ...], Memory] = {}
    replaced: list[tuple[ImportedRecord, Memory, tuple[str | None, ...]]] = []
    for view, batch in _by_scope(memory, offered, on_problem):
        for record, taken in _taken(view, batch, on_problem):
            yield taken
            if isinstance(taken, Memory):
                owner = (record.project, record.crew, record.agent)
                stored[*owner, taken.key] = taken
                if record.successor is not None:
                    replaced.append((record, taken, (*owner, record.successor)))
    later = {(record.project, record.crew, record.agent, taken.key): successor for record, taken, successor in replaced}
    for record, old, successor in replaced:
        if old.superseded_by is not None:
            continue
        newest = stored.get(_newest(successor, later))
        if newest is None:
            on_problem(record.place.problem(f"its successor {successor[-1]!r} is not in the file; it ends without one"))
            memory.invalidate(old.id)
            continue
        try:
            memory.supersede(old.id, newest.id)
        except Conflict:  # the successor has ended too
            memory.invalidate(old.id)


def _newest(
    key: tuple[str | None, ...], later: Mapping[tuple[str | None, ...], tuple[str | None, ...]]
) -> tuple[str | None, ...]:
    """The last successor, because an ended memory cannot be one; empty if the successors form a circle."""
    seen: set[tuple[str | None, ...]] = set()
    while key in later:
        if key in seen:
            return ()
        seen.add(key)
        key = later[key]
    return key


def _by_scope(
    memory: Remembrancer, offered: Iterable[ImportedRecord | Problem], on_problem: OnProblem
) -> Iterator[tuple[Remembrancer, list[ImportedRecord]]]:
    """Batches of consecutive records of one scope and kind, each with a view for the scope."""

    def told(record: ImportedRecord) -> dict[str, str]:
        parts = {name: getattr(record, name) for name in SCOPE_PARTS}
        return {part: value for part, value in parts.items() if value is not None}

    batch: list[ImportedRecord] = []
    for item in offered:
        if isinstance(item, Problem):
            on_problem(item)
            continue
        if batch and (
            len(batch) == BATCH or told(item) != told(batch[0]) or type(item.draft) is not type(batch[0].draft)
        ):
            yield memory.scoped(**told(batch[0])), batch
            batch = []
        batch.append(item)
    if batch:
        yield memory.scoped(**told(batch[0])), batch


def _taken(
    memory: Remembrancer, batch: list[ImportedRecord], on_problem: OnProblem
) -> list[tuple[ImportedRecord, Memory | Event]]:
    """The records of one scope as stored: all in one transaction, or one by one if one of them cannot be stored."""
    drafts = [record.draft for record in batch]
    try:
        return list(zip(batch, _stored(memory, drafts), strict=True))
    except (Conflict, InvalidInput):
        taken: list[tuple[ImportedRecord, Memory | Event]] = []
        for record in batch:
            try:
                taken += [(record, one) for one in _stored(memory, [record.draft])]
            except (Conflict, InvalidInput) as error:
                on_problem(record.place.problem(error))
        return taken


def _stored(memory: Remembrancer, drafts: Sequence[MemoryDraft | EventDraft]) -> Sequence[Memory | Event]:
    """The drafts, all of one type, as stored. Kind and tier are the preset's."""
    events = [draft for draft in drafts if isinstance(draft, EventDraft)]
    if events:
        return memory.observe_many(events)
    names = MemoryDraft.__dataclass_fields__.keys() - {"kind", "tier"}
    return memory.remember_many({name: getattr(draft, name) for name in names} for draft in drafts)


def drafts_of_lines(lines: Iterable[bytes], path: Path) -> Iterator[EventDraft | Problem]:
    """JSON lines as drafts: each object has fields of a draft. Blank lines are skipped."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield _draft(line)
            except InvalidInput as error:
                yield RecordLocation(path, number).problem(error)


def _record(memory: Remembrancer, batch: list[EventDraft], path: Path, on_problem: OnProblem) -> Iterator[Event]:
    if not batch:
        return
    try:
        yield from memory.observe_many(batch)
    except Conflict:
        for draft in batch:
            try:
                yield from memory.observe_many([draft])
            except Conflict as error:
                on_problem(RecordLocation(path, record=f"key {draft.key}").problem(error))


def remember_lines(
    memory: Remembrancer, lines: Iterable[bytes], path: Path, *, on_problem: OnProblem
) -> Iterator[Memory]:
    """Store memories of JSON lines in order, and yield them as stored: each object has arguments of `remember`.
    `on_problem` is called for each line that was left out. Blank lines are skipped.
    """
    batch: list[tuple[RecordLocation, dict[str, Any]]] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            location = RecordLocation(path, number)
            try:
                batch.append((location, _with_times(_object(line), "occurred_at", "valid_from", "valid_until")))
            except InvalidInput as error:
                on_problem(location.problem(error))
        if len(batch) == BATCH:
            yield from _remember(memory, batch, on_problem)
            batch = []
    yield from _remember(memory, batch, on_problem)


def _remember(
    memory: Remembrancer, batch: list[tuple[RecordLocation, dict[str, Any]]], on_problem: OnProblem
) -> Iterator[Memory]:
    try:
        yield from memory.remember_many(fields for _, fields in batch)
    except (Conflict, InvalidInput, NotFound):
        for location, fields in batch:
            try:
                yield from memory.remember_many([fields])
            except InvalidInput as error:
                argument = error.argument.removeprefix("memories[0]").removeprefix(".") or "line"
                on_problem(location.problem(InvalidInput(argument, error.value, error.allowed)))
            except (Conflict, NotFound) as error:
                on_problem(location.problem(error))


def _object(line: bytes) -> dict[str, Any]:
    try:
        fields: object = json.loads(line)
    except (ValueError, RecursionError):  # a UnicodeDecodeError is a ValueError
        fields = None
    if not isinstance(fields, dict):
        raise InvalidInput("line", line.decode("utf-8", "replace").strip(), "one JSON object in UTF-8")
    return cast("dict[str, Any]", fields)


def _with_times(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """The fields with those of these names parsed. Raises InvalidInput."""
    given = {name: fields[name] for name in names if isinstance(fields.get(name), str)}
    return {**fields, **{name: parse_moment(name, text) for name, text in given.items()}}


def _draft(line: bytes) -> EventDraft:
    given = _with_times(_object(line), "occurred_at")
    unknown = given.keys() - EventDraft.__dataclass_fields__.keys()
    if unknown or "text" not in given:
        raise InvalidInput("line", sorted(given), "text, and any of " + ", ".join(EventDraft.__dataclass_fields__))
    return EventDraft(**given)
