"""Importers: files of conversations become event drafts, and files of learnings become learnings.

`read` yields the drafts and problems of one file. A bad record becomes a `Problem` with its location; the rest of the
file is read. Each draft has a key derived from the file's content, so reading a file again, also after it has grown,
gives the same drafts with the same keys. Nothing here writes, calls a model, or reads the clock or the environment.
"""

from remembrancer.ingest.formats import Format, detect
from remembrancer.ingest.learnings import learnings, tags_of
from remembrancer.ingest.problem import Problem
from remembrancer.ingest.reading import read

__all__ = ["Format", "Problem", "detect", "learnings", "read", "tags_of"]
