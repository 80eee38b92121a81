"""The records of a run: a folder with one JSON-lines file per system, one question a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO, cast

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.lines import errors_at, plain, records
from remembrancer.evaluation.paired import COMPARED, PairedComparison, ScoredQuestion, compare_systems
from remembrancer.ingest import fields

REPORT: Final = "report.json"


@contextmanager
def open_lines(folder: Path, name: str) -> Generator[Callable[[Mapping[str, JsonValue]], None], None, None]:
    """Open `<name>.jsonl`; the block calls the returned function with each record.

    Creates the folder if needed and overwrites the file. Raises InvalidInput when it cannot be written.
    """
    with _open(folder, f"{name}.jsonl") as file:
        yield lambda record: cast("None", file.write(json.dumps(record, ensure_ascii=False) + "\n"))


def write_report(folder: Path, report: Mapping[str, JsonValue]) -> None:
    """Write `report.json`. Raises InvalidInput when it cannot be written."""
    with _open(folder, REPORT) as file:
        file.write(json.dumps(report, indent=2) + "\n")


def write_changed(folder: Path, comparison: PairedComparison) -> None:
    """Write the questions on which two systems differ, largest change first, as `<first>-against-<second>.jsonl`."""
    with open_lines(folder, f"{comparison.first}-against-{comparison.second}") as write:
        for one in comparison.changed:
            write(plain(one, without=("first", "second")))


def compare(first: Path, second: Path, *, seed: int) -> PairedComparison:
    """Compare two records: files, or folders of runs, of which the first system is taken.

    Raises InvalidInput naming the file, line, key, value and what is allowed, or a question that only one of them has.
    """
    validation.whole("seed", seed, 0, 2**32 - 1)
    files = [_file(argument, path) for argument, path in (("first", first), ("second", second))]
    names = [file.stem for file in files]
    if names[0] == names[1]:
        names = [str(file) for file in files]
    return compare_systems((names[0], names[1]), read(files[0]), read(files[1]), seed=seed)


def read(path: Path) -> tuple[ScoredQuestion, ...]:
    """The answerable questions in one system's records. Raises InvalidInput naming the file and line."""
    scored: dict[tuple[str, str], ScoredQuestion] = {}
    for place, record in records("records", path):
        with errors_at(place):
            if _required(record, "answerable") is False:
                continue
            one = _scored(record)
            if (one.conversation, one.id) in scored:
                raise InvalidInput("id", one.id, "each question once")
            scored[one.conversation, one.id] = one
    if not scored:
        raise InvalidInput("records", str(path), "at least one answerable question")
    return tuple(scored.values())


def _scored(record: Mapping[str, object]) -> ScoredQuestion:
    held = {
        **fields.as_object("turn", _required(record, "turn")),
        **fields.as_object("block", _required(record, "block")),
    }
    return ScoredQuestion(
        conversation=fields.as_text("conversation", _required(record, "conversation")),
        id=fields.as_text("id", _required(record, "id")),
        question=fields.as_text("question", _required(record, "question")),
        category=fields.as_text("category", _required(record, "category")),
        gold=tuple(fields.as_text("gold", item) for item in fields.as_list("gold", _required(record, "gold"))),
        metrics={name: validation.fraction(name, _required(held, name)) for name in COMPARED},
    )


def _required(record: Mapping[str, object], key: str) -> object:
    if key not in record:
        raise InvalidInput("key", key, "a record of `remembrancer eval`, which has it")
    return record[key]


def _file(argument: str, path: Path) -> Path:
    """The records file: `path` itself, or the first system's file when `path` is the folder of a run."""
    if not path.is_dir():
        return path
    report = path / REPORT
    try:
        document: object = json.loads(report.read_text(encoding="utf-8"))
        rows = fields.as_list("table", fields.as_object("report", document).get("table"))
        system = fields.as_text("system", fields.as_object("table", rows[0]).get("system"))
    except (OSError, ValueError, IndexError) as error:
        raise InvalidInput(argument, str(path), f"a folder with the {REPORT} of a run ({error})") from error
    return path / f"{system}.jsonl"


@contextmanager
def _open(folder: Path, name: str) -> Generator[TextIO, None, None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / name).open("w", encoding="utf-8")
    except OSError as error:
        raise InvalidInput("records", str(folder), f"a folder that can be written to ({error})") from error
    with file:
        yield file
