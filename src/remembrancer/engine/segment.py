"""Segmentation: cutting the tails of streams into segments, and storing each as an episode.

A stream's cursor and the episodes before it are written together, so each turn is in exactly one episode, whatever
fails. The work list is the events after the cursor.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory, Status, holds, is_over
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import Cursor, Tail
from remembrancer.engine.ask import ask_for
from remembrancer.engine.context import Context, answering
from remembrancer.engine.index import BATCH
from remembrancer.errors import Conflict, InvalidInput, ModelUnavailable, RemembrancerError, StoreUnavailable
from remembrancer.policies.admission.formation import memory_id_of, passages_of
from remembrancer.policies.consolidation import extractive
from remembrancer.policies.prompts import boundaries as asking
from remembrancer.policies.prompts import episode as telling
from remembrancer.policies.segmentation.episodes import EpisodeTelling, episode_id, formed, told_extractively
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.policies.segmentation.segments import (
    Boundaries,
    BoundaryQuestion,
    Decision,
    Note,
    Segment,
    StreamTurn,
    edges,
)
from remembrancer.ports.embedder import token_embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JOB: Final = "segment"
PAGE: Final = 100
"""The streams listed at a time."""
STEP: Final = 200
"""The events of a stream read at a time, and so the most for one commit."""
STEP_WITH_MODEL: Final = 64
"""The same if a model is asked; smaller, because a failed commit loses the model's answers."""
MOST: Final = 3_200
"""The most events of one segment; a longer one is ended there."""
READ: Final = "read"
"""The key, in a stream's note, of the position up to which the stream was read without a decision. It is read again
only after more is recorded or it falls silent.
"""
SILENT: Final = 2
"""After this many streams in a row without an answer, the model counts as down, and the others wait."""
PATIENCE: Final = 8
"""After this many failures of a model on a stream, over two hours, the stream is segmented without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentedStream:
    """The result for one stream. `episodes`: the new memories, in order; `turns`: the number of their turns.

    `told_by`: the number of episodes by author: a model, or "extractive". `problem`: why the stream was deferred; "" if
    it was not. `overtaken`: another worker wrote first, or memories changed meanwhile; the next run continues. `down`:
    a model did not answer at all.
    """

    stream: Scope
    episodes: tuple[UUID, ...] = ()
    turns: int = 0
    told_by: Mapping[str, int] = field(default_factory=dict[str, int])
    problem: str = ""
    overtaken: bool = False
    down: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentReport:
    """The result of one run: the number of streams, episodes and turns, and the episodes by author.

    `failed`: deferred streams. `left`: streams that wait after a failure, that another worker processed first, or that
    were not reached because of the limit or because a model is down (of those, at most a hundred are counted).
    `reason`: why nothing was done, or the first failure.
    """

    streams: int = 0
    episodes: int = 0
    turns: int = 0
    told_by: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: int = 0
    left: int = 0
    reason: str = ""


async def segment(ctx: Context, scope: Scope, *, ended: Collection[Scope] = (), limit: int = 10_000) -> SegmentReport:
    """Form the episodes of up to `limit` streams of the workspace that are long enough or have fallen silent.

    `ended`: streams that are known to be over; all of their turns go into episodes. A stream on which a model fails is
    deferred and does not block others; a model that does not answer on two in a row is not asked again in this run.
    Raises InvalidInput for a stream of another workspace.
    """
    for stream in ended:
        if stream.workspace != scope.workspace:
            raise InvalidInput("ended", stream.workspace, f"streams of workspace {scope.workspace!r}")
    settings = ctx.preset.segmentation
    if settings is None:
        return SegmentReport(reason=f"preset {ctx.preset.name} forms no episodes")
    deferred = {one.item: one.retry_at for one in await ctx.store.deferrals(scope, JOB)}
    waiting = {item for item, retry_at in deferred.items() if retry_at > ctx.clock()}
    sweep = _Sweep(limit)
    for stream in dict.fromkeys(ended):
        sweep.add(await segment_stream(ctx, stream, ended=True))
    silent_since = ctx.clock() - settings.idle
    after: Scope | None = None
    while page := await ctx.store.tails(
        scope, at_least=settings.least, silent_since=silent_since, limit=PAGE, after=after
    ):
        for tail in page:
            if tail.stream in ended:
                continue
            if item_of(tail.stream) in waiting or sweep.is_over:
                sweep.left += 1
                continue
            sweep.add(await segment_stream(ctx, tail.stream, ended=tail.recorded_at <= silent_since))
        if sweep.is_over:
            break
        after = page[-1].stream
    # Deferred streams without a tail: another worker has processed them.
    gone = [item for item in sorted(deferred) if await ctx.store.tail(_stream_of(scope, item)) is None]
    await ctx.store.settle(scope, JOB, gone)
    return sweep.report()


async def segment_stream(ctx: Context, stream: Scope, *, ended: bool) -> SegmentedStream:
    """Form the episodes of one stream, deferred or not. `ended`: whether its last episode is complete too."""
    settings = ctx.preset.segmentation
    if settings is None:
        return SegmentedStream(stream=stream)
    ctx = await answering(ctx, stream)
    deferred = {one.item: one.attempts for one in await ctx.store.deferrals(stream, JOB)}
    attempts = deferred.get(item_of(stream), 0)
    work = _Work(ctx, settings, stream, ended=ended, with_models=attempts < PATIENCE)
    try:
        await work.run()
    except Conflict:
        return replace(work.done(), overtaken=True)
    except StoreUnavailable:
        raise
    except RemembrancerError as error:
        await ctx.store.defer(stream, JOB, item_of(stream), error=str(error), now=ctx.clock())
        return replace(work.done(), problem=str(error), down=isinstance(error, ModelUnavailable))
    if attempts:
        await ctx.store.settle(stream, JOB, [item_of(stream)])
    return work.done()


def item_of(stream: Scope) -> str:
    """The stream's name among the deferred items."""
    parts = {"project": stream.project, "crew": stream.crew, "agent": stream.agent, "session": stream.session}
    return json.dumps({name: part for name, part in parts.items() if part is not None}, ensure_ascii=False)


