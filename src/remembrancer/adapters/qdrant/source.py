"""Qdrant as a source of candidates: points written from the change feed, searched by vector and by terms."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import UUID

import numpy as np

from remembrancer.adapters.qdrant.points import Space, has_id, is_, is_any, kept_by, points_of, ranges, terms_query
from remembrancer.adapters.qdrant.transport import TERMS, Found, QdrantUnavailable, RestValues, Transport, Unfit
from remembrancer.domain.scope import Scope
from remembrancer.errors import EmbedderMismatch
from remembrancer.ports.candidate_source import Drift, SourceUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.query import LexicalQuery
    from remembrancer.ports.candidate_source import Wanted
    from remembrancer.ports.changes import ChangedMemory, ChangeFeed, WorkspaceState
    from remembrancer.ports.embeddings import Vector

T = TypeVar("T")

AT_A_QUESTION: Final = 1000
"""A question waits while up to this many changed memories are written; if more are missing, the sweep writes them."""
BATCH: Final = 200
"""The number of memories written at a time."""
MANY: Final = 10_000
"""After a filling with this many memories, a folder's files are written anew with quantised vectors."""
REST_S: Final = 5.0
"""The time in seconds for which Qdrant is not asked after it did not answer, so that not every question waits."""
MOST_POINTS: Final = 10_000
"""The greatest number of points asked for, if the best ones belong to few memories."""
TOLERANCE: Final = 1e-5


@dataclass(frozen=True, slots=True)
class SpaceMark:
    """The last change and erasure of a workspace that its points reflect. `dim`: of the vectors; 0 without any.

    `suspect`: two processes wrote at once, and the older snapshot may have written points that are gone.
    """

    change: int = 0
    erasures: int = 0
    dim: int = 0
    suspect: bool = False


