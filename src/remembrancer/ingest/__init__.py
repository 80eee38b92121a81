"""Importers: files of conversations become event drafts, files of learnings become learnings, and files of other memory
systems become drafts of memories.

`read` yields the drafts and problems of one file. A bad record becomes a `Problem` with its location; the rest of the
file is read. Each draft has a key derived from the file's content, so reading a file again, also after it has grown,
gives the same drafts with the same keys. Nothing here writes, calls a model, or reads the clock or the environment.
"""

from remembrancer.ingest.formats import FORMATS_OF_SYSTEMS, Format, detect
from remembrancer.ingest.learnings import learnings, tags_of
from remembrancer.ingest.problem import Problem
from remembrancer.ingest.reading import imported, read
from remembrancer.ingest.systems.record import ImportedRecord

__all__ = [
    "FORMATS_OF_SYSTEMS",
    "Format",
    "ImportedRecord",
    "Problem",
    "detect",
    "imported",
    "learnings",
    "read",
    "tags_of",
]
