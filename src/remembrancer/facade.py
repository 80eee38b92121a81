"""The memory as a program uses it: each method binds the caller's scope and calls one engine function."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack, cast
from uuid import UUID

from remembrancer.config import Settings, load
from remembrancer.domain import api_key, validation
from remembrancer.domain.api_key import SECRET_BYTES, ApiKey, NewKey, Right
from remembrancer.domain.erasure import Choice, Erasure
from remembrancer.domain.event import Event, EventDraft, Origin, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Job
from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, Stretch
from remembrancer.domain.learning import Learning
from remembrancer.domain.listing import MemoryPage
from remembrancer.domain.memory import Memory, MemoryDraft, Tier
from remembrancer.domain.query import Filter, Filters, filter_of
from remembrancer.domain.recall import Hit, Recall
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import Claim, ClaimOutcome, Reply
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Level, Reach, Reader, Scope, Visibility
from remembrancer.domain.spending import Spent
from remembrancer.domain.strength import Exposure, Feedback, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.engine import (
    compare,
    erase,
    exchange,
    fading,
    forget,
    graph,
    health,
    inspect,
    journal,
    keys,
    learn,
    nudge,
    promote,
    record,
    reinforce,
    relate,
    replies,
    stages,
    vault,
)
from remembrancer.engine.compare import Comparison
from remembrancer.engine.consolidate import Consolidation, consolidate
from remembrancer.engine.context import Caller, Clock, Context, reader_of
from remembrancer.engine.end_session import EndReport, end_session
from remembrancer.engine.exchange import Imported, OnRows
from remembrancer.engine.fading import FadingCurve, Outlook
from remembrancer.engine.graph import Graph
from remembrancer.engine.inspect import Dossier, SearchMode, SearchState, WhyNot
from remembrancer.engine.journal import EventFilters
from remembrancer.engine.promote import Candidate
from remembrancer.engine.recall import Question, recall
from remembrancer.engine.sleep import SleepReport, sleep
from remembrancer.engine.stages import StageReport
from remembrancer.engine.update import update
from remembrancer.engine.vault import SyncReport
from remembrancer.errors import InvalidInput
from remembrancer.jobs import maintenance, overview, worker
from remembrancer.jobs.arrivals import Arrivals
from remembrancer.jobs.indexer import Indexer, IndexReport, OnIndexed
from remembrancer.jobs.overview import JobState
from remembrancer.jobs.reports import Report
from remembrancer.jobs.stop import Stop
from remembrancer.jobs.sweeps import Sweeper
from remembrancer.jobs.worker import OnRun
from remembrancer.policies.admission.updating import Changes
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.inspection import Finding, Stats
from remembrancer.ports.language_model import LanguageModel
from remembrancer.ports.reranker import Reranker
from remembrancer.ports.store import Store
from remembrancer.ports.vault import VaultFiles
from remembrancer.presets.spec import MAX_LIMIT, Preset

Identifier = UUID | str
MAX_LISTED = 10_000
"""Rows of one listing."""


class _Wider(StrEnum):
    """The levels that something can be promoted to."""

    PROJECT = "project"
    WORKSPACE = "workspace"


_EVER = datetime.min.replace(tzinfo=UTC)
"""Before this nothing was kept, and no key had expired."""
_log = logging.getLogger("remembrancer")


@dataclass(frozen=True, slots=True)
class _Open:
    """What all views of one open store share."""

    ctx: Context
    indexers: dict[str, Indexer]
    """By workspace, of those that were asked for."""
    in_background: bool
    lent_store: bool
    """The caller gave it, and closes it. The same goes for the other three."""
    lent_embedder: bool
    lent_reranker: bool
    lent_llm: bool
    awaited: dict[str, Arrivals]
    """By workspace, of those whose journal somebody has waited for."""

    def arrivals(self, workspace: str) -> Arrivals:
        """What is recorded in that workspace, for those who wait for it."""
        if workspace not in self.awaited:
            reader, everything = Reader(Scope(workspace=workspace)), journal.filter_of({})

            async def position() -> int:
                return (await self.ctx.store.recorded(reader, everything, limit=0)).position

            self.awaited[workspace] = Arrivals(position)
        return self.awaited[workspace]

    def indexer(self, workspace: str) -> Indexer:
        """Of that workspace: at work in the background, where that is wanted."""
        if workspace not in self.indexers:
            self.indexers[workspace] = Indexer(self.ctx, Scope(workspace=workspace))
            if self.in_background:
                self.indexers[workspace].start()
        return self.indexers[workspace]


class AsyncRemembrancer:
    """A memory open for one caller. Make one with `open`; `scoped` gives cheap views for others of its workspace."""

    def __init__(self, opened: _Open, caller: Caller) -> None:
        """Use `open`."""
        self._opened = opened
        self._caller = caller

    @classmethod
    async def open(
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
        given = {
            "db": url,
            "preset": None if isinstance(preset, Preset) else preset,
            "workspace": workspace,
            "project": project,
            "crew": crew,
            "agent": agent,
            "session": session,
            "role": role,
            "embedder": embedder if isinstance(embedder, str) else None,
            "reranker": reranker if isinstance(reranker, str) else None,
            "llm": llm if isinstance(llm, str) else None,
        }
        chosen = _settings(settings, given)
        from remembrancer import compose

        if store is not None and url is not None:
            raise InvalidInput("url", url, "None, where a store is given")
        own_embedder = None if isinstance(embedder, str) else embedder
        if own_embedder is not None and not callable(getattr(own_embedder, "embed_query", None)):
            raise InvalidInput(
                "embedder", embedder, "auto, none, local, ollama:MODEL, or an object with an Embedder's methods"
            )
        own_reranker = None if isinstance(reranker, str) else reranker
        if own_reranker is not None and not callable(getattr(own_reranker, "scores", None)):
            raise InvalidInput(
                "reranker",
                reranker,
                "none, cross-encoder:FOLDER, an http(s) address, or an object with a Reranker's methods",
            )
        own_llm = None if isinstance(llm, str) else llm
        if own_llm is not None and not callable(getattr(own_llm, "answer", None)):
            raise InvalidInput(
                "llm",
                llm,
                "none, openai:MODEL, anthropic:MODEL, gemini:MODEL, ollama:MODEL, or an object with a LanguageModel's "
                "methods",
            )
        scope = Scope(
            workspace=chosen.workspace,
            project=chosen.project,
            crew=chosen.crew,
            agent=chosen.agent,
            session=chosen.session,
        )
        caller = Caller(scope=scope, role=validation.name("role", chosen.role))
        ctx = await asyncio.to_thread(
            compose.context,
            chosen,
            store=store,
            preset=preset if isinstance(preset, Preset) else None,
            embedder=own_embedder,
            reranker=own_reranker,
            llm=own_llm,
            clock=clock,
            create=create,
        )
        if ctx.embedder is None:
            _log.warning("%s: %s", SearchMode.SPARSE_ONLY, ctx.without_embedder)
        opened = _Open(
            ctx,
            {},
            in_background=chosen.background_index,
            lent_store=store is not None,
            lent_embedder=own_embedder is not None,
            lent_reranker=own_reranker is not None,
            lent_llm=own_llm is not None,
            awaited={},
        )
        opened.indexer(scope.workspace)
        return cls(opened, caller)

    async def close(self) -> None:
        """Close the store. Vectors that are still missing are made when the store is next open. May be called twice."""
        for indexer in self._opened.indexers.values():
            await indexer.stop()
        for arrivals in self._opened.awaited.values():
            await arrivals.stop()
        async with AsyncExitStack() as closing:  # each of them, whatever becomes of the others
            if self._ctx.llm is not None and not self._opened.lent_llm:
                closing.push_async_callback(self._ctx.llm.close)
            if self._ctx.reranker is not None and not self._opened.lent_reranker:
                closing.push_async_callback(self._ctx.reranker.close)
            if self._ctx.embedder is not None and not self._opened.lent_embedder:
                closing.push_async_callback(self._ctx.embedder.close)
            if not self._opened.lent_store:
                closing.push_async_callback(self._ctx.store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def scoped(self, *, role: str | None = None, **scope: str | None) -> Self:
        """A view for another project, crew, agent or session of the same workspace, over the same open store.

        Raises InvalidInput for an unknown part of a scope, or a role that the preset does not know.
        """
        if role is not None:
            self._ctx.preset.sight.reach_of(role)
        caller = replace(self._caller, scope=self._caller.scope.narrowed(**scope), role=role or self._caller.role)
        return type(self)(self._opened, caller)

    def of_workspace(self, workspace: str) -> Self:
        """A view of another workspace over the same open store, with nothing else of this scope and the same role.

        Nothing crosses between the two. It is for a server, which has made sure that its caller may.
        """
        return type(self)(self._opened, replace(self._caller, scope=Scope(workspace=workspace)))

    @property
    def scope(self) -> Scope:
        return self._caller.scope

    @property
    def preset(self) -> Preset:
        """What this memory was opened with."""
        return self._ctx.preset

    @property
    def language_model(self) -> str | None:
        """The name of the language model that is asked; None: there is none."""
        return None if self._ctx.llm is None else self._ctx.llm.model_id

    @property
    def now(self) -> datetime:
        """What time it is by the clock of this memory, which ages are told by."""
        return self._ctx.clock()

    # ── write ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def observe(
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
        draft = EventDraft(
            text=text,
            role=role,
            type=type,
            severity=validation.choice("severity", severity, Severity),
            priority=validation.choice("priority", priority, Priority),
            actor=actor,
            occurred_at=occurred_at,
            session=session,
            payload={} if payload is None else payload,
            refs={} if refs is None else refs,
            key=key,
        )
        return (await self.observe_many([draft]))[0]

    async def observe_many(self, events: Iterable[EventDraft | Mapping[str, Any]]) -> tuple[Event, ...]:
        """Record events in order, all or none. A mapping holds the arguments of an EventDraft. At most 10,000."""
        appended = await record.observe(self._ctx, self.scope, _drafts(events))
        self._indexer.wake()
        self._arrivals.wake()
        return tuple(item.event for item in appended)

    async def log_event(
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
        draft = EventDraft(
            text=text,
            role=Role.SYSTEM,
            type=type,
            severity=validation.choice("severity", severity, Severity),
            payload={} if payload is None else payload,
            refs={} if refs is None else refs,
            key=key,
        )
        event = await record.log(self._ctx, self.scope, draft)
        self._arrivals.wake()
        return event

    async def remember(
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
        formation = self._ctx.preset.formation
        draft = MemoryDraft(
            text=text,
            title=title,
            kind=formation.kind(kind),
            tier=formation.note_tier if tier is None else validation.choice("tier", tier, Tier),
            source=source,
            origin=validation.choice("origin", origin, Origin),
            importance=importance,
            priority=priority,
            confidence=confidence,
            surprise=surprise,
            tags=validation.tags("tags", tags),
            metadata={} if metadata is None else metadata,
            topic_key=topic_key,
            valid_from=valid_from,
            valid_until=valid_until,
            occurred_at=occurred_at,
            visibility=validation.choice("visibility", visibility, Visibility),
            key=key,
        )
        turns = [validation.identifier("events", one) for one in validation.several("events", events)]
        memory, _ = await record.remember(self._ctx, self.scope, draft, turns)
        self._indexer.wake()
        return memory

    async def learn(
        self, learnings: Iterable[Learning], *, source: str, tags: Sequence[str] = ()
    ) -> tuple[Memory, ...]:
        """Keep learnings, each under its own id and once; `source` names where they stand.

        Raises Conflict when an id holds another text; those before it are kept.
        """
        validation.name("source", source)
        tagged = validation.tags("tags", tags)
        kept = [
            await learn.learn(self._ctx, self.scope, one, source=source, tags=tagged)
            for one in validation.several("learnings", learnings)
        ]
        self._indexer.wake()
        return tuple(kept)

    async def update(
        self, memory_id: Identifier, *, expected_revision: int | None = None, **changes: Unpack[Changes]
    ) -> Memory:
        """Let a memory say otherwise: what is given changes, None takes away, the rest stays. Returns it as it is then.

        `text`, `title`, `kind`, `source`, `importance`, `priority`, `tags`, `metadata`, `valid_from`, `valid_until` and
        `visibility` as `remember` takes them. What it said before is kept as a revision; what changes nothing makes
        none. What was formed from it, such as episodes and facts, stays, and so does the journal. `expected_revision`:
        the `revision` it was read at. Raises NotFound, InvalidInput, and Conflict when it is at another one, or
        superseded.
        """
        memory = await update(
            self._ctx,
            self._reader(),
            validation.identifier("memory_id", memory_id),
            changes,
            expected_revision=None
            if expected_revision is None
            else validation.whole("expected_revision", expected_revision, 1, 2**63 - 1),
        )
        self._indexer.wake()
        return memory

    async def feedback(self, memory_id: Identifier, said: Feedback | str) -> Strength:
        """Say that a memory was helpful, unhelpful or harmful. Returns its strength after it. Raises NotFound."""
        identifier = validation.identifier("memory_id", memory_id)
        return await reinforce.feedback(
            self._ctx, self._reader(), identifier, validation.choice("feedback", said, Feedback)
        )

    async def mark(
        self, memories: Recall | Iterable[Identifier | Hit], exposure: Exposure | str, *, query: str = ""
    ) -> None:
        """Count that memories were retrieved, shown or used: a recall; hits, which tell how near they were; or ids.

        `rem.mark(recall.block(max_chars=2000).hits, "shown")` counts what found room in a prompt. `query`: what was
        asked, which a review of their use is told; a recall knows it. Raises NotFound, and counts none, when one is
        missing.
        """
        similarities: dict[UUID, float | None] = {}
        for one in validation.several("memories", memories):
            if isinstance(one, Hit):
                similarities[one.id] = one.explanation.signals.get("similarity")
            else:
                similarities.setdefault(validation.identifier("memories", one), None)
        chosen = validation.choice("exposure", exposure, Exposure)
        asked = query or (memories.query if isinstance(memories, Recall) else "")
        await reinforce.mark(self._ctx, self._reader(), similarities, chosen, query=asked, session=self.scope.session)

    async def link(
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
        edge, _ = await relate.link(
            self._ctx,
            self._reader(),
            validation.identifier("source", source),
            validation.identifier("target", target),
            validation.choice("relation", relation, RelationKind),
            validation.fraction("weight", weight),
        )
        return edge

    async def supersede(self, old: Identifier, new: Identifier) -> Memory:
        """Let `new` stand in the place of `old`: kept, shown with its successor, and not recalled. Returns `old`.

        Raises NotFound for an unknown id, Conflict when `old` has another successor or `new` was replaced by `old`.
        """
        return await relate.supersede(
            self._ctx, self._reader(), validation.identifier("old", old), validation.identifier("new", new)
        )

    async def invalidate(self, memory_id: Identifier, replacement: Identifier | None = None) -> Memory:
        """End a memory's validity now, in favour of `replacement` where one is given. Raises as `supersede` does."""
        successor = None if replacement is None else validation.identifier("replacement", replacement)
        return await relate.invalidate(
            self._ctx, self._reader(), validation.identifier("memory_id", memory_id), successor
        )

    async def nudge(self) -> str | None:
        """The reminder to write down what was learned, for this agent's next prompt; None while there is no need.

        Given when the agent's events since its last `memory.updated` are as many as the preset says (60), once per
        session. It is no reading method: it records that the reminder was given, as an event `memory.nudged`, though
        not its words. Raises InvalidInput without an agent and a session in the scope.
        """
        reminder = await nudge.nudge(self._ctx, self.scope)
        self._arrivals.wake()
        return reminder

    # ── read ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def recall(
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
        question = Question(
            text=query,
            where=self._filter(filters),
            limit=limit,
            min_score=min_score,
            ranking=ranking,
            walk_depth=walk_depth,
            explain=explain,
        )
        return await recall(self._ctx, self._reader(reach, asking=True), question)

    async def why_not(
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
        question = Question(
            text=query,
            where=self._filter(filters),
            limit=limit,
            min_score=min_score,
            ranking=ranking,
            walk_depth=walk_depth,
        )
        identifier = validation.identifier("memory_id", memory_id)
        return await inspect.why_not(self._ctx, self._reader(reach, asking=True), identifier, question)

    async def compare(
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
        from remembrancer import compose

        several = None if presets is None else validation.several("presets", presets)
        question = Question(
            text=query,
            where=self._filter({"as_of": as_of}),
            limit=validation.whole("limit", limit, 1, MAX_LIMIT),
        )
        chosen = compose.choose_presets(self._ctx.preset, several)
        return await compare.compare(self._ctx, self._reader(), question, chosen)

    async def get(self, memory_id: Identifier) -> Memory:
        """One memory, whatever its status. Raises NotFound."""
        return await inspect.get(self._ctx, self._reader(), validation.identifier("memory_id", memory_id))

    async def show(self, memory_id: Identifier) -> Dossier:
        """One memory with its cues, the events it came from, its revisions and relations. Raises NotFound."""
        return await inspect.show(self._ctx, self._reader(), validation.identifier("memory_id", memory_id))

    async def recent(self, limit: int = 10, days: float | None = None) -> tuple[Memory, ...]:
        """Current memories by when they happened, newest first, of the last `days` if given. `limit` 1 to 10,000."""
        within = None if days is None else timedelta(days=validation.number("days", days, 0, 36_500))
        validation.whole("limit", limit, 1, MAX_LISTED)
        return await inspect.recent(self._ctx, self._reader(), limit=limit, within=within)

    async def memories(
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
        validation.whole("limit", limit, 1, MAX_LISTED)
        where = self._filter(filters)
        return await inspect.page(self._ctx, self._reader(), where, limit=limit, oldest_first=oldest_first, after=after)

    async def timeline(
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
        where = self._filter({"kinds": kinds, "session": session, "since": since, "until": until})
        validation.whole("limit", limit, 1, MAX_LISTED)
        return await inspect.timeline(self._ctx, self._reader(), where, limit=limit)

    async def decay(self, limit: int = 20) -> tuple[Outlook, ...]:
        """Current memories, weakest first, by the preset's curve, each with when it falls below what counts as faded.

        `limit` 1 to 10,000. Reads the state of every current memory.
        """
        validation.whole("limit", limit, 1, MAX_LISTED)
        return await fading.decay(self._ctx, self._reader(), limit=limit)

    async def fading(self, limit: int = 20, within: timedelta = timedelta(days=30)) -> tuple[Outlook, ...]:
        """Current memories that have not faded and will within that time, if nothing else happens; soonest first.

        `limit` 1 to 10,000, `within` up to a hundred years. Reads the state of every current memory.
        """
        validation.whole("limit", limit, 1, MAX_LISTED)
        ahead = validation.duration("within", within, timedelta(days=36_500))
        return await fading.fading(self._ctx, self._reader(), limit=limit, within=ahead)

    async def outlooks(self, memories: Iterable[Identifier]) -> tuple[Outlook, ...]:
        """How strong some memories are, and when each falls below what counts as faded: in their order, whatever their
        status; those that this caller cannot see are left out. At most 10,000; reads no others.
        """
        ids = [validation.identifier("memories", one) for one in validation.several("memories", memories)]
        validation.whole("memories", len(ids), 0, MAX_LISTED)
        return await fading.outlooks(self._ctx, self._reader(), ids)

    async def graph(self, memory_id: Identifier | None = None, *, limit: int = 60) -> Graph:
        """Memories and the edges among them: up to `limit` (1 to 200) within two steps of one, or, without an id, of
        the most connected current ones. Raises NotFound.
        """
        around = None if memory_id is None else validation.identifier("memory_id", memory_id)
        room = validation.whole("limit", limit, 1, MAX_LIMIT)
        return await graph.graph(self._ctx, self._reader(), around, limit=room)

    async def curve(self, memory_id: Identifier, *, days: float = 180, points: int = 181) -> FadingCurve:
        """One memory's strength over time, by the preset's curve. Raises NotFound.

        At so many `points` (2 to 10,000), evenly from `days` ago, or since when it can be told, to `days` from now
        (0.01 to 36,500).
        """
        return await fading.fading_curve(
            self._ctx,
            self._reader(),
            validation.identifier("memory_id", memory_id),
            around=timedelta(days=validation.number("days", days, 0.01, 36_500)),
            points=validation.whole("points", points, 2, MAX_LISTED),
        )

    async def events(
        self, *, limit: int = 100, oldest_first: bool = False, **filters: Unpack[EventFilters]
    ) -> tuple[Event, ...]:
        """Entries of the journal, remembered or not, newest first unless asked. `limit` 1 to 10,000.

        What to choose them by: `project`, `crew`, `agent`, `session`, `actor`; `crews`, `agents`, `types`,
        `severities`, `priorities`, `roles` (any of them), `without_types`; `query`: each of its words stands in the
        text or the payload; `since`, `until`; `archived`: also those that have been moved into the archive, cut as
        they are there.
        """
        validation.whole("limit", limit, 1, MAX_LISTED)
        where = journal.filter_of(filters)
        return await inspect.events(self._ctx, self._reader(), where, limit=limit, oldest_first=oldest_first)

    async def journal(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        oldest_first: bool = False,
        **filters: Unpack[EventFilters],
    ) -> JournalPage:
        """The same a page at a time: `after`, the `next` of the page before, goes on behind it, whatever came since."""
        validation.whole("limit", limit, 1, MAX_LISTED)
        where = journal.filter_of(filters)
        return await journal.page(self._ctx, self._reader(), where, limit=limit, oldest_first=oldest_first, after=after)

    async def event(self, event_id: Identifier) -> Event:
        """One entry of the journal, or what the archive has of it. Raises NotFound."""
        return await journal.event(self._ctx, self._reader(), validation.identifier("event_id", event_id))

    async def count_events(self, **filters: Unpack[EventFilters]) -> int:
        """How many entries of the journal there are, chosen as `events` does."""
        return await self._ctx.store.count_events(self._reader(), journal.filter_of(filters))

    async def events_by_day(self, **filters: Unpack[EventFilters]) -> Mapping[date, int]:
        """The same by the day, in UTC, that they happened on: those days that have any, the earliest first."""
        return await self._ctx.store.events_by_day(self._reader(), journal.filter_of(filters))

    async def recorded(self, after: int | None = None, *, limit: int = 100, **filters: Unpack[EventFilters]) -> Stretch:
        """Entries of the journal in the order they were recorded: those behind a position, or the last ones.

        `limit` 0 to 10,000, chosen as `events` does. The stretch's `position` is where to go on. Nothing is ever
        recorded at or before a position that has been read. Raises InvalidInput for one that was not given here.
        """
        validation.whole("limit", limit, 0, MAX_LISTED)
        where = journal.filter_of(filters)
        return await self._ctx.store.recorded(self._reader(), where, after=_position(after), limit=limit)

    def tail(
        self, after: int | None = None, *, every: timedelta = timedelta(seconds=1), **filters: Unpack[EventFilters]
    ) -> AsyncGenerator[Recorded, None]:
        """Every entry recorded behind a position, or from now on, without end, chosen as `events` does.

        In the order they were recorded, by whichever process; each `every` (0.01 s to a day) it is looked for new ones.
        """
        validation.number("every", every.total_seconds(), 0.01, 86_400)
        return journal.tail(
            self._ctx,
            self._reader(),
            journal.filter_of(filters),
            after=_position(after),
            pause=lambda: asyncio.sleep(every.total_seconds()),
        )

    async def wait_recorded(self, after: int, *, within: timedelta = timedelta(seconds=15)) -> bool:
        """Wait until something was recorded behind a position in this workspace, by whichever process, at most `within`
        (0.01 s to a day). Whether something was, be it of what this caller may see or not: `recorded` tells what.
        """
        seconds = validation.number("within", within.total_seconds(), 0.01, 86_400)
        position = validation.whole("after", after, 0, 2**63 - 1)
        try:
            async with asyncio.timeout(seconds):
                await self._arrivals.behind(position)
        except TimeoutError:
            return False
        return (await self.recorded(limit=0)).position > position

    async def set_priority(self, event_id: Identifier, priority: Priority | str, reason: str = "") -> PriorityChange:
        """Mark an entry of the journal: `normal`, `high`, `pin` or `permanent`, which neither fades nor leaves.

        Who did it and why is kept. The memories formed from it fade no further than its priority allows. The priority
        it has already changes nothing. Raises PermissionDenied for a role that is no operator's (LEAD is one),
        NotFound, and Conflict for an entry that is in the archive.
        """
        return await journal.set_priority(
            self._ctx,
            self._caller,
            self._reader(),
            validation.identifier("event_id", event_id),
            validation.choice("priority", priority, Priority),
            reason=reason and validation.text("reason", reason, max_bytes=journal.MAX_REASON_BYTES),
        )

    async def priority_changes(self, event_id: Identifier) -> tuple[PriorityChange, ...]:
        """Who gave an entry another priority, when and why, oldest first."""
        return await self._ctx.store.priority_changes(self._reader(), validation.identifier("event_id", event_id))

    async def crews(self) -> tuple[str, ...]:
        """The names of the crews of this workspace that anything is remembered of."""
        return await self._ctx.store.crews(self.scope)

    async def stats(self) -> Stats:
        """Counts of what this caller may see."""
        return await inspect.stats(self._ctx, self._reader())

    async def health(self, crew: str | None = None) -> HealthSnapshot | None:
        """The last health snapshot of the workspace, or of a crew; None when none was taken yet: `maintain` does."""
        return await health.latest(self._ctx, self.scope, validation.optional_name("crew", crew))

    async def health_history(self, crew: str | None = None, limit: int = 30) -> tuple[HealthSnapshot, ...]:
        """The health snapshots, newest day first, at most one a day. `limit` 1 to 10,000."""
        validation.whole("limit", limit, 1, MAX_LISTED)
        return await health.history(self._ctx, self.scope, validation.optional_name("crew", crew), limit=limit)

    # ── mind ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def end_session(self, session: str | None = None) -> EndReport:
        """Say that a session is over, this caller's where none is named: its last episode is formed, what it taught is
        learned, what its use of memories counts for is counted and reviewed, as far as the preset has each of these.

        Doing it twice changes nothing. Raises InvalidInput where there is no session.
        """
        named = validation.optional_name("session", session) or self.scope.session
        if named is None:
            raise InvalidInput("session", None, "the name of a session, here or in the scope")
        report = await end_session(self._ctx, self.scope, named)
        self._indexer.wake()
        return report

    async def sleep(self, dry_run: bool = False) -> SleepReport:
        """Promote what has been in working memory for half of its time, summed up by where it came from.

        A dry run only says what it would do. Without a language model the summary is a compression, and says so.
        """
        report = await sleep(self._ctx, self.scope, dry_run=dry_run)
        self._indexer.wake()
        return report

    async def consolidate(
        self, since: datetime | None = None, limit: int = 50, *, crew: str | None = None
    ) -> Consolidation:
        """Make little of much, now: facts from episodes, rules from what happened `since`, one memory of many alike.

        Each as far as the preset has it, at most `limit` (1 to 10,000) of a kind. What it replaces stays reachable.
        With a `crew`, only rules, from what happened in it.
        """
        validation.whole("limit", limit, 1, MAX_LISTED)
        start = validation.optional_moment("since", since)
        only = validation.optional_name("crew", crew)
        report = await consolidate(self._ctx, self.scope, since=start, limit=limit, crew=only)
        self._indexer.wake()
        self._arrivals.wake()
        return report

    async def maintain(
        self, only: Iterable[Job | str] | None = None, *, force: bool = False, on_indexed: OnIndexed | None = None
    ) -> dict[str, Report]:
        """Run every job of the preset that is due, once, or `only` some of them. With `force` also what is not due.

        What each did, or why it did nothing, by the job's name. Raises StoreUnavailable.
        """
        return await maintenance.maintain(self._sweeper(on_indexed), _jobs(only), force=force)

    async def work(self, stop: Stop, *, only: Iterable[Job | str] | None = None, on_run: OnRun | None = None) -> None:
        """Run the preset's jobs on their schedule, what was missed first, until `stop` is set, from whatever thread."""
        await worker.work(self._sweeper(None), stop, only=_jobs(only), on_run=on_run)

    async def jobs(self) -> tuple[JobState, ...]:
        """How each job of the preset stands: its last run, its next, what waits for it, and what failed."""
        return await overview.job_states(self._ctx, self.scope)

    async def spending(self, since: datetime | None = None) -> tuple[Spent, ...]:
        """What language models were asked for this workspace since a time, and what that cost, by purpose and model."""
        return await self._ctx.store.spending(self.scope, since=validation.optional_moment("since", since))

    async def promotable(self) -> tuple[Candidate, ...]:
        """What came up in so many jobs that the whole workspace could be told, those of most jobs first."""
        return await promote.candidates(self._ctx, self.scope)

    async def promote(self, memory_id: Identifier, to: Level | str = "workspace") -> Memory:
        """Approve that a wider scope, `project` or `workspace`, is told what a memory says. Returns its own of it.

        Raises NotFound, Conflict, and InvalidInput for a level that is not wider.
        """
        level = to if isinstance(to, Level) else Level[validation.choice("to", to, _Wider).name]
        memory, _ = await promote.promote(
            self._ctx, self.scope, validation.identifier("memory_id", memory_id), to=level
        )
        self._indexer.wake()
        return memory

    async def enter_stage(self, intent: str) -> StageReport:
        """Tell what the project is at, in the words of its INTENT.md: where that is another stage than before, what was
        learned for the tasks of the stage that ended retires.
        """
        return await stages.enter_stage(self._ctx, self.scope, validation.text("intent", intent))

    async def reviews(self, memory_id: Identifier) -> tuple[Review, ...]:
        """How a memory's use was rated, oldest first, with what each rating made of its stability."""
        return await self._ctx.store.reviews(self._reader(), validation.identifier("memory_id", memory_id))

    # ── care ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def forget(self, memory_id: Identifier) -> Memory:
        """Retire a memory: kept, not recalled, and `restore` undoes it.

        An episode that its turn is in is told anew without it. What facts, rules and summaries were drawn from it stay.
        Raises NotFound, and Conflict where others keep changing the episode meanwhile.
        """
        return await forget.forget(self._ctx, self._reader(), validation.identifier("memory_id", memory_id))

    async def restore(self, memory_id: Identifier) -> Memory:
        """Undo `forget`. Raises NotFound."""
        return await forget.restore(self._ctx, self._reader(), validation.identifier("memory_id", memory_id))

    async def erase(
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
        choice = Choice(
            ids=_identifiers("ids", ids),
            events=_identifiers("events", events),
            project=project,
            crew=crew,
            agent=agent,
            session=session,
            before=before,
        )
        receipt = await erase.erase(self._ctx, self._caller, choice, dry_run=dry_run)
        self._indexer.wake()
        return receipt

    async def erasures(self, limit: int = 100) -> tuple[Erasure, ...]:
        """The receipts of this workspace's erasures, newest first. `limit` 1 to 10,000."""
        validation.whole("limit", limit, 1, MAX_LISTED)
        return await erase.erasures(self._ctx, self.scope, limit=limit)

    async def index_now(
        self, memory_id: Identifier | None = None, *, on_indexed: OnIndexed | None = None
    ) -> IndexReport:
        """Give every waiting cue its vector before returning, or those of one memory, which then wait for no other.

        Raises NotFound.
        """
        if memory_id is None:
            return await self._indexer.run(on_indexed)
        return await self._indexer.run_for(self._reader(), validation.identifier("memory_id", memory_id))

    async def sync_vault(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Bring a folder of markdown files and the memory to say the same: what was edited in the files is remembered
        so, and what was learned here is written to them. `name`: what its memories are known by, None: the folder's.

        With a project in the scope the folder is that project's. A file that changed meanwhile is not overwritten: it
        is among `conflicts`, and the next sync merges it. Raises InvalidInput where there is no folder.
        """
        report = await vault.sync(self._ctx, self.scope, await _vault(folder, name))
        self._indexer.wake()
        return report

    async def check_vault(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """What is wrong in a vault's files, and what a sync would do. Writes nothing. Raises as `sync_vault` does."""
        report = await vault.check(self._ctx, self.scope, await _vault(folder, name))
        self._indexer.wake()
        return report

    async def rebuild_vault(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Make a vault's memories anew from its files, as if the database had been dropped; no file is written.
        Raises as `sync_vault` does.
        """
        report = await vault.rebuild(self._ctx, self.scope, await _vault(folder, name))
        self._indexer.wake()
        return report

    async def search_mode(self) -> SearchMode:
        """How recall searches now: `vector`, `vector-degraded` (the embedder does not answer) or `sparse-only`.

        Asks the embedder, which takes as long as one answer of it may.
        """
        return await inspect.search_mode(self._ctx)

    async def search_state(self) -> SearchState:
        """The same with why it is that one, in words. Asks the embedder too."""
        return await inspect.search_state(self._ctx)

    async def ready(self) -> None:
        """Return when the store has been read and could be written to. Raises StoreUnavailable, after as long as a
        write waits for others.
        """
        await inspect.ready(self._ctx, self.scope)

    async def doctor(self) -> tuple[Finding, ...]:
        """What was looked at, and what is wrong with it."""
        findings = await inspect.doctor(self._ctx, self._reader())
        failing = self._indexer.last_error
        return (*findings, Finding("index sweep", ok=False, detail=failing)) if failing else findings

    async def export(self, path: str | Path, *, on_rows: OnRows | None = None) -> int:
        """Write the whole workspace to a new file, whatever its rows' visibility. Returns how many rows it has."""
        return await exchange.export(self._ctx, self.scope, Path(path), on_rows=on_rows)

    async def import_(self, path: str | Path, *, dry_run: bool = True, on_rows: OnRows | None = None) -> Imported:
        """Take over an export, all of it or nothing. A dry run, the default, only says what it would add."""
        result = await exchange.import_file(self._ctx, self.scope, Path(path), dry_run=dry_run, on_rows=on_rows)
        self._indexer.wake()
        return result

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def create_key(
        self, name: str, right: Right | str = Right.READ, expires_in: timedelta | None = None
    ) -> NewKey:
        """Make a key to this workspace, for programs elsewhere: one that may `read`, `write` or `admin`.

        Its token is in the answer and kept nowhere. `expires_in`: up to a hundred years; None: never. Raises
        InvalidInput.
        """
        ends = None if expires_in is None else validation.duration("expires_in", expires_in, timedelta(days=36_500))
        return await keys.create_key(
            self._ctx,
            self.scope,
            name=name,
            right=validation.choice("right", right, Right),
            expires_at=None if ends is None else self._ctx.clock() + ends,
            secret=os.urandom(SECRET_BYTES),
        )

    async def keys(self) -> tuple[ApiKey, ...]:
        """The keys to this workspace, newest first, also those that have expired or are revoked."""
        return await self._ctx.store.keys(self.scope)

    async def revoke_key(self, key_id: Identifier) -> ApiKey:
        """Let a key open nothing any more, from its next request on. Raises NotFound."""
        return await self._ctx.store.revoke_key(self.scope, api_key.key_id("key_id", key_id), at=self._ctx.clock())

    async def key_for(self, token: str) -> ApiKey | None:
        """The key with that token, to whichever workspace of this store; None where no key is usable by it now."""
        return await keys.key_for(self._ctx, token, self._ctx.clock())

    async def has_keys(self) -> bool:
        """Whether any key to any workspace of this store is usable now."""
        return await self._ctx.store.has_keys(at=self._ctx.clock())

    async def needs_key(self) -> bool:
        """Whether a server is to let nobody in without a key: there are some, were it only such as have expired.

        What a key kept shut does not open because its time is over; it does when the last one is revoked.
        """
        return await self._ctx.store.has_keys(at=_EVER)

    async def claim_request(self, key: str, fingerprint: bytes, *, longest: timedelta) -> ClaimOutcome:
        """Claim an idempotency key of this workspace for a request, for a day: what a server asks before it does one.

        `fingerprint`: the SHA-256 of what is asked for. `longest`: one that has no answer after so long was broken off.
        `Claimed`: do it, then `answer_request` or, where it did nothing, `release_request`. Else what became of it: a
        `Reply` to give again, `UnderWay`, or `Unkept`. Raises InvalidInput, and Conflict for another request's key.
        """
        return await replies.claim_request(self._ctx, self.scope, key, fingerprint, longest=longest)

    async def answer_request(self, claim: Claim, reply: Reply) -> None:
        """Keep what a claimed request was answered. The first answer stays."""
        await self._ctx.store.answer(self.scope, claim, reply)

    async def release_request(self, claim: Claim) -> None:
        """Take back the claim of a request that did nothing, so that its key is new again."""
        await self._ctx.store.release(self.scope, claim)

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _ctx(self) -> Context:
        return self._opened.ctx

    @property
    def _arrivals(self) -> Arrivals:
        return self._opened.arrivals(self.scope.workspace)

    @property
    def _indexer(self) -> Indexer:
        return self._opened.indexer(self.scope.workspace)

    def _sweeper(self, on_indexed: OnIndexed | None) -> Sweeper:
        return Sweeper(self._ctx, self.scope, self._indexer, on_indexed)

    def _reader(self, reach: Reach | str | None = None, *, asking: bool = False) -> Reader:
        asked = None if reach is None else validation.choice("reach", reach, Reach)
        return reader_of(self._ctx, self._caller, asked, asking=asking)

    def _filter(self, filters: Filters) -> Filter:
        return filter_of(filters, self._ctx.clock())


def _settings(settings: object, given: Mapping[str, Any]) -> Settings:
    arguments = {name: value for name, value in given.items() if value is not None}
    if isinstance(settings, Settings):
        return load({**settings.model_dump(), **arguments}, environment={})
    if settings is None:
        return load(arguments)
    if not isinstance(settings, Mapping):
        raise InvalidInput("settings", settings, "Settings, or a mapping of some of them")
    return load({**cast("Mapping[str, Any]", settings), **arguments})


async def _vault(folder: str | Path, name: str | None) -> VaultFiles:
    from remembrancer import compose

    return await asyncio.to_thread(compose.vault, Path(folder), name)


def _drafts(events: object) -> list[EventDraft]:
    return [_draft(place, event) for place, event in enumerate(validation.several("events", events))]


def _identifiers(argument: str, values: object) -> frozenset[UUID]:
    given = () if values is None else validation.several(argument, values)
    return frozenset(validation.identifier(argument, one) for one in given)


def _draft(place: int, event: object) -> EventDraft:
    if isinstance(event, EventDraft):
        return event
    where = f"events[{place}]"
    if not isinstance(event, Mapping):
        raise InvalidInput(where, event, "an EventDraft, or a mapping of its arguments")
    arguments = cast("Mapping[str, Any]", event)
    try:
        return EventDraft(**arguments)
    except TypeError as error:
        raise InvalidInput(where, arguments, f"the arguments of an EventDraft ({error})") from error
    except InvalidInput as error:
        raise InvalidInput(f"{where}.{error.argument}", error.value, error.allowed) from error


def _position(after: int | None) -> int | None:
    return None if after is None else validation.whole("after", after, 0, 2**63 - 1)


def _jobs(only: Iterable[Job | str] | None) -> list[Job] | None:
    return None if only is None else [validation.choice("only", one, Job) for one in validation.several("only", only)]
