"""Report tables that explain the scores: why evidence is missed, calibration, abstention, differences
between systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from remembrancer.evaluation import views
from remembrancer.evaluation.abstention import AbstentionCounts, Bin, UnanswerableResult
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import CHANGED_BY, ChangedQuestion, PairedDifference
from remembrancer.evaluation.sheet import Sheet
from remembrancer.evaluation.statistics import Interval
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS
from remembrancer.policies.rendering.safe import one_line

THRESHOLD_STEP: Final = 10
"""The table shows every tenth threshold of the sweep."""
QUESTION_CHARS: Final = 110
"""Longest question text in a table, in characters."""
EVEN: Final = 1e-12
"""A difference of at most this is printed as 0."""


def title_of(view: views.EvidenceFound | views.EvidenceInBlocks | views.Abstention) -> str:
    """The title, with the conversations when the view is not of all of them."""
    return f"{view.title}: {view.where}" if view.where else view.title


def causes(view: views.Causes) -> Sheet:
    """For each reader, the number and share of evidence turns per cause."""
    counts = {cause: [view.missed[reader].get(cause, 0) for reader in READERS] for cause in Cause}
    return Sheet(
        title=f"{view.system}: what becomes of the {view.turns:,} turns that answer, by how much is read",
        columns=tuple(reader if reader == READERS[0] else f"block of {reader}" for reader in READERS),
        rows=tuple(
            (cause.value, tuple(f"{count:,} ({count / view.turns:.1%})" for count in several))
            for cause, several in counts.items()
            if any(several)
        ),
    )


def calibration(view: views.Calibration) -> Sheet:
    """For each bin of best scores, how often the first turn is evidence; with extra columns over all questions when
    there are unanswerable ones.
    """
    answerable, every = view.answerable, view.every
    error = f"expected calibration error {answerable.error:.3f} over {answerable.answers:,} answers"
    if every is not None:
        error += f"; with the unanswerable {every.error:.3f} over {every.answers:,}"
    columns = ("answers", "mean score", "first answers", *(() if every is None else ("of all", "first answers")))
    beside = {} if every is None else {one.low: one for one in every.bins}
    own = {one.low: one for one in answerable.bins}
    rows: list[tuple[str, tuple[str, ...]]] = []
    for low in sorted({*own, *beside}):
        mine, all_of_them = own.get(low), beside.get(low)
        cells = ["0", "-", "-"] if mine is None else [f"{mine.answers:,}", f"{mine.mean_score:.3f}", _share(mine)]
        more = [] if every is None or all_of_them is None else [f"{all_of_them.answers:,}", _share(all_of_them)]
        rows.append((f"{low:.1f}-{low + 0.1:.1f}", (*cells, *more)))
    title = f"{view.system}: how often the first turn answers, by its score ({error})"
    return Sheet(title=title, columns=columns, rows=tuple(rows))


def abstention(view: views.Abstention) -> Sheet:
    """Abstention on answerable and unanswerable questions, and ROC AUC of the best score.

    One row for each system and kind of unanswerable questions.
    """
    first = next(iter(view.results.values()))
    asked = ", ".join(f"{one.questions:,} {kind}" for kind, one in first.items())
    answerable = next(iter(first.values())).counts.answerable
    return Sheet(
        title=f"{title_of(view)} (questions that nothing answers: {asked})",
        columns=("nothing to\nthese", f"nothing to\nanswerable\nn={answerable:,}", "precision", "recall", "AUC\n95 %"),
        rows=tuple(_abstention_rows(view.results)),
    )


def _abstention_rows(results: Mapping[str, Mapping[str, UnanswerableResult]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for system, kinds in results.items():
        for kind, one in kinds.items():
            separation = one.separation
            yield (
                f"{system}: {kind}",
                (
                    f"{one.counts.silent_on_unanswerable:,} of {one.questions:,}",
                    f"{one.counts.silent_on_answerable:,}",
                    _optional(one.counts.precision),
                    _optional(one.counts.sensitivity),
                    "-" if separation is None else f"{separation.auc:.3f}\n{_between(separation.interval)}",
                ),
            )


def by_threshold(view: views.AbstentionByThreshold) -> Sheet:
    """Abstention and recall per relevance threshold; abstaining is the positive class. Three columns for each kind of
    unanswerable questions, and the number of abstentions.
    """
    kinds = list(view.results.items())
    every = [result.by_threshold[::THRESHOLD_STEP] for _, result in kinds]
    columns = [
        column
        for kind, _ in kinds
        for column in (f"nothing to\n{kind}", *(f"{kind}\n{of}" for of in ("precision", "recall", "F1")))
    ]
    return Sheet(
        title=f"{view.system}: saying nothing below a least score (recall@10 of the answerable by what is left)",
        columns=("nothing to\nanswerable", "recall\n@10", *columns),
        rows=tuple(
            (
                f"{several[0].threshold:.2f}",
                (
                    f"{several[0].silent_on_answerable:,}",
                    f"{several[0].recall:.3f}",
                    *(cell for one in several for cell in _abstention_cells(one)),
                ),
            )
            for several in zip(*every, strict=True)
        ),
    )


def differences(view: views.Differences) -> Sheet:
    """Both systems' means, their difference with its interval, p-values and counts, per metric."""
    comparison = view.paired
    clustered = comparison.conversations >= ENOUGH_CONVERSATIONS
    drawn = "conversations" if clustered else "questions"
    sure = f"95 % interval by drawing {drawn}; p by flipping signs, Holm over {len(comparison.differences)}"
    return Sheet(
        title=f"{view.before}{one_line(comparison.first)} less {one_line(comparison.second)}, "
        f"on the same {comparison.questions:,} questions ({sure})",
        columns=(
            one_line(comparison.first),
            one_line(comparison.second),
            "difference\n95 %",
            "p\nHolm",
            "p by con-\nversation",
            "won/lost/tied",
        ),
        rows=tuple((one.metric, _difference_cells(one, clustered=clustered)) for one in comparison.differences),
    )


