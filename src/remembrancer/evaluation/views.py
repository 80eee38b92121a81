"""What a report shows, each view once: whatever is printed of it is drawn, and the other way round.

evaluation.tables has a table for each kind of view, interfaces.charts.evaluation a picture: both match over all of
them, so that a kind without either does not pass the type checker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.evaluation.abstention import Reliability, Unanswered
from remembrancer.evaluation.budget import CHARS_PER_TOKEN
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import Changed, Paired
from remembrancer.evaluation.report import Group, Report
from remembrancer.evaluation.summary import Latency, Levels, Means, SystemResult
from remembrancer.policies.rendering.safe import one_line

TURN_METRICS: Final = ("recall@5", "recall@10", "recall@20", "any@10", "all@10", "ndcg@10", "mrr")
SESSION_METRICS: Final = ("recall@5", "any@5", "all@5", "recall@10", "any@10", "all@10", "ndcg@10", "mrr")
TOLD_CHANGES: Final = 10
FOREIGN: Final = "foreign"
SILENCE: Final = "Nothing returned, and what the best score tells"

Level = Literal["turn", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What each system finds of turns or sessions.

    `name`, here and below: of the picture's file, without its end. `where`: the conversations, if not all.
    """

    name: str
    title: str
    where: str
    metrics: tuple[str, ...]
    means: Mapping[str, Means]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What stands in blocks, by system; `chars`: how long they are, empty where that is not told."""

    name: str
    title: str
    where: str
    means: Mapping[str, Means]
    chars: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """Turns by category, those alone that have questions: each system has a mean for each of `labels`."""

    name: str
    labels: tuple[str, ...]
    means: Mapping[str, tuple[Means, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryMetric:
    """All metrics of one system, by category and together: each of `labels` with its mean."""

    name: str
    system: str
    level: Level
    labels: tuple[str, ...]
    means: tuple[Means, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """What became of each turn that answers, for each of READERS."""

    name: str
    system: str
    missed: Mapping[str, Mapping[Cause, int]]

    @property
    def turns(self) -> int:
        return sum(self.missed[READERS[0]].values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliable:
    """How far one system's scores tell whether it is right. `every`: with the unanswerable questions."""

    name: str
    system: str
    answerable: Reliability
    every: Reliability | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """What is said where nothing answers, by system and by kind of such questions; each has the same kinds."""

    name: str
    title: str
    where: str
    told: Mapping[str, Mapping[str, Unanswered]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByFloor:
    """What a least score would do under one system, by kind of questions that nothing answers."""

    name: str
    system: str
    told: Mapping[str, Unanswered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What sets two systems apart. `before`: where."""

    name: str
    before: str
    paired: Paired


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMost:
    """The questions on which two systems differ most, of which there is at least one."""

    name: str
    paired: Paired

    @property
    def shown(self) -> tuple[Changed, ...]:
        return self.paired.changed[:TOLD_CHANGES]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    name: str
    latencies: Mapping[str, Latency]


View = (
    Found | Blocks | Categories | EveryMetric | Causes | Reliable | Silent | ByFloor | Differences | ChangedMost | Times
)


def views(report: Report) -> Iterator[View]:
    """Those for which there is something to tell, in the order of a report. No two have one name."""
    first = report.results[0]
    everything = {result.system: result.main for result in report.results}
    chars = {result.system: result.block_chars for result in report.results}
    yield from _found("", "", everything, chars, report)
    if len(_categories(first)) > 1:
        told = {
            result.system: [*_categories(result), *_hinted(result, report, " (apart)")] for result in report.results
        }
        yield Categories(
            name="categories",
            labels=tuple(label for label, _ in told[first.system]),
            means={system: tuple(levels.turn for _, levels in several) for system, several in told.items()},
        )
    yield from _every_metric(first, report)
    for group in report.groups:
        yield from _of_group(group, report)
    yield from _diagnosis(report)
    yield Times(name="times", latencies={result.system: result.latency for result in report.results})


def of_paired(paired: Paired) -> Iterator[View]:
    """What sets two systems apart, and the questions on which they differ most."""
    yield Differences(name="differences", before="", paired=paired)
    if paired.changed:
        yield ChangedMost(name="changed", paired=paired)


def _found(
    part: str, where: str, systems: Mapping[str, Levels], chars: Mapping[str, Mapping[str, float]], report: Report
) -> Iterator[View]:
    """What is found of turns and sessions, and what stands in blocks. `part`: of the conversations, empty for all."""
    prefix, only = _named(part)
    turns = {system: levels.turn for system, levels in systems.items()}
    sessions = {system: levels.session for system, levels in systems.items()}
    yield Found(name=f"{prefix}turns", title=f"Turns found{only}", where=where, metrics=TURN_METRICS, means=turns)
    if report.has_sessions:
        yield Found(
            name=f"{prefix}sessions",
            title=f"Sessions found{only}",
            where=where,
            metrics=SESSION_METRICS,
            means=sessions,
        )
    yield Blocks(
        name=f"{prefix}blocks",
        title=f"Evidence in a block of so many tokens of {CHARS_PER_TOKEN} characters{only}",
        where=where,
        means={system: levels.block for system, levels in systems.items()},
        chars=chars,
    )


def _every_metric(first: SystemResult, report: Report) -> Iterator[View]:
    several = _categories(first) if len(_categories(first)) > 1 else []
    told = [*several, ("together", first.main), *_hinted(first, report)]
    labels = tuple(label for label, _ in told)
    of_level: dict[Level, tuple[Means, ...]] = {"turn": tuple(levels.turn for _, levels in told)}
    if report.has_sessions:
        of_level["session"] = tuple(levels.session for _, levels in told)
    for level, means in of_level.items():
        yield EveryMetric(name=f"{level}s-every-metric", system=first.system, level=level, labels=labels, means=means)


def _of_group(group: Group, report: Report) -> Iterator[View]:
    """None where nothing in it has an answer."""
    if group.questions:
        where = ", ".join(one_line(name) for name in group.conversations)
        yield from _found(group.name, where, group.results, {}, report)
        kinds = {system: _kinds(*apart, report) for system, apart in group.apart.items()}
        if any(kinds.values()):
            prefix, only = _named(group.name)
            yield Silent(name=f"{prefix}silence", title=f"{SILENCE}{only}", where=where, told=kinds)


def _named(part: str) -> tuple[str, str]:
    """How names of files begin, and how titles end."""
    return (f"{part}-", f", only the {part}") if part else ("", "")


def _diagnosis(report: Report) -> Iterator[View]:
    """What is behind the figures: why evidence is missed, what scores are worth, what sets two systems apart."""
    memories = report.results[: 1 if report.paired is None else 2]
    suffixed = list(zip(("", "-against"), memories, strict=False))
    kinds = {result.system: _kinds(result.unanswerable, result.foreign, report) for result in report.results}
    for suffix, result in suffixed:
        yield Causes(name=f"causes{suffix}", system=result.system, missed=result.missed)
    for suffix, one in suffixed:
        if one.reliability is not None:
            yield Reliable(
                name=f"reliability{suffix}",
                system=one.system,
                answerable=one.reliability,
                every=one.reliability_of_all,
            )
    if any(kinds.values()):
        yield Silent(name="silence", title=SILENCE, where="", told=kinds)
    for suffix, result in suffixed:
        swept = {kind: told for kind, told in kinds[result.system].items() if told.by_floor}
        if swept:
            yield ByFloor(name=f"abstention{suffix}", system=result.system, told=swept)
    if report.paired is not None:
        yield from of_paired(report.paired)
    for group in report.groups:
        if group.paired is not None:
            yield Differences(name=f"{group.name}-differences", before=f"Only the {group.name}: ", paired=group.paired)


def _categories(result: SystemResult) -> list[tuple[str, Levels]]:
    """Those that have questions."""
    return [(one_line(name), levels) for name, levels in result.by_category.items() if levels.turn.questions]


def _hinted(result: SystemResult, report: Report, suffix: str = "") -> list[tuple[str, Levels]]:
    """The questions that nothing answers and that name turns, where there are any."""
    label = f"{one_line(report.unanswerable)}{suffix}"
    return [(label, result.hinted)] if result.hinted.turn.questions else []


def _kinds(unanswerable: Unanswered, foreign: Unanswered, report: Report) -> dict[str, Unanswered]:
    """The kinds of questions that nothing answers, those that were asked."""
    kinds = {one_line(report.unanswerable): unanswerable, FOREIGN: foreign}
    return {kind: told for kind, told in kinds.items() if told.questions}
