"""Files of conversation in, event drafts out; files of learnings in, learnings out.

`read` turns one file into drafts and problems: a bad record is a `Problem` that says where it is, and the
rest of the file goes in. Every draft carries a key made from the file's own content, so reading a file again,
or reading it after it has grown, offers the same drafts under the same keys. Nothing here writes, asks a
model, reads the clock or the environment.
"""

from remembrancer.ingest.formats import Format, detect
from remembrancer.ingest.learnings import learnings, tags_of
from remembrancer.ingest.problem import Problem
from remembrancer.ingest.reading import read

__all__ = ["Format", "Problem", "detect", "learnings", "read", "tags_of"]
