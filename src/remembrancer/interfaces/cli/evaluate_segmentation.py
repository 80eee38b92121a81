"""The command that measures the segmentation of streams into episodes."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

from remembrancer.interfaces.cli.evaluate import PlotOption, Seed, check, draw
from remembrancer.interfaces.cli.invocation import Invocation


def segmentation(
    call: Invocation,
    *,
    path: Annotated[Path, "PATH", "A file of dialogues, or a folder with such files."],
    part: Annotated[str | None, "train, dev, test or all. Default: test if there is one, else all."] = None,
    records: Annotated[Path | None, "DIR", "Write one line per dialogue to this folder, a file per set."] = None,
    plot: PlotOption = None,
    seed: Seed = 0,
    no_baselines: Annotated[bool, "Measure the default segmenter alone."] = False,
) -> None:
    """Measure where episodes begin.

    Segments dialogues that people have segmented, without a model, and reports Pk, WindowDiff and F1 of the default
    segmenter, and of no boundaries, random boundaries, fixed windows and TextTiling.

    Example: remembrancer eval segmentation dialseg --part test
    """
    from remembrancer.evaluation.segmentation import evaluate_segmentation
    from remembrancer.evaluation.segmentation_report import as_json, print_report, views

    check(plot)
    with call.measuring() as on_progress:
        report = asyncio.run(
            evaluate_segmentation(
                path,
                settings=call.settings,
                part=part,
                baselines=not no_baselines,
                seed=seed,
                folder=records,
                on_progress=on_progress,
            )
        )
    if plot is not None:
        from remembrancer.interfaces.charts import evaluation

        draw(call, plot, evaluation.documents(view for one in report.sets for view in views(one)))
    if call.as_json:
        call.write(json.dumps(as_json(report), indent=2))
        return
    print_report(report, call.marked_up)
