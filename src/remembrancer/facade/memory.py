"""`rem`: the everyday methods. Each passes the caller's scope to one engine function."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, Unpack, cast
from uuid import UUID

from remembrancer import compose, engine, jobs
from remembrancer.config import Settings, settings_of
from remembrancer.domain import validation
from remembrancer.domain.audit import Touched
from remembrancer.domain.erasure import Erasure, ErasureSelection
from remembrancer.domain.event import Event, EventDraft, Origin, Priority, Role, Severity
from remembrancer.domain.job import Job
from remembrancer.domain.learning import Learning
from remembrancer.domain.listing import MemoryOrder, MemoryPage, MemoryState
from remembrancer.domain.memory import Memory, MemoryDraft, Tier
from remembrancer.domain.outcome import TaskOutcome, TaskResult
from remembrancer.domain.query import Filters
from remembrancer.domain.recall import Floor, Hit, Recall, RecallMode
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reach, Scope, Visibility
from remembrancer.domain.strength import Exposure, Feedback, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Caller, Clock, Context
from remembrancer.errors import InvalidInput, NotFound, PermissionDenied
from remembrancer.facade.audit import AsyncAuditApi
from remembrancer.facade.embedder import AsyncEmbedderApi
from remembrancer.facade.health import AsyncHealthApi
from remembrancer.facade.jobs import AsyncJobsApi, jobs_named
from remembrancer.facade.journal import AsyncJournalApi
from remembrancer.facade.keys import AsyncKeysApi
from remembrancer.facade.learnings import AsyncLearningsApi
from remembrancer.facade.opening import opens
from remembrancer.facade.presets import AsyncPresetsApi
from remembrancer.facade.recalls import AsyncRecallsApi
from remembrancer.facade.retention import AsyncRetentionApi
from remembrancer.facade.vault import AsyncVaultApi
from remembrancer.facade.view import Identifier, Opened, View, from_arguments, listed, path_of
from remembrancer.policies.admission.formation import STAYS
from remembrancer.policies.admission.updating import Changes
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.index import Index
from remembrancer.ports.job_queue import JobQueue
from remembrancer.ports.language_model import LanguageModel
from remembrancer.ports.reranker import Reranker
from remembrancer.ports.store import Store
from remembrancer.presets.spec import MAX_LIMIT, Preset

if TYPE_CHECKING:
    from remembrancer.engine.consolidate import Consolidation
    from remembrancer.engine.end_session import EndReport
    from remembrancer.engine.exchange import Imported, OnRows, SubjectExport
    from remembrancer.engine.graph import Graph
    from remembrancer.engine.inspect import MemoryDetails, WhyNot
    from remembrancer.engine.sleep import SleepReport
    from remembrancer.jobs.indexer import OnIndexed
    from remembrancer.jobs.sweeps import JobReport
    from remembrancer.ports.transfer import BackupReport, OnPages

_MODELS: Final = {
    "embedder": (
        "embed_query",
        "auto, none, local, local:PRECISION, ollama:MODEL, openai:MODEL, gemini:MODEL, or an object like an Embedder",
    ),
    "embedder_before": (
        "embed_query",
        "local, local:PRECISION, ollama:MODEL, openai:MODEL, gemini:MODEL, or an object with an Embedder's methods",
    ),
    "reranker": (
        "scores",
        "none, cross-encoder:FOLDER, an http(s) address, or an object with a Reranker's methods",
    ),
    "llm": (
        "answer",
        "none, openai:MODEL, anthropic:MODEL, gemini:MODEL, ollama:MODEL, or an object with a LanguageModel's methods",
    ),
}
"""For each model that can be passed as an object: a method that it must have, and the allowed values for errors."""
_NAMED: Final = ("db", "preset", "index", "encryption_key", *Scope.__slots__, "role", *_MODELS)
"""The settings that `open` takes as arguments."""
MEMORY_ARGUMENTS: Final = (*MemoryDraft.__dataclass_fields__, "events")
"""The names of the arguments of `remember`."""
FEW_EVENTS: Final = 10
"""More events than this are validated in another thread, because a payload of 64 KiB takes up to 10 ms."""
_log = logging.getLogger("remembrancer")
T = TypeVar("T")


class AsyncRemembrancer(View):
    """A memory, open for one caller. Make one with `open`: `async with` closes it at the end; after `await` it is open
    until `close`. `scoped` gives cheap views for other callers in its workspace.

    >>> import asyncio
    >>> from remembrancer import AsyncRemembrancer
    >>> async def main():
    ...     async with AsyncRemembrancer.open(":memory:", embedder="none") as rem:
    ...         await rem.remember("Checkout needs 2 GiB in production")
    ...         return await rem.recall("how much memory does checkout need?")
    >>> asyncio.run(main())[0].memory.text
    'Checkout needs 2 GiB in production'
    """

    @classmethod
    @opens
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
        index: str | Index | None = None,
        encryption_key: str | bytes | None = None,
        embedder: str | Embedder | None = None,
        embedder_before: str | Embedder | None = None,
        reranker: str | Reranker | None = None,
        llm: str | LanguageModel | None = None,
        queue: JobQueue | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        create: bool = True,
    ) -> Self:
        """Open a store; `create` creates it if it does not exist.

        `url`: a file's path, `:memory:`, or a URL whose scheme an installed package registers; `store` replaces it.
        `index`: `resident`, such a URL, or an Index. `preset`: a name, the path of a TOML file, or a Preset.

        A missing argument is taken from `settings`; else from REMEMBRANCER_* variables and the file named by
        REMEMBRANCER_CONFIG; else the default: `remembrancer.db`, preset and workspace `default`, role AGENT, no
        reranker and no language model. The default embedder is Ollama if `ollama_url` is set, else the local one if it
        is installed. Without an embedder, recall is lexical, and a warning goes to the logger "remembrancer".
        `embedder_before`: during a change of embedder, the one from before, whose vectors answer until
        `rem.embedder.switch()`. `encryption_key`: 32 bytes, 64 hexadecimal digits, or a passphrase, with which an
        SQLite file is encrypted; a new file is created so. `queue`: who runs the background jobs; None: as the setting
        `jobs` says.

        Models, stores, indexes and queues passed as objects are not closed by `close`. An index belongs to one store.
        Raises InvalidInput, StoreUnavailable, Unsupported, ModelUnavailable.
        """
        given: dict[str, Any] = {**locals(), "db": url}
        lent = {name: given[name] for name in ("store", "index", *_MODELS) if not isinstance(given[name], str)}
        if isinstance(preset, Preset):
            lent["preset"] = preset
        chosen = settings_of(settings, {name: given[name] for name in _NAMED if name not in lent})
        if store is not None and url is not None:
            raise InvalidInput("url", url, "None, where a store is given")
        for argument, (method, allowed) in _MODELS.items():
            model = lent.get(argument)
            if not (model is None or callable(getattr(model, method, None))):
                raise InvalidInput(argument, model, allowed)
        scope = Scope(**{part: getattr(chosen, part) for part in Scope.__slots__})
        caller = Caller(scope=scope, role=validation.name("role", chosen.role))
        queue_for = compose.choose_job_queue(chosen, queue)
        ctx = await asyncio.to_thread(compose.context, chosen, **lent, clock=clock, create=create)
        if ctx.embedder is None:
            _log.warning("%s: %s", engine.search_state.SearchMode.SPARSE_ONLY, ctx.without_embedder)
        passed = (*lent.values(), queue)
        queue = queue_for(ctx)
        before = None if ctx.before is None else ctx.before.embedder
        parts = (ctx.executor, ctx.index, ctx.store, ctx.embedder, before, ctx.reranker, ctx.llm, queue)
        owned = tuple(one for one in parts if one is not None and not any(one is other for other in passed))
        opened = Opened(
            ctx, queue, owned=owned, background_index=chosen.background_index, audit_reads=chosen.audit_reads
        )
        rem = cls(opened, caller)
        rem._wake_indexer()
        return rem

    async def close(self) -> None:
        """Close the store. Missing vectors are made when the store is next open. May be called twice."""
        await self._opened.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def scoped(self, *, role: str | None = None, **scope: str | None) -> Self:
        """A view for another project, crew, agent or session of the same workspace, over the same open store.

        Raises InvalidInput for an unknown scope part, or a role that the preset does not define; PermissionDenied for
        another value of what the caller is bound to.
        """
        if role is not None:
            self._ctx.preset.access_policy.reach_of(role)
        return type(self)(self._opened, self._caller.as_other(role, **scope))

    def bound_to(self, *, role: str | None = None, **scope: str | None) -> Self:
        """As `scoped`, for clients whose claims are not trusted: the view, and views made from it, act as these parts
        of the scope and this role only, and read no further than they may. Parts that are None stay free.
        """
        parts = {part: value for part, value in scope.items() if value is not None}
        caller = self._caller.as_other(role, **parts)
        bound = caller.bound.union(parts, () if role is None else ("role",))
        return type(self)(self._opened, replace(caller, bound=bound))

    def of_workspace(self, workspace: str) -> Self:
        """A view of another whole workspace over the same open store, with the same role.

        For servers: the caller must check that its client may access that workspace. Workspaces share no rows. Raises
        PermissionDenied for a bound caller.
        """
        if self._caller.bound:
            raise PermissionDenied("workspace: a bound caller has one workspace")
        return type(self)(self._opened, replace(self._caller, scope=Scope(workspace=workspace)))

    @property
    def scope(self) -> Scope:
        """The scope to which this caller's memories belong."""
        return self._caller.scope

    @property
    def now(self) -> datetime:
        """The current time of this memory's clock, from which ages are counted."""
        return self._ctx.clock()

    @property
    def context(self) -> Context:
        """The first argument of engine functions, for programs that call them directly, such as a server."""
        return self._ctx

    # ── by noun ──────────────────────────────────────────────────────────────────────────────────────────────────────

    audit = View.noun(AsyncAuditApi)
    journal = View.noun(AsyncJournalApi)
    health = View.noun(AsyncHealthApi)
    embedder = View.noun(AsyncEmbedderApi)
    jobs = View.noun(AsyncJobsApi)
    keys = View.noun(AsyncKeysApi)
    learnings = View.noun(AsyncLearningsApi)
    presets = View.noun(AsyncPresetsApi)
    recalls = View.noun(AsyncRecallsApi)
    retention = View.noun(AsyncRetentionApi)
    vault = View.noun(AsyncVaultApi)

    # ── write ────────────────────────────────────────────────────────────────────────────────────────────────────────

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
        """Record something that was said or happened. It is found by its words at once, by its meaning after it is
        embedded.

        If the `key` is already recorded: returns the recorded event, or raises Conflict if its text differs.
        """
        draft = from_arguments(
            EventDraft, locals(), payload={} if payload is None else payload, refs={} if refs is None else refs
        )
        return (await self.observe_many([draft]))[0]

    async def observe_many(self, events: Iterable[str | EventDraft | Mapping[str, Any]]) -> tuple[Event, ...]:
        """Record events in order, all or none. A mapping has the arguments of an EventDraft; a string is the text of
        one. At most 10,000.

        Events without a time get consecutive times, a microsecond apart; the last one happened now.
        """
        given = list(validation.several("events", events))
        drafted = partial(_each, "events", given, _draft)
        drafts = drafted() if len(given) <= FEW_EVENTS else await asyncio.to_thread(drafted)
        if self._caller.bound:
            for session in dict.fromkeys(draft.session for draft in drafts if draft.session is not None):
                self._caller.as_other(session=session)
        appended = await engine.record.observe(self._ctx, self.scope, drafts)
        self._wake_indexer()
        self._arrivals.wake()
        return tuple(item.event for item in appended)

    async def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        kind: str | None = None,
        tier: Tier | str | None = None,
        source: str | None = None,
        origin: Origin | str = Origin.USER,
        importance: float | None = None,
        priority: int | None = None,
        confidence: float = 0.5,
        surprise: float = 0.0,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        topic_key: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        occurred_at: datetime | None = None,
        visibility: Visibility | str = Visibility.WORKSPACE,
        key: str | None = None,
        events: Iterable[Identifier] = (),
    ) -> Memory:
        """Store a memory. With a `topic_key`, it replaces the text of the current memory on that topic: of this scope,
        or of the level that the preset's topics belong to. If that memory is trusted more than `origin`, it stays: the
        text is stored beside it, on the topic "TOPIC (ORIGIN)", and contradicts it.

        `kind` and `tier`: None means the preset's default. `importance`, `priority`, `tags`, `metadata`: None means
        0.5, 5, and none. If the topic has a memory, None keeps its kind, importance, priority, tags and metadata.
        `events`: the turns that an episode was formed from; it is found by the words of each, and its time span covers
        them. `surprise` in [0, 1] increases stability in presets that use it. If the `key` is already stored: returns
        the stored memory, or raises Conflict if its text differs. Without any key, a text that is stored counts as an
        exposure of its memory, if the preset says so (`formation.repeats`).
        """
        draft, left_out = self._noted(locals())
        turns = await self._all_identified("events", events, "event")
        reader = self._widest_reader()
        memory, _ = await engine.record.remember(self._ctx, self.scope, draft, turns, left_out=left_out, reader=reader)
        return self._indexed(memory)

    async def remember_many(self, memories: Iterable[str | Mapping[str, Any]]) -> tuple[Memory, ...]:
        """Store memories in order, all or none. A mapping has the arguments of `remember` except `topic_key`; a string
        is the text of one. At most 10,000.

        Memories without a time get consecutive times, a microsecond apart; the last one happened now. Raises as
        `remember` does; nothing is stored then.
        """
        given = list(validation.several("memories", memories))
        noted = partial(_each, "memories", given, self._note)
        notes = noted() if len(given) <= FEW_EVENTS else await asyncio.to_thread(noted)
        for place, (note, events) in enumerate(notes):
            if events:
                turns = await self._all_identified(f"memories[{place}].events", events, "event")
                notes[place] = (replace(note, turns=turns), ())
        given_notes = [note for note, _ in notes]
        stored = await engine.record.remember_many(self._ctx, self.scope, given_notes, reader=self._widest_reader())
        self._wake_indexer()
        return stored

    def _note(self, where: str, memory: object) -> tuple[engine.record.NewMemory, Iterable[Identifier]]:
        """One of several memories to store, and the events of an episode."""
        given: dict[str, Any] = _arguments(where, memory, MEMORY_ARGUMENTS)
        draft, left_out = self._noted(given)
        return engine.record.NewMemory(draft, left_out=left_out), given.get("events") or ()

    def _noted(self, given: Mapping[str, Any]) -> tuple[MemoryDraft, set[str]]:
        """The draft of a memory from the arguments of `remember`, and the names of those that were left out."""
        formation = self._ctx.preset.formation
        left_out = {name for name in STAYS if given.get(name) is None}
        told = {name: value for name, value in given.items() if name not in left_out}
        tier = given.get("tier")
        kind, tier = formation.kind(given.get("kind")), formation.note_tier if tier is None else tier
        return from_arguments(MemoryDraft, told, kind=kind, tier=tier), left_out

    async def learn(
        self, learnings: Iterable[Learning], *, source: str, tags: Sequence[str] = ()
    ) -> tuple[Memory, ...]:
        """Store learnings, each once, under its own id. `source`: the file they were read from.

        Raises Conflict if an id has another text; the learnings before it are stored.
        """
        validation.name("source", source)
        tagged = validation.tags("tags", tags)
        kept = [
            await engine.learn.learn(self._ctx, self.scope, _learning(place, one), source=source, tags=tagged)
            for place, one in enumerate(validation.several("learnings", learnings))
        ]
        self._wake_indexer()
        return tuple(kept)

    async def update(
        self, memory_id: Identifier, *, expected_revision: int | None = None, **changes: Unpack[Changes]
    ) -> Memory:
        """Edit a memory: the given fields change, None clears a field, the others stay. Returns the edited memory.

        `text`, `title`, `kind`, `source`, `importance`, `priority`, `tags`, `metadata`, `valid_from`, `valid_until` and
        `visibility` are as in `remember`; `origin`, the source of the changes, can only lower the memory's own. The
        previous text is kept as a revision; an edit that changes nothing creates none. Episodes and facts formed from
        the memory do not change, nor does the journal. `expected_revision`: the `revision` that the edit is based on.
        Raises NotFound, InvalidInput, and Conflict if the memory has another revision or is superseded.
        """
        expected = expected_revision
        if expected is not None:
            expected = validation.whole("expected_revision", expected, 1, 2**63 - 1)
        edited, reader = await self._identified("memory_id", memory_id), self._reader()
        return self._indexed(await engine.record.update(self._ctx, reader, edited, changes, expected_revision=expected))

    async def pin(self, memory_id: Identifier) -> Memory:
        """Pin a memory: it is in every answer, separate from the hits, and does not fade. Returns it.

        Pinning adds the preset's `pinned_tag` to its tags, so `remember(…, tags=["pinned"])` pins a new memory. An
        answer has at most 100 pinned memories, the newest. Raises NotFound, Conflict if it is superseded, Unsupported
        if the preset has no pinned memories.
        """
        identifier = await self._identified("memory_id", memory_id)
        return self._indexed(await engine.record.pin(self._ctx, self._reader(), identifier, pinned=True))

    async def unpin(self, memory_id: Identifier) -> Memory:
        """Undo `pin`. Raises the same errors."""
        identifier = await self._identified("memory_id", memory_id)
        return self._indexed(await engine.record.pin(self._ctx, self._reader(), identifier, pinned=False))

    async def release(self, memory_id: Identifier) -> Memory:
        """Remove the flag of an instruction-like memory that somebody has read and found harmless. Returns it.

        Recall then treats it as any other. It is flagged again only if its text changes and tells a language model what
        to do. A memory without the flag stays unchanged. Raises NotFound, and Conflict if it is superseded.
        """
        identifier = await self._identified("memory_id", memory_id)
        return self._indexed(await engine.record.release(self._ctx, self._reader(), identifier))

    async def feedback(self, memory_id: Identifier, verdict: Feedback | str) -> Strength:
        """Rate a memory `helpful`, `unhelpful` or `harmful`. Returns its new strength. Raises NotFound."""
        identifier = await self._identified("memory_id", memory_id)
        return await engine.reinforce.feedback(
            self._ctx, self._reader(), identifier, validation.choice("verdict", verdict, Feedback)
        )

    async def outcome(
        self,
        result: TaskResult | str,
        *,
        memories: Recall | Iterable[Identifier | Hit] = (),
        text: str = "",
        recalls: Iterable[Recall | Identifier] = (),
        task: str = "",
        note: str = "",
        key: str | None = None,
    ) -> TaskOutcome:
        """Report the `result` of a task: `success`, `partial` or `failure`. The memories that it used share its credit,
        which changes their strength and rank. Returns what was recorded.

        `memories`: those that were used. `text`: the task's final text; memories whose ids it cites were used too.
        `recalls`: the recalls whose blocks the task was given, or ids of kept ones; if no memory is named or cited, the
        memories in these blocks share half of the credit. `task`, `note`: what the task was, and a remark; at most
        2,000 characters. With a `key` that this scope has used, nothing changes: returns what was recorded then.

        After a success, memories named or cited count as used: do not `mark` them too. Raises NotFound, InvalidInput,
        and Conflict if the key has another result; nothing is recorded then.
        """
        named = [
            one.id if isinstance(one, Hit) else await self._identified("memories", one)
            for one in validation.several("memories", memories)
            if not (isinstance(one, Hit) and one.journal_only)
        ]
        given = [
            one if isinstance(one, Recall) else await self._identified("recalls", one, "recall")
            for one in validation.several("recalls", recalls)
        ]
        report = engine.outcomes.Report(
            result=validation.choice("result", result, TaskResult),
            named=tuple(dict.fromkeys(named)),
            text=text,
            recalls=tuple(given),
            task=task,
            note=note,
            key=key,
        )
        return await engine.outcomes.outcome(self._ctx, self._reader(), report)

    async def mark(
        self, memories: Recall | Iterable[Identifier | Hit], exposure: Exposure | str, *, query: str = ""
    ) -> None:
        """Count that memories were `retrieved`, `shown` or `used`. `memories`: a Recall, some of its hits, or ids.

        `rem.mark(recall.block(max_chars=2000).hits, "shown")` counts the memories that fitted into a prompt. `query`:
        the question, for later reviews; a Recall has it. For hits, the similarity to the question is logged too; hits
        with `journal_only` are left out. Raises NotFound if a memory is missing, and then counts none.
        """
        similarities: dict[UUID, float | None] = {}
        for one in validation.several("memories", memories):
            if isinstance(one, Hit):
                if one.journal_only:
                    continue
                similarities[one.id] = one.explanation.signals.get("similarity")
            else:
                similarities.setdefault(await self._identified("memories", one), None)
        chosen = validation.choice("exposure", exposure, Exposure)
        asked = query or (memories.query if isinstance(memories, Recall) else "")
        await engine.reinforce.mark(self._ctx, self._reader(), similarities, chosen, query=asked)

    async def link(
        self,
        source: Identifier,
        target: Identifier,
        relation: RelationKind | str,
        weight: float = 1.0,
    ) -> Relation:
        """Record that one memory is `similar` to another, `supports`, `contradicts` or `supersedes` it, or is
        `derived_from` it.

        `weight` in [0, 1]; a second call for the same relation replaces its weight. This does not end the older
        memory's validity; `supersede` does. Raises NotFound for an unknown id.
        """
        edge, _ = await engine.relate.link(
            self._ctx,
            self._reader(),
            await self._identified("source", source),
            await self._identified("target", target),
            validation.choice("relation", relation, RelationKind),
            validation.fraction("weight", weight),
        )
        return edge

    async def supersede(self, old: Identifier, new: Identifier) -> Memory:
        """Replace `old` by `new`: `old` is kept with a reference to its successor, and no longer recalled. Returns
        `old`.

        Raises NotFound for an unknown id, Conflict if `old` has another successor or `new` was superseded by `old`.
        """
        return await engine.relate.supersede(
            self._ctx, self._reader(), await self._identified("old", old), await self._identified("new", new)
        )

    async def invalidate(self, memory_id: Identifier, replacement: Identifier | None = None) -> Memory:
        """End a memory's validity now, with its `replacement`, if any, as successor. Raises as `supersede` does."""
        successor = None if replacement is None else await self._identified("replacement", replacement)
        return await engine.relate.invalidate(
            self._ctx, self._reader(), await self._identified("memory_id", memory_id), successor
        )

    # ── read ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def recall(
        self,
        query: str,
        *,
        mode: RecallMode | str = RecallMode.QUESTION,
        limit: int | None = None,
        reach: Reach | str | None = None,
        ranking: str | None = None,
        walk_depth: int | None = None,
        min_score: float = 0.0,
        floor: Floor | None = None,
        explain: bool = False,
        mark: bool | None = None,
        keep: bool = False,
        **filters: Unpack[Filters],
    ) -> Recall:
        """The memories that answer a question, best first; empty if none does.

        `mode`: `question`, or `message`: `query` is a turn of a conversation, and the answer is a few memories that
        matter to it although it does not ask for them, none for small talk. For hooks that ask at every turn of a user.
        Memories with the text of the message are left out, as it may be recorded already. A preset without a ranking
        for messages raises InvalidInput; of those shipped, only `default` has one.

        `limit`: from 1 to the preset's maximum (200 in most presets); None: the preset's default. `reach`: how far the
        caller sees; None: as its role may. `ranking`: one of the preset's rankings; None: its default. `walk_depth`: 1
        also follows the `similar` relations of the hits, 0 does not; None: 1 for agents in the setting `walk_agents`.
        `floor`: the least probability of a hit, in [0, 1], in place of the preset's relevance threshold; "off": no
        threshold; None: the preset's. Without calibrated probabilities, the preset's applies too, and `degraded` says
        so. `min_score`, in [0, 1]: the least score of a hit, on top of either. `explain`: give the
        matched words and the reason of each hit.

        Filters: `kinds`, `tiers`, `visibilities` (any of the values), `tags` (all of them), `metadata` (each key with
        exactly this value), `source`, `session`, `since` and `until` (happened in [since, until)), `as_of` (as believed
        at that time). Raises InvalidInput.

        Every hit has an explanation of its score, computed when it is first read.

        The recall itself writes nothing. `mark`: afterwards, count its hits as retrieved; None: if the preset's
        `marks_recalled` is set. A hit that was erased in between leaves them all uncounted. `keep`: store the answer,
        so that `recalls.replay` gives it again by its `recall_id`.
        """
        asked = validation.choice("mode", mode, RecallMode)
        question = from_arguments(engine.recall.Question, locals(), text=query, where=self._filter(filters), mode=asked)
        marks = self._ctx.preset.marks_recalled if mark is None else validation.truth("mark", mark)
        keeps = validation.truth("keep", keep)
        found = await engine.recall.recall(self._ctx, self._reader(reach, asking=True), question)
        if keeps:
            found = await engine.replay.keep(self._ctx, self.scope, found)
        if marks and found.hits:
            with suppress(NotFound):
                await self.mark(found, Exposure.RETRIEVED)
        return found

    async def why_not(
        self,
        memory_id: Identifier,
        query: str,
        *,
        mode: RecallMode | str = RecallMode.QUESTION,
        limit: int | None = None,
        reach: Reach | str | None = None,
        ranking: str | None = None,
        walk_depth: int | None = None,
        min_score: float = 0.0,
        floor: Floor | None = None,
        **filters: Unpack[Filters],
    ) -> WhyNot:
        """Why `recall` with these arguments does not return a memory: the stage at which it is dropped. If it is
        returned: its rank. The arguments are as in `recall`. Raises NotFound.
        """
        asked = validation.choice("mode", mode, RecallMode)
        question = from_arguments(engine.recall.Question, locals(), text=query, where=self._filter(filters), mode=asked)
        identifier = await self._identified("memory_id", memory_id)
        reader, widest = self._reader(reach, asking=True), self._widest_reader()
        return await engine.inspect.why_not(self._ctx, reader, identifier, question, widest=widest)

    async def get(self, memory_id: Identifier | None = None, *, topic_key: str | None = None) -> Memory:
        """One memory by its id, whatever its status; or the memory that `remember` with this topic key would revise.

        Raises NotFound, and InvalidInput unless exactly one of the two is given.
        """
        if topic_key is not None and memory_id is None:
            return await engine.record.on_topic(self._ctx, self.scope, validation.name("topic_key", topic_key))
        if memory_id is None or topic_key is not None:
            raise InvalidInput("memory_id", memory_id, "either an id or a topic_key")
        return await engine.inspect.get(self._ctx, self._reader(), await self._identified("memory_id", memory_id))

    async def show(self, memory_id: Identifier) -> MemoryDetails:
        """One memory with its cues (indexed passages), the events it was formed from, its revisions, relations and
        reviews. Raises NotFound.
        """
        return await engine.inspect.show(self._ctx, self._reader(), await self._identified("memory_id", memory_id))

    async def recent(self, limit: int = 10, days: float | None = None) -> tuple[Memory, ...]:
        """Current memories, newest first; with `days`, only those of the last so many days. `limit`: 1 to 10,000."""
        within = None if days is None else timedelta(days=validation.number("days", days, 0, 36_500))
        return await engine.inspect.recent(self._ctx, self._reader(), limit=listed(limit), within=within)

    async def preferences(self, limit: int = 100, *, ended: bool = False) -> tuple[Memory, ...]:
        """Stated preferences and lasting instructions, newest first. `limit`: 1 to 10,000.

        These are memories with the tag `preference`, which a user's turn gets when it states one ("I'm vegetarian"),
        and memories of the kinds preference, directive, instruction, guideline and rule. The tag `instruction` marks
        one that tells the assistant what to do; `always`, one about the language, tone or form of every answer. Correct
        these tags with `update` where they are wrong. Rankings with a `preference_weight` count them in requests.

        `ended`: also those that were contradicted by a later turn of the same speaker ("I'm no longer vegetarian"),
        superseded, or expired. Raises InvalidInput.
        """
        return await engine.preferences.preferences(self._ctx, self._reader(), limit=listed(limit), ended=ended)

    async def memories(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        order: MemoryOrder | str = MemoryOrder.TIME,
        oldest_first: bool = False,
        state: MemoryState | str = MemoryState.CURRENT,
        query: str | None = None,
        speaker: str | None = None,
        **filters: Unpack[Filters],
    ) -> MemoryPage:
        """Memories, one page at a time: current ones, newest first, unless other arguments say otherwise.

        `order`: by `time`, by `importance` or by when they were last `used`, without those never used; `oldest_first`
        reverses it. `state`: `current`, `retired`, `ended` (superseded or expired) or `any`. `query`: every word of it
        occurs in one indexed passage, in any order. `speaker`: the name of who spoke, or the role of who has no name.

        `after`: the `next` of the previous page of the same listing; it stays valid while memories are added. `limit`:
        1 to 10,000. Filters as in `recall`. In presets whose turns are memories too, episodes are left out unless
        `kinds` names them. Raises InvalidInput.
        """
        where = self._filter(filters)
        return await engine.inspect.page(
            self._ctx,
            self._reader(),
            where,
            limit=listed(limit),
            oldest_first=oldest_first,
            after=after,
            listing=engine.inspect.listing_of(query, speaker, state, order),
        )

    async def timeline(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        limit: int = 100,
        kinds: Iterable[str] | None = None,
        session: str | None = None,
    ) -> tuple[Memory, ...]:
        """Current memories that happened in [since, until), oldest first. `limit`: 1 to 10,000.

        `kinds`: any of these. In presets whose turns are memories too, episodes are left out unless `kinds` names them.
        """
        where = self._filter({"kinds": kinds, "session": session, "since": since, "until": until})
        return await engine.inspect.timeline(self._ctx, self._reader(), where, limit=listed(limit))

    async def graph(
        self,
        memory_id: Identifier | None = None,
        *,
        speaker: str | None = None,
        name: str | None = None,
        conversation: Identifier | None = None,
        limit: int = 60,
    ) -> Graph:
        """Who takes part in which conversation, what is mentioned, and how memories are related: up to `limit` (2 to
        200) nodes around a memory, a `speaker`, a `name`, or the `conversation` of the event with that id.

        Give at most one of these; without any: an overview of the newest turns and the most connected memories. Raises
        InvalidInput, and NotFound for an unknown memory or event.
        """
        chosen = {"memory_id": memory_id, "speaker": speaker, "name": name, "conversation": conversation}
        given = [one for one, value in chosen.items() if value is not None]
        if len(given) > 1:
            raise InvalidInput(given[1], chosen[given[1]], f"None, where {given[0]} is given")
        turn = None if conversation is None else await self._identified("conversation", conversation, "event")
        return await engine.graph.graph(
            self._ctx,
            self._reader(),
            limit=validation.whole("limit", limit, 2, MAX_LIMIT),
            memory=None if memory_id is None else await self._identified("memory_id", memory_id),
            speaker=validation.optional_name("speaker", speaker),
            name=validation.optional_name("name", name),
            conversation=turn,
        )

    # ── consolidate ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def end_session(self, session: str | None = None) -> EndReport:
        """End a session (None: the caller's): form its last episode, extract learnings, and count and review its use of
        memories. Parts that the preset lacks are skipped.

        A second call changes nothing. Raises InvalidInput if neither the argument nor the scope names a session.
        """
        named = validation.optional_name("session", session) or self.scope.session
        if named is None:
            raise InvalidInput("session", None, "the name of a session, here or in the scope")
        self._caller.as_other(session=named)
        return self._indexed(await engine.end_session.end_session(self._ctx, self._widest_reader(), named))

    async def sleep(self, dry_run: bool = False) -> SleepReport:
        """Consolidate working memory older than half its time to live: summaries by source and session become episodic
        memories.

        `dry_run` only reports what would be done. Without a language model, texts are abbreviated instead of
        summarised; the report names the method.
        """
        return self._indexed(await engine.sleep.sleep(self._ctx, self.scope, dry_run=dry_run))

    async def consolidate(
        self, since: datetime | None = None, limit: int = 50, *, crew: str | None = None
    ) -> Consolidation:
        """Consolidate memories now: facts from episodes, rules from events `since` a time, and one memory from several
        similar ones.

        Runs the parts that the preset has, each for at most `limit` (1 to 10,000) items. Replaced memories stay
        reachable from the new one. With a `crew`, only rules are learned, from that crew's events.
        """
        start = validation.optional_moment("since", since)
        only = validation.optional_name("crew", crew)
        report = await engine.consolidate.consolidate(
            self._ctx, self.scope, since=start, limit=listed(limit), crew=only
        )
        self._wake_indexer()
        self._arrivals.wake()
        return report

    async def maintain(
        self, only: Iterable[Job | str] | None = None, *, force: bool = False, on_indexed: OnIndexed | None = None
    ) -> dict[str, JobReport]:
        """Run each background job of the preset that is due, once. `only`: these jobs; `force`: also jobs that are not
        due.

        Returns the report of each job by its name, with the reason if it did nothing. Raises StoreUnavailable.
        """
        sweeper = jobs.sweeps.Sweeper(self._ctx, self.scope, self._indexer, on_indexed)
        return await jobs.maintenance.maintain(sweeper, jobs_named(only), force=force)

    # ── maintain ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def forget(self, memory_id: Identifier) -> Memory:
        """Retire a memory: it is kept but no longer recalled. `restore` undoes it.

        An episode that contains its turn is summarised again without it. Facts, rules and summaries derived from it
        stay. Raises NotFound, and Conflict if concurrent writers keep changing the episode.
        """
        return await engine.forget.forget(self._ctx, self._reader(), await self._identified("memory_id", memory_id))

    async def restore(self, memory_id: Identifier) -> Memory:
        """Make a retired memory active again, as before `forget`. Raises NotFound."""
        return await engine.forget.restore(self._ctx, self._reader(), await self._identified("memory_id", memory_id))

    async def erase(
        self,
        *,
        ids: Iterable[Identifier] | None = None,
        events: Iterable[Identifier] | None = None,
        session: str | None = None,
        agent: str | None = None,
        crew: str | None = None,
        project: str | None = None,
        actor: str | None = None,
        kind: str | None = None,
        origin: Origin | str | None = None,
        before: datetime | None = None,
        dry_run: bool = False,
    ) -> Erasure:
        """Delete permanently: memories (`ids`), events (`events`), or everything of a session, agent, crew, project,
        actor, kind or origin, with everything that quotes it or was derived from it. Returns the receipt.

        Exactly one of these three ways. If several parts are given, a row must match all of them; `actor`: who said it;
        `kind`: that of memories, and the type of events; `before`: only rows that happened before then. Covers the
        whole workspace, whatever the visibility of rows. At most 1,000 ids. `dry_run` deletes nothing and returns the
        receipt that the erasure would have. Raises InvalidInput if nothing is selected, NotFound, OnHold if a legal
        hold forbids it, and Conflict if concurrent writers keep deriving memories from the rows.
        """
        named = {
            "ids": frozenset(await self._all_identified("ids", ids or ())),
            "events": frozenset(await self._all_identified("events", events or (), "event")),
        }
        choice = from_arguments(ErasureSelection, locals(), **named)
        return self._indexed(await engine.erase.erase(self._ctx, self._caller, choice, dry_run=dry_run))

    async def erasures(self, limit: int = 100) -> tuple[Erasure, ...]:
        """The receipts of this workspace's erasures, newest first. `limit`: 1 to 10,000."""
        return await engine.erase.erasures(self._ctx, self.scope, limit=listed(limit))

    async def export(self, path: str | Path, *, on_rows: OnRows | None = None) -> int:
        """Write all rows of the workspace to a new file, whatever their visibility. Returns the number of rows.

        The audit trail, which gets an entry first, stays: it is of this store.
        """
        file = path_of("path", path)
        await self._ctx.store.add_to_trail(self.scope, [Touched()])
        return await engine.exchange.export(self._ctx, self.scope, file, on_rows=on_rows)

    async def export_subject(
        self,
        path: str | Path,
        *,
        actor: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        crew: str | None = None,
        project: str | None = None,
        kind: str | None = None,
        origin: Origin | str | None = None,
        before: datetime | None = None,
        on_rows: OnRows | None = None,
    ) -> SubjectExport:
        """Write the rows of a person, session, agent, crew or project to a new file, and return the receipt.

        The rows are those that `erase` with the same arguments selects, with their revisions, vectors and logs, and the
        memories derived from them alone. `before`: only rows that happened before then. Memories that also say what
        others said are left out and listed in `withheld`. The file is an export, which `import_` reads. Raises
        InvalidInput, also if nothing is selected or the file exists, and StoreUnavailable.
        """
        choice, file = from_arguments(ErasureSelection, locals()), path_of("path", path)
        await self._ctx.store.add_to_trail(self.scope, [Touched()])
        return await engine.exchange.export_subject(self._ctx, self._caller, choice, file, on_rows=on_rows)

    async def backup(self, path: str | Path, *, on_pages: OnPages | None = None) -> BackupReport:
        """Write one state of the whole store, with all its workspaces, to a new file, and check that it is equal.

        Others may read and write meanwhile. `remembrancer.restore_backup` is the way back. Raises InvalidInput if the
        file exists, StoreUnavailable, and Unsupported if the store has no backups of its own.
        """
        file = path_of("path", path)
        await self._ctx.store.add_to_trail(self.scope, [Touched()])
        return await self._ctx.store.backup(file, on_pages=on_pages)

    async def import_(self, path: str | Path, *, dry_run: bool = True, on_rows: OnRows | None = None) -> Imported:
        """Add the rows of an export, all or none. `dry_run`, the default, only reports what would be added."""
        file = path_of("path", path)
        return self._indexed(
            await engine.exchange.import_file(self._ctx, self.scope, file, dry_run=dry_run, on_rows=on_rows)
        )


