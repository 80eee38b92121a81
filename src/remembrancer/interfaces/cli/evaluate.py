"""The commands that measure retrieval."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.picture import check_installed
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.evaluation.dataset import Dataset

Seed = Annotated[int, "The seed of the samples for intervals and tests."]
PlotOption = Annotated[Path | None, "DIR", "Draw each table as a picture in this folder."]


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """Options of every measurement of retrieval."""

    records: Annotated[Path | None, "DIR", "Write one line per question to this folder, a file per system."] = None
    plot: PlotOption = None
    against: Annotated[str | None, "PRESET", "Compare with this preset, question by question."] = None
    conversations: Annotated[int | None, "Only the first N conversations."] = None
    only: Annotated[str | None, "ID,...", "Only the conversations with these ids."] = None
    tuned: Annotated[str | None, "ID,...", "Report these conversations and the others separately, too."] = None
    foreign: Annotated[int, "N", "Also ask each conversation N questions of the others."] = 0
    depth: Annotated[int, "The number of hits that are read, 20 to 200."] = 100
    seed: Seed = 0
    no_baselines: Annotated[bool, "Measure the memory alone."] = False
    with_headings: Annotated[bool, "Also measure baselines that read speakers and dates."] = False


def locomo(
    call: Invocation,
    *,
    path: Annotated[Path, "PATH", "locomo10.json of the LoCoMo data set, gzipped or not."],
    measuring: Measuring,
) -> None:
    """Measure retrieval on LoCoMo.

    Records each conversation in a new memory, asks its questions, and compares the hits with the turns that contain the
    answer, for the memory and for the baselines. The data set is not part of Remembrancer: download it first.

    Example: remembrancer eval locomo locomo10.json --records results
    """
    from remembrancer.evaluation.locomo import load

    _measure(call, load(path), measuring)


def questions(
    call: Invocation,
    *,
    corpus: Annotated[Path, "CORPUS", "One turn per line: id, text; optionally time, speaker, place."],
    asked: Annotated[Path, "QUESTIONS", "One question per line: question, gold (ids of turns)."],
    measuring: Measuring,
) -> None:
    """Measure retrieval on questions of your own.

    Two files with one JSON object per line: what was said, and questions with the ids of the turns that answer them,
    none if nothing does. Measured and reported as for LoCoMo.

    Example: remembrancer eval questions corpus.jsonl questions.jsonl --against mnemosyne
    """
    from remembrancer.evaluation.questions import load

    _measure(call, load(corpus, asked), measuring)


def compare(
    call: Invocation,
    *,
    first: Annotated[Path, "FIRST", "Records of one system, or the folder of a run."],
    second: Annotated[Path, "SECOND", "The same of another system, on the same questions."],
    seed: Seed = 0,
    plot: PlotOption = None,
) -> None:
    """Compare the records of two measurements.

    Pairs the results of two systems on the same questions: the difference of each metric with its confidence interval,
    and the questions that changed most. A folder stands for the first system of its run.

    Example: remembrancer eval compare before/default.jsonl after/default.jsonl
    """
    from remembrancer.evaluation import records
    from remembrancer.evaluation.report import paired_json
    from remembrancer.evaluation.tables import print_views
    from remembrancer.evaluation.views import of_paired

    check(plot)
    told = records.compare(first, second, seed=seed)
    if plot is not None:
        from remembrancer.interfaces.charts import evaluation

        draw(call, plot, evaluation.documents(of_paired(told)))
    if call.as_json:
        call.write(json.dumps(paired_json(told), indent=2))
        return
    print_views(of_paired(told), call.marked_up)


def _measure(call: Invocation, dataset: Dataset, measuring: Measuring) -> None:
    from remembrancer.evaluation.dataset import Selection
    from remembrancer.evaluation.evaluate import Options, evaluate
    from remembrancer.evaluation.report import as_json
    from remembrancer.evaluation.tables import print_report
    from remembrancer.evaluation.views import views

    check(measuring.plot)
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
    if measuring.plot is not None:
        from remembrancer.interfaces.charts import evaluation

        draw(call, measuring.plot, evaluation.documents(views(report)))
    if call.as_json:
        call.write(json.dumps(as_json(report), indent=2))
        return
    print_report(report, call.marked_up)


def _ids(given: str | None) -> tuple[str, ...]:
    return () if given is None else tuple(given.split(","))


def check(plot: Path | None) -> None:
    """Check --plot before the measurement. Raises InvalidInput for a path that is not a folder, and Unsupported as
    `check_installed` does.
    """
    if plot is None:
        return
    if plot.exists() and not plot.is_dir():
        raise InvalidInput("--plot", str(plot), "a folder, which need not exist yet")
    check_installed()


def draw(call: Invocation, folder: Path, documents: Mapping[str, str]) -> None:
    """Write each SVG document as NAME.png. Files of an earlier run are replaced."""
    from remembrancer.interfaces.charts.document import png

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, document in documents.items():
            (folder / f"{name}.png").write_bytes(png(document))
    except OSError as error:
        raise InvalidInput("--plot", str(folder), f"a folder that can be written to ({error.strerror})") from error
    call.note(f"drew {', '.join(f'{name}.png' for name in documents)} in {folder}")
