"""What a memory does by itself, as a terminal shows it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from remembrancer.interfaces.cli.drawing import Shorter, counted, indented, minute, one_line
from remembrancer.interfaces.cli.pages import Blocks
from remembrancer.policies.rendering.ages import spoken_age

if TYPE_CHECKING:
    from pydantic import JsonValue

    from remembrancer.interfaces.wire_life import (
        DoneOut,
        JobOut,
        JobReportOut,
        JobsOut,
        MaintenanceOut,
        PromotableOut,
        SpendingOut,
    )

LISTED: Final = 5
"""Failures that are shown of each job."""


def maintained(answer: MaintenanceOut) -> Blocks:
    for name, report in answer.jobs.items():
        yield run_line(name, report)


def run_line(name: str, report: JobReportOut) -> Text:
    """What one run of a job did, on one line."""
    line = Text(f"{name}: ", style="bold")
    line.append(f"{report.done:,} done", style="not bold" if report.done else "dim not bold")
    if report.failed:
        line.append(f", {report.failed:,} put off", style="not bold yellow")
    if report.left:
        line.append(f", {report.left:,} left", style="not bold")
    if report.reason:
        line.append(f" ({one_line(report.reason)})", style="not bold dim")
    return line


def json_line(name: str, report: JobReportOut) -> str:
    """The same as one line of JSON."""
    return json.dumps({"job": name, **report.model_dump(mode="json")})


def done(answer: DoneOut) -> Blocks:
    """Every part of a report that says something, by its name."""
    yield from _parts(answer.details)


def _parts(details: dict[str, JsonValue], depth: int = 0) -> Blocks:
    for name, value in details.items():
        words = name.replace("_", " ")
        if isinstance(value, dict):
            if value:
                yield Text("  " * depth + words, style="bold")
                yield from _parts(value, depth + 1)
        elif isinstance(value, list):
            yield Text(f"{'  ' * depth}{words}: {len(value):,}")
            for one in value[:LISTED]:
                yield Text(f"{'  ' * (depth + 1)}{one_line(_short(one))}", style="dim")
            if len(value) > LISTED:
                yield Text(f"{'  ' * (depth + 1)}… and {len(value) - LISTED:,} more", style="dim")
        elif value not in (None, "", 0, False):
            yield Text(f"{'  ' * depth}{words}: {one_line(str(value))}")


def _short(value: JsonValue) -> str:
    """A part of a report on one line: ids alone where there are any."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(one)}" for name, one in value.items() if one not in (None, "", []))
    if isinstance(value, list):
        return str(value[0]) if len(value) == 1 else f"{len(value)}"
    return str(value)


def jobs(answer: JobsOut, now: datetime) -> Blocks:
    table = Table(box=None, pad_edge=False)
    for heading, justify in (
        ("job", "left"),
        ("last run", "left"),
        ("did", "left"),
        ("next", "left"),
        ("waits", "right"),
    ):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for job in answer.jobs:
        table.add_row(job.job, *_last(job, now), _next(job, now), "" if job.backlog is None else f"{job.backlog:,}")
    yield table
    for job in answer.jobs:
        if job.failures:
            yield Text(f"\n{job.job}: {counted(len(job.failures), 'piece')} of work failed", style="yellow")
        for failure in job.failures[:LISTED]:
            lead = f"{one_line(failure.item)}, {failure.attempts} × until {minute(failure.retry_at)} UTC: "
            yield indented(Shorter(failure.error, lead=Text(lead)))
        if len(job.failures) > LISTED:
            yield indented(Text(f"… and {len(job.failures) - LISTED:,} more", style="dim"))


def _last(job: JobOut, now: datetime) -> tuple[Text, Text]:
    if job.last is None:
        return Text("never", style="dim"), Text("")
    if job.last.error:
        told = Text(f"broke off: {one_line(job.last.error)}", style="red")
    else:
        told = Text(f"{job.last.done:,} done" + (f", {job.last.failed:,} put off" if job.last.failed else ""))
        if job.last.reason:
            told.append(f" ({one_line(job.last.reason)})", style="dim")
    return Text(spoken_age(now - job.last.started_at)), told


def _next(job: JobOut, now: datetime) -> Text:
    if job.next_run is None or job.next_run <= now:
        return Text("due", style="green")
    return Text(f"{minute(job.next_run)} UTC")


def spending(answer: SpendingOut) -> Blocks:
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


def promotable(answer: PromotableOut) -> Blocks:
    if not answer.candidates:
        yield Text("Nothing came up in enough jobs.", style="dim")
    for one in answer.candidates:
        yield Shorter(one.memory.text, lead=Text(f"{counted(one.jobs, 'job')}  ", style="cyan"))
        yield indented(Text(str(one.memory.id), style="dim"))
