"""Values as JSON, and strict reading of JSON-lines files: any error is raised with its file and line."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

from remembrancer.errors import InvalidInput, unreadable
from remembrancer.ingest.lines import objects
from remembrancer.ingest.problem import Problem, RecordLocation


def records(argument: str, path: Path) -> Iterator[tuple[RecordLocation, dict[str, object]]]:
    """The object of each line with its location; blank lines are skipped.

    `argument`: names the file in an error. Raises InvalidInput when the file cannot be read or a line is not one JSON
    object.
    """
    if not path.is_file():
        raise unreadable(argument, path, "a file of JSON lines")
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


def plain(value: object, *, without: tuple[str, ...] = ()) -> Any:
    """The value as JSON: of a dataclass each field by its name, except those in `without`; a tuple as a list."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name not in without}
    if isinstance(value, Mapping):
        return {key: plain(held) for key, held in cast("Mapping[str, object]", value).items()}
    if isinstance(value, tuple | list):
        return [plain(held) for held in cast("list[object]", value)]
    return value
