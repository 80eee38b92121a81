"""Recall for questions within long pasted prompts, against the same questions alone: `make bench-pollution`.

Each question of a sample of six data sets of this folder is asked alone and within each form of
`benchmarks.pollution_forms`, by the default preset with the local embedder. Printed: recall@10 of the clean questions,
and for each form its share of that. Rules of the reader were fitted to the first twelve forms only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.pollution_forms import HELD_OUT, TUNED, polluted
from benchmarks.quality_asked import TURNS, Files, ask
from benchmarks.quality_variants import FULL
from remembrancer.config import Settings
from remembrancer.engine.asked_once import asked_once
from remembrancer.evaluation import questions
from remembrancer.evaluation.dataset import Conversation, Dataset
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

FOLDER: Final = Path(__file__).parent
SETS: Final = ("assistant", "channel", "chats", "coding", "desk", "pairs")
CLEAN: Final = "{q}"
AT_10: Final = TURNS.index("recall@10")


def forms() -> Mapping[str, str]:
    """All forms by name, the clean one first. A question with quotation marks is escaped nowhere: JSON allows none."""
    return {"clean": CLEAN, **TUNED, **HELD_OUT}


def sampled(dataset: Dataset, each: int) -> Dataset:
    """About `each` answerable questions of the data set, evenly spread over it."""
    every = [question for one in dataset.conversations for question in one.questions if question.answerable]
    plain = [question for question in every if '"' not in question.text]
    step = max(1, len(plain) // each)
    chosen = {id(question) for question in plain[::step][:each]}
    kept = (
        replace(one, questions=tuple(question for question in one.questions if id(question) in chosen))
        for one in dataset.conversations
    )
    return replace(dataset, conversations=tuple(one for one in kept if one.questions))


def in_every_form(dataset: Dataset) -> Dataset:
    """Each question once in every form, the forms one after the other."""

    def asked(conversation: Conversation) -> Conversation:
        several = (
            replace(question, text=polluted(question.text, form))
            for question in conversation.questions
            for form in forms().values()
        )
        return replace(conversation, questions=tuple(several))

    return replace(dataset, conversations=tuple(map(asked, dataset.conversations)))


async def measure(each: int, embedder: Embedder) -> dict[str, dict[str, float]]:
    """By data set, and of all, recall@10 of each form."""
    found: dict[str, dict[str, float]] = {}
    together: list[np.ndarray[tuple[int, int], np.dtype[np.float64]]] = []
    for name in SETS:
        folder = FOLDER / name
        dataset = sampled(questions.load(folder / "corpus.jsonl", folder / "questions.jsonl"), each)
        with tempfile.TemporaryDirectory() as files:
            answers = await ask(
                in_every_form(dataset),
                (FULL,),
                Files(Path(files), asked_once(embedder)),
                report=lambda one: print(f"asking {one}", file=sys.stderr),
            )
        values = answers.values[FULL.name][:, AT_10].reshape(-1, len(forms()))
        together.append(values)
        found[name] = dict(zip(forms(), values.mean(axis=0).tolist(), strict=True))
    whole = np.concatenate(together)
    found["all"] = {"questions": float(len(whole)), **dict(zip(forms(), whole.mean(axis=0).tolist(), strict=True))}
    return found


def lines(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The figures as text: clean recall@10, and each form's share of it."""
    every = found["all"]
    told = [f"clean: recall@10 {every['clean']:.3f} over {every['questions']:.0f} questions"]
    for title, some in (("forms that the reader was made with", TUNED), ("held-out forms", HELD_OUT)):
        told.append(f"{title}: {np.mean([every[name] for name in some]) / every['clean']:.3f} of the clean recall@10")
        for name in some:
            least = min(found[one][name] / found[one]["clean"] for one in SETS if found[one]["clean"])
            told.append(f"  {every[name] / every['clean']:.3f}  {name} (least of a data set: {least:.3f})")
    return told


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pollution", description=__doc__)
    parser.add_argument("--each", type=int, default=20, help="questions of each data set (20)")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args(arguments)
    logging.disable(logging.INFO)
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None

    async def run() -> tuple[dict[str, dict[str, float]], str]:
        try:
            return await measure(options.each, embedder), machine_line(embedder)
        finally:
            await embedder.close()

    found, machine = asyncio.run(run())
    print(json.dumps(found, indent=2) if options.json else "\n".join([*lines(found), machine]))


if __name__ == "__main__":
    main()
