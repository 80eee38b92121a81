"""A change of embedder: two vector spaces at once, of which one answers; progress, the switch, and the way back.

The vectors of the new model are made while those of the old one answer. `switch` changes the model that answers in one
transaction, which every recall reads in its own snapshot; `roll_back` changes it back, as long as the old vectors are
there.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from remembrancer import engine
from remembrancer.domain.vector_space import SpaceRole, SpaceSize
from remembrancer.engine.context import Context, answering
from remembrancer.errors import Conflict, ModelUnavailable, StoreUnavailable
from remembrancer.ports.candidate_source import SourceUnavailable, separate_source
from remembrancer.ports.embedder import token_embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remembrancer.domain.scope import Scope
    from remembrancer.ports.changes import WorkspaceState

RECENTLY: Final = timedelta(minutes=1)
"""The rate of a change is counted over this time."""
TRIES: Final = 10
"""The number of batches that a switch embeds itself, because texts may be written meanwhile."""
HOW: Final = "`remembrancer embedder status` tells how to go on"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceState:
    """The vectors of one model. `here`: this process has an embedder of the model.

    `vectors`: how many of the `cues` have one. `rate`: vectors made per second by a change, over the last minute.
    `time_left`: until all cues have one at this rate; None: not known, or nothing is left.
    """

    model: str
    role: SpaceRole
    since: datetime
    here: bool
    vectors: int
    cues: int
    bytes: int
    rate: float
    time_left: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderStatus:
    """The vectors of a workspace: the model that answers, and the progress of a change.

    `answers`: None before the first vector. `embedder`, `before`: the models of this process, None if it has none.
    `spaces`: the vectors of each model, those that answer first. `advice`: the next step, in sentences; "" if there is
    nothing to do.
    """

    answers: str | None
    embedder: str | None
    before: str | None
    spaces: tuple[SpaceState, ...]
    advice: str

    @property
    def building(self) -> SpaceState | None:
        """The vectors that are being made."""
        return next((space for space in self.spaces if space.role is SpaceRole.BUILDING), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switched:
    """A change of the model that answers. `kept`: the model that answered before, None if there was none. `missing`:
    the cues that have no vector of the new one, and are found by words.
    """

    answers: str
    kept: str | None
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """The deleted vectors of a model, and their bytes."""

    model: str
    vectors: int
    bytes: int


class ToEmbed(NamedTuple):
    """The contexts whose models new cues are embedded with, the one that answers first.
    `reason`: why the embedder in use is not among them.
    """

    contexts: tuple[Context, ...]
    reason: str = ""


async def to_embed(ctx: Context, scope: Scope) -> ToEmbed:
    """The models of this process whose vectors the index sweep makes in this workspace.

    If another model answers, and no change is under way, one to the embedder in use begins. Dropped vectors are not
    made again.
    """
    if ctx.model is None:
        return ToEmbed(())
    roles = await _roles(ctx, scope)
    answers = _with_role(roles, SpaceRole.ANSWERS)
    if answers is None:
        return ToEmbed((ctx,))
    first = () if ctx.before is None or roles.get(ctx.before.model or "") in _NOT_MADE else (ctx.before,)
    if ctx.model not in roles:
        try:
            await _prepare(ctx)
            await ctx.store.build_space(scope, ctx.model, at=ctx.clock())
        except Conflict as error:
            return ToEmbed(first, f"{error}: nothing is embedded with {ctx.model}; {HOW}")
    elif roles[ctx.model] is SpaceRole.DROPPED:
        return ToEmbed(
            first, f"the vectors of {ctx.model} were dropped; `remembrancer embedder change` makes them again"
        )
    return ToEmbed((ctx, *first) if answers == ctx.model else (*first, ctx))


_NOT_MADE: Final = {None, SpaceRole.DROPPED}


async def models_in_use(ctx: Context, scope: Scope) -> tuple[str | None, ...]:
    """The models of this process whose vectors an index may be asked for; None without an embedder."""
    if ctx.before is None:
        return (ctx.model,)
    roles = await _roles(ctx, scope)
    return tuple(one.model for one in (ctx, ctx.before) if roles.get(one.model or "") not in _NOT_MADE) or (ctx.model,)


async def status(ctx: Context, scope: Scope) -> EmbedderStatus:
    """The state of the workspace's vector spaces. Counts all of its vectors."""
    now = ctx.clock()
    sizes = await ctx.store.space_sizes(scope, since=now - RECENTLY)
    spaces = await ctx.store.spaces(scope)
    models = {ctx.model, None if ctx.before is None else ctx.before.model}
    states: list[SpaceState] = []
    for space in spaces:
        size = sizes.of.get(space.model, SpaceSize(0, 0, 0))
        seconds = min(RECENTLY, max(now - space.since, timedelta(seconds=1))).total_seconds()
        rate = size.recent / seconds if space.role is SpaceRole.BUILDING else 0.0
        left = sizes.cues - size.vectors
        states.append(
            SpaceState(
                model=space.model,
                role=space.role,
                since=space.since,
                here=space.model in models,
                vectors=size.vectors,
                cues=sizes.cues,
                bytes=size.bytes,
                rate=rate,
                time_left=timedelta(seconds=round(left / rate)) if left > 0 and rate > 0 else None,
            )
        )
    roles = {space.model: space.role for space in spaces}
    return EmbedderStatus(
        answers=_with_role(roles, SpaceRole.ANSWERS),
        embedder=ctx.model,
        before=None if ctx.before is None else ctx.before.model,
        spaces=tuple(sorted(states, key=lambda one: (list(SpaceRole).index(one.role), one.model))),
        advice=_advice(ctx, roles, {one.model: one.cues - one.vectors for one in states}),
    )


