"""Run a whole evaluation: the memory and the baselines over a data set; returns a report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from remembrancer.config import Settings
from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import records
from remembrancer.evaluation.baselines import Bm25Baseline, Dense, Grep, RandomOrder, Recency, WithHeadings
from remembrancer.evaluation.dataset import Dataset, Selection
from remembrancer.evaluation.foreign import with_foreign
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.evaluation.paired import PairedComparison, ScoredQuestion, compare_systems
from remembrancer.evaluation.report import EvaluationReport, Group, as_json
from remembrancer.evaluation.run import OnProgress, judge
from remembrancer.evaluation.summary import Outcomes, abstention_results, levels, summarise
from remembrancer.evaluation.system import System
from remembrancer.models import choose_embedder, choose_reranker
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.reranker import Reranker
from remembrancer.values import dataclass

DEFAULT_DEPTH: Final = 100
DEFAULT_SEED: Final = 0
MAX_SEED: Final = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a measurement.

    `settings`: only the preset, the models and how they run are used. The store, scope and role are not: each
    conversation gets its own workspace in a new database, which is deleted afterwards. `embedder`, `reranker`: replace
    those that the settings name; the caller closes them. `against`: a second preset, by name or file, that answers the
    same questions and is compared with the first. `baselines`: measure the baselines too. `headings`: measure the text
    baselines a second time, with speaker and date before each turn. `selection`: which conversations. `foreign`: number
    of questions from other conversations that each conversation is asked, see evaluation.foreign. `depth`: number of
    turns read of each answer, 20 to 200, capped by what the preset allows. `folder`: where `report.json`, one
    `<system>.jsonl` for each system and, with `against`, the changed questions are written.
    """

    settings: Settings
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    against: str | None = None
    baselines: bool = True
    headings: bool = False
    selection: Selection = field(default_factory=Selection)
    foreign: int = 0
    depth: int = DEFAULT_DEPTH
    seed: int = DEFAULT_SEED
    folder: Path | None = None
    on_progress: OnProgress | None = None


async def evaluate(dataset: Dataset, options: Options) -> EvaluationReport:
    """Measure the memory, and the baselines, over a data set. Raises InvalidInput, ModelUnavailable,
    StoreUnavailable.
    """
    seed = validation.whole("seed", options.seed, 0, MAX_SEED)
    chosen = with_foreign(options.selection.of(dataset), dataset, options.foreign, seed=seed)
    async with AsyncExitStack() as stack:
        embedder = options.embedder
        if embedder is None and (embedder := choose_embedder(options.settings).embedder) is not None:
            stack.push_async_callback(embedder.close)
        reranker = options.reranker
        if reranker is None and (reranker := choose_reranker(options.settings)) is not None:
            stack.push_async_callback(reranker.close)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="remembrancer-eval-")))
        database = folder / "memory.db"
        memory = MemorySystem(_isolated(options.settings, database), embedder, reranker)
        against = None if options.against is None else _second_memory(options.against, options, folder, memory)
        outcomes = await judge(
            chosen,
            [memory, *([] if against is None else [against]), *_baselines(options, embedder)],
            depth=options.depth,
            folder=options.folder,
            on_progress=options.on_progress,
        )
        index_bytes = database.stat().st_size
    memories = [memory] if against is None else [memory, against]
    depths = {one.name: one.depth(options.depth) for one in memories}
    report = EvaluationReport(
        dataset=dataset.name,
        sha256=dataset.sha256,
        conversation_ids=chosen.ids,
        available=len(dataset.conversations),
        turns=chosen.turns,
        excluded=sum(conversation.excluded for conversation in chosen.conversations),
        unanswerable=dataset.unanswerable,
        has_sessions=chosen.has_sessions,
        depths={one.system: depths.get(one.system, options.depth) for one in outcomes},
        seed=seed,
        embedder=None if embedder is None else embedder.model_id,
        reranker=None if reranker is None else reranker.model_id,
        degraded=memory.degraded if against is None else {**against.degraded, **memory.degraded},
        results=tuple(summarise(one, chosen.categories, seed=seed) for one in outcomes),
        groups=_groups(outcomes, chosen.ids, options),
        paired=_paired(outcomes, options),
        index_bytes=index_bytes,
        machine=machine_line(embedder),
    )
    if options.folder is not None:
        records.write_report(options.folder, as_json(report))
        if report.paired is not None:
            records.write_changed(options.folder, report.paired)
    return report


def _second_memory(preset: str, options: Options, folder: Path, memory: MemorySystem) -> MemorySystem:
    """The memory under another preset: same models, its own database. Raises InvalidInput if the preset has the first's
    name.
    """
    settings = replace(options.settings, preset=preset)
    second = memory.beside(_isolated(settings, folder / "against.db"))
    if second.name == memory.name:
        raise InvalidInput("against", preset, f"a preset with a name other than {memory.name}")
    return second


def _groups(outcomes: Sequence[Outcomes], ids: Sequence[str], options: Options) -> tuple[Group, ...]:
    """Results for the tuned and the untouched conversations; empty when `Selection.tuned` is."""
    tuned = frozenset(options.selection.tuned)
    if not tuned:
        return ()
    return tuple(
        _group(name, tuple(one for one in ids if (one in tuned) is belongs), outcomes, options)
        for name, belongs in (("tuned", True), ("untouched", False))
    )


def _group(name: str, ids: tuple[str, ...], outcomes: Sequence[Outcomes], options: Options) -> Group:
    within = [one.of(frozenset(ids)) for one in outcomes]
    return Group(
        name=name,
        conversations=ids,
        results={
            one.system: levels([asked for asked in one.asked if asked.answerable], seed=options.seed) for one in within
        },
        abstention={one.system: abstention_results(one) for one in within},
        paired=_paired(within, options),
    )


def _paired(outcomes: Sequence[Outcomes], options: Options) -> PairedComparison | None:
    """The first two systems compared; None without `against`, or when none of the questions has an answer."""
    if options.against is None:
        return None
    first, second = ([ScoredQuestion.of(asked) for asked in one.asked if asked.answerable] for one in outcomes[:2])
    return (
        compare_systems((outcomes[0].system, outcomes[1].system), first, second, seed=options.seed) if first else None
    )


def _isolated(settings: Settings, database: Path) -> Settings:
    """The settings with a new database and an empty scope.

    Background indexing is off: everything is indexed before the first question, and no other work runs while answers
    are timed.
    """
    return replace(
        settings,
        db=str(database),
        project=None,
        crew=None,
        agent=None,
        session=None,
        role="AGENT",
        background_index=False,
    )


def _baselines(options: Options, embedder: Embedder | None) -> list[System]:
    if not options.baselines:
        return []
    dense = [] if embedder is None else [Dense(embedder)]
    words: list[System] = [Grep(), Bm25Baseline(), *dense]
    headed = [WithHeadings(system) for system in words] if options.headings else []
    return [RandomOrder(options.seed), Recency(), *words, *headed]
