"""The command that edits a memory: update."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, Id, NoIndex, arguments
from remembrancer.values import dataclass

EMPTY: Final[dict[str, Any]] = {
    "title": None,
    "source": None,
    "tags": [],
    "metadata": {},
    "valid_from": None,
    "valid_until": None,
}
"""The fields that --clear can empty, with their empty values."""


@dataclass(frozen=True, kw_only=True)
class Edits:
    """Options of the fields to change."""

    text: Annotated[str | None, "The new text."] = None
    title: Annotated[str | None, "Its title."] = None
    kind: Annotated[str | None, "Its kind."] = None
    source: Annotated[str | None, "Where the text comes from."] = None
    importance: Annotated[float | None, "How much it matters, 0 to 1."] = None
    priority: Annotated[int | None, "1 to 10."] = None
    tags: Annotated[list[str] | None, "A tag, replacing all existing tags; may be repeated."] = None
    metadata: Annotated[Any, "A JSON object, replacing the existing one."] = None
    valid_from: Annotated[datetime | None, f"Valid from then on: {TIMES}."] = None
    valid_until: Annotated[datetime | None, "Valid until then; format as --valid-from."] = None
    visibility: Annotated[str | None, "Who else may see it: session, own, crew or workspace."] = None


def update(
    call: Invocation,
    *,
    memory_id: Id,
    edits: Edits,
    clear: Annotated[list[str] | None, f"Empty this field: {', '.join(EMPTY)}; may be repeated."] = None,
    revision: Annotated[int | None, "Change nothing unless this is the current revision."] = None,
    no_index: NoIndex = False,
) -> None:
    """Edit a memory.

    Changes the given fields; the previous text is kept as a revision. What was formed from the memory, such as episodes
    and facts, stays unchanged, and so does the journal. Prints the memory.

    Example: remembrancer update 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --text "Checkout needs 3 GiB"
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    changes = arguments(edits)
    for name in clear or ():
        if name not in EMPTY:
            raise InvalidInput("--clear", name, "one of " + ", ".join(EMPTY))
        if name in changes:
            raise InvalidInput("--clear", name, "what no other option gives")
        changes[name] = EMPTY[name]
    with call.opened(create=False) as memory:
        changed = memory.update(memory_id, expected_revision=revision, **changes)
        if not no_index:
            call.index(memory)
    call.answer(MemoryOut.of(changed), pages.changed)