async def change(ctx: Context, scope: Scope) -> None:
    """Begin a change to the embedder in use, or go on with it. Raises ModelUnavailable without an embedder, Conflict
    if there is nothing to change, or another change is under way.
    """
    if ctx.model is None:
        raise ModelUnavailable(ctx.without_embedder)
    answers = _with_role(await _roles(ctx, scope), SpaceRole.ANSWERS)
    if answers is None:
        raise Conflict(f"workspace {scope.workspace!r} has no vectors yet: the next index sweep uses {ctx.model}")
    if answers == ctx.model:
        raise Conflict(
            f"the vectors of {ctx.model}, the embedder in use, answer already: set `embedder` to the new one, and"
            f" `embedder_before` to that of {ctx.model}"
        )
    await _prepare(ctx)
    try:
        await ctx.store.build_space(scope, ctx.model, at=ctx.clock())
    except Conflict as error:
        raise Conflict(f"{error}: end it by `remembrancer embedder switch`, or give it up by `drop`") from error


async def switch(ctx: Context, scope: Scope, *, allow_missing: bool = False) -> Switched:
    """Let the vectors that were made by the change answer. Raises Conflict if there is no change, or if cues lack a
    vector and `allow_missing` is not set.
    """
    model = _with_role(await _roles(ctx, scope), SpaceRole.BUILDING)
    if model is None:
        raise Conflict(f"no change of embedder is under way in workspace {scope.workspace!r}; {HOW}")
    return await _answer_with(ctx, scope, model, allow_missing=allow_missing)


async def roll_back(ctx: Context, scope: Scope, *, allow_missing: bool = False) -> Switched:
    """Let the vectors that answered before the last switch answer again. Raises Conflict if none are kept, or if cues
    lack one and `allow_missing` is not set.
    """
    return await _answer_with(ctx, scope, await _kept(ctx, scope), allow_missing=allow_missing)


async def drop(ctx: Context, scope: Scope, model: str | None = None) -> Dropped:
    """Delete the vectors of a model that does not answer. None: those kept for a roll-back. Raises Conflict,
    NotFound for a model without a role, and StoreUnavailable if an index outside of the database does not answer.
    """
    dropped = await _kept(ctx, scope) if model is None else model
    size = (await ctx.store.space_sizes(scope, since=ctx.clock())).of.get(dropped, SpaceSize(0, 0, 0))
    vectors = await ctx.store.drop_space(scope, dropped, at=ctx.clock())
    source = separate_source(ctx.index)
    if source is not None:
        try:
            await asyncio.to_thread(source.drop, scope, dropped)
        except SourceUnavailable as error:
            again = f"`remembrancer embedder drop {dropped}` again deletes them there"
            raise StoreUnavailable(f"the vectors are deleted, but not from the index: {error}; {again}") from error
    return Dropped(model=dropped, vectors=vectors, bytes=size.bytes)


async def load_built(ctx: Context, scope: Scope) -> None:
    """Load the index of the model that is being built, so that the first recall after a switch does not wait for it."""
    built = _of_model(ctx, _with_role(await _roles(ctx, scope), SpaceRole.BUILDING))
    if built is not None and built is not await answering(ctx, scope):
        await engine.asking.load_index(built, scope, built.model)


