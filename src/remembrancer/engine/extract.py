"""Extraction: learnings from an ended session, with one question to the model for each extraction scope.

An event of type `session.extracted` records how far each scope was read. The id of a learning is derived from its
stream, scope, starting position and index in the answer, and the learnings of one scope are written together, so a
crash causes no duplicates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Event, EventDraft, Origin, Role, least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, Tier
from remembrancer.domain.scope import Level, Reader, Scope
from remembrancer.domain.strength import Exposure
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.ask import ask_for
from remembrancer.engine.compact import CompactionReport, compact
from remembrancer.engine.context import Context
from remembrancer.engine.journal import still_said
from remembrancer.engine.record import event_of
from remembrancer.engine.stages import current_stage
from remembrancer.errors import Conflict, ModelUnavailable, NotFound
from remembrancer.policies.admission.flagging import any_flagged, with_flag
from remembrancer.policies.admission.formation import memory_of_draft, own_cue
from remembrancer.policies.learning.extraction import (
    EXTRACTED,
    Extraction,
    ExtractionScope,
    SessionPhase,
    StreamPassage,
    owner,
)
from remembrancer.policies.learning.learnings import key_of
from remembrancer.policies.learning.stages import LearningStage
from remembrancer.policies.prompts import extraction as prompt
from remembrancer.policies.prompts.extraction import Lesson
from remembrancer.policies.ranking.diversity import same_words
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.values import copied, dataclass

JOB: Final = "extract"
PAGE: Final = 2_000
"""The events of a session that are read before their learnings are written."""
MAX_RUNS: Final = 10_000
"""The most earlier extractions of a session that are searched."""
UNAVAILABLE_TWICE: Final = 2
"""After this many scopes or sessions in a row without an answer, the model counts as down, and the others wait."""
TASK_CHARS: Final = 200

_SESSIONS: Final = UUID("2f6f3d0a-7a94-4c0e-8f0e-5a1b52f0d6c3")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractReport:
    """The learnings of a session. `learned`: ids of the new memories. `scopes`: the number of learnings of each scope
    that was read. `asked`: the number of questions to the model.

    `failed`: why a scope was not read; it is retried. `left`: scopes that were not begun, or that another worker read
    first. `down`: the model did not answer at all. `reason`: why nothing, or not everything, was done.

    `compacted`: near-duplicates merged after the whole session was read; None if there were none, or if the preset
    merges on schedule only.
    """

    session: str
    learned: tuple[UUID, ...] = ()
    scopes: Mapping[ExtractionScope, int] = field(default_factory=dict[ExtractionScope, int])
    asked: int = 0
    failed: Mapping[ExtractionScope, str] = field(default_factory=dict[ExtractionScope, str])
    left: int = 0
    down: bool = False
    reason: str = ""
    compacted: CompactionReport | None = None


@dataclass(frozen=True, slots=True)
class _Session:
    """The common properties of a session's learnings. `recalled`: the texts that were recalled in the session."""

    stream: Scope
    name: str
    settings: Extraction
    model: str
    task: str | None
    stage: LearningStage | None
    recalled: frozenset[str]


@dataclass(slots=True)
class _Tally:
    learned: list[UUID] = field(default_factory=list[UUID])
    scopes: dict[ExtractionScope, int] = field(default_factory=dict[ExtractionScope, int])
    asked: int = 0
    failed: dict[ExtractionScope, str] = field(default_factory=dict[ExtractionScope, str])
    left: int = 0
    down: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """Events of a session, and the passages made of them. `until`: the position of the last event, even if it gave no
    passage.
    """

    events: Mapping[int, Event]
    passages: tuple[StreamPassage, ...]
    until: int


async def expect(ctx: Context, scope: Scope, *, session: str) -> None:
    """Record that extraction of a session begins. If this process dies, `extract_deferred` continues it.

    Does nothing if `extract` would ask no model.
    """
    if ctx.preset.extraction is not None and ctx.llm is not None:
        stream = scope.narrowed(session=validation.name("session", session))
        await ctx.store.defer(scope, JOB, _item(stream), error="a run has started", now=ctx.clock())


