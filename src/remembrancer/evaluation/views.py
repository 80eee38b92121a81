"""The views of a report. Each view is printed as a table and drawn as a picture.

evaluation.tables holds the table of each kind of view, interfaces.charts.evaluation the picture. Both match over all
kinds, so that a kind without a table or picture fails type checking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from remembrancer.evaluation.abstention import Reliability, UnanswerableResult
from remembrancer.evaluation.budget import CHARS_PER_TOKEN
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import ChangedQuestion, PairedComparison
from remembrancer.evaluation.report import EvaluationReport, Group
from remembrancer.evaluation.summary import Latency, Levels, Means, SystemResult
from remembrancer.policies.rendering.safe import one_line
from remembrancer.values import dataclass

TURN_METRICS: Final = ("recall@5", "recall@10", "recall@20", "any@10", "all@10", "ndcg@10", "mrr")
SESSION_METRICS: Final = ("recall@5", "any@5", "all@5", "recall@10", "any@10", "all@10", "ndcg@10", "mrr")
SHOWN_CHANGES: Final = 10
"""Changed questions shown."""
FOREIGN: Final = "foreign"
"""The label of foreign questions."""
ABSTENTION_TITLE: Final = "Nothing returned, and what the best score tells"

EvidenceLevel = Literal["turn", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A view with a file name. `name`: the picture's file name without extension."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Titled(_Named):
    """A view whose title names conversations. `where`: the conversations; empty for all."""

    title: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFound(_Titled):
    """Metrics of the turns or sessions that each system finds."""

    metrics: tuple[str, ...]
    means: Mapping[str, Means]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceInBlocks(_Titled):
    """Evidence in prompt blocks, by system. `chars`: mean block lengths, by system and budget; empty when not shown."""

    means: Mapping[str, Means]
    chars: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories(_Named):
    """Turn metrics by category, for the categories that have questions: each system has one mean per label."""

    labels: tuple[str, ...]
    means: Mapping[str, tuple[Means, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryMetric(_Named):
    """All metrics of one system, by category or number of gold turns, and overall: one mean per label. `by`: what the
    title says of the labels.
    """

    system: str
    by: str
    level: EvidenceLevel
    labels: tuple[str, ...]
    means: tuple[Means, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes(_Named):
    """The number of evidence turns per cause, for each of READERS."""

    system: str
    missed: Mapping[str, Mapping[Cause, int]]

    @property
    def turns(self) -> int:
        """The number of evidence turns."""
        return sum(self.missed[READERS[0]].values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(_Named):
    """Calibration of one system's scores. `every`: with the unanswerable questions; None without them."""

    system: str
    answerable: Reliability
    every: Reliability | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention(_Titled):
    """Abstention by system and by kind of unanswerable questions; every system has the same kinds."""

    results: Mapping[str, Mapping[str, UnanswerableResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstentionByThreshold(_Named):
    """Abstention per relevance threshold under one system, by kind of unanswerable questions."""

    system: str
    results: Mapping[str, UnanswerableResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences(_Named):
    """Two systems compared, metric by metric. `before`: prefix of the title that names the conversations."""

    before: str
    paired: PairedComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMost(_Named):
    """The questions on which two systems differ most; there is at least one."""

    paired: PairedComparison

    @property
    def shown(self) -> tuple[ChangedQuestion, ...]:
        return self.paired.changed[:SHOWN_CHANGES]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times(_Named):
    """Answer times by system."""

    latencies: Mapping[str, Latency]


ReportView = (
    EvidenceFound
    | EvidenceInBlocks
    | Categories
    | EveryMetric
    | Causes
    | Calibration
    | Abstention
    | AbstentionByThreshold
    | Differences
    | ChangedMost
    | Times
)


def views(report: EvaluationReport) -> Iterator[ReportView]:
    """The views of a report that have data, in report order; their names are unique."""
    first = report.results[0]
    everything = {result.system: result.main for result in report.results}
    chars = {result.system: result.block_chars for result in report.results}
    yield from _found("", "", everything, chars, report)
    if len(_categories(first)) > 1:
        by_label = {
            result.system: [*_categories(result), *_adversarial(result, report, " (apart)")]
            for result in report.results
        }
        yield Categories(
            name="categories",
            labels=tuple(label for label, _ in by_label[first.system]),
            means={system: tuple(levels.turn for _, levels in several) for system, several in by_label.items()},
        )
    yield from _every_metric(first, report)
    for group in report.groups:
        yield from _of_group(group, report)
    yield from _diagnosis(report)
    yield Times(name="times", latencies={result.system: result.latency for result in report.results})


def of_paired(paired: PairedComparison) -> Iterator[ReportView]:
    """The views of a comparison: differences by metric, and the changed questions if there are any."""
    yield Differences(name="differences", before="", paired=paired)
    if paired.changed:
        yield ChangedMost(name="changed", paired=paired)


def _found(
    part: str,
    where: str,
    systems: Mapping[str, Levels],
    chars: Mapping[str, Mapping[str, float]],
    report: EvaluationReport,
) -> Iterator[ReportView]:
    """The views of turns found, sessions found, and evidence in blocks. `part`: the group of conversations, empty for
    all.
    """
    prefix, only = _affixes(part)
    turns = {system: levels.turn for system, levels in systems.items()}
    sessions = {system: levels.session for system, levels in systems.items()}
    yield EvidenceFound(
        name=f"{prefix}turns", title=f"Turns found{only}", where=where, metrics=TURN_METRICS, means=turns
    )
    if report.has_sessions:
        yield EvidenceFound(
            name=f"{prefix}sessions",
            title=f"Sessions found{only}",
            where=where,
            metrics=SESSION_METRICS,
            means=sessions,
        )
    yield EvidenceInBlocks(
        name=f"{prefix}blocks",
        title=f"Evidence in a block of so many tokens of {CHARS_PER_TOKEN} characters{only}",
        where=where,
        means={system: levels.block for system, levels in systems.items()},
        chars=chars,
    )


def _every_metric(first: SystemResult, report: EvaluationReport) -> Iterator[ReportView]:
    several = _categories(first) if len(_categories(first)) > 1 else []
    by_label = [*several, ("together", first.main), *_adversarial(first, report)]
    labels = tuple(label for label, _ in by_label)
    of_level: dict[EvidenceLevel, tuple[Means, ...]] = {"turn": tuple(levels.turn for _, levels in by_label)}
    if report.has_sessions:
        of_level["session"] = tuple(levels.session for _, levels in by_label)
    for level, means in of_level.items():
        yield EveryMetric(
            name=f"{level}s-every-metric", system=first.system, by="", level=level, labels=labels, means=means
        )
    counted = {label: of.turn for label, of in first.by_gold_turns.items() if of.turn.questions}
    if len(counted) > 1:
        yield EveryMetric(
            name="turns-by-gold-turns",
            system=first.system,
            by=", by the number of gold turns",
            level="turn",
            labels=(*counted, "together"),
            means=(*counted.values(), first.main.turn),
        )


def _of_group(group: Group, report: EvaluationReport) -> Iterator[ReportView]:
    """The views of a group of conversations; none when the group has no answerable question."""
    if group.questions:
        where = ", ".join(one_line(name) for name in group.conversations)
        yield from _found(group.name, where, group.results, {}, report)
        kinds = {system: _kinds(*results, report) for system, results in group.abstention.items()}
        if any(kinds.values()):
            prefix, only = _affixes(group.name)
            yield Abstention(name=f"{prefix}silence", title=f"{ABSTENTION_TITLE}{only}", where=where, results=kinds)


def _affixes(part: str) -> tuple[str, str]:
    """The prefix of file names and the suffix of titles for a group."""
    return (f"{part}-", f", only the {part}") if part else ("", "")


def _diagnosis(report: EvaluationReport) -> Iterator[ReportView]:
    """Views that explain the scores: missed evidence, calibration, abstention, differences."""
    memories = report.results[: 1 if report.paired is None else 2]
    suffixed = list(zip(("", "-against"), memories, strict=False))
    kinds = {result.system: _kinds(result.unanswerable, result.foreign, report) for result in report.results}
    for suffix, result in suffixed:
        yield Causes(name=f"causes{suffix}", system=result.system, missed=result.missed)
    for suffix, one in suffixed:
        if one.reliability is not None:
            yield Calibration(
                name=f"reliability{suffix}",
                system=one.system,
                answerable=one.reliability,
                every=one.reliability_of_all,
            )
    if any(kinds.values()):
        yield Abstention(name="silence", title=ABSTENTION_TITLE, where="", results=kinds)
    for suffix, one in suffixed:
        swept = {kind: result for kind, result in kinds[one.system].items() if result.by_threshold}
        if swept:
            yield AbstentionByThreshold(name=f"abstention{suffix}", system=one.system, results=swept)
    if report.paired is not None:
        yield from of_paired(report.paired)
    for group in report.groups:
        if group.paired is not None:
            yield Differences(name=f"{group.name}-differences", before=f"Only the {group.name}: ", paired=group.paired)


def _categories(result: SystemResult) -> list[tuple[str, Levels]]:
    """The categories that have questions."""
    return [(one_line(name), levels) for name, levels in result.by_category.items() if levels.turn.questions]


def _adversarial(result: SystemResult, report: EvaluationReport, suffix: str = "") -> list[tuple[str, Levels]]:
    """The unanswerable questions that name turns; an empty list when there are none."""
    label = f"{one_line(report.unanswerable)}{suffix}"
    return [(label, result.adversarial)] if result.adversarial.turn.questions else []


def _kinds(
    unanswerable: UnanswerableResult, foreign: UnanswerableResult, report: EvaluationReport
) -> dict[str, UnanswerableResult]:
    """The kinds of unanswerable questions that were asked."""
    kinds = {one_line(report.unanswerable): unanswerable, FOREIGN: foreign}
    return {kind: result for kind, result in kinds.items() if result.questions}
