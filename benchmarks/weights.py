"""Weights of the `default` ranking, learned on some data sets and judged on the others: `python -m benchmarks.weights`.

Records every signal of every candidate of each question once (`--again` records again), then learns and judges, each
group of data sets left out in turn. Groups: LoCoMo with its long turns, if its file is given, and each folder here with
a corpus and questions. Messages are judged by themselves; nothing is learned from them. Figures are without the
relevance threshold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.quality_long import in_long_turns
from benchmarks.quality_variants import STATES
from benchmarks.weights_embedder import KeptEmbedder
from benchmarks.weights_learn import METRICS, Floats, Lesson, Weights, found, learn
from benchmarks.weights_record import MESSAGE, Recorded, joined, load, record
from remembrancer.compose import choose_preset
from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import locomo, questions
from remembrancer.evaluation.dataset import Dataset
from remembrancer.evaluation.sheet import Sheet, print_sheet
from remembrancer.evaluation.statistics import bootstrap_intervals
from remembrancer.models import choose_embedder
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Signal, Weighted
from remembrancer.ports.embedder import token_embedder
from remembrancer.presets.default import DEFAULT

FOLDER: Final = Path("build") / "weights"
HERE: Final = Path(__file__).parent
STAGES: Final = ("score", "first_stage", "lexical_only")
Stage = Literal["score", "first_stage", "lexical_only"]
SHOWN: Final = ("recall@10", "ndcg@10")
MESSAGES_SHOWN: Final = ("recall@5", "recall@10", "ndcg@10")
SEED: Final = 0
BY_GOLDS: Final = (("1 gold turn", 1, 1), ("2 to 3", 2, 3), ("4 to 6", 4, 6), ("7 and more", 7, 1_000))


@dataclass(frozen=True, slots=True)
class Part:
    """A data set. `group`: the sets that are left out together, because they share questions or an author's style."""

    group: str
    data: Recorded
    messages: Recorded


# ── recording ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def sources(path: Path | None) -> Iterator[tuple[str, str, Callable[[], Dataset]]]:
    """The group and the name of each file of records, and what loads its data set."""
    if path is not None:
        yield "locomo", "locomo", lambda: locomo.load(path)
        yield "locomo", "locomo-long", lambda: in_long_turns(locomo.load(path))
    for folder in sorted(one.parent for one in HERE.glob("*/questions.jsonl")):
        yield (
            folder.name,
            folder.name,
            lambda folder=folder: questions.load(folder / "corpus.jsonl", folder / "questions.jsonl"),
        )


async def record_all(
    path: Path | None, folder: Path, wanted: Sequence[str], *, again: bool, lexical: bool, report: Callable[[str], None]
) -> list[Part]:
    """Every data set, recorded now or before."""
    embedder = choose_embedder(Settings(embedder="local")).embedder
    inner = token_embedder(embedder)
    assert inner is not None, "the local embedder gives token embeddings"
    keeping = None if lexical else KeptEmbedder(inner, folder / "embeddings.pickle")
    parts: list[Part] = []
    for group, name, loaded in sources(path):
        if wanted and group not in wanted:
            continue
        place = folder / ("lexical" if lexical else "full") / name
        if again or not place.exists():
            report(f"recording {name}")
            _make(place)
            several = await record(loaded(), keeping, lambda _: None)
            if keeping is not None:
                keeping.save()
            # The people of the chats with an assistant are data sets by themselves, because rules were made on one.
            made = several if group == "chats" else {name: joined(name, list(several.values()))}
            for title, one in made.items():
                one.save(place / f"{title}.npz")
        for file in sorted(place.glob("*.npz")):
            data = load(file)
            is_message = data.categories == MESSAGE
            parts.append(Part(group, data.of(~is_message), data.of(is_message)))
    await inner.close()
    return parts


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


