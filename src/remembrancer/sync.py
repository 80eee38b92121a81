"""The blocking API: each method of AsyncRemembrancer, run on an event loop in a separate thread.

The methods may be called from any thread, also from one that runs an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from types import MethodType, TracebackType
from typing import Any, Concatenate, ParamSpec, Self, cast

from remembrancer.domain.scope import Scope
from remembrancer.facade import AsyncRemembrancer
from remembrancer.facade.audit import AsyncAuditApi
from remembrancer.facade.blocking import Blocking, Loop, attribute, blocking, iterating, like, noun, viewing
from remembrancer.facade.embedder import AsyncEmbedderApi
from remembrancer.facade.health import AsyncHealthApi
from remembrancer.facade.jobs import AsyncJobsApi
from remembrancer.facade.journal import AsyncJournalApi
from remembrancer.facade.keys import AsyncKeysApi
from remembrancer.facade.learnings import AsyncLearningsApi
from remembrancer.facade.presets import AsyncPresetsApi
from remembrancer.facade.recalls import AsyncRecallsApi
from remembrancer.facade.retention import AsyncRetentionApi
from remembrancer.facade.vault import AsyncVaultApi
from remembrancer.presets.spec import Preset

P = ParamSpec("P")


class AuditApi(Blocking[AsyncAuditApi]):
    """The audit trail of the workspace: an entry for each change, in a chain of hashes that shows if entries were
    changed or removed.
    """

    list = blocking(AsyncAuditApi.list)
    head = blocking(AsyncAuditApi.head)
    verify = blocking(AsyncAuditApi.verify)
    export = blocking(AsyncAuditApi.export)


class JournalApi(Blocking[AsyncJournalApi]):
    """Reads the journal, follows new events, and sets their priority. `observe` and `log` write events."""

    log = blocking(AsyncJournalApi.log)
    list = blocking(AsyncJournalApi.list)
    page = blocking(AsyncJournalApi.page)
    get = blocking(AsyncJournalApi.get)
    conversations = blocking(AsyncJournalApi.conversations)
    titles = blocking(AsyncJournalApi.titles)
    conversation = blocking(AsyncJournalApi.conversation)
    count = blocking(AsyncJournalApi.count)
    count_by_day = blocking(AsyncJournalApi.count_by_day)
    recorded = blocking(AsyncJournalApi.recorded)
    tail = iterating(AsyncJournalApi.tail)
    wait = blocking(AsyncJournalApi.wait)
    set_priority = blocking(AsyncJournalApi.set_priority)
    priority_changes = blocking(AsyncJournalApi.priority_changes)


class HealthApi(Blocking[AsyncHealthApi]):
    """Health of the store. Its methods write nothing; `rem.maintain` takes the snapshots."""

    latest = blocking(AsyncHealthApi.latest)
    history = blocking(AsyncHealthApi.history)
    stats = blocking(AsyncHealthApi.stats)
    decay = blocking(AsyncHealthApi.decay)
    fading = blocking(AsyncHealthApi.fading)
    forecasts = blocking(AsyncHealthApi.forecasts)
    curve = blocking(AsyncHealthApi.curve)
    search_state = blocking(AsyncHealthApi.search_state)
    doctor = blocking(AsyncHealthApi.doctor)


class EmbedderApi(Blocking[AsyncEmbedderApi]):
    """Changes the embedder of the workspace: the vectors of the old one answer until those of the new one are made."""

    status = blocking(AsyncEmbedderApi.status)
    change = blocking(AsyncEmbedderApi.change)
    switch = blocking(AsyncEmbedderApi.switch)
    rollback = blocking(AsyncEmbedderApi.rollback)
    drop = blocking(AsyncEmbedderApi.drop)


class JobsApi(Blocking[AsyncJobsApi]):
    """Runs background jobs and reports their state."""

    list = blocking(AsyncJobsApi.list)
    work = blocking(AsyncJobsApi.work)
    index_now = blocking(AsyncJobsApi.index_now)
    reindex = blocking(AsyncJobsApi.reindex)
    spending = blocking(AsyncJobsApi.spending)


class KeysApi(Blocking[AsyncKeysApi]):
    """Creates, lists and revokes the API keys of the workspace."""

    create = blocking(AsyncKeysApi.create)
    list = blocking(AsyncKeysApi.list)
    revoke = blocking(AsyncKeysApi.revoke)
    find = blocking(AsyncKeysApi.find)
    exist = blocking(AsyncKeysApi.exist)


class LearningsApi(Blocking[AsyncLearningsApi]):
    """Reminds agents to write down what they learned, and promotes learnings. `rem.learn` stores a learning."""

    nudge = blocking(AsyncLearningsApi.nudge)
    promotable = blocking(AsyncLearningsApi.promotable)
    promote = blocking(AsyncLearningsApi.promote)
    enter_stage = blocking(AsyncLearningsApi.enter_stage)


class PresetsApi(Blocking[AsyncPresetsApi]):
    """The preset in use, and how other presets would rank the same memories."""

    in_use: Preset = attribute(AsyncPresetsApi.in_use)
    compare = blocking(AsyncPresetsApi.compare)


class RecallsApi(Blocking[AsyncRecallsApi]):
    """Gives kept answers again, and drops them."""

    replay = blocking(AsyncRecallsApi.replay)
    drop = blocking(AsyncRecallsApi.drop)


class RetentionApi(Blocking[AsyncRetentionApi]):
    """Sets how long rows may live, and places legal holds. Both are of the whole workspace."""

    add = blocking(AsyncRetentionApi.add)
    rules = blocking(AsyncRetentionApi.rules)
    remove = blocking(AsyncRetentionApi.remove)
    due = blocking(AsyncRetentionApi.due)
    hold = blocking(AsyncRetentionApi.hold)
    holds = blocking(AsyncRetentionApi.holds)
    release = blocking(AsyncRetentionApi.release)


class VaultApi(Blocking[AsyncVaultApi]):
    """Synchronises a folder with the memory. If the scope has a project, the folder is that project's."""

    sync = blocking(AsyncVaultApi.sync)
    check = blocking(AsyncVaultApi.check)
    rebuild = blocking(AsyncVaultApi.rebuild)


