"""An index whose candidates come from outside of the records' database: filling, checking and mending it."""

from __future__ import annotations

from typing import Final

from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context, answering
from remembrancer.engine.spaces import models_in_use
from remembrancer.ports.candidate_source import Drift, SourceUnavailable, separate_source
from remembrancer.ports.inspection import Finding

CHECK: Final = "index"
"""The name of its finding."""


def is_separate(ctx: Context) -> bool:
    """Whether the index has candidates from outside of the records' database."""
    return separate_source(ctx.index) is not None


async def fill(ctx: Context, scope: Scope) -> str:
    """Write to the source what it lacks of the workspace, and delete from it what was erased.

    Returns the reason if that was not possible; "" if it was, or if there is no such source.
    """
    source = separate_source(ctx.index)
    if source is None:
        return ""
    models = await models_in_use(ctx, scope)
    try:
        await ctx.store.read(lambda view: [source.fill(view, scope, model) for model in models])
    except SourceUnavailable as error:
        return str(error)
    return ""


async def finding(ctx: Context, scope: Scope, *, mend: bool) -> Finding | None:
    """Whether the source holds exactly what the records say; None without such a source. `mend`: correct it."""
    source = separate_source(ctx.index)
    if source is None:
        return None
    model = (await answering(ctx, scope)).model
    try:
        drift = await ctx.store.read(lambda view: source.check(view, scope, model, mend=mend))
    except SourceUnavailable as error:
        return Finding(CHECK, ok=False, detail=str(error), repair="see the message; until then, recall is by words")
    return Finding(
        CHECK,
        ok=mend or not drift.total,
        detail=f"{source.name}: {_said(drift)}",
        repair="run `remembrancer doctor --mend`",
    )


def _said(drift: Drift) -> str:
    if not drift.total:
        return f"as the records: {drift.expected} points"
    verb = "corrected" if drift.mended else "wrong"
    parts = {"missing": drift.missing, "outdated": drift.outdated, "left over": drift.left_over}
    return f"{verb}: " + ", ".join(f"{count} {name}" for name, count in parts.items() if count)