def changed(view: views.ChangedMost) -> Sheet:
    """The questions with the largest change, with both systems' values."""
    comparison, shown = view.paired, view.shown
    return Sheet(
        title=f"The {len(shown)} of {len(comparison.changed):,} changed questions that {CHANGED_BY} moved most",
        columns=(one_line(comparison.first), one_line(comparison.second), f"{CHANGED_BY}\nmoved"),
        rows=tuple((_question(one), (f"{one.first:.3f}", f"{one.second:.3f}", f"{one.by:+.3f}")) for one in shown),
    )


def _question(one: ChangedQuestion) -> str:
    """The question's id, and below it the text, shortened to QUESTION_CHARS."""
    text = one_line(one.question)
    short = text if len(text) <= QUESTION_CHARS else f"{text[: QUESTION_CHARS - 1]}…"
    return f"{one_line(f'{one.conversation}: {one.id}')}\n{short}"


def _difference_cells(one: PairedDifference, *, clustered: bool) -> tuple[str, ...]:
    interval = one.cluster_interval if clustered and one.cluster_interval is not None else one.interval
    difference = one.difference if abs(one.difference) > EVEN else 0.0
    return (
        f"{one.first:.3f}",
        f"{one.second:.3f}",
        f"{difference:+.3f}\n{interval.low:+.3f} to {interval.high:+.3f}",
        f"{_p(one.p)}\n{_p(one.p_holm)}",
        "-" if one.p_conversations is None else _p(one.p_conversations),
        f"{one.won:,}/{one.lost:,}/{one.tied:,}",
    )


def _abstention_cells(one: AbstentionCounts) -> tuple[str, ...]:
    return f"{one.silent_on_unanswerable:,}", _optional(one.precision), _optional(one.sensitivity), f"{one.f1:.3f}"


def _optional(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(one: Bin) -> str:
    return f"{one.share:.3f} ({_between(one.interval)})"


def _between(interval: Interval) -> str:
    return f"{interval.low:.2f}-{interval.high:.2f}".replace("0.", ".")


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"
