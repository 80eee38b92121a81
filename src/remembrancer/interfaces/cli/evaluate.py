"""The commands that measure retrieval, and the segmentation of streams into episodes."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.console import Console

from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import records, segmentation_report
from remembrancer.evaluation.dataset import Dataset, Selection
from remembrancer.evaluation.evaluate import Options, evaluate
from remembrancer.evaluation.locomo import load as load_locomo
from remembrancer.evaluation.questions import load as load_questions
from remembrancer.evaluation.report import as_json, paired_json
from remembrancer.evaluation.segmentation import evaluate_segmentation
from remembrancer.evaluation.segmentation_report import SegmentationView
from remembrancer.evaluation.tables import print_report, print_views
from remembrancer.evaluation.views import ReportView, of_paired, views
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.picture import check_installed
from remembrancer.values import dataclass

Seed = Annotated[int, "The seed of the samples for intervals and tests."]
PlotOption = Annotated[Path | None, "DIR", "Draw each table as a picture in this folder."]


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """Options of every measurement of retrieval."""

    records: Annotated[Path | None, "DIR", "Write one line per question to this folder, in one file per system."] = None
    plot: PlotOption = None
    against: Annotated[str | None, "PRESET", "Compare with this preset, question by question."] = None
    conversations: Annotated[int | None, "Only the first N conversations."] = None
    only: Annotated[str | None, "ID,...", "Only the conversations with these ids."] = None
    tuned: Annotated[str | None, "ID,...", "Also report these conversations and the others separately."] = None
    foreign: Annotated[int, "N", "Also ask each conversation N questions taken from others."] = 0
    depth: Annotated[int, "The number of hits to read, 20 to 200."] = 100
    seed: Seed = 0
    no_baselines: Annotated[bool, "Measure the memory alone."] = False
    with_headings: Annotated[bool, "Also measure baselines that read speakers and dates."] = False


def locomo(
    call: Invocation,
    *,
    path: Annotated[Path, "PATH", "locomo10.json from the LoCoMo data set, gzipped or not."],
    measuring: Measuring,
) -> None:
    """Measure retrieval on LoCoMo.

    Records each conversation in a new memory, asks its questions, and compares the hits with the turns that contain the
    answer, for the memory and for the baselines. The data set is not part of Remembrancer: download it first.

    Example: remembrancer eval locomo locomo10.json --records results
    """
    _measure(call, load_locomo(path), measuring)


def questions(
    call: Invocation,
    *,
    corpus: Annotated[Path, "CORPUS", "One turn per line: id, text; optionally time, speaker, place."],
    asked: Annotated[Path, "QUESTIONS", "One question per line: question, gold (ids of turns)."],
    measuring: Measuring,
) -> None:
    """Measure retrieval on questions of your own.

    Reads two files with one JSON object per line: turns, and questions with the ids of the turns that answer them (none
    if no turn does). Measures and reports as for LoCoMo.

    Example: remembrancer eval questions corpus.jsonl questions.jsonl --against mnemosyne
    """
    _measure(call, load_questions(corpus, asked), measuring)


def compare(
    call: Invocation,
    *,
    first: Annotated[Path, "FIRST", "The records of one system, or the folder of a run."],
    second: Annotated[Path, "SECOND", "The same for another system, on the same questions."],
    seed: Seed = 0,
    plot: PlotOption = None,
) -> None:
    """Compare the records of two measurements.

    Pairs the results of two systems on the same questions: the difference of each metric with its confidence interval,
    and the questions that changed most. For a folder, the first system of its run is compared.

    Example: remembrancer eval compare before/default.jsonl after/default.jsonl
    """
    _check(plot)
    told = records.compare(first, second, seed=seed)
    shown = list(of_paired(told))
    _show(call, plot, shown, paired_json(told), partial(print_views, shown))


def segmentation(
    call: Invocation,
    *,
    path: Annotated[Path, "PATH", "A file of dialogues, or a folder with such files."],
    part: Annotated[str | None, "train, dev, test or all. Default: test if there is one, else all."] = None,
    records: Annotated[Path | None, "DIR", "Write one line per dialogue to this folder, in one file per set."] = None,
    plot: PlotOption = None,
    seed: Seed = 0,
    no_baselines: Annotated[bool, "Measure the default segmenter alone."] = False,
) -> None:
    """Measure where episodes begin.

    Segments, without a model, dialogues that people have segmented. Reports Pk, WindowDiff and F1 for the default
    segmenter, and for no boundaries, random boundaries, fixed windows and TextTiling.

    Example: remembrancer eval segmentation dialseg --part test
    """
    _check(plot)
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
    shown = [view for one in report.sets for view in segmentation_report.views(one)]
    _show(
        call,
        plot,
        shown,
        segmentation_report.as_json(report),
        lambda out: segmentation_report.print_report(report, out),
    )


def _measure(call: Invocation, dataset: Dataset, measuring: Measuring) -> None:
    _check(measuring.plot)
    with call.measuring() as on_progress:
        options = Options(
            settings=call.settings,
            against=measuring.against,
            baselines=not measuring.no_baselines,
            headings=measuring.with_headings,
            selection=Selection(first=measuring.conversations, only=_ids(measuring.only), tuned=_ids(measuring.tuned)),
            foreign=measuring.foreign,
            depth=measuring.depth,
            seed=measuring.seed,
            folder=measuring.records,
            on_progress=on_progress,
        )
        report = asyncio.run(evaluate(dataset, options))
    _show(call, measuring.plot, list(views(report)), as_json(report), partial(print_report, report))


def _show(
    call: Invocation,
    plot: Path | None,
    shown: Sequence[ReportView | SegmentationView],
    document: JsonValue,
    show: Callable[[Console], None],
) -> None:
    """Draw the views into the folder of --plot, and print the report: as JSON with --json, otherwise as tables."""
    if plot is not None:
        from remembrancer.interfaces.charts import evaluation

        _draw(call, plot, evaluation.documents(shown))
    if call.as_json:
        call.write(json.dumps(document, indent=2))
    else:
        show(call.marked_up)


def _ids(given: str | None) -> tuple[str, ...]:
    return () if given is None else tuple(given.split(","))


def _check(plot: Path | None) -> None:
    """Check --plot before the measurement. Raises InvalidInput for a path that is not a folder, and Unsupported as
    `check_installed` does.
    """
    if plot is None:
        return
    if plot.exists() and not plot.is_dir():
        raise InvalidInput("--plot", str(plot), "a folder, which need not exist yet")
    check_installed()


def _draw(call: Invocation, folder: Path, documents: Mapping[str, str]) -> None:
    """Write each SVG document as NAME.png. Files of an earlier run are replaced."""
    from remembrancer.interfaces.charts.document import png

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, document in documents.items():
            (folder / f"{name}.png").write_bytes(png(document))
    except OSError as error:
        raise InvalidInput("--plot", str(folder), f"a folder that can be written to ({error.strerror})") from error
    call.note(f"drew {', '.join(f'{name}.png' for name in documents)} in {folder}")
