"""Calibration of the probability of hits: `make bench-calibration LOCOMO=FILE`.

Fits the calibration of the `default` ranking (`HitProbability`) on all groups of data sets but one, and judges it on
that one. Groups: LoCoMo, if its file is given, and each folder here with a corpus and questions. Every question is
asked without the relevance threshold; messages are left out, because they have a ranking of their own. A hit answers if
its turn is evidence. Questions of the data set that nothing answers count too; foreign questions, taken from other
conversations, are only used to judge silence. The same calibrations are then judged in small stores, of one session
each. Prints the calibration fitted on all groups, which the preset has.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.weights import sources
from benchmarks.weights_embedder import KeptEmbedder
from benchmarks.weights_record import MESSAGE, asked_with_signals, recording
from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.abstention import Reliability, reliability
from remembrancer.evaluation.dataset import Conversation, Dataset
from remembrancer.evaluation.foreign import foreign_questions, participants
from remembrancer.evaluation.sheet import Sheet, print_sheet
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import DASHED, Panel
from remembrancer.models import choose_embedder
from remembrancer.policies.ranking.probability import NEXT, HitProbability, features
from remembrancer.ports.embedder import token_embedder
from remembrancer.presets.default import DEFAULT

if TYPE_CHECKING:
    pass

DEPTH: Final = 10
"""Hits of each question that are counted."""
FOREIGN: Final = 60
"""Foreign questions per conversation."""
FOREIGN_IN_SESSION: Final = 10
SESSIONS: Final = 60
"""The most single sessions of a group."""
ABSENT: Final = 0.25
"""Questions of a single session that it does not answer, for each one that it does."""
FLOORS: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
SEED: Final = 0
OUT: Final = Path("build") / "calibration"
MODELS: Final = ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2/int8")
STEPS: Final = 50
"""Steps of Newton's method; it converges in fewer than ten."""
CHANCE: Final = 100
"""Draws that tell how large the error of a perfect calibration would be."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """The best candidates of one question, `NEXT` more than are counted: the score of each, and whether it answers.
    `answerable`: by the data set.
    """

    scores: Floats
    right: NDArray[np.bool_]
    answerable: bool
    foreign: bool


Groups = Mapping[str, Sequence[Asked]]


async def record(
    path: Path | None, folder: Path, report: Callable[[str], None]
) -> tuple[dict[str, list[Asked]], dict[str, list[Asked]]]:
    """The questions of each group: in whole conversations, and in single sessions."""
    inner = token_embedder(choose_embedder(Settings(embedder="local")).embedder)
    assert inner is not None, "the local embedder gives token embeddings"
    embedder = KeptEmbedder(inner, folder / "embeddings.pickle")
    loaded = [(group, load()) for group, name, load in sources(path) if name == group]
    everyone = [conversation for _, dataset in loaded for conversation in dataset.conversations]
    asked: dict[str, list[Asked]] = {}
    small: dict[str, list[Asked]] = {}
    for group, dataset in loaded:
        report(f"asking {group}")
        asked[group] = await _ask([(one, one) for one in dataset.conversations], everyone, embedder)
        small[group] = await _ask(of_one_session(dataset), everyone, embedder)
        embedder.save()
    await inner.close()
    return asked, small


def of_one_session(dataset: Dataset) -> list[tuple[Conversation, Conversation]]:
    """Small stores: single sessions, up to `SESSIONS` of the data set, each with the conversation that it is part of.

    Asked are the questions that the session answers, and `ABSENT` as many that only other sessions answer.
    """
    rng = np.random.default_rng(SEED)
    found: list[tuple[Conversation, Conversation]] = []
    for whole in dataset.conversations:
        session_of = whole.transcript.session_of()
        for session in dict.fromkeys(session_of.values()):
            own = [one for one in whole.questions if one.answerable and one.sessions == (session,)]
            others = [one for one in whole.questions if one.answerable and session not in one.sessions]
            if not own or len(others) < len(own):
                continue
            chosen: list[int] = rng.permutation(len(others))[: round(len(own) * ABSENT)].tolist()
            absent = [replace(others[place], answerable=False, evidence=(), sessions=()) for place in chosen]
            turns = tuple(turn for turn in whole.transcript.turns if session_of[turn.id] == session)
            transcript = replace(whole.transcript, id=f"{whole.id}-{session}", turns=turns)
            found.append((replace(whole, transcript=transcript, questions=(*own, *absent)), whole))
    drawn: list[int] = rng.permutation(len(found))[:SESSIONS].tolist()
    return [found[place] for place in drawn]


async def _ask(
    stores: Sequence[tuple[Conversation, Conversation]], everyone: Sequence[Conversation], embedder: KeptEmbedder
) -> list[Asked]:
    """The questions of each store, and foreign ones. `stores`: conversations, each with the one that it is part of."""
    preset = replace(DEFAULT, ranking=replace(DEFAULT.ranking, threshold=None), messages=None)
    asked: list[Asked] = []
    speaking = {one.id: participants(one.transcript) for one in everyone}
    with recording(preset, embedder) as system:
        for conversation, whole in stores:
            offered = [
                question
                for other in everyone
                if other.id != whole.id
                for question in foreign_questions(other, whole, speaking)
                if question.category != MESSAGE
            ]
            count = FOREIGN if conversation is whole else FOREIGN_IN_SESSION
            drawn: list[int] = np.random.default_rng(SEED).permutation(len(offered))[:count].tolist()
            own = [question for question in conversation.questions if question.category != MESSAGE]
            async with system.prepared(conversation.transcript) as ranker:
                for question in (*own, *(offered[place] for place in drawn)):
                    ranked, right = await asked_with_signals(ranker, question, DEPTH)
                    best = ranked.order[: DEPTH + NEXT]
                    asked.append(
                        Asked(
                            scores=ranked.scores[best],
                            right=right[best],
                            answerable=question.answerable,
                            foreign=question.foreign is not None,
                        )
                    )
    return asked


def fitted(groups: Groups) -> HitProbability:
    """The calibration of greatest likelihood, by Newton's method, where each group has the same weight.

    Source: Bishop, Pattern Recognition and Machine Learning, 2006, §4.3.3.
    """
    rows, right, weights = list[Floats](), list[Floats](), list[Floats]()
    for several in groups.values():
        hits = [one for one in several if not one.foreign]
        rows += [features(one.scores)[:DEPTH] for one in hits]
        right += [one.right[:DEPTH].astype(np.float64) for one in hits]
        counts = [min(DEPTH, len(one.scores)) for one in hits]
        weights += [np.full(count, 1.0 / sum(counts)) for count in counts]
    x, y, w = np.concatenate(rows), np.concatenate(right), np.concatenate(weights)
    b = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-x @ b))
        b += np.linalg.solve((x.T * (w * p * (1.0 - p))) @ x, x.T @ (w * (y - p)))
    intercept, score, lead, log_rank = (round(float(one), 2) for one in b)
    return HitProbability(models=MODELS, intercept=intercept, score=score, lead=lead, log_rank=log_rank)


def left_out(groups: Groups) -> dict[str, HitProbability]:
    """By group, the calibration fitted on all others."""
    return {name: fitted({other: groups[other] for other in groups if other != name}) for name in groups}


def judged(asked: Sequence[Asked], calibration: HitProbability, depth: int) -> Reliability:
    """The reliability of the best `depth` hits of the data set's own questions."""
    return reliability([pair for one in asked if not one.foreign for pair in _pairs(one, calibration, depth)])


