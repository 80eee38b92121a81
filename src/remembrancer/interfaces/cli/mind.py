"""Commands for background work: end-session, sleep, consolidate, promote, stage, maintain, worker, jobs, spending."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import mind_pages, pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES
from remembrancer.interfaces.signals import on_stop_signal

if TYPE_CHECKING:
    from remembrancer import Remembrancer
    from remembrancer.domain.job import Job
    from remembrancer.interfaces.cli.drawing import Renderables
    from remembrancer.jobs.indexer import OnIndexed
    from remembrancer.jobs.reports import JobReport
    from remembrancer.jobs.worker import OnRun

R = TypeVar("R")

SinceOption = Annotated[datetime | None, f"Since then: {TIMES}."]
Only = Annotated[list[str] | None, "JOB", "Only this job, as named by `jobs`; may be repeated."]


def end_session(
    call: Invocation,
    *,
    name: Annotated[str | None, "[SESSION]", "The session to end. Default: --session."] = None,
) -> None:
    """End a session.

    Forms its last episode, extracts what it taught, and counts and reviews its use of memories, as far as the preset
    has each of these. Repeating it has no further effect.

    Example: remembrancer end-session standup-monday
    """
    from remembrancer.interfaces.cli import report_pages

    _done(call, lambda memory: memory.end_session(name), report_pages.ended)


def sleep(
    call: Invocation,
    *,
    dry_run: Annotated[bool, "Only report what would be done."] = False,
) -> None:
    """Promote memories from working memory.

    Memories that have been in working memory long enough are summarised by source, by the language model, or by an
    extract without one. The originals are no longer recalled, but stay reachable from the summary.

    Example: remembrancer sleep --preset mnemosyne --dry-run
    """
    from remembrancer.interfaces.cli import report_pages

    _done(call, lambda memory: memory.sleep(dry_run=dry_run), report_pages.slept)


def consolidate(
    call: Invocation,
    *,
    since: SinceOption = None,
    limit: Annotated[int, "The maximum number of work items of each kind."] = 50,
) -> None:
    """Consolidate memories now.

    Extracts facts from episodes, derives rules from events --since, and merges similar memories, as far as the preset
    has each of these and whether or not it is due. What is replaced is no longer recalled, but stays reachable.

    Example: remembrancer consolidate --since 24h --limit 50
    """
    from remembrancer.interfaces.cli import report_pages

    _done(call, lambda memory: memory.consolidate(since, limit), report_pages.consolidated)


def maintain(
    call: Invocation,
    *,
    only: Only = None,
    force: Annotated[bool, "Also jobs that are not due."] = False,
) -> None:
    """Run every job that is due.

    Once each, in order: indexing, episodes, reviews, facts, sleep, rules, clusters and the others of the preset. Prints
    what each did, or why it did nothing. `worker` does this repeatedly.

    Example: remembrancer maintain --only index --only health
    """
    from remembrancer.interfaces.cli import report_pages
    from remembrancer.interfaces.wire.jobs import MaintenanceOut
    from remembrancer.jobs.reports import BrokenOff

    with call.opened(create=False) as memory, _watching(call, memory, only) as on_indexed:
        reports = memory.maintain(only or None, force=force, on_indexed=on_indexed)
    call.answer(MaintenanceOut.of(reports), lambda _: report_pages.maintained(reports))
    if any(isinstance(report, BrokenOff) for report in reports.values()):
        raise typer.Exit(3)


def worker(call: Invocation, *, only: Only = None) -> None:
    """Run the jobs on their schedule, until stopped.

    Missed runs come first. Ctrl+C or SIGTERM lets the current run finish, a second one cancels it; nothing is lost
    either way. Any number of workers may share a file. Prints a line for each run that did something or has something
    new to report; with --json an object for every run.

    Example: remembrancer worker --db agent.db
    """
    from remembrancer.domain import validation
    from remembrancer.domain.job import Job

    jobs = None if only is None else [validation.choice("only", one, Job) for one in only]
    asyncio.run(_work(call, jobs))


async def _work(call: Invocation, only: list[Job] | None) -> None:
    from remembrancer import AsyncRemembrancer
    from remembrancer.jobs.stop import Stop

    stop = Stop()
    task = asyncio.current_task()

    def asked_to_stop() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    with on_stop_signal(asked_to_stop):
        try:
            async with await AsyncRemembrancer.open(settings=call.settings, create=False) as memory:
                call.note(f"working on {call.settings.db}; Ctrl+C ends it")
                await memory.jobs.work(stop, only=only, on_run=_telling(call))
        except asyncio.CancelledError:
            call.note("cancelled; the next run continues from here")


def _telling(call: Invocation) -> OnRun:
    """Print each run: all with --json, otherwise those that did something or have something new to report."""
    from remembrancer.interfaces.cli import report_lines
    from remembrancer.interfaces.wire.jobs import JobReportOut
    from remembrancer.jobs.reports import BrokenOff, counted

    last: dict[Job, str] = {}

    def on_run(job: Job, report: JobReport) -> None:
        if call.as_json:
            call.write(mind_pages.json_line(job.value, JobReportOut.of(report)))
            return
        line, numbers = report_lines.line(job.value, report), counted(report)
        if numbers.done or numbers.failed or isinstance(report, BrokenOff) or line.plain != last.get(job):
            call.out.print(line, soft_wrap=True)  # one line of a log, however wide
        last[job] = line.plain

    return on_run


def jobs(call: Invocation) -> None:
    """Show the state of the jobs.

    The last run of each and what it did, its next run, its backlog, and its failures that will be retried.

    Example: remembrancer jobs
    """
    from remembrancer.interfaces.wire.jobs import JobsOut

    call.tell(lambda memory: JobsOut.of(memory.jobs.list()), lambda shape: mind_pages.jobs(shape, call.now))


def spending(call: Invocation, *, since: SinceOption = None) -> None:
    """Show requests to language models and their cost.

    By purpose and model. Requests without a known price are counted separately.

    Example: remembrancer spending --since 30d
    """
    from remembrancer.interfaces.wire.jobs import SpendingOut

    call.tell(lambda memory: SpendingOut.of(memory.jobs.spending(since), since), mind_pages.spending)


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
    from remembrancer.domain.job import Job
    from remembrancer.interfaces.wire.jobs import PromotableOut
    from remembrancer.interfaces.wire.memories import MemoryOut

    with call.opened(create=False) as memory:
        if memory_id is None:
            candidates = memory.learnings.promotable()
            looked = bool(candidates) or any(state.job is Job.PROMOTE for state in memory.jobs.list())
            call.answer(PromotableOut.of(candidates), lambda shape: mind_pages.promotable(shape, looked=looked))
        else:
            promoted = memory.learnings.promote(memory_id, to)
            call.answer(MemoryOut.of(promoted), pages.promoted)


def stage(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "The project's INTENT.md."],
) -> None:
    """Set the stage of the project.

    The stage is read from the project's INTENT.md. If it differs from the previous stage, learnings for the tasks of
    the previous stage are retired.

    Example: remembrancer stage INTENT.md --preset teaparty --project checkout
    """
    from remembrancer.interfaces.cli import report_pages

    try:
        intent = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("file", str(file), f"a readable UTF-8 text file ({error})") from error
    _done(call, lambda memory: memory.learnings.enter_stage(intent), report_pages.staged)


def _done(call: Invocation, do: Callable[[Remembrancer], R], draw: Callable[[R], Renderables]) -> None:
    """Run one operation and print its report."""
    from remembrancer.interfaces.wire.jobs import DoneOut

    with call.opened(create=False) as memory:
        report = do(memory)
    call.answer(DoneOut.of(report), lambda _: draw(report))


def _watching(
    call: Invocation, memory: Remembrancer, only: list[str] | None
) -> AbstractContextManager[OnIndexed | None]:
    """A progress bar while indexing, if that is among the jobs."""
    return call.indexing(memory) if not only or "index" in only else nullcontext()
