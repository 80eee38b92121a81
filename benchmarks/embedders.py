"""Embedders side by side: what recall finds with each, and what it costs.

Each embedder, in the words of the setting `embedder`, is calibrated and then measured on LoCoMo as `remembrancer eval`
does: the whole ranking, and the plain cosine. The CPU time of a question and of a turn, and the bytes of a memory, come
from the same texts.

    python -m benchmarks.embedders locomo10.json.gz local folder:models/mpnet ollama:bge-m3 --only conv-26,conv-30
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from remembrancer.config import Settings
from remembrancer.domain.calibration import REFERENCE
from remembrancer.engine.calibrate import measure
from remembrancer.evaluation.dataset import Dataset, Selection
from remembrancer.evaluation.evaluate import Options, evaluate
from remembrancer.evaluation.locomo import load
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder, Passage, calibration, token_embedder

TIMED = 200
"""Questions, and turns, whose CPU time is measured."""
FOREIGN = 50
"""Questions of other conversations that each conversation is asked."""


@dataclass(frozen=True)
class Measured:
    """One embedder. `cosine`: recall@10 of the plain cosine. `silent`: the share of foreign questions without an
    answer, and `wrongly_silent` that of answerable ones. Times are CPU milliseconds.
    """

    embedder: str
    dim: int | None
    unrelated: float
    related: float
    spreads: float
    cosine: float
    recall_10: float
    ndcg_10: float
    silent: float
    wrongly_silent: float
    question_ms: float
    turn_ms: float
    bytes_a_memory: float


async def measured(named: str, dataset: Dataset, selection: Selection) -> Measured:
    """Calibrate the embedder for this run, and measure it."""
    plain = choose_embedder(Settings(embedder=named)).embedder
    if plain is None:
        raise SystemExit(f"{named} is no embedder")
    scale = await measure(plain)
    found = scale.calibration
    means = (found.unrelated, found.related, found.tokens_unrelated, found.tokens_related)
    kept = calibration(plain)
    await plain.close()
    # MiniLM is its own reference, and a folder's own calibration is the same to four digits.
    given = None if kept is not None or named.partition(":")[0] == "local" else means
    settings = Settings(embedder=named, embedder_calibration=given)
    report = await evaluate(dataset, Options(settings=settings, selection=selection, foreign=FOREIGN, depth=20))
    by_system = {result.system: result for result in report.results}
    ours, dense = report.results[0], by_system["dense"]
    counts = ours.foreign.counts
    embedder = choose_embedder(settings).embedder
    assert embedder is not None
    chosen = selection.of(dataset).conversations
    questions = [one.text for conversation in chosen for one in conversation.questions][:TIMED]
    turns = [turn.text for turn in chosen[0].transcript.turns][:TIMED]
    question_ms, turn_ms = await cost(embedder, questions, turns)
    await embedder.close()
    return Measured(
        embedder=embedder.model_id,
        dim=embedder.dim,
        unrelated=found.unrelated,
        related=found.related,
        spreads=scale.spreads,
        cosine=dense.main.turn.values["recall@10"],
        recall_10=ours.main.turn.values["recall@10"],
        ndcg_10=ours.main.turn.values["ndcg@10"],
        silent=counts.silent_on_unanswerable / max(1, counts.unanswerable),
        wrongly_silent=counts.silent_on_answerable / counts.answerable,
        question_ms=question_ms,
        turn_ms=turn_ms,
        bytes_a_memory=report.index_bytes / report.turns,
    )


async def cost(embedder: Embedder, questions: Sequence[str], turns: Sequence[str]) -> tuple[float, float]:
    """CPU milliseconds of a question, and of a turn after the turn before it."""
    tokens = token_embedder(embedder)
    await embedder.embed_query("The first text loads the model.")
    begun = time.process_time()
    for question in questions:
        await (embedder.embed_query(question) if tokens is None else tokens.embed_question(question))
    asked = time.process_time()
    if tokens is None:
        await embedder.embed_documents(turns)
    else:
        await tokens.embed_passages([Passage(text, before) for before, text in zip(["", *turns], turns, strict=False)])
    done = time.process_time()
    return 1e3 * (asked - begun) / len(questions), 1e3 * (done - asked) / len(turns)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embedders", description=__doc__)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("embedders", nargs="+")
    parser.add_argument("--only", default="", help="ids of conversations, separated by commas")
    parser.add_argument("--out", type=Path, help="a JSON file")
    given = parser.parse_args()
    dataset = load(given.locomo)
    selection = Selection(only=tuple(filter(None, given.only.split(","))))
    found = [asyncio.run(measured(named, dataset, selection)) for named in given.embedders]
    table = Table(title=f"{machine_line(None)}; cosines of MiniLM {REFERENCE.unrelated} and {REFERENCE.related}")
    headings = ("embedder", "dim", "unrelated", "related", "sd", "cosine R@10", "R@10", "NDCG@10", "silent, foreign")
    for heading in (*headings, "silent, answerable", "ms a question", "ms a turn", "bytes a memory"):
        table.add_column(heading)
    for one in found:
        values = list(asdict(one).values())
        numbers = [f"{value:,.3f}" for value in values[2:-3]] + [f"{value:,.1f}" for value in values[-3:]]
        table.add_row(str(values[0]), str(values[1]), *numbers)
    Console(width=200).print(table)
    if given.out is not None:
        given.out.write_text(json.dumps([asdict(one) for one in found], indent=2))


if __name__ == "__main__":
    main()
