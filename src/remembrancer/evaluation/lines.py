"""Strict reading of JSON-lines files: any error is raised with its file and line."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from remembrancer.errors import InvalidInput
from remembrancer.ingest.lines import objects
from remembrancer.ingest.problem import Problem, RecordLocation


def records(argument: str, path: Path) -> Iterator[tuple[RecordLocation, dict[str, object]]]:
    """The object of each line with its location; blank lines are skipped.

    `argument`: names the file in an error. Raises InvalidInput when the file cannot be read or a line is not one JSON
    object.
    """
    if not path.is_file():
        raise InvalidInput(argument, str(path), "a file that can be read")
    for line in objects(path, None):
        if isinstance(line, Problem):
            raise InvalidInput(f"{path}:{line.line}", line.message, "one JSON object on each line")
        yield line


@contextmanager
def errors_at(place: RecordLocation) -> Generator[None, None, None]:
    """Prefix the argument of an InvalidInput raised inside with the file and the line."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{place.path}:{place.line}: {error.argument}", error.value, error.allowed) from error


def require_known_keys(what: str, record: Mapping[str, object], keys: Sequence[str]) -> None:
    """Raises InvalidInput for a key that is not in `keys`, so that a misspelt key is not silently ignored."""
    for key in record:
        if key not in keys:
            raise InvalidInput("key", key, f"keys of {what}: {', '.join(keys)}")
