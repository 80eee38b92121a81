"""Measure this package beside others, for `make bench`: ten minutes on a quiet machine with two cores.

First every system of `benchmarks.peers.process` writes, recalls and answers labelled questions, in one run; then our
own commands are run in a short form. Results are written to `build/bench` as JSON, Markdown and a picture; `--page`
puts those of the last run into docs/benchmarks.md instead of measuring.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.corpus import EMBEDDED
from benchmarks.marked_page import fill
from benchmarks.peers.measure import QUESTIONS, Found, Speed, found, real_texts, speeds
from benchmarks.peers.process import SYSTEMS, Measurable, Running, install, last_words
from benchmarks.peers.report import Report, markdown, picture
from benchmarks.quality import TUNED
from remembrancer.config import Settings
from remembrancer.evaluation import locomo, questions
from remembrancer.evaluation.dataset import Dataset, Selection
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder, computing

FOLDER: Final = Path("build/bench")
SIZES: Final = (1_000, 10_000)
FILL_SECONDS: Final = 600.0
CHATS: Final = Path(__file__).parent / "chats"
OWN_COMMANDS: Final = (
    ("start", "--rounds", "5"),
    ("recall_latency",),
    ("ingest", "--turns", "200"),
    (
        *("server", "--sizes", "10000", "--clients", "1", "8", "--workers", "1", "2"),
        *("--loads", "recall", "--seconds", "5", "--minutes", "0"),
    ),
)
PAGE: Final = Path("docs/benchmarks.md")
PICTURE: Final = Path("docs/pictures/bench.svg")
INSTRUCTIONS: Final = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8", "asimddp", "i8mm")
"""The names in /proc/cpuinfo of the instructions on which the speed of small integers depends."""


def instructions() -> str:
    """Those of `INSTRUCTIONS` that the processor has."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    except OSError:  # not Linux
        flags = set[str]()
    return "instructions: " + (", ".join(name for name in INSTRUCTIONS if name in flags) or "unknown")


async def run(options: argparse.Namespace) -> Report:
    systems = [system for system in SYSTEMS if options.only is None or system.name in options.only]
    environments: Path = options.folder / "environments"
    failed = install(systems, environments)
    began, before = time.perf_counter(), os.getloadavg()[0]
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        with tempfile.TemporaryDirectory() as folder:
            able = [system for system in systems if system.environment not in failed]
            measured, answered = await _measured(able, embedder, environments, Path(folder), options)
        machine = f"{machine_line(embedder)}; {instructions()}"
    finally:
        await embedder.close()
    for system in systems:
        if system.environment in failed:
            reason = f"not installed: {failed[system.environment]}"
            measured += [Speed(system=system.label, size=size, error=reason) for size in options.sizes]
            answered.append(Found(system=system.label, error=reason))
    return Report(
        machine=machine,
        load=(before, os.getloadavg()[0]),
        speeds=tuple(measured),
        questions=_dataset(options.locomo)[1],
        found=tuple(answered),
        outputs=_outputs(options),
        packages=_packages(environments),
        minutes=(time.perf_counter() - began) / 60,
    )


async def _measured(
    systems: Sequence[Measurable], embedder: Embedder, environments: Path, folder: Path, options: argparse.Namespace
) -> tuple[list[Speed], list[Found]]:
    real = await real_texts(embedder, options.texts)
    real.save(texts := folder / "texts.npz")
    dim = real.vectors.shape[1]

    def start(system: Measurable, store: str) -> Running:
        return Running(system, folder / store / system.name, environments=environments, texts=texts, dim=dim)

    computes = computing(embedder)
    assert computes is not None
    measured: list[Speed] = []
    for size in options.sizes:
        places = {system: partial(start, system, str(size)) for system in systems}
        limits = {"fill_seconds": options.fill_seconds, "questions": options.questions}
        measured += speeds(size, places, real, computes.query_now, tell=_tell, **limits)
    if options.peers_only:
        return measured, []
    return measured, await found(_dataset(options.locomo)[0], systems, start, embedder, tell=_tell)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _dataset(path: Path | None) -> tuple[Dataset, str]:
    """The labelled questions, and what they are."""
    if path is None:
        whole = questions.load(CHATS / "corpus.jsonl", CHATS / "questions.jsonl")
        chosen, named = Selection(only=("tobias",)).of(whole), "Chats with an assistant (`benchmarks/chats`, `tobias`)"
    else:
        whole = locomo.load(path)
        untouched = [one.id for one in whole.conversations if one.id not in TUNED]
        chosen, named = Selection(only=untouched).of(whole), "LoCoMo, the conversations on which no weight was learned"
    asked = sum(question.answerable for one in chosen.conversations for question in one.questions)
    return chosen, f"{named}: {asked:,} questions with an answer, {chosen.turns:,} turns"


def _outputs(options: argparse.Namespace) -> Mapping[str, str]:
    """What our own commands print, or their errors."""
    outputs: dict[str, str] = {}
    corpus = [] if options.locomo is None else [str(options.locomo)]
    chosen = {"recall_latency": ["--sizes", *map(str, options.sizes)], "ingest": corpus}
    for name, *arguments in () if options.peers_only else OWN_COMMANDS:
        command = ["-m", f"benchmarks.{name}", *chosen.get(name, ()), *arguments]
        _tell(" ".join(command))
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        shown = " ".join(["python", *(part.rpartition(os.sep)[2] for part in command)])
        outputs[shown] = done.stdout + (f"failed: {last_words(done.stderr)}" if done.returncode else "")
    return outputs


def _packages(environments: Path) -> Mapping[str, Sequence[str]]:
    """Name and version of each package, such as "chromadb-1.5.9", by environment."""
    packages: dict[str, list[str]] = {}
    for place in sorted(environments.glob("*/lib/*/site-packages/*.dist-info")):
        packages.setdefault(place.relative_to(environments).parts[0], []).append(place.stem)
    return packages


def saved(folder: Path) -> Report:
    """The results of the last run."""
    report = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    report["speeds"] = tuple(Speed(**one) for one in report["speeds"])
    report["found"] = tuple(Found(**one) for one in report["found"])
    return Report(**report)


def save(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    (folder / "bench.md").write_text(markdown(report), encoding="utf-8")
    (folder / "bench.svg").write_text(picture(report), encoding="utf-8")


def put_into_page(report: Report, page: Path = PAGE, drawn: Path = PICTURE) -> None:
    """Replace what the page has between its two marks."""
    filled = fill(page, {"bench": markdown(report)})
    assert filled == ["bench"], f"{page} has no marks"
    drawn.write_text(picture(report), encoding="utf-8")


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="memories")
    parser.add_argument("--only", nargs="+", choices=[system.name for system in SYSTEMS], help="these systems")
    parser.add_argument(
        "--locomo", type=Path, help="locomo10.json, plain or gzip; else the questions in benchmarks/chats"
    )
    parser.add_argument("--peers-only", action="store_true", help="no labelled questions, none of our own commands")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="for each size")
    parser.add_argument("--texts", type=int, default=EMBEDDED, help="that are embedded; vectors are near one of theirs")
    parser.add_argument("--fill-seconds", type=float, default=FILL_SECONDS, help="of CPU, the most to fill a system")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--page", action="store_true", help="put the last run's results into the documentation")
    options = parser.parse_args(given)
    if options.page:
        put_into_page(saved(options.folder))
        return
    report = asyncio.run(run(options))
    save(report, options.folder)
    Console(width=150).print(Markdown(markdown(report)))


if __name__ == "__main__":
    main()
