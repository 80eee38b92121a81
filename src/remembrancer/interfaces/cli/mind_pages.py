"""Jobs, costs and promotable memories on a terminal."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from remembrancer.interfaces.cli.drawing import Renderables, Shorter, indented
from remembrancer.interfaces.text import counted, minute, one_line
from remembrancer.policies.rendering.ages import spoken_age

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.jobs import JobOut, JobReportOut, JobsOut, PromotableOut, RunOut, SpendingOut

LISTED: Final = 5
"""Failures printed of each job."""


def json_line(name: str, report: JobReportOut) -> str:
    """The report of one run of a job, as one line of JSON."""
    return json.dumps({"job": name, **report.model_dump(mode="json")})


def jobs(answer: JobsOut, now: datetime) -> Renderables:
    """One line for each job, then the details of errors and failures."""
    from remembrancer.jobs.overview import MOST_COUNTED  # noqa: PLC0415  not for `--help`: it loads the engine

    table = Table(box=None, pad_edge=False, expand=True)
    for heading in ("job", "last run", "next (UTC)"):
        table.add_column(heading, no_wrap=True)
    table.add_column("waits", justify="right", no_wrap=True)
    table.add_column("did", no_wrap=True, ratio=1)  # what room the others leave
    for job in answer.jobs:
        waits = "" if job.backlog is None else f"{job.backlog:,}{'+' if job.backlog >= MOST_COUNTED else ''}"
        last = Text("never", style="dim") if job.last is None else Text(spoken_age(now - job.last.started_at))
        table.add_row(job.job, last, _next(job, now), waits, _did(job.last))
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


def _next(job: JobOut, now: datetime) -> Text:
    if job.next_run is None or job.next_run <= now:
        return Text("due", style="green")
    return Text(minute(job.next_run))


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
        head = f"{one_line(failure.item)}: failed {times}, tried again from {minute(failure.retry_at)} UTC on"
        yield indented(Text(head), 2)
        yield indented(Shorter(failure.error, lines=2))
    if len(job.failures) > LISTED:
        yield indented(Text(f"… and {len(job.failures) - LISTED:,} more", style="dim"), 2)


def spending(answer: SpendingOut) -> Renderables:
    if not answer.spent:
        yield Text("No language model was asked anything.", style="dim")
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


def promotable(answer: PromotableOut, *, looked: bool) -> Renderables:
    """`looked`: whether the preset looks for recurring memories at all."""
    if not answer.candidates:
        nothing = "Nothing came up in enough jobs." if looked else "This preset does not look for what recurs."
        yield Text(nothing, style="dim")
    for one in answer.candidates:
        yield Shorter(one.memory.text, lead=Text(f"{counted(one.jobs, 'job')}  ", style="cyan"))
        yield indented(Text(str(one.memory.id), style="dim"))
