"""The command that moves a whole store into another database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from remembrancer import AsyncRemembrancer, compose, engine
from remembrancer.domain import validation
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.index.resident import ResidentIndex
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.text import counted, one_line
from remembrancer.interfaces.wire.files import MovedOut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remembrancer.engine.same_answers import ComparedAnswers, GivenAnswer
    from remembrancer.ports.transfer import AskedBefore

MOST_QUESTIONS: Final = 10_000


def migrate(
    call: Invocation,
    *,
    source: Annotated[str, "SRC", "The store to copy: a file, or postgresql://…"],
    target: Annotated[str, "DST", "The database to fill, new or empty: a file, or postgresql://…"],
    dry_run: Annotated[bool, "Only report what would be copied."] = False,
    verify_only: Annotated[bool, "Only compare the two stores."] = False,
    questions: Annotated[int, "The number of questions to ask both stores; 0: none."] = 50,
) -> None:
    """Move a whole store into another database.

    Copies all workspaces between SQLite files and PostgreSQL databases, with every id, number and time. Then it
    compares every row, and the answers to recent questions. SRC is only read. DST cannot be opened before it is
    complete. If the command is interrupted, or SRC was written to meanwhile, run it again: it brings what is missing.
    The exit code is 1 if something differs.

    Example: remembrancer migrate memory.db postgresql://ana@db.example/memory
    """
    if call.db is not None:
        raise InvalidInput("db", call.db, "no --db for this command: SRC and DST are the stores")
    if dry_run and verify_only:
        raise InvalidInput("dry-run", value=True, allowed="either --dry-run or --verify-only")
    validation.whole("questions", questions, 0, MOST_QUESTIONS)
    key = call.encryption_key
    try:
        with call.moving() as on_moved:
            if verify_only:
                report = compose.compare_stores(source, target, encryption_key=key, on_moved=on_moved)
            else:
                report = compose.move_store(source, target, dry_run=dry_run, encryption_key=key, on_moved=on_moved)
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error}; run the same command again, and it goes on from there") from error
    compared = None
    if questions and report.is_whole and not dry_run:
        compared = asyncio.run(
            _compared(call, source, target, compose.asked_before(source, questions, encryption_key=key))
        )
    answer = MovedOut.of(report, compared, dry_run=dry_run)
    call.answer(answer, _moved)
    if not answer.ok and not dry_run:
        raise typer.Exit(1)


async def _compared(call: Invocation, source: str, target: str, questions: Sequence[AskedBefore]) -> ComparedAnswers:
    with call.asking(2 * len(questions)) as on_asked:
        here = await _answers(call, source, questions, on_asked)
        there = await _answers(call, target, questions, lambda done: on_asked(len(questions) + done))
    return engine.same_answers.compared(questions, here, there)


async def _answers(
    call: Invocation, url: str, questions: Sequence[AskedBefore], on_asked: Callable[[int], None]
) -> list[GivenAnswer]:
    settings = replace(call.settings, llm="none", reranker="none")  # a model may answer differently each time
    store, index = (
        compose.read_only_store(url, encryption_key=call.encryption_key),
        ResidentIndex(settings.index_mb << 20),
    )  # which writes no files
    try:
        async with AsyncRemembrancer.open(settings=settings, store=store, index=index, clock=lambda: call.now) as rem:
            return await engine.same_answers.answers(rem.context, questions, on_asked=on_asked)
    finally:
        await index.close()
        await store.close()


def _moved(answer: MovedOut) -> Renderables:
    pair = f"from {one_line(answer.source)} to {one_line(answer.target)}"
    if answer.dry_run:
        yield Text(f"Would copy {answer.copied_rows:,} of {counted(answer.rows, 'row')} {pair}.")
        if answer.removed_rows:
            yield Text(f"Would remove {counted(answer.removed_rows, 'row')} that an earlier run copied.")
        return
    if answer.copied_rows or answer.removed_rows:
        removed = f", removed {answer.removed_rows:,}" if answer.removed_rows else ""
        yield Text(f"Copied {answer.copied_rows:,} of {counted(answer.rows, 'row')} {pair}{removed}.")
    yield _tables(answer)
    if answer.difference:
        yield Text(f"different: {one_line(answer.difference)}", style="bold red")
    else:
        workspaces = len({one.workspace for one in answer.tables})
        yield Text(f"equal: {counted(answer.rows, 'row')} in {counted(workspaces, 'workspace')}")
    if answer.written:
        yield Text(
            f"{one_line(answer.source)} was written to meanwhile: {counted(answer.written_memories, 'memory')}; tables:"
            f" {', '.join(answer.written)}. Stop what writes to it, and run the same command again; before that,"
            f" {one_line(answer.target)} cannot be opened.",
            style="bold yellow",
        )
    if answer.answers is not None:
        asked = f"{counted(answer.answers.asked, 'question')}, {answer.answers.answered:,} with hits"
        if answer.answers.difference:
            yield Text(f"answers differ ({asked}): {one_line(answer.answers.difference)}", style="bold red")
        else:
            yield Text(f"answers equal to the last digit ({asked})")


def _tables(answer: MovedOut) -> Table:
    """The rows of each table in both stores, of all workspaces."""
    drawn = Table(box=None, pad_edge=False)
    drawn.add_column("table")
    for heading in ("rows", "copied", ""):
        drawn.add_column(heading, justify="right")
    for table in dict.fromkeys(one.table for one in answer.tables):
        rows = [one for one in answer.tables if one.table == table]
        equal = all(one.digest == one.target_digest for one in rows)
        mark = Text("✓", style="green") if equal else Text("✗", style="bold red")
        drawn.add_row(table, f"{sum(one.rows for one in rows):,}", f"{sum(one.target_rows for one in rows):,}", mark)
    return drawn
