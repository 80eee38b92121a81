"""The same memory for programs that do not await: every method of AsyncRemembrancer, run on one private event loop.

The loop lives in a thread of its own, so the methods may be called from any thread, also one that runs a loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from remembrancer.config import Settings
from remembrancer.domain.api_key import ApiKey, NewKey, Right
from remembrancer.domain.erasure import Erasure
from remembrancer.domain.event import Event, EventDraft, Origin, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Job
from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, Stretch
from remembrancer.domain.learning import Learning
from remembrancer.domain.listing import MemoryPage
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.query import Filters
from remembrancer.domain.recall import Hit, Recall
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import Claim, ClaimOutcome, Reply
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Level, Reach, Scope, Visibility
from remembrancer.domain.spending import Spent
from remembrancer.domain.strength import Exposure, Feedback, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.compare import Comparison
from remembrancer.engine.consolidate import Consolidation
from remembrancer.engine.context import Clock
from remembrancer.engine.end_session import EndReport
from remembrancer.engine.exchange import Imported, OnRows
from remembrancer.engine.fading import FadingCurve, Outlook
from remembrancer.engine.graph import Graph
from remembrancer.engine.inspect import Dossier, SearchMode, SearchState, WhyNot
from remembrancer.engine.journal import EventFilters
from remembrancer.engine.promote import Candidate
from remembrancer.engine.sleep import SleepReport
from remembrancer.engine.stages import StageReport
from remembrancer.engine.vault import SyncReport
from remembrancer.errors import StoreUnavailable
from remembrancer.facade import AsyncRemembrancer, Identifier
from remembrancer.jobs.indexer import IndexReport, OnIndexed
from remembrancer.jobs.overview import JobState
from remembrancer.jobs.reports import Report
from remembrancer.jobs.stop import Stop
from remembrancer.jobs.worker import OnRun
from remembrancer.policies.admission.updating import Changes
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.inspection import Finding, Stats
from remembrancer.ports.language_model import LanguageModel
from remembrancer.ports.reranker import Reranker
from remembrancer.ports.store import Store
from remembrancer.presets.spec import Preset

T = TypeVar("T")


class _Loop:
    """An event loop in a daemon thread, shared by all views of one open store."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="remembrancer-loop", daemon=True)
        self._door = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._is_here():
            work.close()
            raise RuntimeError("a memory cannot be used from inside one of its own callbacks")
        if os.getpid() != self._process:  # a fork has no thread to do the work: it would wait for ever
            work.close()
            raise StoreUnavailable("this memory was opened before the process was forked; open it again here")
        with self._door:  # none comes in behind the last
            if self._closed:
                work.close()
                raise StoreUnavailable("this memory is already closed")
            waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except CancelledError as error:
            raise StoreUnavailable("this memory was closed meanwhile") from error
        except BaseException:
            waiting.cancel()  # a caller that was interrupted leaves nothing running behind it
            raise

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Run `last`, then stop. What other threads still wait for is given up. Twice is harmless."""
        if self._is_here():
            raise RuntimeError("a memory cannot be closed from inside one of its own callbacks")
        if os.getpid() != self._process:
            return  # it is the parent's to close
        with self._door:
            if self._closed:
                return
            self._closed = True
        try:
            asyncio.run_coroutine_threadsafe(self._finish(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _is_here(self) -> bool:
        """Whether the loop itself is asking: it would wait for itself, for ever."""
        return threading.current_thread() is self._thread

    async def _finish(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        try:
            if last is not None:
                await last()
        finally:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)


class Remembrancer:
    """A memory open for one caller. Make one with `open`; `scoped` gives cheap views for others of its workspace."""

    def __init__(self, inner: AsyncRemembrancer, loop: _Loop) -> None:
        """Use `open`."""
        self._inner = inner
        self._loop = loop

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        preset: str | Preset | None = None,
        workspace: str | None = None,
        project: str | None = None,
        crew: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        role: str | None = None,
        store: Store | None = None,
        embedder: str | Embedder | None = None,
        reranker: str | Reranker | None = None,
        llm: str | LanguageModel | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        create: bool = True,
    ) -> Self:
        """Open a store; `create` makes it if need be. `url`: a file's path, `:memory:`, or an address whose scheme an
        installed package opens; `store` takes its place.

        What is not given comes from `settings`, else from REMEMBRANCER_* variables and the file that
        REMEMBRANCER_CONFIG names, else: `remembrancer.db`, preset and workspace `default`, role AGENT, and Ollama
        where `ollama_url` is set, or the local embedder where it is installed, no reranker and no language model. An
        embedder, reranker, language model or store given as an object stays open when this is closed. Without an
        embedder a warning goes to the logger "remembrancer": recall is lexical. `preset` may be the path of a TOML
        file, or a Preset.

        Raises InvalidInput, StoreUnavailable, Unsupported, ModelUnavailable.
        """
        loop = _Loop()
        try:
            inner = loop.run(
                AsyncRemembrancer.open(
                    url,
                    preset=preset,
                    workspace=workspace,
                    project=project,
                    crew=crew,
                    agent=agent,
                    session=session,
                    role=role,
                    store=store,
                    embedder=embedder,
                    reranker=reranker,
                    llm=llm,
                    settings=settings,
                    clock=clock,
                    create=create,
                )
            )
        except BaseException:
            loop.close()
            raise
        return cls(inner, loop)

    def close(self) -> None:
        """Let go of the store. What still awaits its vector is found again by the next sweep. Twice is harmless."""
        self._loop.close(self._inner.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def scoped(self, *, role: str | None = None, **scope: str | None) -> Self:
        """A view for another project, crew, agent or session of the same workspace, over the same open store."""
        return type(self)(self._inner.scoped(role=role, **scope), self._loop)

    def of_workspace(self, workspace: str) -> Self:
        """A view of another workspace over the same open store, with nothing else of this scope and the same role.

        Nothing crosses between the two. It is for a server, which has made sure that its caller may.
        """
        return type(self)(self._inner.of_workspace(workspace), self._loop)

    @property
    def scope(self) -> Scope:
        return self._inner.scope

    @property
    def preset(self) -> Preset:
        """What this memory was opened with."""
        return self._inner.preset

    @property
    def language_model(self) -> str | None:
        """The name of the language model that is asked; None: there is none."""
        return self._inner.language_model

    @property
    def now(self) -> datetime:
        """What time it is by the clock of this memory, which ages are told by."""
        return self._inner.now

    # ── write ────────────────────────────────────────────────────────────────────────────────────────────────────

    def observe(
        self,
        text: str,
        *,
        role: Role | str = Role.USER,
        type: str = "message",  # noqa: A002  the field's own name
        severity: Severity | str = Severity.INFO,
        priority: Priority | str = Priority.NORMAL,
        actor: str | None = None,
        occurred_at: datetime | None = None,
        payload: Mapping[str, JsonValue] | None = None,
        refs: Mapping[str, JsonValue] | None = None,
        key: str | None = None,
        session: str | None = None,
    ) -> Event:
        """Record something that was said or happened. Found by its words at once, by meaning after the index sweep.

        With a `key` that is known, the event as it was recorded; Conflict when it says something else.
        """
        return self._run(
            self._inner.observe(
                text,
                role=role,
                type=type,
                severity=severity,
                priority=priority,
                actor=actor,
                occurred_at=occurred_at,
                payload=payload,
                refs=refs,
                key=key,
                session=session,
            )
        )

    def observe_many(self, events: Iterable[EventDraft | Mapping[str, Any]]) -> tuple[Event, ...]:
        """Record events in order, all or none. A mapping holds the arguments of an EventDraft. At most 10,000."""
        return self._run(self._inner.observe_many(events))

    def log_event(
        self,
        type: str,  # noqa: A002  the field's own name
        text: str,
        *,
        severity: Severity | str = Severity.INFO,
        payload: Mapping[str, JsonValue] | None = None,
        refs: Mapping[str, JsonValue] | None = None,
        key: str | None = None,
    ) -> Event:
        """Record what was done with the memory itself: found in the journal, and remembered under no preset.

        By the role `system`. With a `key` that is known, the event as it was recorded; Conflict when it says something
        else.
        """
        return self._run(self._inner.log_event(type, text, severity=severity, payload=payload, refs=refs, key=key))

    def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        kind: str | None = None,
        tier: Tier | str | None = None,
        source: str | None = None,
        origin: Origin | str = Origin.USER,
        importance: float = 0.5,
        priority: int = 5,
        confidence: float = 0.5,
        surprise: float = 0.0,
        tags: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        topic_key: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        occurred_at: datetime | None = None,
        visibility: Visibility | str = Visibility.WORKSPACE,
        key: str | None = None,
        events: Iterable[Identifier] = (),
    ) -> Memory:
        """Keep a memory. With a `topic_key` it replaces what this scope's memory of that topic said before.

        `kind` and `tier` None: as the preset has it. With `events` it is an episode: found by each of these turns too,
        and as long as they took. `surprise` in [0, 1] makes it last longer where forgetting goes by stability.
        """
        return self._run(
            self._inner.remember(
                text,
                title=title,
                kind=kind,
                tier=tier,
                source=source,
                origin=origin,
                importance=importance,
                priority=priority,
                confidence=confidence,
                surprise=surprise,
                tags=tags,
                metadata=metadata,
                topic_key=topic_key,
                valid_from=valid_from,
                valid_until=valid_until,
                occurred_at=occurred_at,
                visibility=visibility,
                key=key,
                events=events,
            )
        )

    def learn(self, learnings: Iterable[Learning], *, source: str, tags: Sequence[str] = ()) -> tuple[Memory, ...]:
        """Keep learnings, each under its own id and once; `source` names where they stand.

        Raises Conflict when an id holds another text; those before it are kept.
        """
        return self._run(self._inner.learn(learnings, source=source, tags=tags))

    def update(
        self, memory_id: Identifier, *, expected_revision: int | None = None, **changes: Unpack[Changes]
    ) -> Memory:
        """Let a memory say otherwise: what is given changes, None takes away, the rest stays. Returns it as it is then.

        `text`, `title`, `kind`, `source`, `importance`, `priority`, `tags`, `metadata`, `valid_from`, `valid_until` and
        `visibility` as `remember` takes them. What it said before is kept as a revision; what changes nothing makes
        none. What was formed from it, such as episodes and facts, stays, and so does the journal. `expected_revision`:
        the `revision` it was read at. Raises NotFound, InvalidInput, and Conflict when it is at another one, or
        superseded.
        """
        return self._loop.run(self._inner.update(memory_id, expected_revision=expected_revision, **changes))

    def feedback(self, memory_id: Identifier, said: Feedback | str) -> Strength:
        """Say that a memory was helpful, unhelpful or harmful. Returns its strength after it. Raises NotFound."""
        return self._run(self._inner.feedback(memory_id, said))

    def mark(self, memories: Recall | Iterable[Identifier | Hit], exposure: Exposure | str, *, query: str = "") -> None:
        """Count that memories were retrieved, shown or used: a recall; hits, which tell how near they were; or ids.

        `rem.mark(recall.block(max_chars=2000).hits, "shown")` counts what found room in a prompt. `query`: what was
        asked, which a review of their use is told; a recall knows it. Raises NotFound, and counts none, when one is
        missing.
        """
        self._run(self._inner.mark(memories, exposure, query=query))

    def link(
        self,
        source: Identifier,
        target: Identifier,
        relation: RelationKind | str,
        weight: float = 1.0,
    ) -> Relation:
        """Say how one memory relates to another: similar, supports, contradicts, derived_from or supersedes.

        `weight` in [0, 1]; saying it again sets it anew. `supersede` is what also ends the other's validity. Raises
        NotFound for an unknown id.
        """
        return self._run(self._inner.link(source, target, relation, weight))

    def supersede(self, old: Identifier, new: Identifier) -> Memory:
        """Let `new` stand in the place of `old`: kept, shown with its successor, and not recalled. Returns `old`.

        Raises NotFound for an unknown id, Conflict when `old` has another successor or `new` was replaced by `old`.
        """
        return self._run(self._inner.supersede(old, new))

    def invalidate(self, memory_id: Identifier, replacement: Identifier | None = None) -> Memory:
        """End a memory's validity now, in favour of `replacement` where one is given. Raises as `supersede` does."""
        return self._run(self._inner.invalidate(memory_id, replacement))

    def nudge(self) -> str | None:
        """The reminder to write down what was learned, for this agent's next prompt; None while there is no need.

        Given when the agent's events since its last `memory.updated` are as many as the preset says (60), once per
        session. It is no reading method: it records that the reminder was given, as an event `memory.nudged`, though
        not its words. Raises InvalidInput without an agent and a session in the scope.
        """
        return self._run(self._inner.nudge())

    # ── read ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        reach: Reach | str | None = None,
        ranking: str | None = None,
        walk_depth: int = 0,
        min_score: float = 0.0,
        explain: bool = False,
        **filters: Unpack[Filters],
    ) -> Recall:
        """The memories that answer, best first; none when nothing does. Reads only.

        `limit`: from 1 to the preset's maximum (200 in most presets); None: the preset's default. `reach`: how far to
        look; None: as far as the caller's role may. `ranking`: one of the preset's rankings; None: its default.
        `walk_depth`: 1 also follows the `similar` edges of the hits, 0 does not. `min_score` in [0, 1]: no hit below
        it. Every hit carries the parts of its score, computed when first read; `explain` also names the query's terms
        that occur in it. Filters: `kinds`, `tiers`, `visibilities` (any of the values), `tags` (all of them),
        `metadata` (each key with exactly this value), `source`, `session`, `since` and `until` (happened in
        [since, until)), `as_of` (as believed then). Raises InvalidInput.
        """
        return self._run(
            self._inner.recall(
                query,
                limit=limit,
                reach=reach,
                ranking=ranking,
                walk_depth=walk_depth,
                min_score=min_score,
                explain=explain,
                **filters,
            )
        )

    def why_not(
        self,
        memory_id: Identifier,
        query: str,
        *,
        limit: int | None = None,
        reach: Reach | str | None = None,
        ranking: str | None = None,
        walk_depth: int = 0,
        min_score: float = 0.0,
        **filters: Unpack[Filters],
    ) -> WhyNot:
        """At which stage of that recall the memory dropped out, or its rank where it did not. Raises NotFound."""
        return self._run(
            self._inner.why_not(
                memory_id,
                query,
                limit=limit,
                reach=reach,
                ranking=ranking,
                walk_depth=walk_depth,
                min_score=min_score,
                **filters,
            )
        )

    def compare(
        self,
        query: str,
        presets: Iterable[str | Preset] | None = None,
        *,
        limit: int = 5,
        as_of: datetime | None = None,
    ) -> Comparison:
        """What each of some presets returns for a question, over the memories that are here, and why they differ.

        Presets by name, by their file, or as they are; None: the one in use, then those that are shipped. `limit`: 1 to
        200, and no more than a preset allows. `as_of`: what was believed then, by the ages of then. Only the ranking is
        each preset's own: how it would have admitted, formed and embedded is not played through. Reads only.
        """
        return self._run(self._inner.compare(query, presets, limit=limit, as_of=as_of))

    def get(self, memory_id: Identifier) -> Memory:
        """One memory, whatever its status. Raises NotFound."""
        return self._run(self._inner.get(memory_id))

    def show(self, memory_id: Identifier) -> Dossier:
        """One memory with its cues, the events it came from, its revisions and relations. Raises NotFound."""
        return self._run(self._inner.show(memory_id))

    def recent(self, limit: int = 10, days: float | None = None) -> tuple[Memory, ...]:
        """Current memories by when they happened, newest first, of the last `days` if given. `limit` 1 to 10,000."""
        return self._run(self._inner.recent(limit, days))

    def memories(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        oldest_first: bool = False,
        **filters: Unpack[Filters],
    ) -> MemoryPage:
        """Current memories a page at a time, newest first unless asked: `after`, the `next` of the page before, goes on
        behind it, whatever came since. `limit` 1 to 10,000; chosen as `recall` does. Episodes beside their turns only
        where `kinds` names them.
        """
        return self._loop.run(
            self._inner.memories(
                after=after,
                limit=limit,
                oldest_first=oldest_first,
                **filters,
            )
        )

    def timeline(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        limit: int = 100,
        kinds: Iterable[str] | None = None,
        session: str | None = None,
    ) -> tuple[Memory, ...]:
        """Current memories of [since, until), oldest first, of any of `kinds` where named. `limit` 1 to 10,000.

        `kinds=["episode"]` tells the episodes, which otherwise stand aside where their turns are remembered.
        """
        return self._run(self._inner.timeline(since, until, limit=limit, kinds=kinds, session=session))

    def decay(self, limit: int = 20) -> tuple[Outlook, ...]:
        """Current memories, weakest first, by the preset's curve, each with when it falls below what counts as faded.

        `limit` 1 to 10,000. Reads the state of every current memory.
        """
        return self._run(self._inner.decay(limit))

    def fading(self, limit: int = 20, within: timedelta = timedelta(days=30)) -> tuple[Outlook, ...]:
        """Current memories that have not faded and will within that time, if nothing else happens; soonest first.

        `limit` 1 to 10,000, `within` up to a hundred years. Reads the state of every current memory.
        """
        return self._run(self._inner.fading(limit, within))

    def outlooks(self, memories: Iterable[Identifier]) -> tuple[Outlook, ...]:
        """How strong some memories are, and when each falls below what counts as faded: in their order, whatever their
        status; those that this caller cannot see are left out. At most 10,000; reads no others.
        """
        return self._run(self._inner.outlooks(memories))

    def graph(self, memory_id: Identifier | None = None, *, limit: int = 60) -> Graph:
        """Memories and the edges among them: up to `limit` (1 to 200) within two steps of one, or, without an id, of
        the most connected current ones. Raises NotFound.
        """
        return self._run(self._inner.graph(memory_id, limit=limit))

    def curve(self, memory_id: Identifier, *, days: float = 180, points: int = 181) -> FadingCurve:
        """One memory's strength over time, by the preset's curve. Raises NotFound.

        At so many `points` (2 to 10,000), evenly from `days` ago, or since when it can be told, to `days` from now
        (0.01 to 36,500).
        """
        return self._run(self._inner.curve(memory_id, days=days, points=points))

    def events(
        self, *, limit: int = 100, oldest_first: bool = False, **filters: Unpack[EventFilters]
    ) -> tuple[Event, ...]:
        """Entries of the journal, remembered or not, newest first unless asked. `limit` 1 to 10,000.

        What to choose them by: `project`, `crew`, `agent`, `session`, `actor`; `crews`, `agents`, `types`,
        `severities`, `priorities`, `roles` (any of them), `without_types`; `query`: each of its words stands in the
        text or the payload; `since`, `until`; `archived`: also those that have been moved into the archive, cut as
        they are there.
        """
        return self._run(self._inner.events(limit=limit, oldest_first=oldest_first, **filters))

    def journal(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        oldest_first: bool = False,
        **filters: Unpack[EventFilters],
    ) -> JournalPage:
        """The same a page at a time: `after`, the `next` of the page before, goes on behind it, whatever came since."""
        return self._run(self._inner.journal(after=after, limit=limit, oldest_first=oldest_first, **filters))

    def event(self, event_id: Identifier) -> Event:
        """One entry of the journal, or what the archive has of it. Raises NotFound."""
        return self._run(self._inner.event(event_id))

    def count_events(self, **filters: Unpack[EventFilters]) -> int:
        """How many entries of the journal there are, chosen as `events` does."""
        return self._run(self._inner.count_events(**filters))

    def events_by_day(self, **filters: Unpack[EventFilters]) -> Mapping[date, int]:
        """The same by the day, in UTC, that they happened on: those days that have any, the earliest first."""
        return self._run(self._inner.events_by_day(**filters))

    def recorded(self, after: int | None = None, *, limit: int = 100, **filters: Unpack[EventFilters]) -> Stretch:
        """Entries of the journal in the order they were recorded: those behind a position, or the last ones.

        `limit` 0 to 10,000, chosen as `events` does. The stretch's `position` is where to go on. Nothing is ever
        recorded at or before a position that has been read. Raises InvalidInput for one that was not given here.
        """
        return self._run(self._inner.recorded(after, limit=limit, **filters))

    def tail(
        self, after: int | None = None, *, every: timedelta = timedelta(seconds=1), **filters: Unpack[EventFilters]
    ) -> Generator[Recorded, None, None]:
        """Every entry recorded behind a position, or from now on, without end, chosen as `events` does.

        In the order they were recorded, by whichever process; each `every` (0.01 s to a day) it is looked for new ones.
        """
        return self._each(self._inner.tail(after, every=every, **filters))

    def wait_recorded(self, after: int, *, within: timedelta = timedelta(seconds=15)) -> bool:
        """Wait until something was recorded behind a position in this workspace, by whichever process, at most `within`
        (0.01 s to a day). Whether something was, be it of what this caller may see or not: `recorded` tells what.
        """
        return self._run(self._inner.wait_recorded(after, within=within))

    def set_priority(self, event_id: Identifier, priority: Priority | str, reason: str = "") -> PriorityChange:
        """Mark an entry of the journal: `normal`, `high`, `pin` or `permanent`, which neither fades nor leaves.

        Who did it and why is kept. The memories formed from it fade no further than its priority allows. The priority
        it has already changes nothing. Raises PermissionDenied for a role that is no operator's (LEAD is one),
        NotFound, and Conflict for an entry that is in the archive.
        """
        return self._run(self._inner.set_priority(event_id, priority, reason))

    def priority_changes(self, event_id: Identifier) -> tuple[PriorityChange, ...]:
        """Who gave an entry another priority, when and why, oldest first."""
        return self._run(self._inner.priority_changes(event_id))

    def crews(self) -> tuple[str, ...]:
        """The names of the crews of this workspace that anything is remembered of."""
        return self._run(self._inner.crews())

    def stats(self) -> Stats:
        """Counts of what this caller may see."""
        return self._run(self._inner.stats())

    def health(self, crew: str | None = None) -> HealthSnapshot | None:
        """The last health snapshot of the workspace, or of a crew; None when none was taken yet: `maintain` does."""
        return self._run(self._inner.health(crew))

    def health_history(self, crew: str | None = None, limit: int = 30) -> tuple[HealthSnapshot, ...]:
        """The health snapshots, newest day first, at most one a day. `limit` 1 to 10,000."""
        return self._run(self._inner.health_history(crew, limit))

    # ── mind ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def end_session(self, session: str | None = None) -> EndReport:
        """Say that a session is over, this caller's where none is named: its last episode is formed, what it taught is
        learned, what its use of memories counts for is counted and reviewed, as far as the preset has each of these.

        Doing it twice changes nothing. Raises InvalidInput where there is no session.
        """
        return self._run(self._inner.end_session(session))

    def sleep(self, dry_run: bool = False) -> SleepReport:
        """Promote what has been in working memory for half of its time, summed up by where it came from.

        A dry run only says what it would do. Without a language model the summary is a compression, and says so.
        """
        return self._run(self._inner.sleep(dry_run))

    def consolidate(self, since: datetime | None = None, limit: int = 50, *, crew: str | None = None) -> Consolidation:
        """Make little of much, now: facts from episodes, rules from what happened `since`, one memory of many alike.

        Each as far as the preset has it, at most `limit` (1 to 10,000) of a kind. What it replaces stays reachable.
        With a `crew`, only rules, from what happened in it.
        """
        return self._run(self._inner.consolidate(since, limit, crew=crew))

    def maintain(
        self, only: Iterable[Job | str] | None = None, *, force: bool = False, on_indexed: OnIndexed | None = None
    ) -> dict[str, Report]:
        """Run every job of the preset that is due, once, or `only` some of them. With `force` also what is not due.

        What each did, or why it did nothing, by the job's name. Raises StoreUnavailable.
        """
        return self._run(self._inner.maintain(only, force=force, on_indexed=on_indexed))

    def work(self, stop: Stop, *, only: Iterable[Job | str] | None = None, on_run: OnRun | None = None) -> None:
        """Run the preset's jobs on their schedule, what was missed first, until `stop` is set, from whatever thread."""
        self._run(self._inner.work(stop, only=only, on_run=on_run))

    def jobs(self) -> tuple[JobState, ...]:
        """How each job of the preset stands: its last run, its next, what waits for it, and what failed."""
        return self._run(self._inner.jobs())

    def spending(self, since: datetime | None = None) -> tuple[Spent, ...]:
        """What language models were asked for this workspace since a time, and what that cost, by purpose and model."""
        return self._run(self._inner.spending(since))

    def promotable(self) -> tuple[Candidate, ...]:
        """What came up in so many jobs that the whole workspace could be told, those of most jobs first."""
        return self._run(self._inner.promotable())

    def promote(self, memory_id: Identifier, to: Level | str = "workspace") -> Memory:
        """Approve that a wider scope, `project` or `workspace`, is told what a memory says. Returns its own of it.

        Raises NotFound, Conflict, and InvalidInput for a level that is not wider.
        """
        return self._run(self._inner.promote(memory_id, to))

    def enter_stage(self, intent: str) -> StageReport:
        """Tell what the project is at, in the words of its INTENT.md: where that is another stage than before, what was
        learned for the tasks of the stage that ended retires.
        """
        return self._run(self._inner.enter_stage(intent))

    def reviews(self, memory_id: Identifier) -> tuple[Review, ...]:
        """How a memory's use was rated, oldest first, with what each rating made of its stability."""
        return self._run(self._inner.reviews(memory_id))

    # ── care ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def forget(self, memory_id: Identifier) -> Memory:
        """Retire a memory: kept, not recalled, and `restore` undoes it.

        An episode that its turn is in is told anew without it. What facts, rules and summaries were drawn from it stay.
        Raises NotFound, and Conflict where others keep changing the episode meanwhile.
        """
        return self._run(self._inner.forget(memory_id))

    def restore(self, memory_id: Identifier) -> Memory:
        """Undo `forget`. Raises NotFound."""
        return self._run(self._inner.restore(memory_id))

    def erase(
        self,
        *,
        ids: Iterable[Identifier] | None = None,
        events: Iterable[Identifier] | None = None,
        session: str | None = None,
        agent: str | None = None,
        crew: str | None = None,
        project: str | None = None,
        before: datetime | None = None,
        dry_run: bool = False,
    ) -> Erasure:
        """Let go of memories (`ids`), entries of the journal (`events`), or all of a session, agent, crew or project,
        for good, with all that quotes or was drawn from them. Returns the receipt; a dry run only says what would go.

        Exactly one of these ways; of several parts of a scope, what belongs to each; `before`: of those, only what
        happened before. It reaches the whole workspace, whatever its rows' visibility. At most 1,000 ids. Raises
        InvalidInput where nothing is chosen, NotFound, and Conflict where others keep forming memories of it meanwhile.
        """
        return self._run(
            self._inner.erase(
                ids=ids,
                events=events,
                session=session,
                agent=agent,
                crew=crew,
                project=project,
                before=before,
                dry_run=dry_run,
            )
        )

    def erasures(self, limit: int = 100) -> tuple[Erasure, ...]:
        """The receipts of this workspace's erasures, newest first. `limit` 1 to 10,000."""
        return self._run(self._inner.erasures(limit))

    def index_now(self, memory_id: Identifier | None = None, *, on_indexed: OnIndexed | None = None) -> IndexReport:
        """Give every waiting cue its vector before returning, or those of one memory, which then wait for no other.

        Raises NotFound.
        """
        return self._run(self._inner.index_now(memory_id, on_indexed=on_indexed))

    def sync_vault(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Bring a folder of markdown files and the memory to say the same: what was edited in the files is remembered
        so, and what was learned here is written to them. `name`: what its memories are known by, None: the folder's.

        With a project in the scope the folder is that project's. A file that changed meanwhile is not overwritten: it
        is among `conflicts`, and the next sync merges it. Raises InvalidInput where there is no folder.
        """
        return self._run(self._inner.sync_vault(folder, name=name))

    def check_vault(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """What is wrong in a vault's files, and what a sync would do. Writes nothing. Raises as `sync_vault` does."""
        return self._run(self._inner.check_vault(folder, name=name))

    def rebuild_vault(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Make a vault's memories anew from its files, as if the database had been dropped; no file is written.
        Raises as `sync_vault` does.
        """
        return self._run(self._inner.rebuild_vault(folder, name=name))

    def search_mode(self) -> SearchMode:
        """How recall searches now: `vector`, `vector-degraded` (the embedder does not answer) or `sparse-only`.

        Asks the embedder, which takes as long as one answer of it may.
        """
        return self._run(self._inner.search_mode())

    def search_state(self) -> SearchState:
        """The same with why it is that one, in words. Asks the embedder too."""
        return self._run(self._inner.search_state())

    def ready(self) -> None:
        """Return when the store has been read and could be written to. Raises StoreUnavailable, after as long as a
        write waits for others.
        """
        return self._run(self._inner.ready())

    def doctor(self) -> tuple[Finding, ...]:
        """What was looked at, and what is wrong with it."""
        return self._run(self._inner.doctor())

    def export(self, path: str | Path, *, on_rows: OnRows | None = None) -> int:
        """Write the whole workspace to a new file, whatever its rows' visibility. Returns how many rows it has."""
        return self._run(self._inner.export(path, on_rows=on_rows))

    def import_(self, path: str | Path, *, dry_run: bool = True, on_rows: OnRows | None = None) -> Imported:
        """Take over an export, all of it or nothing. A dry run, the default, only says what it would add."""
        return self._run(self._inner.import_(path, dry_run=dry_run, on_rows=on_rows))

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def create_key(self, name: str, right: Right | str = Right.READ, expires_in: timedelta | None = None) -> NewKey:
        """Make a key to this workspace, for programs elsewhere: one that may `read`, `write` or `admin`.

        Its token is in the answer and kept nowhere. `expires_in`: up to a hundred years; None: never. Raises
        InvalidInput.
        """
        return self._run(self._inner.create_key(name, right, expires_in))

    def keys(self) -> tuple[ApiKey, ...]:
        """The keys to this workspace, newest first, also those that have expired or are revoked."""
        return self._run(self._inner.keys())

    def revoke_key(self, key_id: Identifier) -> ApiKey:
        """Let a key open nothing any more, from its next request on. Raises NotFound."""
        return self._run(self._inner.revoke_key(key_id))

    def key_for(self, token: str) -> ApiKey | None:
        """The key with that token, to whichever workspace of this store; None where no key is usable by it now."""
        return self._run(self._inner.key_for(token))

    def has_keys(self) -> bool:
        """Whether any key to any workspace of this store is usable now."""
        return self._run(self._inner.has_keys())

    def needs_key(self) -> bool:
        """Whether a server is to let nobody in without a key: there are some, were it only such as have expired.

        What a key kept shut does not open because its time is over; it does when the last one is revoked.
        """
        return self._run(self._inner.needs_key())

    def claim_request(self, key: str, fingerprint: bytes, *, longest: timedelta) -> ClaimOutcome:
        """Claim an idempotency key of this workspace for a request, for a day: what a server asks before it does one.

        `fingerprint`: the SHA-256 of what is asked for. `longest`: one that has no answer after so long was broken off.
        `Claimed`: do it, then `answer_request` or, where it did nothing, `release_request`. Else what became of it: a
        `Reply` to give again, `UnderWay`, or `Unkept`. Raises InvalidInput, and Conflict for another request's key.
        """
        return self._run(self._inner.claim_request(key, fingerprint, longest=longest))

    def answer_request(self, claim: Claim, reply: Reply) -> None:
        """Keep what a claimed request was answered. The first answer stays."""
        self._run(self._inner.answer_request(claim, reply))

    def release_request(self, claim: Claim) -> None:
        """Take back the claim of a request that did nothing, so that its key is new again."""
        self._run(self._inner.release_request(claim))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def _each(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """What comes, one by one, of something that has no end."""
        coming: set[asyncio.Task[T]] = set()

        async def following() -> T:
            item = asyncio.create_task(_next(items))
            coming.add(item)
            item.add_done_callback(coming.discard)
            return await item

        async def ended() -> None:
            for item in coming:
                if not item.cancelling():  # an interrupt may come before whoever waits could be told
                    item.cancel()
            if coming:
                await asyncio.wait(coming)
            await items.aclose()

        try:
            while True:
                yield self._run(following())
        finally:
            with suppress(StoreUnavailable):  # closed already, and with it whatever the loop still ran
                self._run(ended())


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await anext(items)
