"""Pictures of an evaluation, one for each of its tables, as PNG files. Needs matplotlib, which is loaded with this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.evaluation.abstention import Reliability
from remembrancer.evaluation.budget import BUDGETS, CHARS_PER_TOKEN
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import Paired
from remembrancer.evaluation.report import Report
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS, SystemResult
from remembrancer.interfaces.canvas import FAINT, INK, RULE, drawable, png_of, style
from remembrancer.interfaces.charts import NAME, NAMES, SYSTEMS, finish, grouped, legend, over, reach, titled_axes
from remembrancer.interfaces.cli.drawing import shortened
from remembrancer.interfaces.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, YELLOW

CAUSES: Final = {
    Cause.FOUND: GREEN,
    Cause.RANKED_LOW: SKY,
    Cause.CUT: BLUE,
    Cause.DUPLICATE: PURPLE,
    Cause.ALIKE: YELLOW,
    Cause.FLOOR: ORANGE,
    Cause.GONE: FAINT,
    Cause.NO_CANDIDATE: VERMILLION,
    Cause.NOT_INGESTED: INK,
}
SYSTEM_METRICS: Final = ("recall@5", "recall@10", "recall@20", "all@10", "ndcg@10", "mrr")
CATEGORY_METRIC: Final = "recall@10"


def pictures(report: Report) -> dict[str, bytes]:
    """Those for which there is something to draw, by the names of their files."""
    first = report.results[0]
    drawn = {"systems": systems(report), "survival": survival(report), "causes": causes(report)}
    if len(first.by_category) > 1:
        drawn["categories"] = categories(report)
    if first.reliability is not None:
        drawn["reliability"] = reliability(first.system, first.reliability, first.reliability_of_all)
    if first.abstaining:
        drawn["abstention"] = abstention(first)
        drawn["roc"] = operating(report)
    if report.paired is not None:
        drawn["differences"] = differences(report.paired)
    return drawn


def systems(report: Report) -> bytes:
    """Every system's means with their intervals, metric by metric."""
    bars = {result.system: [(result.main.turn, metric) for metric in SYSTEM_METRICS] for result in report.results}
    return grouped("Turns found", over(report.results[0].main.turn), SYSTEM_METRICS, bars)


def categories(report: Report) -> bytes:
    """Every system in every category, and on the questions that nothing answers, where those hint at turns."""
    first = report.results[0]
    of = [(name, levels.turn.questions) for name, levels in first.by_category.items()]
    apart = first.hinted.turn.questions
    if apart:
        of.append((f"{report.unanswerable} (apart)", apart))
    bars = {
        result.system: [
            *((levels.turn, CATEGORY_METRIC) for levels in result.by_category.values()),
            *([(result.hinted.turn, CATEGORY_METRIC)] if apart else []),
        ]
        for result in report.results
    }
    labels = [f"{shortened(name, NAME)}\nn={count}" for name, count in of]
    return grouped(f"Turns found by category: {CATEGORY_METRIC}", over(first.main.turn), labels, bars)


def survival(report: Report) -> bytes:
    """The share of the evidence that stands in the block, by its length; dashed: all of a question's evidence."""
    means = report.results[0].main.block
    with style():
        figure, axes = titled_axes(
            "Evidence that stands in a block",
            f"{over(means)} A token is counted as {CHARS_PER_TOKEN} characters. Dashed: all of a question's evidence.",
        )
        places = list(BUDGETS.values())
        for result, colour in _coloured(report.results):
            block = result.main.block
            shares = [f"block-recall@{budget}" for budget in BUDGETS]
            values = [block.values[name] for name in shares]
            axes.errorbar(
                places, values, yerr=reach(block, shares), color=colour, marker="o", capsize=3, label=_name(result)
            )
            whole = [block.values[f"block-all@{budget}"] for budget in BUDGETS]
            axes.plot(places, whole, color=colour, linestyle=(0, (4, 3)))
        axes.set_xscale("log", base=2)
        axes.set_xticks(places, [f"{budget} tokens" for budget in BUDGETS])
        axes.minorticks_off()
        finish(axes, "share of evidence")
        return png_of(figure)