# ── judging ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def weights_of(ranking: Ranking, stage: Stage) -> dict[str, float]:
    expression = getattr(ranking, stage)
    assert isinstance(expression, Weighted)
    return {term.name: weight for term, weight in expression.terms if isinstance(term, Signal)}


@dataclass(slots=True)
class Judge:
    """Learns and judges. `drop`: signals that are never used, besides those of each question."""

    parts: Sequence[Part]
    present: Weights
    drop: frozenset[str] = frozenset()
    lessons: dict[str, Lesson] = field(default_factory=dict[str, Lesson])

    def __post_init__(self) -> None:
        self.lessons = {part.data.name: Lesson.of(part.data, self.present) for part in self.parts}

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(part.group for part in self.parts))

    @property
    def signals(self) -> list[str]:
        return [name for name in self.present if name not in STATES]

    def learned(self, groups: Sequence[str], without: frozenset[str] = frozenset()) -> dict[str, float]:
        """Weights learned on these groups."""
        names = [name for name in self.signals if name not in without | self.drop]
        fixed = {name: self.present[name] for name in self.present if name in STATES}
        # The joined turns repeat the questions of LoCoMo, and are only judged.
        lessons = [
            self.lessons[part.data.name]
            for part in self.parts
            if part.group in groups and part.data.name != "locomo-long"
        ]
        return learn(lessons, self.present, names, fixed)

    def left_out(self, without: frozenset[str] = frozenset()) -> dict[str, dict[str, float]]:
        """By group, the weights learned on all others."""
        return {group: self.learned([one for one in self.groups if one != group], without) for group in self.groups}

    def values(self, weights: Mapping[str, Weights] | Weights) -> dict[str, Floats]:
        """METRICS of each question, by data set. `weights`: one for all, or by group."""
        by_group = cast(
            "Mapping[str, Weights]", weights if self.groups[0] in weights else dict.fromkeys(self.groups, weights)
        )
        return {part.data.name: found(part.data, by_group[part.group]) for part in self.parts}


def mean_of_sets(values: Mapping[str, Floats], places: Sequence[int]) -> Floats:
    return np.mean([one[:, places].mean(axis=0) for one in values.values()], axis=0)


def differs(before: Floats, after: Floats, places: Sequence[int]) -> list[str]:
    """The mean differences, with their 95 % bootstrap intervals over questions."""
    change = (after - before)[:, places]
    intervals = bootstrap_intervals(change, rng=np.random.default_rng(SEED)).tolist()
    return [_signed(by, *ends) for by, ends in zip(change.mean(axis=0).tolist(), intervals, strict=True)]


def differs_over_sets(before: Mapping[str, Floats], after: Mapping[str, Floats], places: Sequence[int]) -> list[str]:
    """The same for the mean over data sets, whose questions are drawn in each."""
    rng = np.random.default_rng(SEED)
    draws: list[Floats] = []
    for name, values in before.items():
        change = (after[name] - values)[:, places]
        count = len(change)
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=1_000).astype(np.float64)
        draws.append(drawn @ change / count)
    means = np.mean(draws, axis=0)
    by = mean_of_sets(after, places) - mean_of_sets(before, places)
    ends = np.quantile(means, [0.025, 0.975], axis=0).T.tolist()
    return [_signed(one, *interval) for one, interval in zip(by.tolist(), ends, strict=True)]


def _signed(by: float, low: float, high: float) -> str:
    return f"{by:+.3f}\n{low:+.3f} to {high:+.3f}"


