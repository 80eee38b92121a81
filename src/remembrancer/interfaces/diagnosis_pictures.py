"""Pictures of what is behind the figures: why evidence is missed, what scores tell, what sets two systems apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from remembrancer.evaluation.abstention import Unanswered
from remembrancer.evaluation.budget import BUDGETS
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import CHANGED_BY
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS
from remembrancer.evaluation.views import SILENCE, ByFloor, Causes, ChangedMost, Differences, Reliable, Silent
from remembrancer.interfaces.canvas import FAINT, INK, RULE, drawable, png_of, style
from remembrancer.interfaces.charts.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, YELLOW
from remembrancer.interfaces.cli.drawing import shortened
from remembrancer.interfaces.plots import NAME, NAMES, coloured, finish, legend, titled_axes

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
DASHED: Final = (0, (4, 3))
LINES: Final = ("solid", DASHED)
"""Of the kinds of questions that nothing answers, in their order."""
QUESTION: Final = 56
QUESTIONS: Final = 0.42
"""Where the axes begin whose rows have questions, as a share of the width."""


def causes(view: Causes) -> bytes:
    """What becomes of the evidence, for each reader."""
    with style():
        figure, axes = titled_axes(
            f"What becomes of the evidence: {shortened(view.system, NAME)}",
            f"{view.turns:,} turns that answer, by how much is read.",
            left=NAMES,
        )
        reached = [0.0] * len(READERS)
        for cause, colour in CAUSES.items():
            shares = [view.missed[reader].get(cause, 0) / view.turns for reader in READERS]
            if any(shares):
                axes.barh(range(len(READERS)), shares, left=reached, height=0.7, color=colour, label=cause.value)
                reached = [sum(pair) for pair in zip(reached, shares, strict=True)]
        axes.set_yticks(range(len(READERS)), [f"{'block of ' * (reader in BUDGETS)}{reader}" for reader in READERS])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the turns that answer", color=INK)
        legend(axes)
        return png_of(figure)


def reliable(view: Reliable) -> bytes:
    """How often an answer's first turn answers, against its score; on the line the score says just that."""
    with style():
        figure, axes = titled_axes(
            f"How often the first turn answers, by its score: {shortened(view.system, NAME)}",
            f"Expected calibration error {view.answerable.error:.3f}. Numbers: answers; bars: 95 % intervals (Wilson).",
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linestyle=DASHED, linewidth=1, label="score = share")
        kinds = [("answerable questions", view.answerable, BLUE)]
        if view.every is not None:
            kinds.append(("all questions", view.every, ORANGE))
        for name, told, colour in kinds:
            scores = [one.mean_score for one in told.bins]
            shares = [one.share for one in told.bins]
            reaches = [
                [max(0.0, one.share - one.interval.low) for one in told.bins],
                [max(0.0, one.interval.high - one.share) for one in told.bins],
            ]
            axes.errorbar(scores, shares, yerr=reaches, color=colour, marker="o", capsize=3, label=name)
        for one in view.answerable.bins:
            axes.annotate(
                f"{one.answers:,}", (one.mean_score, one.share), (6, 6), textcoords="offset points", color=BLUE
            )
        axes.set_xlim(0, 1)
        axes.set_xlabel("score of the first turn", color=INK)
        finish(axes, "share that answers")
        return png_of(figure)


