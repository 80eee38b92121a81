"""The command that imports files of conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from remembrancer import Remembrancer
from remembrancer.domain.event import Event, EventDraft
from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import MemoryDraft
from remembrancer.domain.validation import choice
from remembrancer.errors import InvalidInput
from remembrancer.ingest import FORMATS_OF_SYSTEMS, Format, ImportedRecord, Problem, detect, imported, learnings, read
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import NoIndex
from remembrancer.interfaces.cli.recording import SkippedRecords, learn, record, take_over
from remembrancer.interfaces.text import counted, one_line
from remembrancer.interfaces.wire.files import ImportProblemOut, IngestedFileOut, IngestedOut, WouldStoreOut
from remembrancer.interfaces.wire.state import IndexReportOut

BAD_RECORDS, BAD_FILES = 1, 2
MAX_SHOWN, MAX_SHOWN_CHARS = 10, 100
"""The number of memories of a file that a dry run prints, and of characters of each; --json has all of them."""


def ingest(
    call: Invocation,
    *,
    files: Annotated[list[Path], "FILE...", "Conversation files, or files of other memory systems."],
    format: Annotated[  # noqa: A002  the word users say
        str | None, f"One of {', '.join(Format)}. Default: detected from the content."
    ] = None,
    dry_run: Annotated[bool, "Only say what would be stored and what would be left out."] = False,
    no_index: NoIndex = False,
) -> None:
    """Import conversations, or another system's memories.

    JSON lines, ChatGPT and Claude exports, Claude Code transcripts and Markdown chats; also Markdown files of
    learnings, and files of other memory systems, which become memories directly. A record that cannot be imported is
    reported on stderr as file:line: message, and the rest is imported. Importing a file again adds only what is new.
    The exit code is 1 if a record was left out, 2 if a whole file was. Finally, everything is indexed by meaning,
    unless you pass --no-index.

    Example: remembrancer ingest conversations.json notes.md
    """
    chosen = None if format is None else choice("format", format, Format)
    formats: dict[Path, Format] = {}
    taken: list[IngestedFileOut] = []
    for file in files:
        try:
            formats[file] = chosen or detect(file)
        except InvalidInput as error:
            taken.append(_refused(call, file, None, error))
    if not formats:
        raise typer.Exit(BAD_FILES)
    if dry_run:
        taken += [_found(call, file, source) for file, source in formats.items()]
        call.answer(IngestedOut(files=taken, dry_run=True, new=0, index=None), _ingested)
        _end(taken)
        return
    with call.opened(create=True) as memory:
        begun, before = memory.now, memory.health.stats().events
        new_memories = Counter[str]()
        taken += [_take(call, memory, file, source, begun, new_memories) for file, source in formats.items()]
        new = memory.health.stats().events - before
        index = None if no_index else IndexReportOut.of(call.index(memory))
    answer = IngestedOut(files=taken, new=new, new_memories=new_memories.total(), index=index)
    call.answer(answer, _ingested)
    _end(taken)


def _end(taken: list[IngestedFileOut]) -> None:
    if any(file.refused for file in taken):
        raise typer.Exit(BAD_FILES)
    if any(file.problems for file in taken):
        raise typer.Exit(BAD_RECORDS)


def _take(
    call: Invocation, memory: Remembrancer, file: Path, source: Format, begun: datetime, new_memories: Counter[str]
) -> IngestedFileOut:
    left_out, events, learned, kept = SkippedRecords(call), 0, 0, 0
    try:
        if source is Format.LEARNINGS:
            learned = sum(1 for _ in learn(memory, file, on_problem=left_out))
        elif source in FORMATS_OF_SYSTEMS:
            for one in take_over(memory, imported(file, format=source), on_problem=left_out):
                if isinstance(one, Event):
                    events += 1
                else:
                    kept += 1
                    new_memories[str(file)] += one.recorded_at >= begun
        else:
            with call.reading(file) as on_bytes:
                offered = read(file, format=source, on_bytes=on_bytes)
                events = sum(1 for _ in record(memory, offered, file, on_problem=left_out))
    except InvalidInput as error:
        return _refused(call, file, source, error)
    problems = [ImportProblemOut.of(problem) for problem in left_out.problems]
    return IngestedFileOut(
        path=str(file), format=source, events=events, learnings=learned, memories=kept, problems=problems
    )


def _found(call: Invocation, file: Path, source: Format) -> IngestedFileOut:
    """The records of a file, read without a store."""
    left_out, events, learned = SkippedRecords(call), 0, 0
    would_store: list[WouldStoreOut] = []
    try:
        for item in _offered(file, source):
            if isinstance(item, Problem):
                left_out(item)
            elif isinstance(item, Learning):
                learned += 1
            elif isinstance(item, ImportedRecord) and isinstance(item.draft, MemoryDraft):
                would_store.append(WouldStoreOut.of(item, item.draft))
            else:
                events += 1
    except InvalidInput as error:
        return _refused(call, file, source, error)
    return IngestedFileOut(
        path=str(file),
        format=source,
        events=events,
        learnings=learned,
        memories=len(would_store),
        would_store=would_store,
        problems=[ImportProblemOut.of(problem) for problem in left_out.problems],
    )


def _offered(file: Path, source: Format) -> Iterator[EventDraft | Learning | ImportedRecord | Problem]:
    if source is Format.LEARNINGS:
        return learnings(file)
    return imported(file, format=source) if source in FORMATS_OF_SYSTEMS else read(file, format=source)


def _refused(call: Invocation, file: Path, source: Format | None, error: InvalidInput) -> IngestedFileOut:
    call.note(f"error: {error}", style="red")
    return IngestedFileOut(path=str(file), format=source, refused=str(error))


def _ingested(answer: IngestedOut) -> Renderables:
    for file in answer.files:
        line = Text(one_line(file.path), style="bold")
        if file.refused is None:
            line.append(f": {_counts(file)}", style="not bold")
            if file.problems:
                line.append(f", {counted(len(file.problems), 'problem')}", style="not bold yellow")
        else:
            line.append(": left out", style="not bold red")
        yield line
        for one in file.would_store[:MAX_SHOWN]:
            yield Text(f"  {one_line(one.text)[:MAX_SHOWN_CHARS]}{_ended(one)}", style="dim")
        if len(file.would_store) > MAX_SHOWN:
            yield Text(f"  and {len(file.would_store) - MAX_SHOWN:,} more", style="dim")
    if answer.dry_run:
        yield Text("Dry run: nothing was stored.")
        return
    if any(file.events or (file.format != Format.LEARNINGS and not file.memories) for file in answer.files):
        yield Text(f"New in the journal: {counted(answer.new, 'event')}.")
    if any(file.memories for file in answer.files):
        yield Text(f"New: {counted(answer.new_memories, 'memory')}.")
    if answer.index is not None:
        yield _index(answer.index)


def _counts(file: IngestedFileOut) -> str:
    if file.format == Format.LEARNINGS:
        return counted(file.learnings, "learning")
    found = {"event": file.events, "memory": file.memories} if file.format in FORMATS_OF_SYSTEMS else {}
    kept = [counted(number, what) for what, number in found.items() if number]
    return f"{' and '.join(kept) or counted(file.events, 'event')} as {file.format}"


def _ended(one: WouldStoreOut) -> str:
    return "" if one.valid_until is None else f" (until {one.valid_until:%Y-%m-%d})"


def _index(report: IndexReportOut) -> Text:
    line = Text(f"indexed {counted(report.indexed, 'cue')}")
    if report.deferred:
        line.append(f", {report.deferred:,} put off", style="yellow")
    if report.reason:
        line.append(f" ({one_line(report.reason)})", style="dim")
    return line
