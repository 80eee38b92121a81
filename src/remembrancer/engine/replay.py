"""Keep an answer, and give it again: the same hits, scores and blocks, whatever was written since.

An answer is kept by reference: of each memory its revision and its state, of each hit its score and explanation. Asking
again as of then could not promise the same: the model, the reranker or the preset may be another one by now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from remembrancer.domain import past
from remembrancer.domain.age import Age
from remembrancer.domain.kept import KeptRecall
from remembrancer.domain.past import PastState, state_of
from remembrancer.domain.recall import Explanation, Hit, Part, Recall, Trace
from remembrancer.errors import NotFound
from remembrancer.policies.admission.formation import memory_of_event
from remembrancer.ports.exchange import record_to_row, row_to_record
from remembrancer.ports.journal import EventFilter

if TYPE_CHECKING:
    from remembrancer.domain.memory import Cue, Memory, MemoryWrite
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.validation import JsonValue
    from remembrancer.engine.context import Context
    from remembrancer.ports.changes import ReadView

REPLAY = "replay"
"""The key of `Recall.degraded` for memories of a kept answer that are gone."""
_MICROSECOND = timedelta(microseconds=1)

_Told = Mapping[UUID, "tuple[Memory, tuple[Cue, ...]]"]


async def keep(ctx: Context, scope: Scope, recall: Recall) -> Recall:
    """Store the answer. Returns it with its id."""
    now = ctx.clock()
    kept = KeptRecall(id=ctx.new_id(now), scope=scope, at=now, query=recall.query, answer=answer_of(recall))
    await ctx.store.keep_recall(scope, kept)
    return replace(recall, recall_id=kept.id)


async def replay(ctx: Context, reader: Reader, recall_id: UUID) -> Recall:
    """The kept answer, rendered by the preset in use. `degraded` says how many of its memories are gone, if any.

    Raises NotFound.
    """
    kept = await ctx.store.kept_recall(reader, recall_id)
    if kept is None:
        raise NotFound("recall", recall_id)
    answer = cast("dict[str, Any]", kept.answer)
    told = await ctx.store.read(lambda view: _read(ctx, view, reader, answer))
    asked_at = datetime.fromisoformat(answer["asked_at"])
    workspace = reader.scope.workspace
    hits = [_hit(row, told, workspace, asked_at) for row in answer["hits"]]
    pinned = [_memory(row, told, workspace, asked_at) for row in answer["pinned"]]
    gone = hits.count(None) + pinned.count(None)
    missing = {REPLAY: f"{gone} of {len(hits) + len(pinned)} memories were erased, or are out of reach"} if gone else {}
    return Recall(
        query=kept.query,
        asked_at=asked_at,
        hits=tuple(hit for hit in hits if hit is not None),
        degraded={**answer["degraded"], **missing},
        timings={},
        trace=Trace(searched=kept.query, embedded="", terms=(), legs={}, outcomes={}),
        renderer=ctx.preset.renderer,
        pinned=tuple(memory for memory in pinned if memory is not None),
        recall_id=kept.id,
    )


def _read(ctx: Context, view: ReadView, reader: Reader, answer: Mapping[str, Any]) -> _Told:
    """The memories of an answer with their cues, as far as they are there; entries of the journal as memories."""
    rows = [*answer["hits"], *answer["pinned"]]
    stored = {UUID(row["state"]["memory_id"]): row["revision"] for row in rows if row.get("event") is None}
    entries = frozenset(UUID(row["event"]) for row in rows if row.get("event") is not None)
    told = dict(view.at_revisions(reader, stored))
    for event in view.events(reader, EventFilter(ids=entries), limit=len(entries)) if entries else ():
        write: MemoryWrite = memory_of_event(event, ctx.preset.formation)
        told[write.memory.id] = write.memory, tuple(indexed.cue for indexed in write.cues)
    return told


def answer_of(recall: Recall) -> dict[str, JsonValue]:
    """The answer by reference, with every number of it."""
    return {
        "asked_at": recall.asked_at.isoformat(),
        "degraded": dict(recall.degraded),
        "hits": [
            {
                **_reference(hit.memory, recall.asked_at),
                "rank": hit.rank,
                "score": hit.score,
                "probability": hit.probability,
                "cue": hit.cue.ordinal,
                "turns": [cue.ordinal for cue in hit.turns],
                "age": hit.age // _MICROSECOND,
                "via": None if hit.via is None else str(hit.via),
                "replies_to": None if hit.replies_to is None else str(hit.replies_to),
                "newer": None if hit.newer is None else str(hit.newer),
                "event": str(hit.cue.event_id) if hit.journal_only else None,
                "parts": _parts(hit.explanation.score),
                "signals": dict(hit.explanation.signals),
                "ranks": dict(hit.explanation.ranks),
                "matched": list(hit.explanation.matched),
                "reason": hit.explanation.reason,
            }
            for hit in recall.hits
        ],
        "pinned": [_reference(memory, recall.asked_at) for memory in recall.pinned],
    }


def _reference(memory: Memory, at: datetime) -> dict[str, JsonValue]:
    return {"revision": memory.revision, "state": record_to_row(state_of(memory, at))}


def _parts(part: Part) -> list[JsonValue]:
    return [part.label, part.value, part.contribution, [_parts(one) for one in part.parts]]


def _part(row: Sequence[Any]) -> Part:
    label, value, contribution, parts = row
    return Part(label, value, contribution, tuple(map(_part, parts)))


def _memory(row: Mapping[str, Any], told: _Told, workspace: str, at: datetime) -> Memory | None:
    state = cast("PastState", row_to_record(row["state"], workspace))
    if state.memory_id not in told:
        return None
    memory, _ = told[state.memory_id]
    return past.as_it_was(memory, at, None, state)


def _hit(row: Mapping[str, Any], told: _Told, workspace: str, at: datetime) -> Hit | None:
    memory = _memory(row, told, workspace, at)
    if memory is None:
        return None
    cues = {cue.ordinal: cue for cue in told[memory.id][1]}
    return Hit(
        rank=row["rank"],
        score=row["score"],
        memory=memory,
        cue=cues[row["cue"]],
        age=Age(microseconds=row["age"]),
        explanation=Explanation(
            score=_part(row["parts"]),
            signals=row["signals"],
            ranks=row["ranks"],
            matched=tuple(row["matched"]),
            reason=row.get("reason", ""),  # answers kept by earlier versions have none
        ),
        turns=tuple(cues[ordinal] for ordinal in row["turns"]),
        via=None if row["via"] is None else UUID(row["via"]),
        journal_only=row["event"] is not None,
        # Answers kept by earlier versions have none of these.
        replies_to=None if row.get("replies_to") is None else UUID(row["replies_to"]),
        newer=None if row.get("newer") is None else UUID(row["newer"]),
        probability=row.get("probability"),
    )
