"""Measure segmentation: the default segmenter and its baselines over data sets of dialogues; returns a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.compose import choose_preset
from remembrancer.config import Settings
from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import records
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.run import OnProgress, ProgressMeter
from remembrancer.evaluation.segmentation_baselines import (
    BoundaryTuple,
    Method,
    NoBoundaries,
    RandomBoundaries,
    TextTiling,
    TurnTiling,
    VectorTiling,
    WindowBaseline,
)
from remembrancer.evaluation.segmentation_data import ALL, PARTS, TEST, Dialogue, DialogueSet, load
from remembrancer.evaluation.segmentation_metrics import found, pk, window_diff
from remembrancer.evaluation.segmentation_report import SegmentationReport, SetReport, as_json
from remembrancer.evaluation.segmentation_summary import DialogueOutcome, differences, summarise
from remembrancer.models import choose_embedder
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.segmentation.segments import Segmenter, StreamTurn, edges
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.ports.embedder import Embedder, Passage, token_embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_SEED: Final = 0
MAX_SEED: Final = 2**32 - 1
BY_WORDS: Final = "topic-shift by words"
BY_VECTORS: Final = "topic-shift"
IN_CONTEXT: Final = "topic-shift in context"


@dataclass(frozen=True, slots=True)
class SegmentedDialogue:
    """A segmenter applied to a dialogue as a stream that has ended, without a language model."""

    segmenter: Segmenter
    name: str

    def segment(self, dialogue: Dialogue, vectors: NDArray[np.float32] | None) -> Sequence[BoundaryTuple]:
        """The lengths of the segments, as the only segmentation. `vectors`: one row per turn, None to segment
        by words.
        """
        turns = dialogue.turns()
        if vectors is not None:
            turns = tuple(
                StreamTurn(at=turn.at, speaker=turn.speaker, text=turn.text, vector=vector)
                for turn, vector in zip(turns, vectors, strict=True)
            )
        plan = self.segmenter.plan(turns, {}, ended=True, with_model=False)
        segments = self.segmenter.apply(turns, plan, None).segments
        return [tuple(one.end - one.start for one in segments)]


async def evaluate_segmentation(
    path: Path,
    *,
    settings: Settings,
    embedder: Embedder | None = None,
    part: str | None = None,
    baselines: bool = True,
    seed: int = DEFAULT_SEED,
    folder: Path | None = None,
    on_progress: OnProgress | None = None,
) -> SegmentationReport:
    """Measure the default segmenter, and its baselines, over the file or folder of files at `path`.

    `settings`: only the embedder is used, and the preset's rule for the context that a turn is embedded with.
    `embedder` replaces the one that the settings name; the caller closes it. `part`: train, dev, test or all; None:
    test, or all for a set without a test part. A set without dialogues of that part is skipped. `folder`: where
    `report.json` is written, and one `<set>.jsonl` per set, one dialogue a line.

    Raises InvalidInput, ModelUnavailable.
    """
    validation.whole("seed", seed, 0, MAX_SEED)
    if part is not None and part not in (*PARTS, ALL):
        raise InvalidInput("part", part, ", ".join((*PARTS, ALL)))
    every = load(path)
    chosen = [(one, part or (TEST if one.of(TEST).dialogues else ALL)) for one in every]
    chosen = [(one, name) for one, name in chosen if one.of(name).dialogues]
    if not chosen:
        raise InvalidInput("part", part, f"a part that {path} has dialogues of")
    encoding = choose_preset(settings.preset).encoding
    async with AsyncExitStack() as stack:
        absent = ""
        if embedder is None:
            choice = choose_embedder(settings)
            embedder, absent = choice.embedder, choice.absent
            if embedder is not None:
                stack.push_async_callback(embedder.close)
        meter = ProgressMeter(sum(len(one.of(name).dialogues) for one, name in chosen), on_progress)
        sets: list[SetReport] = []
        for one, name in chosen:
            dialogues = _DialogueEmbedder(encoding, embedder, meter)
            sets.append(await _measure_set(one, name, dialogues, baselines=baselines, seed=seed, folder=folder))
    report = SegmentationReport(
        sets=tuple(sets),
        seed=seed,
        embedder=None if embedder is None else embedder.model_id,
        degraded={"embedder": absent} if absent else {},
        machine=machine_line(embedder),
    )
    if folder is not None:
        records.write_report(folder, as_json(report))
    return report


async def _measure_set(
    whole: DialogueSet, part: str, embedder: _DialogueEmbedder, *, baselines: bool, seed: int, folder: Path | None
) -> SetReport:
    """Run every method over the dialogues of one part of a set."""
    dialogues = whole.of(part).dialogues
    methods = embedder.methods()
    compared: list[_MethodInput] = []
    if baselines:
        tuning = whole.for_tuning
        compared = [
            _MethodInput(one)
            for one in (NoBoundaries(), RandomBoundaries.of(tuning, seed), WindowBaseline.of(tuning), TextTiling())
        ]
        compared.append(_MethodInput(TurnTiling()))
        if embedder.embeds:
            compared.append(_MethodInput(VectorTiling(), kind=_PLAIN))
    readers = [*methods, *compared]
    outcomes: dict[str, list[DialogueOutcome]] = {one.method.name: [] for one in readers}
    seconds: dict[str, list[float]] = {name: [] for name in outcomes}
    segmentations_of: list[dict[str, BoundaryTuple]] = []
    for dialogue in dialogues:
        vectors = await embedder.vectors(whole.name, dialogue)
        segmentations_of.append({})
        for one in readers:
            begun = perf_counter()
            segmentations = one.method.segment(dialogue, vectors.get(one.kind))
            seconds[one.method.name].append(perf_counter() - begun)
            outcomes[one.method.name].append(_outcome(dialogue, segmentations))
            segmentations_of[-1][one.method.name] = segmentations[0]
        embedder.meter.step(whole.name, "")
    if folder is not None:
        _write_set(folder, whole.name, dialogues, segmentations_of, outcomes)
    turns = sum(len(one.texts) for one in dialogues)
    first = methods[0].method.name
    return SetReport(
        name=whole.name,
        sha256=whole.sha256,
        part=part,
        dialogues=len(dialogues),
        available=len(whole.dialogues),
        turns=turns,
        mean_length=turns / sum(len(one.lengths) for one in dialogues),
        tuning_length=whole.for_tuning.mean_length,
        results=tuple(
            summarise(name, each, seed=seed, seconds=seconds[name], turns=turns) for name, each in outcomes.items()
        ),
        differences=differences(
            outcomes[first], [(one.method.name, outcomes[one.method.name]) for one in compared], seed=seed
        ),
    )


def _write_set(
    folder: Path,
    name: str,
    dialogues: Sequence[Dialogue],
    segmentations: Sequence[Mapping[str, BoundaryTuple]],
    outcomes: Mapping[str, Sequence[DialogueOutcome]],
) -> None:
    """Write `<name>.jsonl`: for each dialogue, the gold segments, and each method's segments and metrics.

    Of a method with several segmentations the first is written. Texts are not written.
    """
    with records.open_lines(folder, name) as write:
        for place, dialogue in enumerate(dialogues):
            methods: dict[str, JsonValue] = {
                method: {
                    "segments": list(segmentations[place][method]),
                    "pk": each[place].pk,
                    "window_diff": each[place].window_diff,
                    "right": each[place].right,
                    "told": each[place].predicted,
                }
                for method, each in outcomes.items()
            }
            write({"id": dialogue.id, "gold": list(dialogue.lengths), "methods": methods})


def _outcome(dialogue: Dialogue, segmentations: Sequence[BoundaryTuple]) -> DialogueOutcome:
    """The metrics of one dialogue, averaged over the method's segmentations."""
    gold = dialogue.lengths
    counts = [found(gold, one) for one in segmentations]
    return DialogueOutcome(
        id=dialogue.id,
        pk=_mean(segmentations, lambda one: pk(gold, one)),
        window_diff=_mean(segmentations, lambda one: window_diff(gold, one)),
        right=float(np.mean([one.right for one in counts])),
        predicted=float(np.mean([one.predicted for one in counts])),
        gold=len(gold) - 1,
    )


