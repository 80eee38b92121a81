"""The report of a job's run as one sentence, and of a command that runs jobs also the memories it changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from rich.text import Text

from remembrancer.engine.clusters import ClustersReport
from remembrancer.engine.compact import CompactionReport
from remembrancer.engine.consolidate import Consolidation
from remembrancer.engine.end_session import EndReport
from remembrancer.engine.extract import ExtractReport
from remembrancer.engine.facts import FactsReport
from remembrancer.engine.promote import PromotionReport
from remembrancer.engine.retain import RetentionReport
from remembrancer.engine.review import ReviewReport
from remembrancer.engine.rules import RulesReport
from remembrancer.engine.segment import SegmentedStream, SegmentReport
from remembrancer.engine.sleep import SleepReport
from remembrancer.engine.stages import StageReport
from remembrancer.interfaces.cli.drawing import Renderables, indented
from remembrancer.interfaces.text import counted, minute, one_line
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.sweeps import BrokenOff, ExtractionReport, HealthReport, JobReport, NotDue
from remembrancer.jobs.sweeps import counted as numbers_of
from remembrancer.policies.health import band
from remembrancer.policies.segmentation.episodes import EXTRACTIVE

IDLE: Final = "nothing to do"
LISTED: Final = 5
"""Memories printed of each kind."""

Made = Sequence[tuple[UUID | None, str]]
"""Memories that a job formed or changed, each with a remark. None: it formed none."""


def maintained(reports: Mapping[str, JobReport]) -> Renderables:
    for name, report in reports.items():
        yield line(name, report)


def consolidated(report: Consolidation) -> Renderables:
    """The report of a consolidation: a line for each of its parts that the preset has."""
    if report.reason:
        yield Text(one_line(report.reason), style="dim")
    parts = {"facts": report.facts, "rules": report.rules, "clusters": report.clusters, "compact": report.compaction}
    for name, part in parts.items():
        if part is not None:
            yield from ran(name, part)


def ended(report: EndReport) -> Renderables:
    """The report of the end of a session, a line for each part."""
    yield Text(f"session {one_line(report.session)} is over", style="bold")
    yield _part("episodes", _episodes(report.segmented))
    extracted, reinforced = report.extracted, report.reinforced
    why = extracted.reason or next(iter(extracted.failed.values()), "")
    yield _part("learned", _outcome(_learned([extracted]), len(extracted.failed), extracted.left, why))
    if extracted.compacted is not None:
        yield line("compact", extracted.compacted)
    used = f"reinforced {_memories(len(reinforced.reinforced))} that were used" if reinforced.reinforced else ""
    yield _part("use", _outcome(used, left=reinforced.left, why=reinforced.reason))
    yield line("reviews", report.reviewed)


def staged(report: StageReport) -> Renderables:
    """The stage of the project, and what became of the previous one."""
    if report.stage is None:
        yield Text(f"unknown stage: {one_line(report.reason)}")
    elif report.reason:
        yield Text(f"{report.stage.value}: {one_line(report.reason)}")
    else:
        yield Text(f"the project entered {report.stage.value}")
    if report.ended is not None:
        left = f", {report.left:,} left for later" if report.left else ""
        retired = counted(len(report.moved), "learning")
        yield Text(f"{report.ended.value} has ended: {retired} for its tasks retired{left}")
        yield from _listed([(one, "") for one in report.moved])


def line(name: str, report: JobReport) -> Text:
    """`name: what was done, how much was put off or left (the reason)`, or why nothing was done."""
    numbers = numbers_of(report)
    return _part(name, _outcome(_done(report), numbers.failed, numbers.left, _why(report)))


def ran(name: str, report: JobReport) -> Renderables:
    yield line(name, report)
    yield from _listed(_made(report))


def _part(name: str, told: Text) -> Text:
    return Text.assemble((f"{name}: ", "bold"), told)


def _outcome(what: str, failed: int = 0, left: int = 0, why: str = "") -> Text:
    """The outcome of a run: the work done and left. `what`: the work done, empty if there was none."""
    parts = [Text(what)] if what else []
    if failed:
        parts.append(Text(f"{failed:,} put off", style="yellow"))
    if left:
        parts.append(Text(f"{left:,} left for later"))
    if not parts:
        return Text(one_line(why) or IDLE, style="dim")
    line = Text(", ").join(parts)
    return line.append(f" ({one_line(why)})", style="dim") if why else line


def _done(report: JobReport) -> str:  # noqa: C901, PLR0911, PLR0912  a case for each
    """The work done; empty for none."""
    match report:
        case IndexReport() if report.indexed:
            reused = f", {report.reused:,} of them by an equal text's vector" if report.reused else ""
            return f"indexed {counted(report.indexed, 'cue')}{reused}"
        case HealthReport() if report.taken:
            score = report.taken[0].score  # the workspace's is the first
            verdict = "no data" if score is None else f"{score:.1f}, {band(score)}"
            return f"took {counted(len(report.taken), 'snapshot')}: {verdict}"
        case SegmentReport():
            return _formed(report.episodes, report.turns, report.told_by)
        case ExtractionReport():
            return _learned(report.sessions)
        case ReviewReport() if report.reviews:
            ratings = Counter(review.rating for review in report.reviews)
            each = ", ".join(f"{number:,} {rating.name.lower()}" for rating, number in sorted(ratings.items()))
            return f"reviewed {_memories(ratings.total())}: {each}"
        case FactsReport() if report.episodes:
            each = ", ".join(f"{len(ids):,} {what}" for ids, what in _facts(report) if ids)
            return f"read {counted(report.episodes, 'episode')} for facts: {each or 'none'}"
        case SleepReport() if report.slept:
            kept = sum(one.memory_id is not None for one in report.slept)
            would = "would promote" if report.dry_run else "promoted"
            return f"{would} {counted(report.rows, 'row')} of working memory to {_memories(kept)}"
        case RulesReport() if report.owners:
            entries = counted(report.entries, "entry")
            known = f", {report.known:,} known before" if report.known else ""
            learned = f"learned {counted(len(report.learned), 'rule')} from {entries}{known}"
            return learned if report.learned or report.known else f"found no rule in {entries}"
        case ClustersReport() if report.consolidated:
            would = "would put" if report.dry_run else "put"
            sources = sum(len(one.sources) for one in report.consolidated)
            return f"{would} {_memories(len(report.consolidated))} in the place of {sources:,} alike"
        case CompactionReport() if report.merged:
            would = "would merge" if report.dry_run else "merged"
            gone = sum(len(one.gone) for one in report.merged)
            return f"{would} {counted(gone, 'near-duplicate')} into {_memories(len(report.merged))}"
        case PromotionReport() if report.promoted or report.supported:
            count, earlier = len(report.promoted), len(report.supported)
            more = f", supported {counted(earlier, 'earlier one')} again" if earlier else ""
            return f"promoted {counted(count, 'learning')} to {'its' if count == 1 else 'their'} project{more}"
        case RetentionReport() if report.archived or report.erased:
            moved = report.archived and f"moved {counted(report.archived, 'event')} into the archive"
            erased = report.erased and f"erased {counted(report.erased, 'row')} past the time of a retention rule"
            return ", ".join(part for part in (moved, erased) if part)
        case _:
            return ""


def _why(report: JobReport) -> str:
    match report:
        case NotDue():
            return f"not due before {minute(report.next_run)} UTC"
        case BrokenOff():
            return f"broke off: {report.reason}"
        case SleepReport() | ClustersReport() if report.stand_in and _done(report) and not report.reason:
            return report.stand_in
        case _:
            return report.reason


def _formed(episodes: int, turns: int, told_by: Mapping[str, int]) -> str:
    """The episodes that were formed. Models that described episodes are named."""
    if not episodes:
        return ""
    by_model = [f", {number:,} summarised by {one_line(by)}" for by, number in told_by.items() if by != EXTRACTIVE]
    if by_model and EXTRACTIVE in told_by:
        by_model.append(f", {told_by[EXTRACTIVE]:,} in their own words")
    return f"formed {counted(episodes, 'episode')} of {counted(turns, 'turn')}{''.join(by_model)}"


def _episodes(segmented: SegmentedStream | None) -> Text:
    if segmented is None:
        return _outcome("", why="the preset forms no episodes")
    formed = _formed(len(segmented.episodes), segmented.turns, segmented.told_by)
    why = segmented.problem or ("" if formed else "no turn in it waits for an episode")
    return _outcome(formed, bool(segmented.problem), segmented.overtaken, why)


def _learned(sessions: Iterable[ExtractReport]) -> str:
    read = [session for session in sessions if session.scopes]
    if not read:
        return ""
    found = sum(len(session.learned) for session in read)
    of = counted(len(read), "session")
    return f"learned {counted(found, 'thing')} from {of}" if found else f"found nothing to learn in {of}"


def _facts(report: FactsReport) -> Iterable[tuple[Sequence[UUID], str]]:
    yield report.new, "new"
    yield report.reinforced, "reinforced"
    yield report.updated, "updated"
    yield report.invalidated, "no longer so"


def _made(report: JobReport) -> Made:
    match report:
        case SleepReport(slept=formed) | ClustersReport(consolidated=formed):
            return [(one.memory_id, f"from {_memories(len(one.sources))} ({one_line(one.by)})") for one in formed]
        case FactsReport():
            return [(one, what) for ids, what in _facts(report) for one in ids]
        case RulesReport():
            return [(one, "learned") for one in report.learned]
        case CompactionReport():
            return [(one.memory_id, f"now for {counted(len(one.gone), 'other')} too") for one in report.merged]
        case _:
            return []


def _listed(memories: Made) -> Renderables:
    for memory_id, said in memories[:LISTED]:
        line = Text(said if memory_id is None else str(memory_id), style="dim")
        yield indented(line.append(f"  {said}") if said and memory_id is not None else line)
    if len(memories) > LISTED:
        yield indented(Text(f"… and {len(memories) - LISTED:,} more", style="dim"))


def _memories(count: int) -> str:
    return counted(count, "memory")
