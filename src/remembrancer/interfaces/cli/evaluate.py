"""The commands that measure."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from remembrancer.interfaces.cli.invocation import Invocation


def locomo(
    call: Invocation,
    *,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="locomo10.json of the LoCoMo data set, gzipped or not.")],
    records: Annotated[
        Path | None, typer.Option("--records", metavar="DIR", help="Write one line a question there, a file a system.")
    ] = None,
    conversations: Annotated[
        int | None, typer.Option("--conversations", help="Only the first so many conversations.")
    ] = None,
    depth: Annotated[int, typer.Option("--depth", help="How far down answers are read, 20 to 200.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Draws the samples of the intervals.")] = 0,
    no_baselines: Annotated[bool, typer.Option("--no-baselines", help="Measure the memory alone.")] = False,
) -> None:
    """Measure retrieval on LoCoMo.

    Feeds each conversation to a new memory, asks its questions, and compares what comes back with the turns that hold
    the answer; so do the baselines. The data set is not part of Remembrancer: download it first.

    Example: remembrancer eval locomo locomo10.json --records results
    """
    from remembrancer.evaluation.evaluate import evaluate_locomo
    from remembrancer.evaluation.report import as_json, print_report

    with call.measuring() as on_progress:
        report = asyncio.run(
            evaluate_locomo(
                path,
                settings=call.settings,
                baselines=not no_baselines,
                depth=depth,
                seed=seed,
                conversations=conversations,
                records=records,
                on_progress=on_progress,
            )
        )
    if call.as_json:
        call.write(json.dumps(as_json(report), indent=2))
        return
    print_report(report, call.marked_up)
