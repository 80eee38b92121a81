"""One call for a whole evaluation: the memory and the baselines over LoCoMo, to a report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.domain import validation
from remembrancer.evaluation.baselines import Bm25, Dense, Grep, RandomOrder, Recency
from remembrancer.evaluation.locomo import Dataset, load
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.evaluation.report import Report, as_json
from remembrancer.evaluation.run import OnProgress, judge
from remembrancer.evaluation.system import System
from remembrancer.ports.embedder import Embedder

DEFAULT_DEPTH: Final = 100
DEFAULT_SEED: Final = 0


async def evaluate_locomo(
    path: Path,
    *,
    settings: Settings,
    embedder: Embedder | None = None,
    baselines: bool = True,
    depth: int = DEFAULT_DEPTH,
    seed: int = DEFAULT_SEED,
    conversations: int | None = None,
    records: Path | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """The memory under `settings`, and the baselines, over the LoCoMo file at `path`.

    Of `settings` the preset, the embedder and how it runs count; the store, the scope and the role do not: each
    conversation gets a workspace of its own in a new database, which is removed afterwards. An `embedder` takes the
    place of the one that the settings name, and stays open. `conversations`: only the first so many. `records`: a
    folder for `report.json` and one `<system>.jsonl` each. Raises InvalidInput, ModelUnavailable, StoreUnavailable.
    """
    dataset = _first(load(path), conversations)
    chosen = embedder if embedder is not None else choose_embedder(settings).embedder
    try:
        with TemporaryDirectory(prefix="remembrancer-eval-") as folder:
            database = Path(folder) / "locomo.db"
            memory = MemorySystem(_isolated(settings, database), chosen)
            systems = [memory, *(_baselines(chosen, seed) if baselines else ())]
            results = await judge(dataset, systems, depth=depth, seed=seed, records=records, on_progress=on_progress)
            index_bytes = database.stat().st_size
    finally:
        if chosen is not None and embedder is None:
            await chosen.close()
    report = Report(
        dataset=dataset.name,
        sha256=dataset.sha256,
        conversations=len(dataset.conversations),
        turns=sum(len(conversation.transcript.turns) for conversation in dataset.conversations),
        excluded=sum(conversation.excluded for conversation in dataset.conversations),
        depth=depth,
        seed=seed,
        embedder=None if chosen is None else chosen.model_id,
        degraded=memory.degraded,
        results=results,
        index_bytes=index_bytes,
        machine=machine_line(),
    )
    if records is not None:
        (records / "report.json").write_text(json.dumps(as_json(report), indent=2) + "\n", encoding="utf-8")
    return report


def _first(dataset: Dataset, conversations: int | None) -> Dataset:
    if conversations is None:
        return dataset
    validation.whole("conversations", conversations, 1, len(dataset.conversations))
    return replace(dataset, conversations=dataset.conversations[:conversations])


def _isolated(settings: Settings, database: Path) -> Settings:
    """The same settings over a new database, with nothing of the user's own scope.

    Nothing is indexed beside other work: all of it is before the first question, and nothing runs while time is taken.
    """
    return settings.model_copy(
        update={
            "db": str(database),
            "project": None,
            "crew": None,
            "agent": None,
            "session": None,
            "role": "AGENT",
            "background_index": False,
        }
    )


def _baselines(embedder: Embedder | None, seed: int) -> list[System]:
    dense = [] if embedder is None else [Dense(embedder)]
    return [RandomOrder(seed), Recency(), Grep(), Bm25(), *dense]
