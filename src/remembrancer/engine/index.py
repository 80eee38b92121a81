"""The index sweep: embedding the cues that have no vector of the model that answers, or of one that a change makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine import spaces
from remembrancer.engine.context import Context, answering
from remembrancer.engine.relate import links
from remembrancer.errors import ModelUnavailable, NotFound
from remembrancer.policies.admission.digests import digest
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.ranking.late_interaction import packed
from remembrancer.policies.segmentation.segments import edges
from remembrancer.ports.embedder import Embedder, Passage, token_embedder
from remembrancer.ports.embeddings import CueVector, PendingCue
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH: Final = 64
"""The most texts of one batch."""
BATCH_BEHIND: Final = 16
"""The most texts of one batch of a change of embedder in the background: a new memory waits until it is done."""
PLAIN_TEXT: Final = "Is anybody there?"
"""A text that every embedder can embed, as a test whether it answers."""


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of one batch: the numbers of embedded and of failed cues, and the error. `reused`: how many of the
    embedded cues got the stored vector of an equal text. `refs`: the embedded cues. `model`: the one they were embedded
    with; `behind`: another model answers.
    """

    indexed: int
    deferred: int
    error: str = ""
    reused: int = 0
    refs: tuple[int, ...] = field(default=(), compare=False)
    model: str = field(default="", compare=False)
    behind: bool = field(default=False, compare=False)

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not self.indexed and not self.deferred


async def index_batch(
    ctx: Context,
    scope: Scope,
    *,
    batch: int = BATCH,
    behind: int = BATCH,
    down: dict[str, str] | None = None,
    first_only: bool = False,
) -> Swept:
    """Embed up to `batch` cues of the workspace that have no vector. The work list is derived from the store, so a
    crash loses nothing.

    During a change of embedder, cues without a vector of the model that answers come first; then up to `behind` of
    those without one of the other model, unless `first_only`. `down`: models that do not answer, with the reason,
    which are left out; a model that does not answer is added to it.

    If the embedder fails on a batch but answers otherwise, each cue is tried alone, so that an invalid text does not
    block the others. A text for which this workspace has a vector, of the same model and context, is not embedded
    again. Raises ModelUnavailable if the embedder does not answer at all, and `down` is None; then no cue counts as
    failed.
    """
    contexts, reason = await spaces.to_embed(ctx, scope)
    for place, one in enumerate(contexts[:1] if first_only else contexts):
        if down is not None and one.model in down:
            continue
        try:
            swept = await index_with(one, scope, min(batch, behind) if place else batch, relate=place == 0)
        except ModelUnavailable as error:
            if down is None or one.model is None:
                raise
            down[one.model] = str(error)
            continue
        if not swept.idle:
            return replace(swept, model=one.model or "", behind=place > 0)
    return Swept(0, 0, reason)


async def index_with(ctx: Context, scope: Scope, batch: int, *, relate: bool) -> Swept:
    """As `index_batch`, with the embedder of this context. `relate`: make relations to similar memories; only the model
    that answers does, because otherwise the same memories would be related again by another measure.
    """
    embedder = ctx.embedder
    if embedder is None:
        return Swept(0, 0)
    turns = ctx.preset.encoding.turns
    token_embeddings = ctx.preset.encoding.token_embeddings and token_embedder(embedder) is not None
    waiting = await ctx.store.pending(
        scope, embedder.model_id, limit=batch, now=ctx.clock(), before=turns, token_embeddings=token_embeddings
    )
    if not waiting:
        return Swept(0, 0)
    try:
        return await _embed(ctx, embedder, scope, waiting, relate=relate)
    except ModelUnavailable as error:
        await embedder.embed_documents([PLAIN_TEXT])
        if len(waiting) == 1:
            await _defer(ctx, embedder, scope, waiting[0], str(error))
            return Swept(0, 1, str(error))
    indexed, reused, reason = 0, 0, ""
    for cue in waiting:
        try:
            swept = await _embed(ctx, embedder, scope, (cue,), relate=relate)
            indexed, reused = indexed + swept.indexed, reused + swept.reused
        except ModelUnavailable as error:
            reason = str(error)
            await _defer(ctx, embedder, scope, cue, reason)
    return Swept(indexed, len(waiting) - indexed, reason, reused)


async def index_memory(ctx: Context, reader: Reader, memory_id: UUID) -> Swept:
    """Embed the cues of one memory now, for a caller that cannot wait for the sweep.

    Includes cues that failed before; defers none. Raises NotFound for a memory that the reader cannot see,
    ModelUnavailable if the embedder does not answer.
    """
    if memory_id not in await ctx.store.get(reader, [memory_id]):
        raise NotFound("memory", memory_id)
    ctx = await answering(ctx, reader.scope)
    embedder = ctx.embedder
    if embedder is None:
        return Swept(0, 0, ctx.without_embedder)
    token_embeddings = ctx.preset.encoding.token_embeddings and token_embedder(embedder) is not None
    waiting = await ctx.store.pending_of(
        reader.scope, embedder.model_id, memory_id, before=ctx.preset.encoding.turns, token_embeddings=token_embeddings
    )
    return await _embed(ctx, embedder, reader.scope, waiting, relate=True) if waiting else Swept(0, 0)