def silent(view: Silent) -> bytes:
    """To how many questions nothing is returned, and whether the best score could tell: a row a system and kind."""
    rows = [(system, kind, told) for system, kinds in view.told.items() for kind, told in kinds.items()]
    colours = dict(zip(dict.fromkeys(kind for _, kind, _ in rows), (BLUE, ORANGE), strict=False))
    asked = ", ".join(f"{told.questions:,} {kind}" for kind, told in next(iter(view.told.values())).items())
    with style():
        figure, axes = titled_axes(
            view.title,
            f"Questions that nothing answers: {asked}. AUC: area under the ROC curve, 95 % interval. {view.where}",
            left=NAMES,
        )
        axes.set_position((NAMES, 0.12, 0.3, 0.72))
        separating = figure.add_axes((NAMES + 0.33, 0.12, 0.3, 0.72), sharey=axes)
        for row, (_, kind, told) in enumerate(rows):
            _silence_row(axes, separating, row, told, colours[kind])
        axes.set_yticks(range(len(rows)), [drawable(f"{shortened(system, NAME)}: {kind}") for system, kind, _ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel("nothing returned (mark: to answerable)", color=INK)
        separating.axvline(0.5, color=FAINT, linestyle=DASHED, linewidth=1)
        separating.set_xlim(0, 1)
        separating.set_xlabel("AUC of the best score", color=INK)
        separating.tick_params(labelleft=False)
        for one in (axes, separating):
            one.grid(axis="x", color=RULE, linewidth=0.6)
            one.set_axisbelow(True)
            for side in ("top", "right"):
                one.spines[side].set_visible(False)
        return png_of(figure)


def _silence_row(axes: Any, separating: Any, row: int, told: Unanswered, colour: str) -> None:
    silence = told.silence
    share = silence.sensitivity or 0.0
    axes.barh([row], [share], height=0.6, color=colour, alpha=0.75)
    beside = f"{silence.silent_on_unanswerable:,} of {told.questions:,}"
    wrong = silence.silent_on_answerable / silence.answerable
    axes.annotate(
        beside, (max(share, wrong), row), (6, 0), textcoords="offset points", va="center", fontsize=8, color=INK
    )
    axes.plot([wrong], [row], marker="|", markersize=14, color=VERMILLION)
    if told.separation is not None:
        interval = told.separation.interval
        separating.plot([interval.low, interval.high], [row, row], color=colour, linewidth=2)
        separating.plot([told.separation.auc], [row], marker="o", markersize=7, color=colour)


def by_floor(view: ByFloor) -> bytes:
    """What saying nothing below a least score does, to each kind of questions that nothing answers."""
    told = [f"{_dashes(place)}{of.questions:,} {kind} questions" for place, (kind, of) in enumerate(view.told.items())]
    with style():
        figure, axes = titled_axes(
            f"Saying nothing below a least score: {shortened(view.system, NAME)}",
            f"{', '.join(told)}. Silence is the positive: right where nothing answers.",
        )
        for (kind, of), line in zip(view.told.items(), LINES, strict=False):
            floors = [one.floor for one in of.by_floor]
            curves: Mapping[str, tuple[str, list[float | None]]] = {
                "precision": (BLUE, [one.precision for one in of.by_floor]),
                "recall": (ORANGE, [one.sensitivity for one in of.by_floor]),
                "F1": (VERMILLION, [one.f1 for one in of.by_floor]),
            }
            for name, (colour, values) in curves.items():
                drawn = [float("nan") if one is None else one for one in values]
                axes.plot(floors, drawn, color=colour, linestyle=line, label=f"{name}, {kind}")
        first = next(iter(view.told.values())).by_floor
        left = [one.recall for one in first]
        axes.plot([one.floor for one in first], left, color=GREEN, label="recall@10 where\nthere is an answer")
        axes.set_xlim(0, 1)
        axes.set_xlabel("least score", color=INK)
        finish(axes, "")
        return png_of(figure)


def operating(view: Silent) -> bytes:
    """The ROC curve of each preset's best score: what is answered that can be, against what is that cannot."""
    with style():
        figure, axes = titled_axes(
            view.title.replace(SILENCE, "What a least score lets through"),
            "A point for each least score, in steps of 0.01. On the dotted line the score tells nothing.",
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linestyle="dotted", linewidth=1)
        for (system, kinds), colour in coloured(view.told):
            for (kind, told), line in zip(kinds.items(), LINES, strict=False):
                wrong = [1 - (one.sensitivity or 0.0) for one in told.by_floor]
                right = [1 - one.silent_on_answerable / one.answerable for one in told.by_floor]
                auc = "" if told.separation is None else f"\nAUC {told.separation.auc:.3f}"
                if told.by_floor:
                    label = f"{drawable(shortened(system, NAME))}: {kind}{auc}"
                    axes.plot(wrong, right, color=colour, linestyle=line, marker=".", label=label)
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the questions that nothing answers that get an answer", color=INK)
        finish(axes, "share of the answerable ones that do")
        return png_of(figure)


def differences(view: Differences) -> bytes:
    """What sets two systems apart, metric by metric; hollow where the corrected p is not below 0.05."""
    told = view.paired
    clustered = told.conversations >= ENOUGH_CONVERSATIONS
    drawn = "conversations" if clustered else "questions"
    names = shortened(told.first, NAME), shortened(told.second, NAME)
    with style():
        figure, axes = titled_axes(
            f"{view.before}{names[0]} less {names[1]}",
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


def changed(view: ChangedMost) -> bytes:
    """The questions that changed most: what each was under the one and is under the other."""
    told, shown = view.paired, view.shown
    first, second = (drawable(shortened(name, NAME)) for name in (told.first, told.second))
    with style():
        figure, axes = titled_axes(
            f"The {len(shown)} of {len(told.changed):,} changed questions that {CHANGED_BY} moved most",
            f"Blue: better under {first}. Vermillion: worse.",
            left=QUESTIONS,
        )
        for row, one in enumerate(shown):
            colour = BLUE if one.by >= 0 else VERMILLION
            axes.plot([one.second, one.first], [row, row], color=colour, linewidth=2, alpha=0.6, zorder=1)
            axes.plot([one.second], [row], marker="o", markersize=8, color=colour, markerfacecolor="white", label=None)
            axes.plot([one.first], [row], marker="o", markersize=8, color=colour)
        axes.plot([], [], marker="o", markersize=8, color=INK, linestyle="none", label=first)
        axes.plot([], [], marker="o", markersize=8, color=INK, markerfacecolor="white", linestyle="none", label=second)
        names = [
            f"{drawable(shortened(f'{one.conversation}: {one.id}', QUESTION))}\n"
            f"{drawable(shortened(one.question, QUESTION))}"
            for one in shown
        ]
        axes.set_yticks(range(len(shown)), names, fontsize=8)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlim(-0.05, 1.05)
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        axes.set_xlabel(CHANGED_BY, color=INK)
        legend(axes)
        return png_of(figure)


def _dashes(place: int) -> str:
    return "dashed: " if place else ""