def _stream_of(scope: Scope, item: str) -> Scope:
    return Scope(workspace=scope.workspace, **json.loads(item))


class _Sweep:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._silent = 0
        self.left = 0
        self._found = SegmentReport()

    def add(self, one: SegmentedStream) -> None:
        found = self._found
        self._found = SegmentReport(
            streams=found.streams + 1,
            episodes=found.episodes + len(one.episodes),
            turns=found.turns + one.turns,
            told_by=dict(Counter(found.told_by) + Counter(one.told_by)),
            failed=found.failed + bool(one.problem),
            reason=found.reason or one.problem,
        )
        self.left += one.overtaken
        self._silent = self._silent + 1 if one.down else 0

    @property
    def is_over(self) -> bool:
        return self._found.streams >= self._limit or self._silent >= SILENT

    def report(self) -> SegmentReport:
        idle = (
            "no episode has ended yet"
            if self._found.streams
            else "no stream has enough turns or was inactive for long enough"
        )
        reason = self._found.reason or ("" if self._found.episodes or self.left else idle)
        return replace(self._found, left=self.left, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The part of a tail that was read. `events`: the admitted ones, in order, with their `turns`; `sources`: the
    events' own memories, if any. `last`: the position of the last event read. `whole`: whether it reaches the end of
    the stream.
    """

    events: Sequence[Event]
    turns: Sequence[StreamTurn]
    sources: Mapping[UUID, Memory]
    last: int
    whole: bool

    def behind(self, count: int) -> _Read:
        """The part after the first `count` turns."""
        return replace(self, events=self.events[count:], turns=self.turns[count:])

    def before(self, count: int) -> int:
        """The position of the last event before the turn with index `count`; events that were not
        admitted count too.
        """
        return self.events[count].seq - 1 if count < len(self.events) else self.last


class _Work:
    """Segments one stream, from its cursor to its end."""

    def __init__(self, ctx: Context, settings: Segmentation, stream: Scope, *, ended: bool, with_models: bool) -> None:
        self._ctx = ctx
        self._settings = settings
        self._stream = stream
        self._reader = Reader(stream)
        self._ended = ended
        self._embeds = with_models and ctx.embedder is not None
        self._asks = with_models and ctx.llm is not None
        self._episodes: list[UUID] = []
        self._turns = 0
        self._told_by = Counter[str]()

    def done(self) -> SegmentedStream:
        return SegmentedStream(
            stream=self._stream, episodes=tuple(self._episodes), turns=self._turns, told_by=dict(self._told_by)
        )

    async def run(self) -> None:
        """Process the tail step by step. Raises Conflict, ModelUnavailable."""
        usual = STEP_WITH_MODEL if self._asks else STEP
        step = usual
        while (tail := await self._ctx.store.tail(self._stream)) is not None:
            if not self._ended and tail.note.get(READ) == tail.last_seq:
                return
            read = await self._read(tail, step)
            moved = await self._segment(tail, read, forced=step >= MOST)
            if moved:
                step = usual
            elif read.whole:
                return
            else:
                step *= 2

    async def _segment(self, tail: Tail, read: _Read, *, forced: bool) -> bool:
        """Decide and write, as long as there is something to decide. Returns whether the cursor moved."""
        cursor, note, noted = tail.cursor, _own(tail.note), tail.note
        ended = forced or (self._ended and read.whole)
        while True:
            decision, asked = await self._decide(read, note, ended=ended)
            count = decision.segments[-1].end if decision.segments else 0
            to = max(cursor, read.before(count))
            left: Note = {**decision.note, READ: read.last} if read.whole else decision.note
            changed = to > cursor or decision.note != note
            if changed or left != noted:
                moves = Cursor(stream=self._stream, expected=cursor, to=to, note=left)
                await self._commit(read, decision.segments, moves)
            cursor, note, noted, read = to, decision.note, left, read.behind(count)
            if not changed or not (decision.segments or asked):
                return cursor > tail.cursor

    async def _decide(self, read: _Read, note: Note, *, ended: bool) -> tuple[Decision, bool]:
        """The decision, and whether a model was asked. If it was, the same turns may lead to another question."""
        if not read.turns:
            return Decision(segments=(), note=note), False
        segmenter = self._settings.segmenter
        plan = segmenter.plan(read.turns, note, ended=ended, with_model=self._asks)
        if plan.question is None:
            return segmenter.apply(read.turns, plan, None), False
        return segmenter.apply(read.turns, plan, await self._boundaries(read.turns, plan.question)), True

    async def _boundaries(self, turns: Sequence[StreamTurn], question: BoundaryQuestion) -> Boundaries | None:
        said = await ask_for(
            self._ctx,
            self._stream,
            lambda value: asking.read(value, question),
            purpose=asking.PURPOSE,
            instructions=asking.instructions(question),
            material=asking.material(turns, question),
            schema=asking.schema(question),
            max_tokens=asking.MAX_TOKENS,
        )
        return None if isinstance(said, str) else said

    async def _tell(self, turns: Sequence[StreamTurn], segment: Segment) -> EpisodeTelling:
        if self._asks and self._ctx.llm is not None:
            by = self._ctx.llm.model_id
            if segment.title and segment.summary:
                return EpisodeTelling(title=segment.title, summary=segment.summary, by=by)
            told = await ask_for(
                self._ctx,
                self._stream,
                telling.read,
                purpose=telling.PURPOSE,
                instructions=telling.INSTRUCTIONS,
                material=telling.material(turns),
                schema=telling.SCHEMA,
            )
            if not isinstance(told, str):
                return EpisodeTelling(title=told.title, summary=told.summary, by=by)
        return told_extractively([extractive.AttributedText(turn.speaker, turn.text) for turn in turns])

    async def _commit(self, read: _Read, segments: Sequence[Segment], cursor: Cursor) -> None:
        """Summarise the segments, perhaps with a model, then write all of them in one commit."""
        spans = [read.events[each.start : each.end] for each in segments]
        # After an import, some episodes may exist before their streams are read.
        there = await self._ctx.store.get(self._reader, [episode_id(span) for span in spans])
        new = [(each, span) for each, span in zip(segments, spans, strict=True) if episode_id(span) not in there]
        told = [await self._tell(read.turns[each.start : each.end], each) for each, _ in new]
        now = self._ctx.clock()
        written = [
            self._episode(each, span, told_so, read.sources, now)
            for (each, span), told_so in zip(new, told, strict=True)
        ]
        await self._ctx.store.commit(self._stream, _joined(cursor, written), at=now)
        self._episodes += [write.memory.id for one in written for write in one.inserted]
        self._turns += sum(len(span) for _, span in new)
        self._told_by.update(one.by for one in told)

    def _episode(
        self,
        segment: Segment,
        span: Sequence[Event],
        told: EpisodeTelling,
        sources: Mapping[UUID, Memory],
        now: datetime,
    ) -> Effect:
        own = [sources[event.id] for event in span if event.id in sources]
        write = formed(span, own, segment, told, searched=self._settings.replaces, now=now)
        current = [memory for memory in own if holds(memory, now)]
        expected = {memory.id: memory.revision for memory in current}
        if not self._settings.replaces:
            return Effect(expected=expected, inserted=(write,))
        reason = f"episode {write.memory.id} contains its turn"
        return Effect(
            expected=expected,
            inserted=(write,),
            status_changes=tuple(StatusChange(memory.id, Status.COMPACTED, reason) for memory in current),
            related=tuple(Relation(write.memory.id, memory.id, RelationKind.DERIVED_FROM, 1.0, now) for memory in own),
        )

    async def _read(self, tail: Tail, step: int) -> _Read:
        store, now = self._ctx.store, self._ctx.clock()
        events = await store.stream_events(self._stream, after=tail.cursor, limit=step)
        admitted = [event for event in events if self._ctx.preset.admission.admits(event)]
        memory_of = {event.id: memory_id_of(event.id) for event in admitted}
        found = await store.get(self._reader, list(memory_of.values()))
        sources = {event: found[memory] for event, memory in memory_of.items() if memory in found}
        kept = [event for event in admitted if event.id not in sources or not is_over(sources[event.id], now)]
        vectors = await self._vectors(kept, memory_of)
        return _Read(
            events=kept,
            turns=[
                StreamTurn(
                    at=event.occurred_at,
                    speaker=event.actor or event.role.value,
                    text=without_recalled(event.beginning),
                    vector=vectors.get(event.id),
                )
                for event in kept
            ],
            sources=sources,
            last=events[-1].seq if events else tail.cursor,
            whole=len(events) < step,
        )

    async def _vectors(
        self, turns: Sequence[Event], memory_of: Mapping[UUID, UUID]
    ) -> Mapping[UUID, NDArray[np.float32]]:
        """Vectors by event: that of its memory if it is indexed; other events are embedded in the same way.

        The result must not depend on how much is indexed. If the index embeds turns in context, their vectors without
        context are used, because context hides changes of topic (docs/decisions/0014-segmentation.md): those that the
        index computed on the way, if they are still known. Of a long turn, its edges are embedded.
        """
        embedder, encoding = self._ctx.embedder, self._ctx.preset.encoding
        if embedder is None:
            return {}
        coloured = encoding.turns > 0 and token_embedder(embedder) is not None
        vectors: dict[UUID, NDArray[np.float32]] = {}
        if not coloured:
            ids = [memory_of[turn.id] for turn in turns]
            known = await self._ctx.store.vectors(self._reader, embedder.model_id, ids)
            vectors = {turn.id: known[memory_of[turn.id]] for turn in turns if memory_of[turn.id] in known}
        if not self._embeds:
            return vectors
        texts: dict[UUID, str] = {}
        for turn in turns:
            if turn.id not in vectors:
                cue = next(passages_of(memory_of[turn.id], turn))
                texts[cue.memory_id] = encoding.text(cue.heading, edges(cue.text) if coloured else cue.text)
        tails, workspace = self._ctx.tails, self._reader.scope.workspace
        known = tails.known(workspace, texts)
        missing = [(memory, text) for memory, text in texts.items() if memory not in known]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            embedded = await embedder.embed_documents([text for _, text in batch])
            tails.keep(workspace, ((*one, vector) for one, vector in zip(batch, embedded.vectors, strict=True)))
            known |= tails.known(workspace, dict(batch))
        return vectors | {turn.id: known[memory_of[turn.id]] for turn in turns if memory_of[turn.id] in known}


def _own(note: Note) -> Note:
    """The segmenter's own part of a note."""
    return {name: value for name, value in note.items() if name != READ}


def _joined(cursor: Cursor, written: Sequence[Effect]) -> Effect:
    """The effects of several episodes as one effect. The episodes share no memory."""
    return Effect(
        cursor=cursor,
        expected={memory: revision for one in written for memory, revision in one.expected.items()},
        inserted=tuple(write for one in written for write in one.inserted),
        status_changes=tuple(change for one in written for change in one.status_changes),
        related=tuple(edge for one in written for edge in one.related),
    )