async def _embed(
    ctx: Context, embedder: Embedder, scope: Scope, waiting: Sequence[PendingCue], *, relate: bool
) -> Swept:
    encoding = ctx.preset.encoding
    inputs = [_input(encoding, embedder, cue) for cue in waiting]
    digests = [digest(each.passage.text, each.before, token_embeddings=encoding.token_embeddings) for each in inputs]
    known = await ctx.store.embedded(scope, embedder.model_id, set(digests))
    unknown = {key: each for key, each in zip(digests, inputs, strict=True) if key not in known}
    new, alone = await _encoded(encoding, embedder, list(unknown.values()))
    vectors_of = {**known, **dict(zip(unknown, new, strict=True))}
    vectors = [replace(vectors_of[key], ref=cue.ref, digest=key) for key, cue in zip(digests, waiting, strict=True)]
    now = ctx.clock()
    found = [item.vector for item in vectors]
    relations = await links(ctx, embedder.model_id, scope, waiting, found, now) if relate else ()
    await ctx.store.put_vectors(scope, embedder.model_id, vectors, at=now, relations=relations)
    if alone is not None:
        _keep_for_segmentation(ctx, scope, waiting, inputs, digests, dict(zip(unknown, alone, strict=True)))
    return Swept(len(vectors), 0, reused=len(vectors) - len(new), refs=tuple(cue.ref for cue in waiting))


class _Input(NamedTuple):
    """The text to embed for a cue. `in_context`: whether it is embedded by an embedder that reads contexts."""

    ref: int
    passage: Passage
    in_context: bool

    @property
    def before(self) -> str | None:
        """The context, for the digest."""
        return self.passage.context if self.in_context else None


def _input(encoding: Encoding, embedder: Embedder, cue: PendingCue) -> _Input:
    text = encoding.text(cue.heading, cue.text)
    if not encoding.reads_in_context or token_embedder(embedder) is None:
        return _Input(cue.ref, Passage(text), in_context=False)
    if not encoding.turns or not cue.speaker:
        return _Input(cue.ref, Passage(text), in_context=True)
    before = tuple((said.speaker, said.text) for said in cue.before if said.speaker)
    passage = Passage(text, cue.speaker, before[-encoding.turns :], encoding.chars)
    return _Input(cue.ref, passage, in_context=True)


async def _encoded(
    encoding: Encoding, embedder: Embedder, inputs: Sequence[_Input]
) -> tuple[list[CueVector], NDArray[np.float32] | None]:
    """The vectors of the inputs, in their order, and those of their texts without context, if the embedder gave them.
    Raises ModelUnavailable.
    """
    with_tokens = token_embedder(embedder) if encoding.reads_in_context else None
    if not inputs:
        return [], None
    if with_tokens is None:
        plain = await embedder.embed_documents([each.passage.text for each in inputs])
        rows = zip(inputs, plain.vectors, plain.truncated, strict=True)
        return [CueVector(each.ref, vector, bool(truncated)) for each, vector, truncated in rows], None
    read = await with_tokens.embed_passages([each.passage for each in inputs])
    return [
        CueVector(each.ref, vector, bool(truncated), packed(*tokens) if encoding.token_embeddings else None)
        for each, vector, truncated, tokens in zip(inputs, read.vectors, read.truncated, read.tokens(), strict=True)
    ], read.alone


def _keep_for_segmentation(
    ctx: Context,
    scope: Scope,
    cues: Sequence[PendingCue],
    inputs: Sequence[_Input],
    digests: Sequence[bytes],
    alone: Mapping[bytes, NDArray[np.float32]],
) -> None:
    """Segmentation needs the vectors of turns without their context: `alone`, by the digests of what was embedded. Of
    long turns it embeds the edges itself.
    """
    texts = [each.passage.text for each in inputs]
    vectors = [
        (cue.memory_id, text, alone[key])
        for cue, text, key in zip(cues, texts, digests, strict=True)
        if cue.speaker and key in alone and edges(text) == text
    ]
    ctx.tails.keep(scope.workspace, vectors)


async def _defer(ctx: Context, embedder: Embedder, scope: Scope, cue: PendingCue, error: str) -> None:
    await ctx.store.defer_vectors(scope, embedder.model_id, [cue.ref], error=error, now=ctx.clock())