def _plain(values: Floats) -> list[str]:
    return [f"{value:.3f}" for value in values.tolist()]


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_set(judge: Judge, rows: Mapping[str, Mapping[str, Floats]]) -> Sheet:
    """Each data set under the present weights, and what the others change."""
    places = [METRICS.index(name) for name in SHOWN]
    present = rows["present"]
    lines: list[tuple[str, tuple[str, ...]]] = []
    for part in judge.parts:
        name = part.data.name
        changes = [
            text
            for title, values in rows.items()
            if title != "present"
            for text in differs(present[name], values[name], places)
        ]
        lines.append((name, (str(len(part.data.golds)), *_plain(present[name].mean(axis=0)), *changes)))
    over = [
        text
        for title, values in rows.items()
        if title != "present"
        for text in differs_over_sets(present, values, places)
    ]
    everything = _plain(np.mean([one.mean(axis=0) for one in present.values()], axis=0))
    lines.append(("mean of the sets", ("", *everything, *over)))
    others = [f"{title}: {metric}" for title in rows if title != "present" for metric in SHOWN]
    return Sheet(title="By data set", columns=("questions", *METRICS, *others), rows=tuple(lines))


def without_each(judge: Judge, whole: Mapping[str, Floats]) -> Sheet:
    """Learned on the others without a signal, less the same with it; NDCG@10, and recall@10 of the mean."""
    place = [METRICS.index("ndcg@10")]
    both = [METRICS.index(name) for name in SHOWN]
    lines: list[tuple[str, tuple[str, ...]]] = []
    for name in [name for name in judge.signals if name not in judge.drop]:
        values = judge.values(judge.left_out(frozenset({name})))
        of_sets = [differs(whole[part.data.name], values[part.data.name], place)[0] for part in judge.parts]
        lines.append((f"without {name}", (*differs_over_sets(whole, values, both), *of_sets)))
    names = [part.data.name for part in judge.parts]
    columns = ("mean of the sets: recall@10", "mean of the sets: ndcg@10", *names)
    return Sheet(title="Learned on the other sets without a signal: NDCG@10", columns=columns, rows=tuple(lines))


def by_kind(judge: Judge, rows: Mapping[str, Mapping[str, Floats]], split: Split, title: str) -> Sheet:
    """Questions of all sets, split by something else than their set."""
    place = [METRICS.index(name) for name in ("recall@10", "ndcg@10", "all@10", "recall@20")]
    lines: list[tuple[str, tuple[str, ...]]] = []
    for name, kept in split(judge.parts).items():
        chosen = [np.concatenate([values[of][mask] for of, mask in kept.items()]) for values in rows.values()]
        if len(chosen[0]):
            figures = [text for values in chosen for text in _plain(values[:, place].mean(axis=0))]
            lines.append((name, (str(len(chosen[0])), *figures)))
    columns = [f"{row}: {METRICS[one]}" for row in rows for one in place]
    return Sheet(title=title, columns=("questions", *columns), rows=tuple(lines))


Split = Callable[[Sequence[Part]], Mapping[str, Mapping[str, NDArray[np.bool_]]]]
"""By row, which questions of each data set it has."""


def by_golds(parts: Sequence[Part]) -> dict[str, dict[str, NDArray[np.bool_]]]:
    return {
        title: {part.data.name: (part.data.golds >= low) & (part.data.golds <= high) for part in parts}
        for title, low, high in BY_GOLDS
    }


def by_read_kind(parts: Sequence[Part]) -> dict[str, dict[str, NDArray[np.bool_]]]:
    kinds = dict.fromkeys(kind for part in parts for kind in part.data.kinds.tolist())
    return {kind: {part.data.name: part.data.kinds == kind for part in parts} for kind in kinds}


def by_category(parts: Sequence[Part]) -> dict[str, dict[str, NDArray[np.bool_]]]:
    return {
        f"{part.data.name}: {category}": {part.data.name: part.data.categories == category}
        for part in parts
        for category in dict.fromkeys(part.data.categories.tolist())
    }


def weights_sheet(columns: Mapping[str, Weights]) -> Sheet:
    names = list(dict.fromkeys(name for one in columns.values() for name in one))
    rows = tuple((name, tuple(f"{one.get(name, 0.0):.3f}" for one in columns.values())) for name in names)
    return Sheet(title="Weights", columns=tuple(columns), rows=rows)


