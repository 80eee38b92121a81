"""All that an engine function depends on, in one argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.engine.executor import Executor
from remembrancer.engine.tail_vectors import TailVectors
from remembrancer.presets.spec import Preset
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.ports.embedder import Embedder
    from remembrancer.ports.index import Index
    from remembrancer.ports.language_model import LanguageModel
    from remembrancer.ports.reranker import Reranker
    from remembrancer.ports.store import Store


class Clock(Protocol):
    def __call__(self) -> datetime:
        """The time now, aware."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """`without_embedder` says why there is none, in the words every surface shows; empty when there is one. So does
    `without_llm` of a language model.

    `stopwatch` counts seconds from any start; `new_id` makes the id of something that happens at a time. `tails`: what
    this process need not embed again. `executor`: threads for arithmetic beside a read.
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
    tails: TailVectors = field(default_factory=TailVectors, compare=False, repr=False)
    executor: Executor = field(default_factory=Executor, compare=False, repr=False)

    @property
    def model(self) -> str | None:
        return None if self.embedder is None else self.embedder.model_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: whose rows are written, and as what role they are read."""

    scope: Scope
    role: str


def reader_of(ctx: Context, caller: Caller, reach: Reach | None = None, *, asking: bool = False) -> Reader:
    """The caller as a reader: as far as asked for, else as its role looks in this preset.

    A role whose reach speaks of a scope part the caller does not have looks over the workspace: there is nothing
    narrower it could mean. A reach asked for by name raises InvalidInput then, and so does a question (`asking`) under
    a preset that is strict about it.
    """
    sight = ctx.preset.sight
    if reach is not None:
        return Reader(caller.scope, reach, sight.shared_from)
    usual = sight.reach_of(caller.role)
    if asking and sight.strict:
        return Reader(caller.scope, usual, sight.shared_from)
    needed = {Reach.SESSION: caller.scope.session, Reach.OWN: caller.scope.agent, Reach.CREW_SHARED: caller.scope.crew}
    return Reader(caller.scope, Reach.WORKSPACE if needed.get(usual, "") is None else usual, sight.shared_from)