def _pairs(one: Asked, calibration: HitProbability, depth: int) -> list[tuple[float, bool]]:
    probabilities: list[float] = calibration.of(one.scores)[:depth].tolist()
    return list(zip(probabilities, one.right.tolist()[:depth], strict=True))


def by_chance(asked: Sequence[Asked], calibration: HitProbability, depth: int) -> float:
    """The mean error of a perfect calibration over as many hits: each answers with exactly its probability."""
    rng = np.random.default_rng(SEED)
    values = [value for one in asked if not one.foreign for value, _ in _pairs(one, calibration, depth)]
    drawn = [rng.random(len(values)) < np.array(values) for _ in range(CHANCE)]
    return float(np.mean([reliability(list(zip(values, one.tolist(), strict=True))).error for one in drawn]))


def errors_sheet(title: str, groups: Groups, calibrations: Mapping[str, HitProbability]) -> Sheet:
    rows: list[tuple[str, tuple[str, ...]]] = []
    errors: list[list[float]] = []
    for name, asked in groups.items():
        figures: list[float] = []
        for depth in (DEPTH, 1):
            figures += [judged(asked, calibrations[name], depth).error, by_chance(asked, calibrations[name], depth)]
        scored = reliability([(float(one.scores[0]), bool(one.right[0])) for one in asked if not one.foreign])
        errors.append([*figures, scored.error])
        count = sum(not one.foreign for one in asked)
        rows.append((name, (f"{count:,}", *(f"{one:.3f}" for one in errors[-1]))))
    rows.append(("mean", ("", *(f"{one:.3f}" for one in np.mean(errors, axis=0)))))
    return Sheet(
        title=title,
        columns=(
            "questions",
            f"{DEPTH} best hits",
            "of a perfect one",
            "first hit",
            "of a perfect one",
            "first hit, score read as a probability",
        ),
        rows=tuple(rows),
    )