async def extract(
    ctx: Context, scope: Scope, *, session: str, moment: SessionPhase = SessionPhase.RETROSPECTIVE, attempts: int = 0
) -> ExtractReport:
    """Extract learnings from the events of a session that were not read yet. A second call finds nothing new.

    If the model does not answer, the session is deferred under the job `extract` and retried later, with all scopes of
    the end of a session. `attempts`: the number of earlier failures; each retry begins with another scope, so that a
    failing scope does not block the others.
    """
    settings, stream = ctx.preset.extraction, scope.narrowed(session=validation.name("session", session))
    if settings is None:
        return ExtractReport(session=session, reason=f"preset {ctx.preset.name} does not extract learnings")
    if ctx.llm is None:
        return ExtractReport(session=session, reason=ctx.without_llm)
    asked_about, item = settings.at(moment), _item(stream)
    if not asked_about:
        return ExtractReport(
            session=session, reason=f"preset {ctx.preset.name} extracts no learnings in the phase {moment.value}"
        )
    read = await _read(ctx, stream, asked_about)
    if not await ctx.store.stream_events(stream, after=min(read.values()), limit=1):
        compacted = await _settle(ctx, scope, item) if moment is SessionPhase.RETROSPECTIVE else None
        return ExtractReport(
            session=session, reason="the session has no events that were not read yet", compacted=compacted
        )
    common = await _common(ctx, stream, session, settings, ctx.llm.model_id)
    tally, compacted = _Tally(), None
    await _work_through(ctx, common, read, attempts, tally)
    if tally.failed or tally.left:
        error = "; ".join(tally.failed.values()) or "another process wrote first, or a turn was erased"
        await ctx.store.defer(scope, JOB, item, error=error, now=ctx.clock())
    elif moment is SessionPhase.RETROSPECTIVE:  # only this phase covers all scopes
        compacted = await _settle(ctx, scope, item)
    if not (tally.reason or tally.scopes or tally.failed or tally.left):
        tally.reason = "the session has no readable text"
    return copied(tally, ExtractReport, session=session, learned=tuple(tally.learned), compacted=compacted)


async def _settle(ctx: Context, scope: Scope, item: str) -> CompactionReport | None:
    """Merge near-duplicates if the preset does so after learning, then remove the session from the deferred items.

    It stays deferred if the process dies before that, or if some memories could not be merged yet.
    """
    rule = ctx.preset.compaction
    compacted = await compact(ctx, scope) if rule is not None and rule.after_learning else CompactionReport()
    if not compacted.left:
        await ctx.store.settle(scope, JOB, [item])
    return compacted if compacted.merged or compacted.left else None


async def extract_deferred(ctx: Context, scope: Scope, *, limit: int = 20) -> tuple[ExtractReport, ...]:
    """Retry the deferred sessions of the workspace that are due.

    If the model does not answer for two sessions in a row, the others wait for the next run.
    """
    now = ctx.clock()
    due = [one for one in await ctx.store.deferrals(scope, JOB) if one.retry_at <= now][:limit]
    reports: list[ExtractReport] = []
    silent = 0
    for deferral in due:
        stream = _stream(scope, deferral.item)
        report = await extract(ctx, stream, session=stream.session or "", attempts=deferral.attempts)
        reports.append(report)
        silent = silent + 1 if report.down else 0
        if silent == UNAVAILABLE_TWICE:
            break
    return tuple(reports)


async def _work_through(
    ctx: Context, common: _Session, read: Mapping[ExtractionScope, int], attempts: int, tally: _Tally
) -> None:
    """Read the session part by part, until its end or the first failure. `read`: how far each scope was read before."""
    stream, settings, read = common.stream, common.settings, dict(read)
    while not (tally.failed or tally.left):
        section = await _section(ctx, stream, settings, min(read.values()))
        if section is None:
            return
        if all(passage.number <= min(read.values()) for passage in section.passages):
            # no new passages: perhaps only the event of the previous extraction
            read = {about: max(after, section.until) for about, after in read.items()}
            continue
        done = await _scopes(ctx, common, section, _rotated(read, section, attempts), tally)
        read |= done
        await _mark(ctx, stream, section.until, {one: tally.scopes.get(one, 0) for one in done})


