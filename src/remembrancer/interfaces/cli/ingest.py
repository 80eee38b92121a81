"""The command that imports files of conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from remembrancer import Remembrancer
from remembrancer.domain.validation import choice
from remembrancer.errors import InvalidInput
from remembrancer.ingest import Format, detect, read
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import NoIndex
from remembrancer.interfaces.cli.recording import SkippedRecords, learn, record
from remembrancer.interfaces.text import counted, one_line
from remembrancer.interfaces.wire.files import ImportProblemOut, IngestedFileOut, IngestedOut
from remembrancer.interfaces.wire.state import IndexReportOut

BAD_RECORDS, BAD_FILES = 1, 2


def ingest(
    call: Invocation,
    *,
    files: Annotated[list[Path], "FILE...", "Conversation files."],
    format: Annotated[  # noqa: A002  the word users say
        str | None, "jsonl, chatgpt, claude, claude-code, markdown or learnings. Default: detected from the content."
    ] = None,
    no_index: NoIndex = False,
) -> None:
    """Import conversation files.

    JSON lines, ChatGPT and Claude exports, Claude Code transcripts and Markdown chats; also Markdown files of
    learnings, which become memories directly. A record that cannot be imported is reported on stderr as file:line:
    message, and the rest is imported. Importing a file again adds only what is new. The exit code is 1 if a record was
    left out, 2 if a whole file was. Finally, everything is indexed by meaning, unless you pass --no-index.

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
    with call.opened(create=True) as memory:
        before = memory.health.stats().events
        taken += [_take(call, memory, file, source) for file, source in formats.items()]
        new = memory.health.stats().events - before
        index = None if no_index else IndexReportOut.of(call.index(memory))
    call.answer(IngestedOut(files=taken, new=new, index=index), _ingested)
    if any(file.refused for file in taken):
        raise typer.Exit(BAD_FILES)
    if any(file.problems for file in taken):
        raise typer.Exit(BAD_RECORDS)


def _take(call: Invocation, memory: Remembrancer, file: Path, source: Format) -> IngestedFileOut:
    left_out, events, learned = SkippedRecords(call), 0, 0
    try:
        if source is Format.LEARNINGS:
            learned = sum(1 for _ in learn(memory, file, on_problem=left_out))
        else:
            with call.reading(file) as on_bytes:
                offered = read(file, format=source, on_bytes=on_bytes)
                events = sum(1 for _ in record(memory, offered, file, on_problem=left_out))
    except InvalidInput as error:
        return _refused(call, file, source, error)
    problems = [ImportProblemOut.of(problem) for problem in left_out.problems]
    return IngestedFileOut(path=str(file), format=source, events=events, learnings=learned, problems=problems)


def _refused(call: Invocation, file: Path, source: Format | None, error: InvalidInput) -> IngestedFileOut:
    call.note(f"error: {error}", style="red")
    return IngestedFileOut(path=str(file), format=source, refused=str(error))


def _ingested(answer: IngestedOut) -> Renderables:
    for file in answer.files:
        line = Text(one_line(file.path), style="bold")
        if file.refused is None:
            events, learnings = counted(file.events, "event"), counted(file.learnings, "learning")
            what = learnings if file.format == Format.LEARNINGS else f"{events} as {file.format}"
            line.append(f": {what}", style="not bold")
            if file.problems:
                line.append(f", {counted(len(file.problems), 'problem')}", style="not bold yellow")
        else:
            line.append(": left out", style="not bold red")
        yield line
    if any(file.format != Format.LEARNINGS for file in answer.files):
        yield Text(f"New in the journal: {counted(answer.new, 'event')}.")
    if answer.index is not None:
        yield _index(answer.index)


def _index(report: IndexReportOut) -> Text:
    line = Text(f"indexed {counted(report.indexed, 'cue')}")
    if report.deferred:
        line.append(f", {report.deferred:,} put off", style="yellow")
    if report.reason:
        line.append(f" ({one_line(report.reason)})", style="dim")
    return line