def reliability_sheet(title: str, found: Reliability) -> Sheet:
    rows = tuple(
        (
            f"{one.low:.1f} to {one.high:.1f}",
            (
                f"{one.answers:,}",
                f"{one.mean_score:.3f}",
                f"{one.share:.3f} ({one.interval.low:.2f} to {one.interval.high:.2f})",
            ),
        )
        for one in found.bins
    )
    return Sheet(
        title=f"{title}; expected calibration error {found.error:.3f}",
        columns=("hits", "mean probability", "answered"),
        rows=rows,
    )


def silence_sheet(groups: Groups, calibrations: Mapping[str, HitProbability]) -> Sheet:
    """How often no hit reaches a floor, on the group left out."""
    rows: list[tuple[str, tuple[str, ...]]] = []
    kinds: dict[str, Callable[[Asked], bool]] = {
        "answerable": lambda one: one.answerable,
        "foreign": lambda one: one.foreign,
    }
    for floor in FLOORS:
        for kind, is_kind in kinds.items():
            shares = [
                float(np.mean([calibrations[name].of(one.scores)[0] < floor for one in asked if is_kind(one)]))
                for name, asked in groups.items()
            ]
            rows.append((f"floor {floor:.2f}, {kind}", tuple(f"{one:.3f}" for one in (*shares, np.mean(shares)))))
    return Sheet(title="Share of questions without a hit", columns=(*groups, "mean"), rows=tuple(rows))


def pooled(groups: Groups, calibrations: Mapping[str, HitProbability], depth: int) -> Reliability:
    return reliability(
        [
            pair
            for name, asked in groups.items()
            for one in asked
            if not one.foreign
            for pair in _pairs(one, calibrations[name], depth)
        ]
    )


def picture(all_hits: Reliability, first: Reliability) -> str:
    """Two reliability diagrams: all hits, and the first hits. The dashed line is a perfect calibration."""
    shown = ((f"probability of the {DEPTH} best hits", all_hits), ("probability of the first hit", first))
    panels = [Panel(x=(0.0, 1.0), left=60.0 + 490.0 * number, width=420.0) for number in range(len(shown))]
    marks = Markup()
    for panel, (label, found) in zip(panels, shown, strict=True):
        marks += panel.levels("share that answered") + panel.uprights(label)
        marks += panel.line([(0.0, 0.0), (1.0, 1.0)], "slate", DASHED)
        marks += panel.line([(one.mean_score, one.share) for one in found.bins], "blue")
        for one in found.bins:
            at = (one.mean_score, one.share)
            marks += panel.line([(at[0], one.interval.low), (at[0], one.interval.high)], "blue")
            marks += panel.dot(at, "blue") + panel.words(at, f"{one.answers:,}", (7.0, 14.0))
    described = (
        f"Each group of data sets judged by a calibration fitted on the others; expected calibration error"
        f" {all_hits.error:.3f} and {first.error:.3f}. Numbers: hits; bars: 95 % Wilson intervals."
    )
    return document("calibration", "How often a hit of a probability answers", described, [panels[0].picture(marks)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("locomo", type=Path, nargs="?", help="locomo10.json, plain or gzip")
    parser.add_argument("--out", type=Path, metavar="FOLDER", default=OUT, help="for the picture (build/calibration)")
    options = parser.parse_args(arguments)
    logging.getLogger("remembrancer").setLevel(logging.ERROR)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        groups, sessions = asyncio.run(
            record(options.locomo, options.out, lambda what: print(what, file=sys.stderr, flush=True))
        )
    except InvalidInput as error:
        parser.error(str(error))
    calibrations = left_out(groups)
    all_hits, first = pooled(groups, calibrations, DEPTH), pooled(groups, calibrations, 1)
    console, title = Console(), "Hits of all groups, each judged while left out"
    for sheet in (
        errors_sheet("Expected calibration error on the group left out", groups, calibrations),
        reliability_sheet(title, all_hits),
        reliability_sheet(f"{title}, first hits", first),
        errors_sheet("The same in stores of a single session", sessions, calibrations),
        reliability_sheet("First hits in stores of a single session", pooled(sessions, calibrations, 1)),
        silence_sheet(groups, calibrations),
    ):
        print_sheet(sheet, console)
    named = {**{f"without {name}": one for name, one in calibrations.items()}, "all": fitted(groups)}
    for name, one in {**named, "default": DEFAULT.ranking.probability}.items():
        print(f"{name}: {one}")
    drawn = options.out / "calibration.svg"
    drawn.write_text(picture(all_hits, first), encoding="utf-8")
    print(f"Picture: {drawn}")


if __name__ == "__main__":
    main()