def _mean(segmentations: Sequence[BoundaryTuple], metric: Callable[[BoundaryTuple], float]) -> float:
    return float(np.mean([metric(one) for one in segmentations]))


_Vectors = Mapping[str, "NDArray[np.float32]"]
"""Vectors of a dialogue's turns, shape (turns, dim): _PLAIN, of each text alone, or of its edges as the engine embeds
it; _CONTEXT, of each turn embedded with the turns before it. A kind that the embedder does not give is missing.
"""
_PLAIN: Final = "plain"
_CONTEXT: Final = "context"


@dataclass(frozen=True, slots=True)
class _MethodInput:
    """A method, and the kind of vectors that it is given; "" for none."""

    method: Method
    kind: str = ""


class _DialogueEmbedder:
    """Embeds dialogues: each turn alone, and each turn with the turns before it as context."""

    def __init__(self, encoding: Encoding, embedder: Embedder | None, meter: ProgressMeter) -> None:
        self.meter = meter
        self._encoding = encoding
        self._embedder = embedder
        self._tokens = token_embedder(embedder) if encoding.turns > 0 else None

    @property
    def embeds(self) -> bool:
        return self._embedder is not None

    def methods(self) -> list[_MethodInput]:
        """The default segmenter with each kind of input that is available, the best kind first."""
        methods = [_MethodInput(SegmentedDialogue(TopicShift(), BY_WORDS))]
        if self._tokens is not None:
            methods.insert(0, _MethodInput(SegmentedDialogue(TopicShift(), IN_CONTEXT), kind=_CONTEXT))
        if self._embedder is not None:
            methods.insert(0, _MethodInput(SegmentedDialogue(TopicShift(), BY_VECTORS), kind=_PLAIN))
        return methods

    async def vectors(self, name: str, dialogue: Dialogue) -> _Vectors:
        self.meter.at(name, dialogue.id)
        vectors: dict[str, NDArray[np.float32]] = {}
        if self._embedder is not None:
            texts = dialogue.texts if self._tokens is None else [edges(text) for text in dialogue.texts]
            vectors[_PLAIN] = (await self._embedder.embed_documents(texts)).vectors
        if self._tokens is not None:
            said = tuple(zip(dialogue.speakers, dialogue.texts, strict=True))
            turns, chars = self._encoding.turns, self._encoding.chars
            passages = [
                Passage(text, speaker, said[max(0, place - turns) : place], chars)
                for place, (speaker, text) in enumerate(said)
            ]
            vectors[_CONTEXT] = (await self._tokens.embed_passages(passages)).vectors
        return vectors
