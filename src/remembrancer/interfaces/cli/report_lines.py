"""The report of a job's run as one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from rich.text import Text

from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.review import Review
from remembrancer.engine.clusters import ClustersReport
from remembrancer.engine.compact import CompactionReport
from remembrancer.engine.extract import ExtractReport
from remembrancer.engine.facts import FactsReport
from remembrancer.engine.promote import PromotionReport
from remembrancer.engine.retain import RetentionReport
from remembrancer.engine.review import ReviewReport
from remembrancer.engine.rules import RulesReport
from remembrancer.engine.segment import SegmentReport
from remembrancer.engine.sleep import SleepReport
from remembrancer.interfaces.text import counted, minute, one_line
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.reports import BrokenOff, ExtractionReport, HealthReport, JobReport, NotDue
from remembrancer.jobs.reports import counted as numbers_of
from remembrancer.policies.health import band
from remembrancer.policies.segmentation.episodes import EXTRACTIVE

IDLE: Final = "nothing to do"


def line(name: str, report: JobReport) -> Text:
    """`name: what was done, how much was put off or left (the reason)`, or why nothing was done."""
    return Text.assemble((f"{name}: ", "bold"), told(report))


def told(report: JobReport) -> Text:
    """The same without the name."""
    numbers = numbers_of(report)
    return outcome(done(report), failed=numbers.failed, left=numbers.left, why=_why(report))


def outcome(what: str, *, failed: int = 0, left: int = 0, why: str = "") -> Text:
    """`what`: what was done, empty for nothing."""
    parts = [Text(what)] if what else []
    if failed:
        parts.append(Text(f"{failed:,} put off", style="yellow"))
    if left:
        parts.append(Text(f"{left:,} left for later"))
    if not parts:
        return Text(one_line(why) or IDLE, style="dim")
    line = Text(", ").join(parts)
    return line.append(f" ({one_line(why)})", style="dim") if why else line


def done(report: JobReport) -> str:  # noqa: C901, PLR0911, PLR0912  a case for each
    """What was done; empty for nothing."""
    match report:
        case IndexReport():
            return f"indexed {counted(report.indexed, 'cue')}" if report.indexed else ""
        case HealthReport():
            return _health(report.taken)
        case SegmentReport():
            return episodes(report.episodes, report.turns, report.told_by)
        case ExtractionReport():
            return learned(report.sessions)
        case ReviewReport():
            return reviewed(report.reviews)
        case FactsReport():
            return _facts(report)
        case SleepReport():
            return slept(report)
        case RulesReport():
            return _rules(report)
        case ClustersReport():
            return _condensed(report)
        case CompactionReport():
            return _merged(report)
        case PromotionReport():
            return _promoted(report)
        case RetentionReport():
            return f"moved {counted(report.archived, 'event')} into the archive" if report.archived else ""
        case NotDue() | BrokenOff():
            return ""
        case _:
            assert_never(report)


def episodes(count: int, turns: int, told_by: Mapping[str, int]) -> str:
    """What was formed. Models that described episodes are named."""
    if not count:
        return ""
    tellers = [f"{number:,} told by {one_line(by)}" for by, number in told_by.items() if by != EXTRACTIVE]
    if tellers and EXTRACTIVE in told_by:
        tellers.append(f"{told_by[EXTRACTIVE]:,} in their own words")
    formed = f"formed {counted(count, 'episode')} of {counted(turns, 'turn')}"
    return ", ".join([formed, *tellers])


def learned(sessions: Iterable[ExtractReport]) -> str:
    read = [session for session in sessions if session.scopes]
    if not read:
        return ""
    found = sum(len(session.learned) for session in read)
    of = counted(len(read), "session")
    return f"learned {counted(found, 'thing')} from {of}" if found else f"found nothing to learn in {of}"


def reviewed(reviews: Iterable[Review]) -> str:
    ratings = Counter(review.rating for review in reviews)
    if not ratings:
        return ""
    each = ", ".join(f"{number:,} {rating.name.lower()}" for rating, number in sorted(ratings.items()))
    return f"reviewed {_memories(ratings.total())}: {each}"


def slept(report: SleepReport) -> str:
    if not report.slept:
        return ""
    kept = sum(one.memory_id is not None for one in report.slept)
    would = "would promote" if report.dry_run else "promoted"
    return f"{would} {counted(report.rows, 'row')} of working memory to {_memories(kept)}"


def _health(taken: tuple[HealthSnapshot, ...]) -> str:
    if not taken:
        return ""
    score = taken[0].score  # the workspace's is the first
    verdict = "no data" if score is None else f"{score:.1f}, {band(score)}"
    return f"took {counted(len(taken), 'snapshot')}: {verdict}"


def _facts(report: FactsReport) -> str:
    if not report.episodes:
        return ""
    kinds = (
        (len(report.new), "new"),
        (len(report.reinforced), "reinforced"),
        (len(report.updated), "updated"),
        (len(report.invalidated), "no longer so"),
    )
    each = [f"{number:,} {kind}" for number, kind in kinds if number]
    return f"read {counted(report.episodes, 'episode')} for facts: {', '.join(each) or 'none'}"


def _rules(report: RulesReport) -> str:
    if not report.owners:
        return ""
    entries = counted(report.entries, "entry")
    if not (report.learned or report.known):
        return f"found no rule in {entries}"
    known = f", {report.known:,} known before" if report.known else ""
    return f"learned {counted(len(report.learned), 'rule')} from {entries}{known}"


def _condensed(report: ClustersReport) -> str:
    if not report.consolidated:
        return ""
    would = "would put" if report.dry_run else "put"
    sources = sum(len(one.sources) for one in report.consolidated)
    return f"{would} {_memories(len(report.consolidated))} in the place of {sources:,} alike"


def _merged(report: CompactionReport) -> str:
    if not report.merged:
        return ""
    would = "would merge" if report.dry_run else "merged"
    gone = sum(len(one.gone) for one in report.merged)
    return f"{would} {counted(gone, 'near-duplicate')} into {_memories(len(report.merged))}"


def _promoted(report: PromotionReport) -> str:
    if not (report.promoted or report.supported):
        return ""
    more = f", {counted(len(report.supported), 'earlier one')} supported anew" if report.supported else ""
    count = len(report.promoted)
    return f"told {counted(count, 'learning')} to {'its' if count == 1 else 'their'} project{more}"


def _why(report: JobReport) -> str:
    match report:
        case NotDue():
            return f"not due before {minute(report.next_run)} UTC"
        case BrokenOff():
            return f"broke off: {report.reason}"
        case SleepReport() | ClustersReport() if report.stand_in and done(report) and not report.reason:
            return report.stand_in
        case _:
            return report.reason


def _memories(count: int) -> str:
    return counted(count, "memory")
