"""The same memory for programs that do not await: every method of AsyncRemembrancer, run on one private event loop.

The loop runs in a thread of its own, so the methods may be called from any thread, also from one that runs a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from types import MethodType, TracebackType
from typing import Any, Concatenate, ParamSpec, Self, cast

from remembrancer.domain.scope import Scope
from remembrancer.facade import AsyncRemembrancer
from remembrancer.facade.blocking import Blocking, Loop, blocking, iterating, like
from remembrancer.facade.health import AsyncHealthApi
from remembrancer.facade.jobs import AsyncJobsApi
from remembrancer.facade.journal import AsyncJournalApi
from remembrancer.facade.keys import AsyncKeysApi
from remembrancer.facade.learnings import AsyncLearningsApi
from remembrancer.facade.presets import AsyncPresetsApi
from remembrancer.facade.vault import AsyncVaultApi
from remembrancer.presets.spec import Preset

P = ParamSpec("P")


class JournalApi(Blocking[AsyncJournalApi]):
    """Reads the journal, follows it, and marks its entries. `observe` and `log` write to it."""

    log = blocking(AsyncJournalApi.log)
    list = blocking(AsyncJournalApi.list)
    page = blocking(AsyncJournalApi.page)
    get = blocking(AsyncJournalApi.get)
    count = blocking(AsyncJournalApi.count)
    count_by_day = blocking(AsyncJournalApi.count_by_day)
    recorded = blocking(AsyncJournalApi.recorded)
    tail = iterating(AsyncJournalApi.tail)
    wait = blocking(AsyncJournalApi.wait)
    set_priority = blocking(AsyncJournalApi.set_priority)
    priority_changes = blocking(AsyncJournalApi.priority_changes)


class HealthApi(Blocking[AsyncHealthApi]):
    """Reads only: `rem.maintain` takes the snapshots."""

    latest = blocking(AsyncHealthApi.latest)
    history = blocking(AsyncHealthApi.history)
    stats = blocking(AsyncHealthApi.stats)
    decay = blocking(AsyncHealthApi.decay)
    fading = blocking(AsyncHealthApi.fading)
    outlooks = blocking(AsyncHealthApi.outlooks)
    curve = blocking(AsyncHealthApi.curve)
    search_state = blocking(AsyncHealthApi.search_state)
    doctor = blocking(AsyncHealthApi.doctor)


class JobsApi(Blocking[AsyncJobsApi]):
    """Runs the jobs, and says how they stand."""

    list = blocking(AsyncJobsApi.list)
    work = blocking(AsyncJobsApi.work)
    index_now = blocking(AsyncJobsApi.index_now)
    spending = blocking(AsyncJobsApi.spending)


class KeysApi(Blocking[AsyncKeysApi]):
    """Makes, lists and revokes the workspace's keys."""

    create = blocking(AsyncKeysApi.create)
    list = blocking(AsyncKeysApi.list)
    revoke = blocking(AsyncKeysApi.revoke)
    find = blocking(AsyncKeysApi.find)
    exist = blocking(AsyncKeysApi.exist)


class LearningsApi(Blocking[AsyncLearningsApi]):
    """Reminds agents to write down what they learned, and spreads it. `rem.learn` keeps a learning."""

    nudge = blocking(AsyncLearningsApi.nudge)
    promotable = blocking(AsyncLearningsApi.promotable)
    promote = blocking(AsyncLearningsApi.promote)
    enter_stage = blocking(AsyncLearningsApi.enter_stage)


class PresetsApi(Blocking[AsyncPresetsApi]):
    """The preset in use, and how others would rank the same memories."""

    @property
    def in_use(self) -> Preset:
        """What this memory was opened with."""
        return self._inner.in_use

    compare = blocking(AsyncPresetsApi.compare)


class VaultApi(Blocking[AsyncVaultApi]):
    """Brings a folder and the memory to the same state. With a project in the scope, the folder is that project's."""

    sync = blocking(AsyncVaultApi.sync)
    check = blocking(AsyncVaultApi.check)
    rebuild = blocking(AsyncVaultApi.rebuild)


