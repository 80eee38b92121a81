"""A memory is told otherwise by its id: what it said before is kept as a revision."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import UUID

from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Reader
from remembrancer.engine import inspect
from remembrancer.engine.context import Context
from remembrancer.errors import Conflict
from remembrancer.policies.admission.updating import Changes, updated, write_of

ATTEMPTS: Final = 8
"""How often others may change the memory between its being read and told otherwise."""


async def update(
    ctx: Context, reader: Reader, memory_id: UUID, changes: Changes, *, expected_revision: int | None
) -> Memory:
    """Apply changes to a memory as it is, or as it was at `expected_revision`. What changes nothing makes no revision.

    Raises NotFound, InvalidInput, and Conflict when it is at another revision than expected, when something stands in
    its place, or when others keep changing it meanwhile.
    """
    for attempt in range(1, ATTEMPTS + 1):
        known = await inspect.get(ctx, reader, memory_id)
        if expected_revision is not None and known.revision != expected_revision:
            raise Conflict(f"memory {memory_id} is at revision {known.revision}, not {expected_revision}")
        later = updated(known, changes, ctx.preset.formation)
        if known.superseded_by is not None:
            raise Conflict(f"memory {memory_id} is superseded by {known.superseded_by}")
        if later == known:
            return known
        cues = (await ctx.store.cues(reader, [memory_id])).get(memory_id, ())
        write = write_of(replace(later, revision=known.revision + 1), known, cues)
        try:
            return await ctx.store.revise(reader.scope, write, expected_revision=known.revision, at=ctx.clock())
        except Conflict:
            if expected_revision is not None or attempt == ATTEMPTS:
                raise
    raise AssertionError  # the last attempt returns or raises
