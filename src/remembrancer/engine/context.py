"""The dependencies of engine functions, in one value."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol, TypeVar
from uuid import UUID

from remembrancer.domain.event import USUAL_EVENT_MB
from remembrancer.domain.scope import PART_OF_REACH, Reach, Reader, Scope, missing_part
from remembrancer.errors import PermissionDenied
from remembrancer.policies.admission.digests import digest
from remembrancer.ports.quantised import SCALE_BYTES, vector_bytes, vector_of
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.memory import Memory
    from remembrancer.domain.query import Filter
    from remembrancer.ports.changes import ReadView, WorkspaceState
    from remembrancer.ports.embedder import Embedder
    from remembrancer.ports.index import Index
    from remembrancer.ports.language_model import LanguageModel
    from remembrancer.ports.reranker import Reranker
    from remembrancer.ports.store import Store
    from remembrancer.presets.spec import Preset

PAGE: Final = 2_000
"""The number of memories read from the store at a time."""
MOST: Final = 16_384
"""The most turns in the cache; the least recently read are dropped. With 384 components: 8 MB."""


class TailVectors:
    """A cache of the vectors of turns for segmentation, by workspace and memory: an import may give memories of two
    workspaces the same id. Without it, turns would be embedded again whenever the stream grows.

    A vector is found only for the text that it was made of. A cache belongs to one embedder and preset, because both
    determine the vectors.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._vectors: OrderedDict[tuple[str, UUID], tuple[bytes, bytes]] = OrderedDict()

    def known(self, workspace: str, texts: Mapping[UUID, str]) -> dict[UUID, NDArray[np.float32]]:
        """The cached vectors of these memories with these texts. They become the most recently read."""
        found: dict[UUID, NDArray[np.float32]] = {}
        for memory, text in texts.items():
            key, vector = self._vectors.get((workspace, memory), (b"", b""))
            if key and key == digest(text):
                found[memory] = vector_of(vector, len(vector) - SCALE_BYTES)
                self._vectors.move_to_end((workspace, memory))
        return found

    def keep(self, workspace: str, vectors: Iterable[tuple[UUID, str, NDArray[np.float32]]]) -> None:
        """Add vectors of (memory, text, vector), and drop the least recently read."""
        # Rounded as those of the store are, so that both give the same boundaries.
        kept = {(workspace, memory): (digest(text), vector_bytes(vector)) for memory, text, vector in vectors}
        self._vectors.update(kept)
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)

    def forget(self, workspace: str, memories: Iterable[UUID]) -> None:
        """Remove the vectors of these memories."""
        for memory in memories:
            self._vectors.pop((workspace, memory), None)


T = TypeVar("T")

THREADS: Final = 2


class Executor:
    """A small thread pool. Threads start on first use."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "remembrancer-beside")

    def begin(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start `work` in another thread. Returns a function that waits for its result, or raises its error."""
        begun = threading.Event()

        def whole() -> T:
            begun.set()
            return work()

        result = self._threads.submit(whole)
        # Yield Python's global lock: the other thread would otherwise start only when this one waits.
        begun.wait()
        return result.result

    async def close(self) -> None:
        """Wait for running work, and close. Closing twice does nothing."""
        await asyncio.to_thread(self._threads.shutdown)


