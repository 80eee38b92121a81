"""Commands that say how memories stand to each other: link, supersede, invalidate."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.interfaces.cli import pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import Id

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The memory the edge goes out from.")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help="The memory it leads to.")]
Kind = Annotated[
    str,
    typer.Argument(
        metavar="RELATION", help="similar, supports, contradicts, derived_from or supersedes: SOURCE … TARGET."
    ),
]


def link(
    call: Invocation,
    *,
    source: Source,
    relation: Kind,
    target: Target,
    weight: Annotated[float, typer.Option("--weight", help="How strongly, 0 to 1.")] = 1.0,
) -> None:
    """Say how one memory relates to another.

    Read as a sentence: this one supports, contradicts, ... that one. Saying it again sets the weight anew. It changes
    nothing about which of them holds: for that there is `supersede`.

    Example: remembrancer link 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f contradicts 01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a
    """
    from remembrancer.interfaces.wire.memories import RelationOut

    call.tell(lambda memory: RelationOut.of(memory.link(source, target, relation, weight)), pages.linked)


def supersede(
    call: Invocation,
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The memory that no longer holds.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The memory that stands in its place.")],
) -> None:
    """Let one memory stand in another's place.

    The old one is kept and shown with its successor, and no longer recalled; --as-of a time before still finds it.

    Example: remembrancer supersede 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f 01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    call.tell(lambda memory: MemoryOut.of(memory.supersede(old, new)), pages.ended)


def invalidate(call: Invocation, *, memory_id: Id) -> None:
    """End a memory's validity now.

    It is kept, and no longer recalled but by --as-of a time before.

    Example: remembrancer invalidate 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    call.tell(lambda memory: MemoryOut.of(memory.invalidate(memory_id)), pages.ended)