def causes(report: Report) -> bytes:
    """What becomes of the evidence under the memory, and under what it is compared with, for each reader."""
    told = report.results[: 1 if report.paired is None else 2]
    rows = [(result, reader) for result in told for reader in READERS]
    turns = sum(told[0].missed[READERS[0]].values())
    with style():
        figure, axes = titled_axes(
            "What becomes of the evidence", f"{turns:,} turns that answer, by how much is read.", left=NAMES
        )
        reached = [0.0] * len(rows)
        for cause, colour in CAUSES.items():
            shares = [result.missed[reader].get(cause, 0) / turns for result, reader in rows]
            if any(shares):
                axes.barh(range(len(rows)), shares, left=reached, height=0.7, color=colour, label=cause.value)
                reached = [sum(pair) for pair in zip(reached, shares, strict=True)]
        names = [f"{_name(result)}: {'block of ' * (reader in BUDGETS)}{reader}" for result, reader in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the turns that answer", color=INK)
        legend(axes)
        return png_of(figure)


def reliability(system: str, answerable: Reliability, every: Reliability | None) -> bytes:
    """How often an answer's first turn answers, against its score; on the line the score says just that."""
    with style():
        figure, axes = titled_axes(
            f"How often the first turn answers, by its score: {shortened(system, NAME)}",
            f"Expected calibration error {answerable.error:.3f}. Numbers: answers; bars: 95 % intervals (Wilson).",
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linestyle=(0, (4, 3)), linewidth=1, label="score = share")
        kinds = [("answerable questions", answerable, BLUE)]
        if every is not None:
            kinds.append(("all questions", every, ORANGE))
        for name, told, colour in kinds:
            scores = [one.mean_score for one in told.bins]
            shares = [one.share for one in told.bins]
            reach = [
                [max(0.0, one.share - one.interval.low) for one in told.bins],
                [max(0.0, one.interval.high - one.share) for one in told.bins],
            ]
            axes.errorbar(scores, shares, yerr=reach, color=colour, marker="o", capsize=3, label=name)
        for one in answerable.bins:
            axes.annotate(
                f"{one.answers:,}", (one.mean_score, one.share), (6, 6), textcoords="offset points", color=BLUE
            )
        axes.set_xlim(0, 1)
        axes.set_xlabel("score of the first turn", color=INK)
        finish(axes, "share that answers")
        return png_of(figure)


def abstention(result: SystemResult) -> bytes:
    """What saying nothing below a least score does."""
    first = result.abstaining[0]
    told = f"{first.unanswerable:,} questions have no answer, {first.answerable:,} have one."
    if result.separation is not None:
        told += f" AUC of the best score {result.separation.auc:.3f}."
    with style():
        figure, axes = titled_axes(f"Saying nothing below a least score: {shortened(result.system, NAME)}", told)
        lines: dict[str, tuple[str, list[float | None]]] = {
            "precision": (BLUE, [one.precision for one in result.abstaining]),
            "recall": (ORANGE, [one.sensitivity for one in result.abstaining]),
            "F1": (VERMILLION, [one.f1 for one in result.abstaining]),
            "recall@10 where\nthere is an answer": (GREEN, [one.recall for one in result.abstaining]),
        }
        floors = [one.floor for one in result.abstaining]
        for name, (colour, values) in lines.items():
            axes.plot(floors, [float("nan") if one is None else one for one in values], color=colour, label=name)
        axes.set_xlim(0, 1)
        axes.set_xlabel("least score", color=INK)
        finish(axes, "")
        return png_of(figure)


def operating(report: Report) -> bytes:
    """The ROC curve of each preset's best score: what is answered that can be, against what is that cannot."""
    with style():
        figure, axes = titled_axes(
            "What a least score lets through",
            "A point for each least score, in steps of 0.01. On the dashed line the score tells nothing.",
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linestyle=(0, (4, 3)), linewidth=1)
        for result, colour in _coloured(report.results):
            if result.abstaining:
                wrong = [1 - one.silent_on_unanswerable / one.unanswerable for one in result.abstaining]
                right = [1 - one.silent_on_answerable / one.answerable for one in result.abstaining]
                auc = "" if result.separation is None else f"\nAUC {result.separation.auc:.3f}"
                axes.plot(wrong, right, color=colour, marker=".", label=f"{_name(result)}{auc}")
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the unanswerable questions that get an answer", color=INK)
        finish(axes, "share of the answerable ones that do")
        return png_of(figure)


def differences(told: Paired) -> bytes:
    """What sets two systems apart, metric by metric; hollow where the corrected p is not below 0.05."""
    clustered = told.conversations >= ENOUGH_CONVERSATIONS
    drawn = "conversations" if clustered else "questions"
    names = shortened(told.first, NAME), shortened(told.second, NAME)
    with style():
        figure, axes = titled_axes(
            f"{names[0]} less {names[1]}",
            f"The same {told.questions:,} questions. 95 % intervals by drawing {drawn}. Hollow: p (Holm) 0.05 or more.",
            left=NAMES,
        )
        axes.axvline(0, color=FAINT, linewidth=1)
        for row, one in enumerate(told.differences):
            interval = one.cluster_interval if clustered and one.cluster_interval is not None else one.interval
            colour = BLUE if one.difference >= 0 else VERMILLION
            axes.plot([interval.low, interval.high], [row, row], color=colour, linewidth=2)
            face = colour if one.p_holm < 0.05 else "white"
            axes.plot([one.difference], [row], marker="o", markersize=8, color=colour, markerfacecolor=face)
        axes.set_yticks(range(len(told.differences)), [one.metric for one in told.differences])
        axes.invert_yaxis()
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        axes.set_xlabel("difference", color=INK)
        return png_of(figure)


def _coloured(results: Sequence[SystemResult]) -> list[tuple[SystemResult, str]]:
    return [(result, SYSTEMS[number % len(SYSTEMS)]) for number, result in enumerate(results)]


def _name(result: SystemResult) -> str:
    return drawable(shortened(result.system, NAME))