def _learning(place: int, one: object) -> Learning:
    if not isinstance(one, Learning):
        raise InvalidInput(f"learnings[{place}]", one, "a Learning")
    return one


def _each(argument: str, given: Sequence[object], made: Callable[[str, object], T]) -> list[T]:
    """Call `made` with the name and the value of each, and return the results. Raises InvalidInput with the place."""
    found: list[T] = []
    for place, one in enumerate(given):
        where = f"{argument}[{place}]"
        try:
            found.append(made(where, one))
        except InvalidInput as error:
            if error.argument.startswith(where):
                raise
            raise InvalidInput(f"{where}.{error.argument}", error.value, error.allowed) from error
    return found


def _arguments(where: str, given: object, known: Collection[str]) -> dict[str, Any]:
    """The arguments in a mapping, or `text` for a string. Raises InvalidInput for a name that is not known."""
    if isinstance(given, str):
        return {"text": given}
    if not isinstance(given, Mapping):
        raise InvalidInput(where, given, "a string, or a mapping of arguments")
    arguments = dict(cast("Mapping[str, Any]", given))
    if "text" not in arguments or not arguments.keys() <= set(known):
        raise InvalidInput(where, arguments, f"text, and any of {', '.join(sorted(set(known) - {'text'}))}")
    return arguments


def _draft(where: str, event: object) -> EventDraft:
    if isinstance(event, EventDraft):
        return event
    return EventDraft(**_arguments(where, event, EventDraft.__dataclass_fields__))
