"""Records of files that are JSON: one document, or one object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from remembrancer.errors import InvalidInput
from remembrancer.ingest import document
from remembrancer.ingest.fields import as_list, is_object
from remembrancer.ingest.lines import objects
from remembrancer.ingest.problem import Problem, RecordLocation


def records(path: Path, called: str, *lists: str) -> Iterator[tuple[RecordLocation, object]]:
    """The records of a JSON file with their locations: those of a list, of the first of `lists` that the document has,
    or the document as the only one. `called`: what a record is called in a location.

    Raises InvalidInput if the file is not JSON.
    """
    found = loaded(path)
    if is_object(found):
        found = next((found[name] for name in lists if name in found), [found])
    several = as_list("file", found)
    for number, record in enumerate(several, start=1):
        yield RecordLocation(path, record=f"{called} {number}"), record


def loaded(path: Path) -> object:
    """The JSON document of a file; of a file of JSON lines, the list of its objects. Raises InvalidInput."""
    try:
        [(_, whole)] = document.documents(path)
    except InvalidInput:
        found = list(objects(path, None))
        broken = [item for item in found if isinstance(item, Problem)]
        if broken or len(found) < 2:
            raise
        return [item[1] for item in found if not isinstance(item, Problem)]
    return whole
