"""The reports of commands that run a job: its sentence, then the memories it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from rich.text import Text

from remembrancer.engine.clusters import ClustersReport
from remembrancer.engine.compact import CompactionReport
from remembrancer.engine.consolidate import Consolidation
from remembrancer.engine.end_session import EndReport
from remembrancer.engine.facts import FactsReport
from remembrancer.engine.rules import RulesReport
from remembrancer.engine.segment import SegmentedStream
from remembrancer.engine.sleep import SleepReport
from remembrancer.engine.stages import StageReport
from remembrancer.interfaces.cli import report_lines
from remembrancer.interfaces.cli.drawing import Renderables, indented
from remembrancer.interfaces.text import counted, one_line
from remembrancer.jobs.reports import JobReport

LISTED: Final = 5
"""Memories printed of each kind."""

Made = Sequence[tuple[UUID | None, str]]
"""Memories that a job formed or changed, each with a remark. None: it formed none."""


def maintained(reports: Mapping[str, JobReport]) -> Renderables:
    for name, report in reports.items():
        yield report_lines.line(name, report)


def slept(report: SleepReport) -> Renderables:
    yield report_lines.line("sleep", report)
    yield from _made([(one.memory_id, _from(len(one.sources), one.by)) for one in report.slept])


def consolidated(report: Consolidation) -> Renderables:
    """A line for each part that the preset has."""
    if report.reason:
        yield Text(one_line(report.reason), style="dim")
    if report.facts is not None:
        yield report_lines.line("facts", report.facts)
        yield from _made(_facts(report.facts))
    if report.rules is not None:
        yield report_lines.line("rules", report.rules)
        yield from _made(_rules(report.rules))
    if report.clusters is not None:
        yield report_lines.line("clusters", report.clusters)
        yield from _made(_clusters(report.clusters))
    if report.compaction is not None:
        yield report_lines.line("compact", report.compaction)
        yield from _made(_merged(report.compaction))


def ended(report: EndReport) -> Renderables:
    """A line for each part of ending a session."""
    yield Text(f"session {one_line(report.session)} is over", style="bold")
    yield _part("episodes", _episodes(report.segmented))
    failed = next(iter(report.extracted.failed.values()), "")
    extracted = report.extracted
    yield _part(
        "learned",
        report_lines.outcome(
            report_lines.learned([extracted]),
            failed=len(extracted.failed),
            left=extracted.left,
            why=extracted.reason or failed,
        ),
    )
    reinforced = report.reinforced
    strengthened = f"counted the use of {counted(len(reinforced.reinforced), 'memory')}"
    yield _part(
        "use",
        report_lines.outcome(
            strengthened if reinforced.reinforced else "", left=reinforced.left, why=reinforced.reason
        ),
    )
    yield _part("reviews", report_lines.told(report.reviewed))


def staged(report: StageReport) -> Renderables:
    """The stage of the project, and what became of the previous one."""
    if report.stage is None:
        yield Text(f"the stage is not known: {one_line(report.reason)}")
    elif report.reason:
        yield Text(f"{report.stage.value}: {one_line(report.reason)}")
    else:
        yield Text(f"the project has come to {report.stage.value}")
    if report.ended is not None:
        left = f", {report.left:,} left for later" if report.left else ""
        retired = counted(len(report.moved), "learning")
        yield Text(f"{report.ended.value} has ended: {retired} for its tasks retired{left}")
        yield from _made([(one, "") for one in report.moved])


def _episodes(segmented: SegmentedStream | None) -> Text:
    if segmented is None:
        return report_lines.outcome("", why="the preset forms no episodes")
    formed = report_lines.episodes(len(segmented.episodes), segmented.turns, segmented.told_by)
    nothing = "" if formed else "nothing in it waits for an episode"
    return report_lines.outcome(
        formed,
        failed=bool(segmented.problem),
        left=segmented.overtaken,
        why=segmented.problem or nothing,
    )


def _facts(report: FactsReport) -> Made:
    told = [(report.new, "new"), (report.updated, "updated"), (report.reinforced, "reinforced")]
    return [(one, what) for ids, what in (*told, (report.invalidated, "no longer so")) for one in ids]


def _rules(report: RulesReport) -> Made:
    return [(one, "learned") for one in report.learned]


def _clusters(report: ClustersReport) -> Made:
    return [(one.memory_id, _from(len(one.sources), one.by)) for one in report.consolidated]


def _merged(report: CompactionReport) -> Made:
    return [(one.memory_id, f"now for {counted(len(one.gone), 'other')} too") for one in report.merged]


def _from(sources: int, by: str) -> str:
    return f"from {counted(sources, 'memory')} ({one_line(by)})"


def _part(name: str, told: Text) -> Text:
    return Text.assemble((f"{name}: ", "bold"), told)


def _made(memories: Made) -> Renderables:
    for memory_id, said in memories[:LISTED]:
        line = Text(said if memory_id is None else str(memory_id), style="dim")
        yield indented(line.append(f"  {said}") if said and memory_id is not None else line)
    if len(memories) > LISTED:
        yield indented(Text(f"… and {len(memories) - LISTED:,} more", style="dim"))
