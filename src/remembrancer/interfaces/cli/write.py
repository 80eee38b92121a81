"""Commands that add or change memories: remember, observe, feedback, forget."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, Id, NoIndex, arguments
from remembrancer.values import dataclass

STDIN: Final = Path("stdin")

Occurred = Annotated[datetime | None, "--at", f"When it happened: {TIMES}. Default: now."]
KeyOption = Annotated[str | None, "A unique name: repeating the command with it has no effect."]


@dataclass(frozen=True, kw_only=True)
class MemoryOptions:
    """Options of a memory to keep."""

    title: Annotated[str | None, "A title, searched with the text."] = None
    kind: Annotated[str | None, "The kind of memory. Default: the preset's first, or note."] = None
    tier: Annotated[str | None, "working, episodic or semantic. Default: the preset's, mostly semantic."] = None
    tags: Annotated[list[str] | None, "A tag; may be repeated."] = None
    topic_key: Annotated[str | None, "The topic, whose previous text is replaced."] = None
    importance: Annotated[float, "How much it matters, 0 to 1."] = 0.5
    priority: Annotated[int, "1 to 10."] = 5
    confidence: Annotated[float, "How certain it is, 0 to 1."] = 0.5
    surprise: Annotated[float, "How unexpected it was, 0 to 1. Surprising memories fade more slowly."] = 0.0
    events: Annotated[list[str] | None, "ID", "A turn that the episode covers; may be repeated."] = None
    source: Annotated[str | None, "Where the text comes from."] = None
    origin: Annotated[str, "Whose words: user, assistant, system, tool, web or import."] = "user"
    occurred_at: Occurred = None
    valid_from: Annotated[datetime | None, "Valid from then on; format as --at."] = None
    valid_until: Annotated[datetime | None, "Valid until then; format as --at."] = None
    visibility: Annotated[str, "Who else may see it: session, own, crew or workspace."] = "workspace"
    metadata: Annotated[Any, "A JSON object of metadata."] = None
    key: KeyOption = None


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """Options of an event to record."""

    by_role: Annotated[str, "--as", "Who said it: user, assistant, system or tool."] = "user"
    actor: Annotated[str | None, "The name of who said or did it."] = None
    type: Annotated[str, "The type of the event."] = "message"
    severity: Annotated[str, "info, notice, warn or error."] = "info"
    priority: Annotated[str, "normal, high, pin or permanent."] = "normal"
    occurred_at: Occurred = None
    payload: Annotated[Any, "A JSON object of details."] = None
    refs: Annotated[Any, "A JSON object of references."] = None
    key: KeyOption = None


def remember(
    call: Invocation,
    *,
    text: Annotated[str, "TEXT", "What to keep."],
    options: MemoryOptions,
    no_index: NoIndex = False,
) -> None:
    """Keep a memory.

    With --topic-key it replaces the text of this scope's memory of that topic; the previous text is kept as a revision.
    Prints the memory and its id.

    Example: remembrancer remember "Checkout needs 2 GiB" --kind decision --tag checkout
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    with call.opened(create=True) as memory:
        kept = memory.remember(text, **arguments(options))
        if not no_index:
            call.index(memory)
    call.answer(MemoryOut.of(kept), pages.changed)


def observe(
    call: Invocation,
    *,
    text: Annotated[str | None, "[TEXT]", "What was said or happened."] = None,
    stdin: Annotated[bool, "Read events from stdin, one JSON object per line."] = False,
    options: EventOptions,
    no_index: NoIndex = False,
) -> None:
    """Record something that was said or happened.

    Give a text, or --stdin and JSON lines with the keys text, role, type, severity, priority, actor, occurred_at (ISO
    8601 with a UTC offset), session, payload, refs and key. A line that cannot be recorded is reported on stderr, the
    others are recorded, and the exit code is 1.

    Example: remembrancer observe "Deploy of checkout failed" --as tool --severity error
    """
    from remembrancer.interfaces.cli.recording import SkippedRecords, drafts_of_lines, record
    from remembrancer.interfaces.wire.files import ObservedOut

    if stdin == (text is not None):
        raise InvalidInput("TEXT", text, "either a text or --stdin")
    if stdin and options != EventOptions():
        raise InvalidInput("--stdin", "with options of one event", "no such options: each line says its own")
    left_out = SkippedRecords(call)
    with call.opened(create=True) as memory:
        if text is None:
            offered = drafts_of_lines(sys.stdin.buffer, STDIN)
            events = list(record(memory, offered, STDIN, on_problem=left_out))
        else:
            events = [memory.observe(text, **arguments(options))]
        if not no_index:
            call.index(memory)
    call.answer(ObservedOut.of(events, left_out.problems), pages.observed)
    if left_out.problems:
        raise typer.Exit(1)


def feedback(
    call: Invocation,
    *,
    memory_id: Id,
    said: Annotated[str, "helpful|unhelpful|harmful", "The rating."],
) -> None:
    """Rate a memory as helpful, unhelpful or harmful.

    Its confidence changes accordingly, and with it its rank in later answers. Prints its strength.

    Example: remembrancer feedback 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f helpful
    """
    from remembrancer.domain.validation import identifier
    from remembrancer.interfaces.wire.memories import FeedbackOut

    chosen = identifier("ID", memory_id)
    with call.opened(create=False) as memory:
        strength = memory.feedback(chosen, said)
        status = memory.get(chosen).status
    call.answer(FeedbackOut.of(chosen, strength, status), pages.strengthened)


def forget(
    call: Invocation,
    *,
    memory_id: Id,
    undo: Annotated[bool, "Make it active again."] = False,
) -> None:
    """Retire a memory, or restore it.

    A retired memory is kept but not recalled; --undo makes it active again.

    Example: remembrancer forget 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    from remembrancer.interfaces.wire.memories import MemoryOut

    call.tell(
        lambda memory: MemoryOut.of(memory.restore(memory_id) if undo else memory.forget(memory_id)), pages.changed
    )
