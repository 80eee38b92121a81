"""The report of an evaluation, as values and as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.domain.validation import JsonValue
from remembrancer.evaluation.abstention import AbstentionAtThreshold, AbstentionCounts, Reliability, UnanswerableResult
from remembrancer.evaluation.budget import BUDGETS, CHARS_PER_TOKEN
from remembrancer.evaluation.lines import plain
from remembrancer.evaluation.misses import Cause
from remembrancer.evaluation.paired import PairedComparison
from remembrancer.evaluation.summary import Levels, SystemResult
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Results for some of the conversations: each system's metrics, and the comparison if one was requested.

    `abstention`: each system's abstention on the unanswerable questions, and on the foreign ones.
    """

    name: str
    conversations: tuple[str, ...]
    results: Mapping[str, Levels]
    abstention: Mapping[str, tuple[UnanswerableResult, UnanswerableResult]]
    paired: PairedComparison | None

    @property
    def questions(self) -> int:
        """Number of answerable questions."""
        return next(iter(self.results.values())).turn.questions


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """A whole run. `results` begin with the memory; `excluded`: number of questions without usable evidence.

    `conversation_ids`: the measured ones, out of `available` conversations. `unanswerable`: the data set's name for
    such questions. `depths`: number of turns read of each answer, by system. `groups`: the conversations that the
    configuration was tuned on, and the untouched ones; empty when none were named. `degraded`: what the memory had to
    do without, with the reasons. `index_bytes`: size of the memory's database.
    """

    dataset: str
    sha256: str
    conversation_ids: tuple[str, ...]
    available: int
    turns: int
    excluded: int
    unanswerable: str
    has_sessions: bool
    depths: Mapping[str, int]
    seed: int
    embedder: str | None
    reranker: str | None
    degraded: Mapping[str, str]
    results: tuple[SystemResult, ...]
    groups: tuple[Group, ...]
    paired: PairedComparison | None
    index_bytes: int
    machine: str

    @property
    def conversations(self) -> int:
        return len(self.conversation_ids)

    @property
    def depth(self) -> int:
        """Number of turns read of each of the memory's answers."""
        return self.depths[self.results[0].system]

    @property
    def questions(self) -> int:
        """Number of answerable questions."""
        return self.results[0].main.turn.questions

    @property
    def unanswerable_questions(self) -> int:
        return self.results[0].unanswerable.questions

    @property
    def foreign_questions(self) -> int:
        return self.results[0].foreign.questions


def as_json(report: EvaluationReport) -> dict[str, JsonValue]:
    """The report as `--json` prints it: fractions in [0, 1], milliseconds, bytes."""
    first = report.results[0]
    return {
        "table": [{"system": result.system, **_values(result.main)} for result in report.results],
        "latency_ms": plain(first.latency),
        "latency_ms_by_system": {result.system: plain(result.latency) for result in report.results},
        "intervals": {result.system: _intervals(result.main, clusters=False) for result in report.results},
        "cluster_intervals": {result.system: _intervals(result.main, clusters=True) for result in report.results},
        "by_category": {
            result.system: {category: _levels(levels) for category, levels in result.by_category.items()}
            for result in report.results
        },
        "by_gold_turns": {
            result.system: {label: _levels(levels) for label, levels in result.by_gold_turns.items()}
            for result in report.results
        },
        "adversarial": {result.system: _levels(result.adversarial) for result in report.results},
        "block_tokens": dict(BUDGETS),
        "chars_per_token": CHARS_PER_TOKEN,
        "block_chars": {result.system: dict(result.block_chars) for result in report.results},
        "missed": {
            result.system: {
                reader: {cause.value: counts.get(cause, 0) for cause in Cause}
                for reader, counts in result.missed.items()
            }
            for result in report.results
        },
        "reliability": {
            result.system: {
                "answerable": _reliability(result.reliability),
                "all": _reliability(result.reliability_of_all),
            }
            for result in report.results
            if result.reliability is not None
        },
        "abstention": {result.system: _abstention(result.unanswerable, result.foreign) for result in report.results},
        "groups": [
            {
                "name": group.name,
                "conversations": list(group.conversations),
                "results": {system: _levels(levels) for system, levels in group.results.items()},
                "abstention": {system: _abstention(*kinds) for system, kinds in group.abstention.items()},
                "paired": None if group.paired is None else paired_json(group.paired),
            }
            for group in report.groups
        ],
        "paired": None if report.paired is None else paired_json(report.paired),
        "dataset": {"name": report.dataset, "sha256": report.sha256},
        "conversations": report.conversations,
        "conversation_ids": list(report.conversation_ids),
        "conversations_available": report.available,
        "turns": report.turns,
        "questions": report.questions,
        "adversarial_questions": report.unanswerable_questions,
        "foreign_questions": report.foreign_questions,
        "excluded": report.excluded,
        "depth": report.depth,
        "depth_by_system": dict(report.depths),
        "seed": report.seed,
        "embedder": report.embedder,
        "reranker": report.reranker,
        "degraded": dict(report.degraded),
        "index_bytes": report.index_bytes,
        "machine": report.machine,
    }


def paired_json(comparison: PairedComparison) -> dict[str, JsonValue]:
    """A comparison as `--json` prints it. The changed questions are in the records only."""
    return {
        **plain(comparison, without=("differences", "changed")),
        "changed": len(comparison.changed),
        "differences": plain(comparison.differences),
    }


def _intervals(levels: Levels, *, clusters: bool) -> dict[str, JsonValue]:
    parts = {"turn": levels.turn, "session": levels.session, "block": levels.block}
    return plain({level: one.cluster_intervals if clusters else one.intervals for level, one in parts.items()})


def _values(levels: Levels) -> dict[str, JsonValue]:
    return plain({"turn": levels.turn.values, "session": levels.session.values, "block": levels.block.values})


def _levels(levels: Levels) -> dict[str, JsonValue]:
    return {
        "questions": levels.turn.questions,
        **_values(levels),
        "intervals": _intervals(levels, clusters=False),
        "cluster_intervals": _intervals(levels, clusters=True),
    }


def _reliability(curve: Reliability | None) -> JsonValue:
    if curve is None:
        return None
    return {
        "answers": curve.answers,
        "expected_calibration_error": curve.error,
        "bins": plain(curve.bins),
    }


def _abstention(unanswerable: UnanswerableResult, foreign: UnanswerableResult) -> dict[str, JsonValue]:
    """Abstention on the unanswerable questions, and under "foreign" on the foreign ones; null when none were asked."""
    return {**_unanswerable(unanswerable), "foreign": _unanswerable(foreign) if foreign.questions else None}


def _unanswerable(result: UnanswerableResult) -> dict[str, JsonValue]:
    separation = result.separation
    return {
        "unanswerable": result.questions,
        "answerable": result.counts.answerable,
        **_abstention_counts(result.counts),
        "auc": None if separation is None else separation.auc,
        "auc_interval": None if separation is None else plain(separation.interval),
        "by_threshold": [_at_threshold(one) for one in result.by_threshold],
    }


def _at_threshold(one: AbstentionAtThreshold) -> JsonValue:
    return {"threshold": one.threshold, **_abstention_counts(one), "recall@10": one.recall}


def _abstention_counts(counts: AbstentionCounts) -> dict[str, JsonValue]:
    return {
        "silent_on_unanswerable": counts.silent_on_unanswerable,
        "silent_on_answerable": counts.silent_on_answerable,
        "precision": counts.precision,
        "recall": counts.sensitivity,
        "f1": counts.f1,
    }
