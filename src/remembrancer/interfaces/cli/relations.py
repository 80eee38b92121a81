"""Commands for relations between memories: link, supersede, invalidate."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from typing import Annotated

from remembrancer.interfaces.cli import pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import Id

Source = Annotated[str, "SOURCE", "The memory that the relation starts from."]
Target = Annotated[str, "TARGET", "The memory that it leads to."]
RelationArgument = Annotated[
    str, "RELATION", "similar, supports, contradicts, derived_from or supersedes: SOURCE … TARGET."
]


def link(
    call: Invocation,
    *,
    source: Source,
    relation: RelationArgument,
    target: Target,
    weight: Annotated[float, "The weight, 0 to 1."] = 1.0,
) -> None:
    """Relate one memory to another.

    Read as a sentence: SOURCE supports, contradicts, ... TARGET. Repeating it sets the weight again. It does not change
    which of the two is valid: `supersede` does.

    Example: remembrancer link 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f contradicts 01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a
    """
    from remembrancer.interfaces.wire.memories import RelationOut

    call.tell(lambda memory: RelationOut.of(memory.link(source, target, relation, weight)), pages.linked)


def supersede(
    call: Invocation,
    *,
    old: Annotated[str, "OLD", "The memory to replace."],
    new: Annotated[str, "NEW", "The memory that replaces it."],
) -> None:
    """Replace a memory by another one.

    The old memory is kept and shown with its successor, but no longer recalled, except with --as-of an earlier time.

    Example: remembrancer supersede 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f 01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    call.tell(lambda memory: MemoryOut.of(memory.supersede(old, new)), pages.ended)


def invalidate(call: Invocation, *, memory_id: Id) -> None:
    """End a memory's validity now.

    It is kept, but no longer recalled, except with --as-of an earlier time.

    Example: remembrancer invalidate 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    call.tell(lambda memory: MemoryOut.of(memory.invalidate(memory_id)), pages.ended)
