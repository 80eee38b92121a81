"""The index sweep: embed the cues that have no vector of the active model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.engine.relate import links
from remembrancer.errors import ModelUnavailable, NotFound
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.ranking.late_interaction import packed
from remembrancer.ports.embedder import Embedder, Passage, token_embedder
from remembrancer.ports.embeddings import CueVector, PendingCue
from remembrancer.values import dataclass

BATCH: Final = 128
PLAIN_TEXT: Final = "Is anybody there?"
"""A text that every embedder supports."""


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of one batch: how many cues were embedded, how many failed and wait, and why. `refs`: the embedded
    cues.
    """

    indexed: int
    deferred: int
    error: str = ""
    refs: tuple[int, ...] = field(default=(), compare=False)

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not self.indexed and not self.deferred


async def index_batch(ctx: Context, scope: Scope, *, batch: int = BATCH) -> Swept:
    """Embed up to `batch` cues of the workspace that have no vector. The work list is derived from the store, so a
    crash loses nothing.

    Where the embedder fails on a batch but answers otherwise, each cue is tried alone, so that one bad text does not
    block the others. Raises ModelUnavailable where it does not answer at all; then no cue counts as failed.
    """
    embedder = ctx.embedder
    if embedder is None:
        return Swept(0, 0)
    turns = ctx.preset.encoding.turns
    token_embeddings = ctx.preset.encoding.words and token_embedder(embedder) is not None
    waiting = await ctx.store.pending(
        scope, embedder.model_id, limit=batch, now=ctx.clock(), before=turns, token_embeddings=token_embeddings
    )
    if not waiting:
        return Swept(0, 0)
    try:
        return Swept(await _embed(ctx, embedder, scope, waiting), 0, refs=tuple(cue.ref for cue in waiting))
    except ModelUnavailable as error:
        await embedder.embed_documents([PLAIN_TEXT])
        if len(waiting) == 1:
            await _defer(ctx, embedder, scope, waiting[0], str(error))
            return Swept(0, 1, str(error))
    indexed, reason = 0, ""
    for cue in waiting:
        try:
            indexed += await _embed(ctx, embedder, scope, (cue,))
        except ModelUnavailable as error:
            reason = str(error)
            await _defer(ctx, embedder, scope, cue, reason)
    return Swept(indexed, len(waiting) - indexed, reason)


async def index_memory(ctx: Context, reader: Reader, memory_id: UUID) -> Swept:
    """Embed the cues of one memory now, for a caller that cannot wait for the sweep.

    Cues that failed before are included; nothing is deferred here. Raises NotFound for a memory that the reader cannot
    see, ModelUnavailable where the embedder does not answer.
    """
    if memory_id not in await ctx.store.get(reader, [memory_id]):
        raise NotFound("memory", memory_id)
    embedder = ctx.embedder
    if embedder is None:
        return Swept(0, 0, ctx.without_embedder)
    token_embeddings = ctx.preset.encoding.words and token_embedder(embedder) is not None
    waiting = await ctx.store.pending_of(
        reader.scope, embedder.model_id, memory_id, before=ctx.preset.encoding.turns, token_embeddings=token_embeddings
    )
    return Swept(await _embed(ctx, embedder, reader.scope, waiting) if waiting else 0, 0)


async def _embed(ctx: Context, embedder: Embedder, scope: Scope, waiting: tuple[PendingCue, ...]) -> int:
    vectors = await _encoded(ctx.preset.encoding, embedder, waiting)
    now = ctx.clock()
    edges = await links(ctx, embedder.model_id, scope, waiting, [item.vector for item in vectors], now)
    await ctx.store.put_vectors(scope, embedder.model_id, vectors, at=now, relations=edges)
    return len(vectors)


async def _encoded(encoding: Encoding, embedder: Embedder, waiting: Sequence[PendingCue]) -> list[CueVector]:
    """The vectors of the cues, in their order. Raises ModelUnavailable."""
    texts = [encoding.text(cue.heading, cue.text) for cue in waiting]
    words = token_embedder(embedder) if encoding.reads_in_context else None
    if words is None:
        plain = await embedder.embed_documents(texts)
        return [
            CueVector(cue.ref, vector, bool(truncated))
            for cue, vector, truncated in zip(waiting, plain.vectors, plain.truncated, strict=True)
        ]
    before = [
        encoding.before(cue.speaker, [(said.speaker, said.text) for said in cue.before if said.speaker])
        for cue in waiting
    ]
    read = await words.embed_passages([Passage(text, told) for text, told in zip(texts, before, strict=True)])
    return [
        CueVector(cue.ref, vector, bool(truncated), packed(each) if encoding.words else None)
        for cue, vector, truncated, each in zip(
            waiting, read.vectors, read.truncated, read.token_embeddings, strict=True
        )
    ]


async def _defer(ctx: Context, embedder: Embedder, scope: Scope, cue: PendingCue, error: str) -> None:
    await ctx.store.defer_vectors(scope, embedder.model_id, [cue.ref], error=error, now=ctx.clock())
