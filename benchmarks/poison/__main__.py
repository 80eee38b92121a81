"""Attack this package and others, for `make bench-poison`: some minutes.

Results are written to `build/poison` as JSON, Markdown and a picture; `--page` puts those of the last run into
docs/poison.md instead of measuring.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.marked_page import fill
from benchmarks.peers.measure import KnownVectors
from benchmarks.peers.process import Running, install
from benchmarks.poison.measure import MEASURED, Contender, Process, Result, attack, others, ours
from benchmarks.poison.report import Report, markdown, picture, restored
from benchmarks.poison.scenarios import COPIES, Suite, suite
from remembrancer.config import Settings
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.presets.catalogue import PRESETS

FOLDER: Final = Path("build/poison")
ENVIRONMENTS: Final = Path("build/bench/environments")
PAGE: Final = Path("docs/poison.md")
PICTURE: Final = Path("docs/pictures/poison.svg")


async def run(options: argparse.Namespace) -> Report:
    scenarios = suite(topics=options.topics, copies=options.copies)
    main = [] if options.before is None else [ours("default", before=options.before.resolve())]
    main += [ours("default"), *others(options.only)]
    presets = [ours(name) for name in options.presets]
    environments = options.environments.resolve()
    failed = install([one.system for one in main], environments)
    began, before = time.perf_counter(), os.getloadavg()[0]
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        vectors, dim = KnownVectors(embedder), len(await embedder.embed_query("How long is a vector?"))
        with tempfile.TemporaryDirectory() as folder:

            async def measured(place: int, one: Contender) -> Result:
                if one.system.environment in failed:
                    return Result(label=one.label, error=f"not installed: {failed[one.system.environment]}")
                return await _measured(one, scenarios, vectors, dim, Path(folder) / str(place), options)

            results = [await measured(place, one) for place, one in enumerate((*main, *presets))]
        machine = machine_line(embedder)
    finally:
        await embedder.close()
    return Report(
        machine=machine,
        load=(before, os.getloadavg()[0]),
        minutes=(time.perf_counter() - began) / 60,
        texts=len(scenarios.benign),
        copies=options.copies,
        results=tuple(results[: len(main)]),
        presets=tuple(results[len(main) :]),
    )


async def _measured(
    one: Contender, scenarios: Suite, vectors: KnownVectors, dim: int, folder: Path, options: argparse.Namespace
) -> Result:
    embedded = (options.folder / "embedded.pickle").resolve()
    embedded.parent.mkdir(parents=True, exist_ok=True)
    environments = options.environments.resolve()
    running = Running(
        one.system,
        folder,
        environments=environments,
        texts=folder,
        dim=dim,
        command=one.command(folder, embedded, environments),
        path=[] if one.source is None else [one.source],
    )
    result = await attack(Process(running, None if one.system.ours else vectors), scenarios, one.label, _tell)
    if not result.error:
        running.close()
    return result


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def save(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "poison.json").write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    (folder / "poison.md").write_text(markdown(report), encoding="utf-8")
    (folder / "poison.svg").write_text(picture(report), encoding="utf-8")


def put_into_page(report: Report, page: Path = PAGE, drawn: Path = PICTURE) -> None:
    """Replace what the page has between its two marks."""
    filled = fill(page, {"poison": markdown(report)})
    assert filled == ["poison"], f"{page} has no marks"
    drawn.write_text(picture(report), encoding="utf-8")


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.poison", description=__doc__)
    parser.add_argument("--before", type=Path, help="the folder `src` of an older version, attacked too")
    parser.add_argument("--only", nargs="*", choices=MEASURED, default=MEASURED[:3], help="the other systems")
    parser.add_argument(
        "--presets", nargs="*", choices=list(PRESETS), default=[name for name in PRESETS if name != "default"]
    )
    parser.add_argument("--topics", type=int, help="only the first ones")
    parser.add_argument("--copies", type=int, default=COPIES, help="texts of a flooding attack")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="of the other systems' packages")
    parser.add_argument("--page", action="store_true", help="put the last run's results into the documentation")
    options = parser.parse_args(given)
    if options.page:
        put_into_page(restored(json.loads((options.folder / "poison.json").read_text(encoding="utf-8"))))
        return
    report = asyncio.run(run(options))
    save(report, options.folder)
    Console(width=170).print(Markdown(markdown(report)))


if __name__ == "__main__":
    main()