def opening(
    method: Callable[P, Coroutine[Any, Any, AsyncRemembrancer]],
) -> Callable[Concatenate[type[Remembrancer], P], Remembrancer]:
    """The same constructor for a blocking memory: it starts the loop that the memory then lives on."""

    def call(cls: type[Remembrancer], *args: P.args, **kwargs: P.kwargs) -> Remembrancer:
        loop = Loop()
        try:
            return cls(loop.run(method(*args, **kwargs)), loop)
        except BaseException:
            loop.close()
            raise

    return like(cast("MethodType", method).__func__, call)


class Remembrancer(Blocking[AsyncRemembrancer]):
    """A memory open for one caller. Make one with `open`; `scoped` gives cheap views for others of its workspace."""

    open = classmethod(opening(AsyncRemembrancer.open))

    def close(self) -> None:
        """Close the store. Vectors that are still missing are made when the store is next open. May be called twice."""
        self._loop.close(self._inner.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def scoped(self, *, role: str | None = None, **scope: str | None) -> Self:
        """A view for another project, crew, agent or session of the same workspace, over the same open store.

        Raises InvalidInput for an unknown part of a scope, or a role that the preset does not know.
        """
        return type(self)(self._inner.scoped(role=role, **scope), self._loop)

    def of_workspace(self, workspace: str) -> Self:
        """A view of another workspace over the same open store, for the same role and the workspace as a whole.

        For a server, which must itself make sure that its client may see that workspace. Nothing that is written or
        read crosses from one workspace to another.
        """
        return type(self)(self._inner.of_workspace(workspace), self._loop)

    @property
    def scope(self) -> Scope:
        """Where this caller's memories belong."""
        return self._inner.scope

    @property
    def now(self) -> datetime:
        """The time by this memory's clock, from which ages are counted."""
        return self._inner.now

    @property
    def journal(self) -> JournalApi:
        """The record of all that was said and done."""
        return JournalApi(self._inner.journal, self._loop)

    @property
    def health(self) -> HealthApi:
        """Health snapshots, counts, what fades, what is broken."""
        return HealthApi(self._inner.health, self._loop)

    @property
    def jobs(self) -> JobsApi:
        """The background jobs, and what language models cost."""
        return JobsApi(self._inner.jobs, self._loop)

    @property
    def keys(self) -> KeysApi:
        """API keys to this workspace."""
        return KeysApi(self._inner.keys, self._loop)

    @property
    def learnings(self) -> LearningsApi:
        """What agents learned from their tasks, and who is told of it."""
        return LearningsApi(self._inner.learnings, self._loop)

    @property
    def presets(self) -> PresetsApi:
        """The preset in use, and how others would rank."""
        return PresetsApi(self._inner.presets, self._loop)

    @property
    def vault(self) -> VaultApi:
        """Memories as a folder of markdown files."""
        return VaultApi(self._inner.vault, self._loop)

    observe = blocking(AsyncRemembrancer.observe)
    observe_many = blocking(AsyncRemembrancer.observe_many)
    remember = blocking(AsyncRemembrancer.remember)
    learn = blocking(AsyncRemembrancer.learn)
    update = blocking(AsyncRemembrancer.update)
    feedback = blocking(AsyncRemembrancer.feedback)
    mark = blocking(AsyncRemembrancer.mark)
    link = blocking(AsyncRemembrancer.link)
    supersede = blocking(AsyncRemembrancer.supersede)
    invalidate = blocking(AsyncRemembrancer.invalidate)
    recall = blocking(AsyncRemembrancer.recall)
    why_not = blocking(AsyncRemembrancer.why_not)
    get = blocking(AsyncRemembrancer.get)
    show = blocking(AsyncRemembrancer.show)
    recent = blocking(AsyncRemembrancer.recent)
    memories = blocking(AsyncRemembrancer.memories)
    timeline = blocking(AsyncRemembrancer.timeline)
    graph = blocking(AsyncRemembrancer.graph)
    end_session = blocking(AsyncRemembrancer.end_session)
    sleep = blocking(AsyncRemembrancer.sleep)
    consolidate = blocking(AsyncRemembrancer.consolidate)
    maintain = blocking(AsyncRemembrancer.maintain)
    forget = blocking(AsyncRemembrancer.forget)
    restore = blocking(AsyncRemembrancer.restore)
    erase = blocking(AsyncRemembrancer.erase)
    erasures = blocking(AsyncRemembrancer.erasures)
    export = blocking(AsyncRemembrancer.export)
    import_ = blocking(AsyncRemembrancer.import_)