class QdrantSource:
    """See `CandidateSource`. `name`: the address for messages. `clock`: monotonic, in seconds."""

    def __init__(self, transport: Transport, name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._transport, self.name, self._clock = transport, name, clock
        self._is_ready = False
        self._resting: tuple[float, str] | None = None
        """Until when Qdrant is not asked, and why."""
        self._held: dict[Space, SpaceMark] = {}
        self._complete: dict[str, Space] = {}
        """A space of each workspace that this process knows to be complete."""
        self._vectors: defaultdict[Space, set[int]] = defaultdict(set)
        """The dimensions for which there is a dense vector."""
        self._writing: defaultdict[Space, threading.Lock] = defaultdict(threading.Lock)
        self._preparing = threading.Lock()

    def connect(self) -> None:
        """Ask Qdrant for the first time. Raises Unfit; if it does not answer, questions are answered without it."""
        try:
            self._asked(self._ready)
        except SourceUnavailable as error:
            if isinstance(error.__cause__, Unfit):
                raise error.__cause__ from None

    # ── questions ────────────────────────────────────────────────────────────────────────────────────────────────

    def catch_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> str:
        if feed.at is not None:
            return "Qdrant compares the present texts: it holds no earlier ones"
        space, state = Space(scope.workspace, model), feed.state(scope)
        with self._writing[space]:
            held = self._reached(space)
            if held.change >= state.change and held.erasures >= state.erasures:
                self._complete[space.workspace] = space
                return ""
            missing = feed.count_changed(scope, after=held.change)
            if missing > AT_A_QUESTION:
                self._forget(feed, space, scope, held, state)
                return f"the index lacks {missing} changed memories, which the index sweep adds"
            self._write(feed, space, scope, held, state)
            return ""

    def dense(self, feed: ChangeFeed, wanted: Wanted, model: str, vector: Vector) -> Sequence[UUID]:
        space = Space(wanted.reader.scope.workspace, model)
        dim = self._reached(space).dim
        if not dim:
            return []
        if dim != len(vector):
            raise EmbedderMismatch(f"the question's vector has {len(vector)} dimensions, the texts' have {dim}")
        return self._best(space, wanted, vector.tolist(), space.vector(dim))

    def lexical(
        self, feed: ChangeFeed, wanted: Wanted, query: LexicalQuery, holding: Sequence[int]
    ) -> Sequence[UUID] | None:
        space = self._complete.get(wanted.reader.scope.workspace)
        if space is None:
            return None
        return self._best(space, wanted, terms_query(query.terms, holding, wanted.visible), TERMS)

    def prepare(self, model: str, dim: int) -> None:
        """Does nothing: a collection is made when its first vectors are written."""

    async def close(self) -> None:
        self._transport.close()

    def _best(self, space: Space, wanted: Wanted, query: Any, using: str) -> list[UUID]:
        """The memories of the best points. Several points may belong to one memory: more are asked for if needed."""
        matching = kept_by(space, wanted.reader, wanted.where)
        limit = wanted.limit
        while True:
            found = self._asked(partial(self._transport.nearest, query, using=using, matching=matching, limit=limit))
            memories = list(dict.fromkeys(one.payload["memory"] for one in found))[: wanted.limit]
            if len(memories) == wanted.limit or len(found) < limit or limit >= MOST_POINTS:
                return list(map(UUID, memories))
            limit = min(limit * 4, MOST_POINTS)

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def fill(self, feed: ChangeFeed, scope: Scope, model: str | None) -> int:
        """Write every change that is missing, however many; returns how many memories were written. For the sweep.

        If it is interrupted, the next call writes the same points again.
        """
        space, state = Space(scope.workspace, model), feed.state(scope)
        with self._writing[space]:
            held = self._stored(space)
            if held.change >= state.change and held.erasures >= state.erasures and not held.suspect:
                self._held[space] = held
                self._complete[space.workspace] = space
                return 0
            written = self._write(feed, space, scope, held, state)
            if written >= MANY:
                self._asked(self._transport.purge)
        if self._held[space].suspect:
            self.check(feed, scope, model, mend=True)
        return written

    def forget(self, feed: ChangeFeed, scope: Scope) -> None:
        """See `SeparateSource`. Every space of the workspace has the number of the last erasure in its mark."""
        state, space = feed.state(scope), Space(scope.workspace, None)
        if not state.erasures:
            return
        self._asked(self._ready)
        found = self._asked(
            lambda: self._transport.scroll({"must": [is_("labels", space.mark_label)]}, limit=MOST_POINTS, after=None)
        )
        marks = {one.id: SpaceMark(**one.payload["mark"]) for one in found[0]}
        first = min((mark.erasures for mark in marks.values()), default=state.erasures)
        if first >= state.erasures:
            return
        self._delete(is_("workspace", space.workspace), feed.erased(scope, after=first))
        self._asked(self._transport.settle)
        for id_, mark in marks.items():
            self._asked(partial(self._transport.upsert, [_marked(space, id_, replace(mark, erasures=state.erasures))]))
        self._held.clear()
        self._asked(self._transport.purge)

    def drop(self, scope: Scope, model: str | None) -> None:
        """Delete the points of a workspace and model. The next question or sweep writes them again."""
        space = Space(scope.workspace, model)
        with self._writing[space]:
            self._asked(self._ready)
            self._asked(lambda: self._transport.delete({"must": [has_id([space.mark])]}))
            self._held.pop(space, None)
            self._complete.pop(space.workspace, None)
            self._asked(lambda: self._transport.delete(space.matching()))

    def _write(self, feed: ChangeFeed, space: Space, scope: Scope, held: SpaceMark, state: WorkspaceState) -> int:
        held = self._forget(feed, space, scope, held, state)
        dim, written = held.dim, 0
        changes = feed.changes(Scope(workspace=scope.workspace), after=held.change, model=space.model)
        while memories := list(islice(changes, BATCH)):
            points = [point for memory in memories for point in points_of(space, memory, state.change)]
            dim = self._dim(space, memories) or dim
            # A process with an older snapshot replaces nothing newer.
            unchanged = {"must": [ranges("seen", lte=state.change)]}
            self._asked(partial(self._transport.upsert, points, only=unchanged))
            of_them = is_any("memory", [str(memory.id) for memory in memories])
            self._asked(partial(self._transport.delete, space.matching(of_them, ranges("seen", lt=state.change))))
            written += len(memories)
        self._mark(space, held, SpaceMark(state.change, max(state.erasures, held.erasures), dim, held.suspect))
        return written

    def _forget(
        self, feed: ChangeFeed, space: Space, scope: Scope, held: SpaceMark, state: WorkspaceState
    ) -> SpaceMark:
        """Delete the points of memories that were erased since."""
        if held.erasures >= state.erasures:
            return held
        self._delete(is_("workspace", space.workspace), feed.erased(scope, after=held.erasures))
        forgotten = replace(held, erasures=state.erasures)
        self._mark(space, held, forgotten)
        return forgotten

    def _delete(self, matching: RestValues, memories: Iterable[UUID]) -> None:
        ids = sorted(map(str, memories))
        for start in range(0, len(ids), BATCH):
            those = is_any("memory", ids[start : start + BATCH])
            self._asked(partial(self._transport.delete, {"must": [matching, those]}))

    def _dim(self, space: Space, memories: Iterable[ChangedMemory]) -> int:
        """The dimension of their vectors; 0 without any."""
        dims = {len(cue.vector) for memory in memories for cue in memory.cues if cue.vector is not None}
        for dim in sorted(dims):
            if dim not in self._vectors[space]:
                self._asked(partial(self._transport.add_vector, space.vector(dim), dim))
                self._vectors[space].add(dim)
        return max(dims, default=0)

    def _mark(self, space: Space, before: SpaceMark, held: SpaceMark) -> None:
        """Store what Qdrant holds now, after the points themselves are on the disk. `before`: what it held when this
        process began to write. If another process has written meanwhile, the points are checked by the next sweep.
        """
        self._asked(self._transport.settle)
        now = self._stored(space)
        if now != before:
            held = replace(
                held,
                change=max(held.change, now.change),
                erasures=max(held.erasures, now.erasures),
                dim=held.dim or now.dim,
                suspect=True,
            )
        self._put(space, held)

    def _put(self, space: Space, held: SpaceMark) -> None:
        self._asked(lambda: self._transport.upsert([_marked(space, space.mark, held)]))
        self._held[space] = held
        self._complete[space.workspace] = space

    def _reached(self, space: Space) -> SpaceMark:
        """The mark of a space, as this process knows it."""
        if space not in self._held:
            self._held[space] = self._stored(space)
        return self._held[space]

    def _stored(self, space: Space) -> SpaceMark:
        self._asked(self._ready)
        found = self._asked(lambda: self._transport.retrieve([space.mark]))
        return SpaceMark(**found[0].payload["mark"]) if found else SpaceMark()

    # ── checking ─────────────────────────────────────────────────────────────────────────────────────────────────

    def check(self, feed: ChangeFeed, scope: Scope, model: str | None, *, mend: bool) -> Drift:
        """Compare every point with the records, by id, payload and vectors. `mend`: write and delete what differs.

        Reads the whole workspace on both sides. What changes meanwhile is not counted.
        """
        space, state = Space(scope.workspace, model), feed.state(scope)
        with self._writing[space]:
            before = self._stored(space)
            missing = outdated = 0
            expected: set[str] = set()
            dim = 0
            changes = feed.changes(Scope(workspace=scope.workspace), after=0, model=model)
            while memories := list(islice(changes, BATCH)):
                dim = self._dim(space, memories) or dim
                points = {one["id"]: one for memory in memories for one in points_of(space, memory, state.change)}
                expected.update(points)
                there = {one.id: one for one in self._asked(partial(self._retrieved, list(points)))}
                wrong = [one for id_, one in points.items() if id_ not in there or _differs(one, there[id_])]
                missing += sum(one["id"] not in there for one in wrong)
                outdated += sum(one["id"] in there for one in wrong)
                if mend and wrong:
                    self._asked(partial(self._transport.upsert, wrong))
            left = [one.id for one in self._all(space, state) if one.id not in expected]
            if mend:
                for start in range(0, len(left), BATCH):
                    self._asked(partial(self._transport.delete, {"must": [has_id(left[start : start + BATCH])]}))
                self._asked(self._transport.settle)
                self._put(space, SpaceMark(state.change, state.erasures, dim or before.dim))
        return Drift(expected=len(expected), missing=missing, outdated=outdated, left_over=len(left), mended=mend)

    def _retrieved(self, ids: Sequence[str]) -> Sequence[Found]:
        return self._transport.retrieve(ids, vectors=True)

    def _all(self, space: Space, state: WorkspaceState) -> Iterator[Found]:
        """The points of a space that are not newer than the snapshot."""
        matching, after = space.matching(ranges("seen", lte=state.change)), None
        while True:
            page, after = self._asked(partial(self._transport.scroll, matching, limit=BATCH * 5, after=after))
            yield from page
            if after is None:
                return

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _ready(self) -> None:
        with self._preparing:
            if not self._is_ready:
                self._transport.shape()
                self._is_ready = True

    def _asked(self, call: Callable[[], T]) -> T:
        """The answer of a call. Raises SourceUnavailable, at once while Qdrant rests."""
        if self._resting is not None and self._clock() < self._resting[0]:
            raise SourceUnavailable(self._resting[1])
        try:
            answer = call()
        except (QdrantUnavailable, Unfit) as error:
            reason = f"{self.name}: {error}"
            self._resting = self._clock() + REST_S, reason
            # it may come back with other points: what it holds is read again
            self._held.clear()
            self._complete.clear()
            self._vectors.clear()
            self._is_ready = False
            raise SourceUnavailable(reason) from error
        self._resting = None
        return answer


def _marked(space: Space, id_: str, mark: SpaceMark) -> RestValues:
    values = {name: getattr(mark, name) for name in SpaceMark.__dataclass_fields__}
    return {"id": id_, "vector": {}, "payload": {"labels": [space.mark_label], "mark": values}}


def _differs(expected: RestValues, there: Found) -> bool:
    """Whether a point has another payload or other vectors. `seen` may differ: it is the number of any later change."""
    if {**there.payload, "seen": 0} != {**expected["payload"], "seen": 0}:
        return True
    if there.vector.keys() != expected["vector"].keys():
        return True
    return any(_apart(vector, there.vector[name]) for name, vector in expected["vector"].items())


def _apart(one: Any, other: Any) -> bool:
    if not isinstance(one, dict):
        return not np.allclose(one, other, rtol=0, atol=TOLERANCE)
    mine, theirs = _weights(cast("RestValues", one)), _weights(other)
    return mine.keys() != theirs.keys() or any(abs(mine[term] - theirs[term]) > TOLERANCE for term in mine)


def _weights(sparse: RestValues) -> dict[int, float]:
    return dict(zip(sparse["indices"], sparse["values"], strict=True))
