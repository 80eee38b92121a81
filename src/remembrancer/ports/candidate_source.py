"""Candidate sources: servers that choose the memories worth scoring, for workspaces that do not fit into memory.

A source only chooses. `index.candidates.CandidateIndex` reads the chosen memories and the turns around them from the
records, drops those that the reader may not see, and computes every score itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast
from uuid import UUID

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.query import Filter, LexicalQuery
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.ports.changes import ChangeFeed
    from remembrancer.ports.embeddings import Vector


class SourceUnavailable(Exception):
    """The source does not answer. Only for a source outside of the records' database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The memories that a source may choose: those that the reader may see and the filter keeps, now or at `feed.at`.

    `limit`: the number of memories wanted, more than the question asks for. `visible`: about how many memories there
    are to choose from, by which a source may decide how to search.
    """

    reader: Reader
    where: Filter
    limit: int
    visible: int


class CandidateSource(Protocol):
    """Chooses memories by their vectors or their terms. Any thread may call any method.

    A source must choose among all memories of the reader that the filter keeps: it applies visibility and filter while
    searching, not to what it found. It may miss some of the best ones, and it may return memories that are hidden, have
    changed or no longer exist: every memory is checked against the records. What it chooses depends only on memories
    that the reader may see.
    """

    def catch_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> str:
        """Read the changes of a workspace that this source lacks, if that takes little time. Called before each search.

        Returns "" if the source has all changes that the feed has (a source in the records' own database always does),
        otherwise the reason why it may lack some; terms are then looked up in the records, and the answer is reported
        as degraded. Raises SourceUnavailable.
        """
        ...

    def dense(self, feed: ChangeFeed, wanted: Wanted, model: str, vector: Vector) -> Sequence[UUID]:
        """The memories with the cues closest to the vector (float32 (dim,), unit length) by cosine, closest first.

        Raises EmbedderMismatch if the workspace's vectors of this model have another dimension, SourceUnavailable.
        """
        ...

    def lexical(
        self, feed: ChangeFeed, wanted: Wanted, query: LexicalQuery, holding: Sequence[int]
    ) -> Sequence[UUID] | None:
        """The memories with a cue that has any of the query's terms, in descending order of a score of this source.

        `holding`: for each term, about how many visible cues have it. None: this source has no terms; they are looked
        up in the records. Phrases are always looked up there. Raises SourceUnavailable.
        """
        ...

    def prepare(self, model: str, dim: int) -> None:
        """See `Index.prepare`."""
        ...

    async def close(self) -> None:
        """Release memory and connections. Closing twice does nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The comparison of a source with the records. `expected`: the cues in the records.

    `missing`: the source lacks them; `outdated`: it holds something else for them; `left_over`: what it holds for no
    cue of the records. `mended`: whether they were written and deleted.
    """

    expected: int
    missing: int
    outdated: int
    left_over: int
    mended: bool

    @property
    def total(self) -> int:
        return self.missing + self.outdated + self.left_over


class SeparateSource(CandidateSource, Protocol):
    """A source outside of the records' database. It can be behind, be down, or be changed by others.

    The methods here take as long as they need, run inside a read of the store, and raise SourceUnavailable.
    """

    @property
    def name(self) -> str:
        """Its address for messages, without any key."""
        ...

    def fill(self, feed: ChangeFeed, scope: Scope, model: str | None) -> int:
        """Read every change of a workspace that this source lacks. Returns the number of memories.

        If it is interrupted, the next call reads the same changes again.
        """
        ...

    def forget(self, feed: ChangeFeed, scope: Scope) -> None:
        """Delete what was erased from a workspace, for every model. Afterwards nothing of it is in the source, nor in
        its files, if this process owns them. Does nothing if it has been done.
        """
        ...

    def check(self, feed: ChangeFeed, scope: Scope, model: str | None, *, mend: bool) -> Drift:
        """Compare all that the source holds of a workspace and model with the records; with `mend`, correct it."""
        ...

    def drop(self, scope: Scope, model: str | None) -> None:
        """Remove what the source holds of a workspace and model; the next `fill` reads everything."""
        ...


def separate_source(index: object) -> SeparateSource | None:
    """The source of an index that has one outside of the records' database."""
    source: object = getattr(index, "source", None)
    is_separate = all(hasattr(source, name) for name in ("fill", "forget", "check", "drop"))
    return cast("SeparateSource", source) if is_separate else None