def of_another_model(ctx: Context, state: WorkspaceState) -> str:
    """The end of a message that vectors are missing: the model, if this process lacks the embedder that answers."""
    if state.model is None or state.model == ctx.model:
        return ""
    return (
        f" of {ctx.model}; those of {state.model} can answer meanwhile: set `embedder_before` to its embedder ({HOW})"
    )


async def _answer_with(ctx: Context, scope: Scope, model: str, *, allow_missing: bool) -> Switched:
    before = _with_role(await _roles(ctx, scope), SpaceRole.ANSWERS)
    own = _of_model(ctx, model)
    if own is not None:
        await _prepare(own)
    tokens = own is not None and own.preset.encoding.token_embeddings and token_embedder(own.embedder) is not None
    missing = 0
    for _ in range(TRIES):
        missing = await ctx.store.answer_with(
            scope, model, at=ctx.clock(), allow_missing=allow_missing, token_embeddings=tokens
        )
        if not missing or allow_missing:
            return Switched(answers=model, kept=before, missing=missing)
        # Texts are written meanwhile; what has been embedded for the model that answers is now embedded for this one.
        if own is None or missing > engine.index.BATCH * TRIES:
            break
        if (await engine.index.index_with(own, scope, engine.index.BATCH, relate=False)).idle:
            break
    raise Conflict(
        f"{missing:,} texts have no vector of {model} yet: `remembrancer embedder change` makes them,"
        " --allow-missing switches without them"
    )


async def _prepare(ctx: Context) -> None:
    """Prepare the index for the vectors of this context's model, if their dimension is known. Some embedders know it
    only after their first answer.
    """
    dim = None if ctx.embedder is None else ctx.embedder.dim
    if ctx.model is not None and dim is not None:
        await asyncio.to_thread(ctx.index.prepare, ctx.model, dim)


async def _kept(ctx: Context, scope: Scope) -> str:
    """The model that answered before the last switch. Raises Conflict if no vectors are kept."""
    kept = [space for space in await ctx.store.spaces(scope) if space.role is SpaceRole.KEPT]
    if not kept:
        raise Conflict(f"no vectors from before a switch are kept in workspace {scope.workspace!r}; {HOW}")
    return max(kept, key=lambda space: space.since).model


async def _roles(ctx: Context, scope: Scope) -> dict[str, SpaceRole]:
    return {space.model: space.role for space in await ctx.store.spaces(scope)}


def _with_role(roles: Mapping[str, SpaceRole], role: SpaceRole) -> str | None:
    return next((model for model, one in roles.items() if one is role), None)


def _of_model(ctx: Context, model: str | None) -> Context | None:
    """The context of this process with that model."""
    return next((one for one in (ctx, ctx.before) if one is not None and one.model == model), None)


def _advice(ctx: Context, roles: Mapping[str, SpaceRole], left: Mapping[str, int]) -> str:  # noqa: PLR0911  a case each
    answers, building = _with_role(roles, SpaceRole.ANSWERS), _with_role(roles, SpaceRole.BUILDING)
    kept = _with_role(roles, SpaceRole.KEPT)
    if answers is None or ctx.model is None:
        return ""
    if building is not None:
        if ctx.model not in {building, answers}:
            return (
                f"A change to {building} is under way: set `embedder` to it, or give the change up by `remembrancer"
                f" embedder drop {building}`."
            )
        missing = left.get(building, 0)
        meanwhile = (
            ""
            if _of_model(ctx, answers)
            else f" Set `embedder_before` to the embedder of {answers}, so that it answers meanwhile."
        )
        if missing:
            return (
                f"{missing:,} texts need a vector of {building}: an open memory makes them in the background,"
                f" `remembrancer embedder change` at once.{meanwhile}"
            )
        return f"All texts have a vector of {building}: run `remembrancer embedder switch`.{meanwhile}"
    if answers == ctx.model:
        return (
            f"`remembrancer embedder drop` deletes the vectors of {kept}; until then `rollback` returns to them."
            if kept
            else ""
        )
    if roles.get(ctx.model) is SpaceRole.KEPT:
        return (
            f"The vectors of {answers} answer since a switch: set `embedder` to it, or return to {ctx.model} by"
            " `remembrancer embedder rollback`."
        )
    return (
        f"The vectors are of {answers}, and the embedder in use is {ctx.model}. To change: set `embedder_before` to the"
        f" embedder of {answers}, which answers meanwhile, and run `remembrancer embedder change`. To stay: set"
        f" `embedder` to that of {answers}."
    )