async def _scopes(
    ctx: Context,
    common: _Session,
    section: _Section,
    due: Mapping[ExtractionScope, int],
    tally: _Tally,
) -> dict[ExtractionScope, int]:
    """Read a part of the session for each scope, from that scope's position on. Returns how far each was read."""
    done: dict[ExtractionScope, int] = {}
    silent = 0
    for place, (about, after) in enumerate(due.items()):
        try:
            until = await _scope(ctx, common, section, about, after, tally)
            silent = 0
        except ModelUnavailable as error:
            tally.failed[about] = tally.reason = str(error)
            silent += 1
            tally.down = silent == min(UNAVAILABLE_TWICE, len(due))
            if tally.down:
                tally.left += len(due) - place - 1
                break
            continue
        if until is not None:
            done[about] = until
    return done


async def _scope(
    ctx: Context, common: _Session, section: _Section, about: ExtractionScope, after: int, tally: _Tally
) -> int | None:
    """Read a part for one scope. Returns how far it was read; None if it failed. Raises ModelUnavailable."""
    before = await _written(ctx, common.stream, about, after)
    if before is not None:
        tally.scopes.setdefault(about, 0)
        return before
    lessons = await _lessons(ctx, common, section, about, after, tally)
    if lessons is None:
        return None
    now = ctx.clock()
    writes = [
        _learning(common, section, about, lesson, _learning_id(common.stream, about, after, ordinal), now)
        for ordinal, lesson in enumerate(lessons)
    ]
    if writes:
        try:
            await ctx.store.commit(common.stream, Effect(inserted=tuple(writes)), at=now)
        except (Conflict, NotFound):  # another worker wrote first, or one of the turns was erased
            tally.left += 1
            return None
    tally.learned += [write.memory.id for write in writes]
    tally.scopes[about] = tally.scopes.get(about, 0) + len(writes)
    return section.until


