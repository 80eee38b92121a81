"""Commands for background work: end-session, sleep, consolidate, promote, stage, maintain, worker, jobs, spending."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeVar
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from remembrancer import AsyncRemembrancer, Remembrancer, engine
from remembrancer.config import read_file
from remembrancer.domain import validation
from remembrancer.domain.age import spoken_age
from remembrancer.domain.identity import short_id
from remembrancer.domain.job import Job
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import unreadable
from remembrancer.interfaces.cli import report_lines
from remembrancer.interfaces.cli.drawing import (
    Renderables,
    RowReference,
    Shorter,
    facts,
    indented,
    memory_line,
    scope_text,
)
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.main import collect_garbage_as_usual
from remembrancer.interfaces.cli.options import TIMES
from remembrancer.interfaces.signals import on_stop_signal
from remembrancer.interfaces.text import counted, minute, one_line
from remembrancer.interfaces.wire.jobs import (
    DoneOut,
    JobOut,
    JobReportOut,
    JobsOut,
    MaintenanceOut,
    PromotableOut,
    RunOut,
    SpendingOut,
)
from remembrancer.interfaces.wire.memories import MemoryOut
from remembrancer.jobs.overview import MOST_COUNTED
from remembrancer.jobs.sweeps import BrokenOff, JobReport
from remembrancer.jobs.sweeps import counted as numbers_of
from remembrancer.jobs.worker import OnRun, Stop

R = TypeVar("R")

SinceOption = Annotated[datetime | None, f"Since then: {TIMES}."]
Only = Annotated[list[str] | None, "JOB", "Only this job, as named by `jobs`; may be repeated."]
LISTED: Final = 5
"""Failures printed for each job."""


def end_session(
    call: Invocation, *, name: Annotated[str | None, "[SESSION]", "The session to end. Default: --session."] = None
) -> None:
    """End a session.

    Forms its last episode, extracts what was learned, and counts and reviews how memories were used, where the preset
    has these steps. Repeating it has no further effect.

    Example: remembrancer end-session standup-monday
    """
    _done(call, lambda memory: memory.end_session(name), report_lines.ended)


def sleep(call: Invocation, *, dry_run: Annotated[bool, "Only report what would be done."] = False) -> None:
    """Promote memories from working memory.

    Summarises, source by source, the memories that have been in working memory long enough, with the language model or,
    without one, as an extract. The originals are no longer recalled, but can be reached from the summary.

    Example: remembrancer sleep --preset mnemosyne --dry-run
    """
    _done(call, lambda memory: memory.sleep(dry_run=dry_run), partial(report_lines.ran, "sleep"))


def consolidate(
    call: Invocation,
    *,
    since: SinceOption = None,
    limit: Annotated[int, "The maximum number of work items of each kind."] = 50,
) -> None:
    """Consolidate memories now.

    Extracts facts from episodes, derives rules from events --since, and merges similar memories, where the preset has
    these jobs, whether or not they are due. Replaced memories are no longer recalled, but can still be reached.

    Example: remembrancer consolidate --since 24h --limit 50
    """
    _done(call, lambda memory: memory.consolidate(since, limit), report_lines.consolidated)


def maintain(
    call: Invocation, *, only: Only = None, force: Annotated[bool, "Also run jobs that are not due."] = False
) -> None:
    """Run every job that is due.

    Runs each once, in order: indexing, episodes, reviews, facts, sleep, rules, clusters and the preset's others. Prints
    what each did, or why it did nothing. `worker` does this repeatedly.

    Example: remembrancer maintain --only index --only health
    """
    with (
        call.opened(create=False) as memory,
        call.indexing(memory) if not only or "index" in only else nullcontext() as on_indexed,
    ):
        reports = memory.maintain(only or None, force=force, on_indexed=on_indexed)
    call.answer(MaintenanceOut.of(reports), lambda _: report_lines.maintained(reports))
    if any(isinstance(report, BrokenOff) for report in reports.values()):
        raise typer.Exit(3)


def worker(call: Invocation, *, only: Only = None) -> None:
    """Run the jobs on schedule, until stopped.

    Missed runs come first. Ctrl+C or SIGTERM lets the current run finish, and a second one cancels it; nothing is lost
    either way. Any number of workers may share a file. Prints a line for each run that did something or has something
    new to report; with --json an object for every run.

    Example: remembrancer worker --db agent.db
    """
    jobs = None if only is None else [validation.choice("only", one, Job) for one in only]
    collect_garbage_as_usual()
    asyncio.run(_work(call, jobs))


async def _work(call: Invocation, only: list[Job] | None) -> None:
    stop = Stop()
    task = asyncio.current_task()

    def asked_to_stop() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    with on_stop_signal(asked_to_stop):
        try:
            async with AsyncRemembrancer.open(settings=call.settings, create=False) as memory:
                await engine.asking.load_embedder(memory.context)
                call.note(f"working on {call.settings.place}; Ctrl+C ends it")
                await memory.jobs.work(stop, only=only, on_run=_run_printer(call))
        except asyncio.CancelledError:
            call.note("cancelled; the next run continues from here")


def _run_printer(call: Invocation) -> OnRun:
    """Print each run: all with --json, otherwise those that did something or have something new to report."""
    last: dict[Job, str] = {}

    def on_run(job: Job, report: JobReport) -> None:
        if call.as_json:
            call.write(json.dumps({"job": job.value, **JobReportOut.of(report).model_dump(mode="json")}))
            return
        line, numbers = report_lines.line(job.value, report), numbers_of(report)
        if numbers.done or numbers.failed or isinstance(report, BrokenOff) or line.plain != last.get(job):
            call.out.print(line, soft_wrap=True)  # one log line per run, however long
        last[job] = line.plain

    return on_run


def jobs(call: Invocation) -> None:
    """Show the state of the jobs.

    For each job: its last run and what it did, its next run, its backlog, and the failures that will be retried.

    Example: remembrancer jobs
    """
    call.run(lambda memory: JobsOut.of(memory.jobs.list()), lambda shape: _jobs(shape, call.now))


def spending(call: Invocation, *, since: SinceOption = None) -> None:
    """Show requests to language models and their cost.

    By purpose and model. Requests without a known price are counted separately.

    Example: remembrancer spending --since 30d
    """
    call.run(lambda memory: SpendingOut.of(memory.jobs.spending(since), since), _spending)


def promote(
    call: Invocation,
    *,
    memory_id: Annotated[str | None, "[ID]", "The memory to promote. Without it, candidates are listed."] = None,
    to: Annotated[str, "LEVEL", "project or workspace."] = "workspace",
) -> None:
    """Promote a learning to a wider scope.

    Without an ID: lists memories that came up in enough jobs to be promoted to the whole workspace. With an ID:
    promotes that memory. Nothing is promoted to the workspace automatically.

    Example: remembrancer promote --preset teaparty
    """
    with call.opened(create=False) as memory:
        if memory_id is None:
            candidates = memory.learnings.promotable()
            looked = bool(candidates) or any(state.job is Job.PROMOTE for state in memory.jobs.list())
            call.answer(PromotableOut.of(candidates), lambda shape: _promotable(shape, looked=looked))
        else:
            promoted = memory.learnings.promote(memory_id, to)
            call.answer(MemoryOut.of(promoted), _promoted)


def stage(call: Invocation, *, file: Annotated[Path, "FILE", "The project's INTENT.md."]) -> None:
    """Set the stage of the project.

    The stage is read from the project's INTENT.md. If it differs from the previous stage, learnings for the tasks of
    the previous stage are retired.

    Example: remembrancer stage INTENT.md --preset teaparty --project checkout
    """
    try:
        intent = read_file("file", file)
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable("file", file, "a text file in UTF-8", error) from error
    _done(call, lambda memory: memory.learnings.enter_stage(intent), report_lines.staged)


def _done(call: Invocation, do: Callable[[Remembrancer], R], draw: Callable[[R], Renderables]) -> None:
    """Run one operation and print its report."""
    with call.opened(create=False) as memory:
        report = do(memory)
    call.answer(DoneOut.of(report), lambda _: draw(report))


def _jobs(answer: JobsOut, now: datetime) -> Renderables:
    """One line for each job, then the details of errors and failures."""
    table = Table(box=None, pad_edge=False, expand=True)
    for heading in ("job", "last run", "next (UTC)"):
        table.add_column(heading, no_wrap=True)
    table.add_column("waits", justify="right", no_wrap=True)
    table.add_column("did", no_wrap=True, ratio=1)  # the width that the other columns leave
    for job in answer.jobs:
        waits = "" if job.backlog is None else f"{job.backlog:,}{'+' if job.backlog >= MOST_COUNTED else ''}"
        last = Text("never", style="dim") if job.last is None else Text(spoken_age(now - job.last.started_at))
        later = None if job.next_run is None or job.next_run <= now else Text(minute(job.next_run))
        table.add_row(job.job, last, later or Text("due", style="green"), waits, _did(job.last))
    yield table
    for job in answer.jobs:
        yield from _trouble(job)


def _did(run: RunOut | None) -> Text:
    if run is None:
        return Text("")
    if run.error:
        return Text(f"broke off: {one_line(run.error)}", style="red")
    numbers = [(run.done, "done"), (run.failed, "put off"), (run.left, "left")]
    told = ", ".join(f"{number:,} {what}" for number, what in numbers if number)
    if not told:
        return Text(one_line(run.reason) or "nothing to do", style="dim")
    return Text.assemble(told, (f" ({one_line(run.reason)})" if run.reason else "", "dim"))


def _trouble(job: JobOut) -> Renderables:
    broke_off = "" if job.last is None else job.last.error
    if broke_off or job.failures:
        yield ""
    if broke_off:
        yield Text.assemble((f"{job.job}: broke off: ", "red"), one_line(broke_off))
    if job.failures:
        yield Text(f"{job.job}: {counted(len(job.failures), 'piece')} of work put off", style="yellow")
    for failure in job.failures[:LISTED]:
        times = "once" if failure.attempts == 1 else f"{failure.attempts:,} times"
        head = f"{_shorter(failure.item)}: failed {times}, tried again from {minute(failure.retry_at)} UTC on"
        yield indented(Text(head), 2)
        if failure.text:
            yield indented(Shorter(f"“{one_line(failure.text)}”", lines=2))
        yield indented(Shorter(failure.error, lines=2))
    if len(job.failures) > LISTED:
        yield indented(Text(f"… and {len(job.failures) - LISTED:,} more", style="dim"), 2)


def _shorter(item: str) -> str:
    """A piece of work, with its id shortened if it is one."""
    try:
        return short_id(UUID(item))
    except ValueError:
        return one_line(item)


def _spending(answer: SpendingOut) -> Renderables:
    if not answer.spent:
        yield Text("No request to a language model.", style="dim")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("purpose")
    table.add_column("model")
    for heading in ("calls", "failed", "tokens in", "tokens out", "US dollars"):
        table.add_column(heading, justify="right")
    for one in answer.spent:
        cost = f"{one.cost:.4f}" if one.calls > one.unpriced else ""
        table.add_row(
            one.purpose,
            one_line(one.model),
            f"{one.calls:,}",
            f"{one.failed:,}" if one.failed else "",
            f"{one.input_tokens:,}",
            f"{one.output_tokens:,}",
            f"{cost} + {one.unpriced:,} unpriced" if one.unpriced else cost,
        )
    yield table


def _promotable(answer: PromotableOut, *, looked: bool) -> Renderables:
    """The memories that could be promoted. `looked`: whether the preset looks for recurring memories at all."""
    if not answer.candidates:
        nothing = (
            "No learning occurs in enough jobs." if looked else "This preset does not look for recurring learnings."
        )
        yield Text(nothing, style="dim")
    for one in answer.candidates:
        yield Shorter(one.memory.text, lead=Text(f"{counted(one.jobs, 'job')}  ", style="cyan"))
        yield indented(RowReference(one.memory.id))


def _promoted(memory: MemoryOut) -> Renderables:
    """A promoted memory, and its new scope."""
    yield memory_line("promoted", memory)
    yield facts([("for", scope_text(memory.scope, ("workspace", *SCOPE_PARTS), " · "))])
    yield indented(RowReference(memory.id), 2)