def of_messages(parts: Sequence[Part], rows: Mapping[str, Weights]) -> Sheet:
    """Messages, asked with the mode `message`, whose ranking has weights of its own."""
    place = [METRICS.index(name) for name in MESSAGES_SHOWN]
    lines: list[tuple[str, tuple[str, ...]]] = []
    for part in parts:
        if not len(part.messages.golds):
            continue
        values = {row: found(part.messages, weights) for row, weights in rows.items()}
        first, second = values.values()
        figures = [text for one in values.values() for text in _plain(one[:, place].mean(axis=0))]
        count = str(len(part.messages.golds))
        lines.append((part.data.name, (count, *figures, *differs(second, first, place))))
    columns = [f"{row}: {metric}" for row in (*rows, "difference") for metric in MESSAGES_SHOWN]
    return Sheet(title="Messages", columns=("messages", *columns), rows=tuple(lines))


def sheets(judge: Judge, stage: Stage, other: Weights | None, *, single: bool) -> Iterator[Sheet]:
    """The tables. `other`: further weights to judge. `single`: also leave out each signal."""
    left_out = judge.left_out()
    home = {group: judge.learned([group]) for group in judge.groups}
    everything = judge.learned(judge.groups)
    rows = {"present": judge.values(judge.present), "left out": judge.values(left_out), "at home": judge.values(home)}
    if other is not None:
        rows["other"] = judge.values(other)
    yield by_set(judge, rows)
    shown = {name: values for name, values in rows.items() if name != "at home"}
    yield by_kind(judge, shown, by_golds, "By gold turns")
    yield by_kind(judge, shown, by_read_kind, "By kind, as the question is read")
    yield by_kind(judge, shown, by_category, "By category of the data set")
    columns = {"present": judge.present, "learned on all": everything}
    if other is not None:
        columns["other"] = other
    yield weights_sheet({**columns, **{f"without {group}": one for group, one in left_out.items()}})
    assert DEFAULT.messages is not None
    message = weights_of(DEFAULT.messages.ranking, "score")
    yield of_messages(judge.parts, {"default": message, "cosine": {"similarity": 1.0}})
    if single:
        yield without_each(judge, rows["left out"])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weights", description=__doc__)
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="locomo10.json, plain or gzip")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where records are kept (build/weights)")
    parser.add_argument("--again", action="store_true", help="record again, after a change of the memory")
    parser.add_argument("--only", default="", metavar="GROUPS", help="these groups only, separated by commas")
    parser.add_argument("--stage", choices=STAGES, default="score", help="which weights (score)")
    parser.add_argument("--drop", default="", metavar="SIGNALS", help="learn without these, separated by commas")
    parser.add_argument("--preset", metavar="PRESET", help="also judge the weights of this preset, a name or a file")
    parser.add_argument("--single", action="store_true", help="also leave out each signal, and learn again")
    parser.add_argument("--json", action="store_true", help="the weights learned on all groups, as JSON")
    options = parser.parse_args(arguments)
    logging.getLogger("remembrancer").setLevel(logging.ERROR)
    stage = cast("Stage", options.stage)
    try:
        parts = asyncio.run(
            record_all(
                options.locomo,
                options.folder,
                [one for one in options.only.split(",") if one],
                again=options.again,
                lexical=stage == "lexical_only",
                report=lambda what: print(what, file=sys.stderr, flush=True),
            )
        )
        other = None if options.preset is None else weights_of(choose_preset(options.preset).ranking, stage)
    except InvalidInput as error:
        parser.error(str(error))
    judge = Judge(parts, weights_of(DEFAULT.ranking, stage), frozenset(options.drop.split(",")))
    if options.json:
        print(json.dumps(judge.learned(judge.groups)))
        return
    console = Console()
    for sheet in sheets(judge, stage, other, single=options.single):
        print_sheet(sheet, console)


if __name__ == "__main__":
    main()