async def _lessons(
    ctx: Context, common: _Session, section: _Section, about: ExtractionScope, after: int, tally: _Tally
) -> list[Lesson] | None:
    """The distinct learnings of a part of the session; None if an answer is invalid."""
    settings = common.settings
    if all(passage.number <= after for passage in section.passages):
        return []
    behind = [passage for passage in section.passages if passage.number > after - settings.overlap]
    lessons: dict[str, Lesson] = {}
    for window in settings.windows(behind):
        if window[-1].number <= after:
            continue
        read = prompt.with_file(about, window, section.passages, settings.window_chars // 2)
        tally.asked += 1
        given = await ask_for(
            ctx,
            common.stream,
            partial(prompt.read, turns={passage.number for passage in read}, at_most=settings.at_most),
            purpose=f"extract {about.value}",
            instructions=prompt.instructions(about, settings.at_most),
            material=prompt.material(read),
            schema=prompt.schema(settings.at_most),
            max_tokens=prompt.MAX_TOKENS,
        )
        if isinstance(given, str):
            tally.failed[about] = tally.reason = given
            return None
        for lesson in given:
            lessons.setdefault(same_words("", None, lesson.text), lesson)
    return [lesson for said, lesson in lessons.items() if said not in common.recalled]


def _learning(
    common: _Session, section: _Section, about: ExtractionScope, lesson: Lesson, identifier: UUID, now: datetime
) -> MemoryWrite:
    """A learning as a memory, with the turns it comes from. It has the origin of the least trusted turn."""
    turns = [section.events[number] for number in lesson.turns]
    level = common.settings.scopes[about]
    scope = owner(common.stream, level)
    # A stage belongs to a project, so learnings of wider scopes do not end with it.
    phase = None if common.stage is None or level is Level.WORKSPACE else common.stage.value
    said: dict[str, JsonValue] = {
        "domain": lesson.domain.value,
        "phase": phase,
        "session_id": common.name,
        "session_task": common.task,
        "extraction": about.value,
        "extracted_to": section.until,
        "model": common.model,
    }
    draft = MemoryDraft(
        text=lesson.text,
        kind=lesson.type.value,
        tier=Tier.SEMANTIC,
        origin=least_trusted(event.origin for event in turns),
        importance=lesson.importance,
        tags=(about.value,),
        metadata={name: value for name, value in said.items() if value is not None},
        key=key_of(identifier),
    )
    formed = memory_of_draft(draft, scope=scope, identifier=identifier, now=now).memory
    memory = replace(
        with_flag(formed, flagged=formed.flagged or any_flagged(turns)),
        occurred_from=min(event.occurred_at for event in turns),
        occurred_to=max(event.occurred_at for event in turns),
    )
    return MemoryWrite(memory, (own_cue(memory),), tuple(event.id for event in turns))


async def _common(ctx: Context, stream: Scope, session: str, settings: Extraction, model: str) -> _Session:
    recalled: set[str] = set()
    for exposure in (Exposure.RETRIEVED, Exposure.SHOWN):
        ids = await ctx.store.exposed_in(stream, exposure)
        recalled |= {_words(memory) for memory in (await ctx.store.get(Reader(stream), ids)).values()}
    first = await ctx.store.stream_events(stream, after=0, limit=20)
    beginning = settings.passages(await still_said(ctx, Reader(stream), first))
    task = next((" ".join(passage.text.split("\n", 1)[0].split()) for passage in beginning), "")
    return _Session(
        stream=stream,
        name=session,
        settings=settings,
        model=model,
        task=_name(task),
        stage=None if ctx.preset.stages is None else await current_stage(ctx, stream),
        recalled=frozenset(recalled),
    )


def _words(memory: Memory) -> str:
    return same_words("", None, memory.text)


def _name(task: str) -> str | None:
    return "".join(character for character in task if character.isprintable())[:TASK_CHARS].strip() or None


async def _section(ctx: Context, stream: Scope, settings: Extraction, after: int) -> _Section | None:
    """The next events after a position, preceded by a few for context; None if there are none.

    Events whose memory was forgotten are left out.
    """
    since = max(0, after - settings.overlap)
    events = await ctx.store.stream_events(stream, after=since, limit=PAGE)
    if not events or events[-1].seq <= after:
        return None
    told = await still_said(ctx, Reader(stream), events)
    return _Section({event.seq: event for event in told}, settings.passages(told), events[-1].seq)


def _rotated(read: Mapping[ExtractionScope, int], section: _Section, by: int) -> dict[ExtractionScope, int]:
    """The scopes that were not read to the end of this part, rotated by `by`."""
    due = [(about, after) for about, after in read.items() if after < section.until]
    turned = by % len(due) if due else 0
    return dict(due[turned:] + due[:turned])


async def _read(ctx: Context, stream: Scope, scopes: Sequence[ExtractionScope]) -> dict[ExtractionScope, int]:
    """The position up to which each scope has read the stream, as the journal records it."""
    where = EventFilter(session=stream.session, types=frozenset({EXTRACTED}), archived=True)
    read = dict.fromkeys(scopes, 0)
    for event in await ctx.store.events(Reader(stream), where, limit=MAX_RUNS):
        if event.scope == stream and event.origin is Origin.SYSTEM:
            for about in scopes:
                until = event.payload.get(about.value)
                read[about] = max(read[about], until if isinstance(until, int) else 0)
    return read


async def _written(ctx: Context, stream: Scope, about: ExtractionScope, after: int) -> int | None:
    """The position up to which the scope was read from `after` on, if its learnings were written but the journal does
    not record that.
    """
    identifier = _learning_id(stream, about, after, 0)
    there = (await ctx.store.get(Reader(Scope(workspace=stream.workspace)), [identifier])).get(identifier)
    until = None if there is None else there.metadata.get("extracted_to")
    return until if isinstance(until, int) else None


async def _mark(ctx: Context, stream: Scope, until: int, learned: Mapping[ExtractionScope, int]) -> None:
    """Record in the journal how far each scope has been read."""
    if not learned:
        return
    told = ", ".join(f"{about.value} {count}" for about, count in learned.items())
    text = f"Learned from the session up to turn {until}: {told}."
    draft = EventDraft(
        text=text,
        role=Role.SYSTEM,
        type=EXTRACTED,
        payload={about.value: until for about in learned},
        key=f"{EXTRACTED}:{derived_id(_SESSIONS, f'{_item(stream)} {text}')}",
    )
    await ctx.store.append(stream, [Entry(event_of(ctx, stream, draft, ctx.clock()))])


def _learning_id(stream: Scope, about: ExtractionScope, after: int, ordinal: int) -> UUID:
    return derived_id(_SESSIONS, f"{stream.workspace} {_item(stream)} {about.value} {after} {ordinal}")


def _item(stream: Scope) -> str:
    """The stream's name among the deferred items."""
    return json.dumps([stream.project, stream.crew, stream.agent, stream.session], ensure_ascii=False)


def _stream(scope: Scope, item: str) -> Scope:
    project, crew, agent, session = json.loads(item)
    return Scope(workspace=scope.workspace, project=project, crew=crew, agent=agent, session=session)