def opening(
    method: Callable[P, Coroutine[Any, Any, AsyncRemembrancer]],
) -> Callable[Concatenate[type[Remembrancer], P], Remembrancer]:
    """A constructor with the same parameters for a blocking memory. It starts the event loop of that memory."""

    def call(cls: type[Remembrancer], *args: P.args, **kwargs: P.kwargs) -> Remembrancer:
        loop = Loop()
        try:
            return cls(loop.run(method(*args, **kwargs)), loop)
        except BaseException:
            loop.close()
            raise

    return like(cast("MethodType", method).__func__, call)


class Remembrancer(Blocking[AsyncRemembrancer]):
    """A memory, open for one caller. Make one with `open`; `scoped` gives cheap views for other callers in its
    workspace.
    """

    open = classmethod(opening(AsyncRemembrancer.open))

    def close(self) -> None:
        """Close the store. Missing vectors are made when the store is next open. May be called twice."""
        self._loop.close(self._inner.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    scoped = viewing(AsyncRemembrancer.scoped)
    bound_to = viewing(AsyncRemembrancer.bound_to)
    of_workspace = viewing(AsyncRemembrancer.of_workspace)
    scope: Scope = attribute(AsyncRemembrancer.scope)
    now: datetime = attribute(AsyncRemembrancer.now)
    audit = noun(AsyncRemembrancer.audit, AuditApi)
    journal = noun(AsyncRemembrancer.journal, JournalApi)
    health = noun(AsyncRemembrancer.health, HealthApi)
    embedder = noun(AsyncRemembrancer.embedder, EmbedderApi)
    jobs = noun(AsyncRemembrancer.jobs, JobsApi)
    keys = noun(AsyncRemembrancer.keys, KeysApi)
    learnings = noun(AsyncRemembrancer.learnings, LearningsApi)
    presets = noun(AsyncRemembrancer.presets, PresetsApi)
    recalls = noun(AsyncRemembrancer.recalls, RecallsApi)
    retention = noun(AsyncRemembrancer.retention, RetentionApi)
    vault = noun(AsyncRemembrancer.vault, VaultApi)

    observe = blocking(AsyncRemembrancer.observe)
    observe_many = blocking(AsyncRemembrancer.observe_many)
    remember = blocking(AsyncRemembrancer.remember)
    remember_many = blocking(AsyncRemembrancer.remember_many)
    learn = blocking(AsyncRemembrancer.learn)
    update = blocking(AsyncRemembrancer.update)
    pin = blocking(AsyncRemembrancer.pin)
    unpin = blocking(AsyncRemembrancer.unpin)
    release = blocking(AsyncRemembrancer.release)
    feedback = blocking(AsyncRemembrancer.feedback)
    outcome = blocking(AsyncRemembrancer.outcome)
    mark = blocking(AsyncRemembrancer.mark)
    link = blocking(AsyncRemembrancer.link)
    supersede = blocking(AsyncRemembrancer.supersede)
    invalidate = blocking(AsyncRemembrancer.invalidate)
    recall = blocking(AsyncRemembrancer.recall)
    why_not = blocking(AsyncRemembrancer.why_not)
    get = blocking(AsyncRemembrancer.get)
    show = blocking(AsyncRemembrancer.show)
    recent = blocking(AsyncRemembrancer.recent)
    preferences = blocking(AsyncRemembrancer.preferences)
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
    export_subject = blocking(AsyncRemembrancer.export_subject)
    backup = blocking(AsyncRemembrancer.backup)
    import_ = blocking(AsyncRemembrancer.import_)