class Clock(Protocol):
    def __call__(self) -> datetime:
        """The current time, aware."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The store, models, preset, clock and other dependencies of engine functions.

    `without_embedder`, `without_llm`: why there is no embedder or language model, as shown to users; "" if there is
    one. `stopwatch`: seconds from any origin. `new_id`: a new id for an event or memory of that time. `tails`: vectors
    of turns that are in no episode yet. `executor`: threads for computation during a read. `walk_agents`: agents whose
    recalls follow `similar` relations if a question does not say. `max_event_mb`: the longest text of an event, in MiB.

    `before`: during a change of embedder, this context with the embedder from before the change; None: no change.
    `reembed_share`: the share of time, above 0 to 1, that background embedding for a change takes. `sealed_backups`:
    whether an erasure makes the erased rows in backups unreadable.
    """

    store: Store
    index: Index
    embedder: Embedder | None
    without_embedder: str
    preset: Preset
    clock: Clock
    stopwatch: Callable[[], float]
    new_id: Callable[[datetime], UUID]
    reranker: Reranker | None = None
    llm: LanguageModel | None = None
    without_llm: str = "no language model is set (llm)"
    walk_agents: frozenset[str] = frozenset()
    max_event_mb: int = USUAL_EVENT_MB
    before: Context | None = field(default=None, compare=False, repr=False)
    reembed_share: float = 1.0
    sealed_backups: bool = False
    tails: TailVectors = field(default_factory=TailVectors, compare=False, repr=False)
    executor: Executor = field(default_factory=Executor, compare=False, repr=False)

    @property
    def model(self) -> str | None:
        return None if self.embedder is None else self.embedder.model_id

    def answering(self, state: WorkspaceState) -> Context:
        """This context, or `before`: the one whose model answers in a workspace; if neither's does, this one."""
        return self.before if self.before is not None and self.before.model == state.model else self

    async def read(self, where: Filter, work: Callable[[ReadView], T]) -> T:
        """Run a function over one snapshot of the records: as they were then, for a filter of the past."""
        return await self.store.read((lambda view: work(view.as_of(where.current_at))) if where.past else work)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller: the scope that is written to, and the role that determines what is read.

    `bound`: the parts of the scope, and `role`, that this caller cannot change.
    """

    scope: Scope
    role: str
    bound: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The role and, if known, the agent, as receipts name them."""
        return self.role if self.scope.agent is None else f"{self.role} {self.scope.agent}"

    def as_other(self, role: str | None = None, **parts: str | None) -> Caller:
        """The caller with another role or other parts of the scope. Raises PermissionDenied for one that is bound."""
        for part in self.bound:
            own = self.role if part == "role" else getattr(self.scope, part)
            other = role or own if part == "role" else parts.get(part, own)
            if other != own:
                raise PermissionDenied(f"{part}: this key is bound to {own!r}")
        return replace(self, scope=self.scope.narrowed(**parts), role=role or self.role)


async def answering(ctx: Context, scope: Scope) -> Context:
    """The context whose embedder answers in the workspace now. Reads nothing unless there is a change of embedder."""
    return ctx if ctx.before is None else await ctx.store.read(lambda view: ctx.answering(view.state(scope)))


async def every_memory(
    ctx: Context, scope: Scope, where: Filter, *, unconsolidated: bool = False
) -> AsyncIterator[Memory]:
    """All memories of the workspace that the filter keeps, oldest first, whatever their visibility."""
    last: Memory | None = None
    while page := await ctx.store.workspace_memories(
        scope, where, limit=PAGE, after=last, unconsolidated=unconsolidated
    ):
        for last in page:
            yield last


def reader_of(ctx: Context, caller: Caller, reach: Reach | None = None, *, asking: bool = False) -> Reader:
    """The caller as a reader. `reach`: the requested reach; None: that of the caller's role under the preset's access
    policy.

    A role whose reach needs a scope part that the caller lacks sees the workspace, or the scope that it is bound to.
    But for a requested reach, and for a question (`asking`) under a strict preset, that raises InvalidInput. Raises
    PermissionDenied if a bound caller requests more than it would see otherwise.
    """
    access_policy = ctx.preset.access_policy
    usual = access_policy.reach_of(caller.role)
    if not (asking and access_policy.strict and reach is None) and missing_part(caller.scope, usual) is not None:
        usual = next((one for one in _BY_PART if PART_OF_REACH[one] in caller.bound), Reach.WORKSPACE)
    if reach is not None and caller.bound and reach.is_wider_than(usual):
        raise PermissionDenied(f"reach: this key is bound and cannot read beyond {usual.value!r}")
    return Reader(caller.scope, reach or usual, access_policy.shared_from)


def widest_reader(ctx: Context, caller: Caller) -> Reader:
    """The caller with the widest reach that it may request: the workspace, or for a bound caller that of its role."""
    return reader_of(ctx, caller) if caller.bound else Reader(caller.scope)


_BY_PART: Final = (Reach.OWN, Reach.SESSION, Reach.CREW_SHARED)
