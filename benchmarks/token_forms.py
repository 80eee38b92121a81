"""What late interaction finds if fewer tokens of a text are stored: `python -m benchmarks.token_forms --locomo FILE`.

Each text is embedded once, and its token signs are kept in a file. Then every data set is recorded anew for each form,
with the tokens that the form stores, and asked its questions under the `default` preset. For each form are printed
recall@10 and NDCG@10, their difference to storing every token with its 95 % bootstrap interval over questions, the
share of unanswerable and of answerable questions without a hit, the bytes of signs a turn, and the CPU time of late
interaction in a recall. Messages are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.weights import SHOWN, differs, differs_over_sets, mean_of_sets, sources
from benchmarks.weights_embedder import KeptEmbedder
from benchmarks.weights_learn import Floats
from benchmarks.weights_record import MESSAGE
from remembrancer import engine
from remembrancer.adapters.embedders.local import LocalEmbedder
from remembrancer.config import Settings
from remembrancer.evaluation.dataset import Dataset
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.evaluation.metrics import ndcg_at, recall_at
from remembrancer.evaluation.sheet import Sheet, print_sheet
from remembrancer.language.lexical import analyse
from remembrancer.policies.ranking.late_interaction import LONG, packed
from remembrancer.ports.embedder import EmbeddedQuestion

FOLDER: Final = Path("build") / "token-forms"
GRAMMATICAL: Final = frozenset(
    """
    a an the this that these those it its and or but so if as than of to in on at by for from with about into is are
    was were be been being do does did have has had can could would should s t d ll m re ve
    """.split()
)
"""Articles, demonstratives, conjunctions, prepositions, auxiliary verbs, and the ends of contractions ("it's")."""

Packs = Callable[[NDArray[np.float32], Sequence[str]], NDArray[np.uint8]]


def every_token(vectors: NDArray[np.float32], _: Sequence[str] = ()) -> NDArray[np.uint8]:
    return packed(vectors)


def only(keeps: Callable[[str], bool], *, above: int = 0) -> Packs:
    """Store the tokens of words that `keeps`, of texts with more than `above` tokens; if there are none, all tokens."""

    def packs(vectors: NDArray[np.float32], spelled: Sequence[str]) -> NDArray[np.uint8]:
        kept = [keeps(word) for word in spelled]
        return packed(vectors[kept] if any(kept) and len(kept) > above else vectors)

    return packs


def mixed(vectors: NDArray[np.float32], spelled: Sequence[str]) -> NDArray[np.uint8]:
    """Every token of one half of the texts, as in rows of older versions, and the stored tokens of the other half."""
    return every_token(vectors) if zlib.crc32(" ".join(spelled).encode()) % 2 else packed(vectors, spelled)


def has_letter(word: str) -> bool:
    return any(map(str.isalnum, word))


def is_content(word: str) -> bool:
    return has_letter(word) and word.casefold() not in GRAMMATICAL


def has_term(word: str) -> bool:
    return bool(analyse(word).terms)


EVERY: Final = "every token"
FORMS: Final[Mapping[str, Packs]] = {
    EVERY: every_token,
    f"as stored: words with a term, each once, above {LONG} tokens": packed,
    "half of the texts as stored": mixed,
    f"words with a term, above {LONG} tokens": only(has_term, above=LONG),
    "words with a term": only(has_term),
    f"no punctuation, no grammatical words, above {LONG} tokens": only(is_content, above=LONG),
    "no punctuation, no grammatical words": only(is_content),
    "no punctuation": only(has_letter),
}


@dataclass(slots=True)
class QuestionsKept(KeptEmbedder):
    """Also embeds each question once."""

    questions: dict[str, EmbeddedQuestion] = field(default_factory=dict[str, EmbeddedQuestion])

    def question_now(self, text: str) -> EmbeddedQuestion:
        if text not in self.questions:
            self.questions[text] = KeptEmbedder.question_now(self, text)
        return self.questions[text]


@dataclass(frozen=True, slots=True)
class Measured:
    """`values`: SHOWN of each answerable question. `silent`: the questions without a hit, unanswerable and answerable;
    `asked`: how many there are. `bytes_each`: of the signs of a turn. `cpu`: milliseconds of late interaction a recall.
    """

    values: Floats
    silent: Floats
    asked: Floats
    bytes_each: float
    cpu: float


async def measured(dataset: Dataset, embedder: KeptEmbedder, packs: Packs) -> dict[str, Measured]:
    """By conversation."""
    made: dict[str, Measured] = {}
    spent: list[float] = []
    stored: list[int] = []
    compared = engine.rerank.late_interaction

    def timed(*arguments: Any) -> Any:
        began = time.thread_time()
        try:
            return compared(*arguments)
        finally:
            spent.append(time.thread_time() - began)

    def counted(vectors: NDArray[np.float32], spelled: Sequence[str]) -> NDArray[np.uint8]:
        signs = packs(vectors, spelled)
        stored.append(signs.nbytes)
        return signs

    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(engine.rerank, "late_interaction", timed),
        patch.object(engine.index, "packed", counted),
    ):
        settings = Settings(db=str(Path(folder) / "all.db"), preset="default", embedder="none", background_index=False)
        system = MemorySystem(settings, embedder)
        for conversation in dataset.conversations:
            stored.clear()
            spent.clear()
            rows: list[tuple[float, float]] = []
            silent, asked = np.zeros(2), np.zeros(2)
            async with system.prepared(conversation.transcript) as ranker:
                for question in conversation.questions:
                    if question.category == MESSAGE:
                        continue
                    answer = await ranker.answer(question.text, asked_at=question.asked_at, limit=10)
                    silent[int(question.answerable)] += not answer.ranked
                    asked[int(question.answerable)] += 1
                    if question.answerable:
                        gold = question.evidence
                        rows.append((recall_at(answer.ranked, gold, 10), ndcg_at(answer.ranked, gold, 10)))
            turns = len(conversation.transcript.turns)
            cpu = 1_000 * float(np.mean(spent))
            made[conversation.id] = Measured(np.array(rows), silent, asked, sum(stored) / turns, cpu)
        assert not system.degraded, system.degraded
    return made


def together(several: Sequence[Measured]) -> Measured:
    """Several conversations as one data set."""
    return Measured(
        np.concatenate([one.values for one in several]),
        np.sum([one.silent for one in several], axis=0),
        np.sum([one.asked for one in several], axis=0),
        float(np.mean([one.bytes_each for one in several])),
        float(np.average([one.cpu for one in several], weights=[one.asked.sum() for one in several])),
    )


async def measure(
    path: Path | None, wanted: Sequence[str], folder: Path, forms: Mapping[str, Packs]
) -> dict[str, dict[str, Measured]]:
    """By form and data set."""
    embedder = LocalEmbedder.open()
    keeping = QuestionsKept(embedder, folder / "embeddings.pickle")
    made: dict[str, dict[str, Measured]] = {title: {} for title in forms}
    for group, name, loaded in sources(path):
        if wanted and name not in wanted:
            continue
        dataset = loaded()
        for title, packs in forms.items():
            print(f"{name}: {title}", file=sys.stderr, flush=True)
            several = await measured(dataset, keeping, packs)
            keeping.save()
            # The people of the chats with an assistant are data sets by themselves.
            made[title] |= several if group == "chats" else {name: together(list(several.values()))}
    await embedder.close()
    return made


def sheets(made: Mapping[str, Mapping[str, Measured]]) -> Iterator[Sheet]:
    before = {name: one.values for name, one in made[EVERY].items()}
    places = range(len(SHOWN))
    columns = (
        "questions",
        *SHOWN,
        *(f"change of {name}" for name in SHOWN),
        "silent: unanswerable",
        "silent: answerable",
        "bytes a turn",
        "CPU ms",
    )
    for title, of_set in made.items():
        after = {name: one.values for name, one in of_set.items()}
        every = together(list(of_set.values()))
        rows = [
            (name, _row(one, one.values.mean(axis=0), differs(before[name], one.values, places)))
            for name, one in of_set.items()
        ]
        rows.append(
            (
                "mean of the sets",
                _row(every, mean_of_sets(after, places), differs_over_sets(before, after, places)),
            )
        )
        yield Sheet(title=title, columns=columns, rows=tuple(rows))


def _row(one: Measured, means: Floats, changes: Sequence[str]) -> tuple[str, ...]:
    silent = [
        f"{count / asked:.3f}" if asked else ""
        for count, asked in zip(one.silent.tolist(), one.asked.tolist(), strict=True)
    ]
    return (
        str(len(one.values)),
        *(f"{value:.3f}" for value in means.tolist()),
        *changes,
        *silent,
        f"{one.bytes_each:,.0f}",
        f"{one.cpu:.2f}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.token_forms", description=__doc__)
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="locomo10.json, plain or gzip")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where embeddings are kept (build/token-forms)")
    parser.add_argument("--only", default="", metavar="SETS", help="these data sets only, separated by commas")
    parser.add_argument("--forms", type=int, default=len(FORMS), help="the first so many forms (all)")
    options = parser.parse_args(arguments)
    logging.getLogger("remembrancer").setLevel(logging.ERROR)
    options.folder.mkdir(parents=True, exist_ok=True)
    forms = dict(list(FORMS.items())[: options.forms])
    wanted = [one for one in options.only.split(",") if one]
    made = asyncio.run(measure(options.locomo, wanted, options.folder, forms))
    console = Console()
    console.print(machine_line(None))
    for sheet in sheets(made):
        print_sheet(sheet, console)


if __name__ == "__main__":
    main()
