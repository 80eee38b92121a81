"""Commands that add or change memories: remember, observe, feedback, outcome, mark, update, pin, forget, link,
supersede, and invalidate.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from remembrancer.domain.identity import short_id
from remembrancer.domain.outcome import TaskResult
from remembrancer.domain.strength import Feedback
from remembrancer.domain.validation import choice
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.drawing import (
    Renderables,
    RowReference,
    Shorter,
    credit_text,
    facts,
    indented,
    memory_line,
    optional_minute,
    strength_facts,
)
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, Id, NoIndex, arguments
from remembrancer.interfaces.cli.recording import SkippedRecords, drafts_of_lines, record, remember_lines
from remembrancer.interfaces.text import counted
from remembrancer.interfaces.wire.files import ImportProblemOut, ObservedOut, RememberedOut
from remembrancer.interfaces.wire.memories import FeedbackOut, MemoriesOut, MemoryOut, RelationOut, TaskOutcomeOut
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer import Remembrancer

STDIN: Final = Path("stdin")

Occurred = Annotated[datetime | None, "--at", f"When it happened: {TIMES}. Default: now."]
KeyOption = Annotated[str | None, "A unique name; repeating the command with it has no effect."]
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
class MemoryOptions:
    """Options of a memory to keep."""

    title: Annotated[str | None, "A title, searched with the text."] = None
    kind: Annotated[str | None, "The kind of memory. Default: the preset's first, or note."] = None
    tier: Annotated[str | None, "working, episodic or semantic. Default: the preset's, usually semantic."] = None
    tags: Annotated[list[str] | None, "A tag; may be repeated."] = None
    topic_key: Annotated[str | None, "The topic; this scope's memory on it gets the new text."] = None
    importance: Annotated[float | None, "How much it matters, 0 to 1. Default: 0.5."] = None
    priority: Annotated[int | None, "1 to 10. Default: 5."] = None
    confidence: Annotated[float, "How certain it is, 0 to 1."] = 0.5
    surprise: Annotated[float, "How unexpected it was, 0 to 1. Surprising memories fade more slowly."] = 0.0
    events: Annotated[list[str] | None, "ID", "An event that this episode is made of; may be repeated."] = None
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
    actor: Annotated[str | None, "The name of the person or program that said or did it."] = None
    type: Annotated[str, "The type of the event."] = "message"
    severity: Annotated[str, "info, notice, warn or error."] = "info"
    priority: Annotated[str, "normal, high, pin or permanent."] = "normal"
    occurred_at: Occurred = None
    payload: Annotated[Any, "A JSON object of details."] = None
    refs: Annotated[Any, "A JSON object of references."] = None
    key: KeyOption = None


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
    origin: Annotated[str | None, "The source of the changes, which can only lower the memory's trust."] = None


def remember(
    call: Invocation,
    *,
    text: Annotated[str | None, "[TEXT]", "What to remember."] = None,
    stdin: Annotated[bool, "Read memories from stdin, one JSON object per line."] = False,
    options: MemoryOptions,
    no_index: NoIndex = False,
) -> None:
    """Store a memory.

    With --topic-key, it replaces the text of this scope's memory on that topic; the previous text is kept as a
    revision. Prints the memory and its id. With --stdin, each line has the key text, and any of the keys title, kind,
    tier, tags and so on, with times as ISO 8601 with a UTC offset; a line that cannot be stored is reported on stderr,
    the others are stored, and the exit code is 1.

    Example: remembrancer remember "Checkout needs 2 GiB" --kind decision --tag checkout
    """
    _one_or_stdin(text, stdin, given=options != MemoryOptions(), one="memory")
    if text is not None:
        kept = arguments(options)
        call.run(lambda memory: MemoryOut.of(memory.remember(text, **kept)), _changed, create=True, index=not no_index)
        return
    left_out = SkippedRecords(call)
    with call.opened(create=True) as memory:
        memories = list(remember_lines(memory, sys.stdin.buffer, STDIN, on_problem=left_out))
        if not no_index:
            call.index(memory)
    call.answer(RememberedOut.of(memories, left_out.problems), _remembered)
    if left_out.problems:
        raise typer.Exit(1)


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
    8601 with a UTC offset), session, payload, refs and key. A line that cannot be recorded is reported on stderr; the
    others are recorded, and the exit code is 1.

    Example: remembrancer observe "Deploy of checkout failed" --as tool --severity error
    """
    _one_or_stdin(text, stdin, given=options != EventOptions(), one="event")
    left_out = SkippedRecords(call)
    with call.opened(create=True) as memory:
        if text is None:
            offered = drafts_of_lines(sys.stdin.buffer, STDIN)
            events = list(record(memory, offered, STDIN, on_problem=left_out))
        else:
            events = [memory.observe(text, **arguments(options))]
        if not no_index:
            call.index(memory)
    call.answer(ObservedOut.of(events, left_out.problems), _observed)
    if left_out.problems:
        raise typer.Exit(1)


def feedback(
    call: Invocation, *, memory_id: Id, verdict: Annotated[str, "helpful|unhelpful|harmful", "The rating."]
) -> None:
    """Rate a memory as helpful, unhelpful or harmful.

    Its confidence changes accordingly, and so does its rank in later answers. Prints its strength.

    Example: remembrancer feedback 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f helpful
    """
    given = choice("verdict", verdict, Feedback)

    def rated(memory: Remembrancer) -> FeedbackOut:
        chosen = memory.get(memory_id).id
        return FeedbackOut.of(chosen, memory.feedback(chosen, given), memory.get(chosen).status)

    call.run(rated, _strengthened)


def outcome(
    call: Invocation,
    *,
    result: Annotated[str, "success|partial|failure", "How the task ended."],
    memory_ids: Annotated[list[str] | None, "[ID]", "Ids of the memories that were used."] = None,
    text: Annotated[str, "The final text of the task: memories whose ids it cites were used too."] = "",
    recalls: Annotated[
        list[str] | None, "ID", "A kept recall that the task was given, by the id that it was kept under; repeatable."
    ] = None,
    task: Annotated[str, "What the task was."] = "",
    note: Annotated[str, "A remark."] = "",
    key: KeyOption = None,
) -> None:
    """Report how a task ended.

    They share its credit: success raises their strength and their rank in later answers, failure lowers it. Without ids
    of memories, those in the blocks of the recalls share half of the credit. Prints what changed.

    Example: remembrancer outcome success 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --task "raise the limit of checkout"
    """
    given = choice("result", result, TaskResult)

    def reported(memory: Remembrancer) -> TaskOutcomeOut:
        told = memory.outcome(
            given, memories=memory_ids or (), text=text, recalls=recalls or (), task=task, note=note, key=key
        )
        return TaskOutcomeOut.of(told)

    call.run(reported, _credited)


def mark(
    call: Invocation,
    *,
    memory_ids: Annotated[list[str], "ID", "The ids of memories, as printed in every list."],
    exposure: Annotated[str, "--as", "What to count: retrieved, shown or used."] = "used",
    query: Annotated[str, "The question that they answered, for later reviews."] = "",
) -> None:
    """Record that memories were used.

    The preset decides which of the three counts slows forgetting: used under default, retrieved under engram, shown
    under crewship. If an id is unknown, none is counted. Prints each memory with its counts.

    Example: remembrancer mark 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --as used
    """

    def marked(memory: Remembrancer) -> MemoriesOut:
        memory.mark(memory_ids, exposure, query=query)
        return MemoriesOut.of([memory.get(one) for one in memory_ids])

    call.run(marked, _counted)


def forget(call: Invocation, *, memory_id: Id, undo: Annotated[bool, "Make it active again."] = False) -> None:
    """Retire a memory, or restore it.

    A retired memory is kept but not recalled; --undo makes it active again.

    Example: remembrancer forget 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    call.run(lambda memory: MemoryOut.of(memory.restore(memory_id) if undo else memory.forget(memory_id)), _changed)


def pin(call: Invocation, *, memory_id: Id, undo: Annotated[bool, "Unpin it."] = False) -> None:
    """Pin a memory, or unpin it.

    A pinned memory is part of every answer, separate from the hits, and does not fade; --undo unpins it. Prints the
    memory.

    Example: remembrancer pin 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    call.run(lambda memory: MemoryOut.of(memory.unpin(memory_id) if undo else memory.pin(memory_id)), _changed)


def release(call: Invocation, *, memory_id: Id) -> None:
    """Release a memory that was flagged as instruction-like.

    Read it first with `remembrancer show`. Recall then treats it as any other memory. Flagged memories are listed by
    `remembrancer recent --tag instruction-like`.

    Example: remembrancer release 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    call.run(lambda memory: MemoryOut.of(memory.release(memory_id)), _changed)


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
    and facts, stays as it is, and so does the journal. Prints the memory.

    Example: remembrancer update 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --text "Checkout needs 3 GiB"
    """
    changes = arguments(edits)
    for name in clear or ():
        if name not in EMPTY:
            raise InvalidInput("--clear", name, "one of " + ", ".join(EMPTY))
        if name in changes:
            raise InvalidInput("--clear", name, "what no other option gives")
        changes[name] = EMPTY[name]
    call.run(
        lambda memory: MemoryOut.of(memory.update(memory_id, expected_revision=revision, **changes)),
        _changed,
        index=not no_index,
    )


def link(
    call: Invocation,
    *,
    source: Annotated[str, "SOURCE", "The memory that the relation starts from."],
    relation: Annotated[
        str, "RELATION", "similar, supports, contradicts, derived_from or supersedes: SOURCE … TARGET."
    ],
    target: Annotated[str, "TARGET", "The memory that the relation leads to."],
    weight: Annotated[float, "The weight, 0 to 1."] = 1.0,
) -> None:
    """Relate one memory to another.

    It reads as a sentence: SOURCE supports, contradicts, … TARGET. Repeating it sets the weight again. It does not
    change which of the two is valid; `supersede` does.

    Example: remembrancer link 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f contradicts 01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a
    """
    call.run(lambda memory: RelationOut.of(memory.link(source, target, relation, weight)), _linked)


def supersede(
    call: Invocation,
    *,
    old: Annotated[str, "OLD", "The memory to replace."],
    new: Annotated[str, "NEW", "The memory that replaces it."],
) -> None:
    """Replace a memory with another one.

    The old memory is kept and shown with its successor, but no longer recalled, except with --as-of an earlier time.

    Example: remembrancer supersede 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f 01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a
    """
    call.run(lambda memory: MemoryOut.of(memory.supersede(old, new)), _ended)


def invalidate(call: Invocation, *, memory_id: Id) -> None:
    """End a memory's validity now.

    It is kept, but no longer recalled, except with --as-of an earlier time.

    Example: remembrancer invalidate 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    call.run(lambda memory: MemoryOut.of(memory.invalidate(memory_id)), _ended)


def _one_or_stdin(text: str | None, stdin: bool, *, given: bool, one: str) -> None:
    """Refuse a text beside --stdin, neither of them, and --stdin with options of a single record."""
    if stdin == (text is not None):
        raise InvalidInput("TEXT", text, "a text or --stdin, but not both")
    if stdin and given:
        raise InvalidInput("--stdin", f"with options of one {one}", "no such options: each line gives its own")


def _remembered(answer: RememberedOut) -> Renderables:
    yield Text(f"Stored {counted(len(answer.memories), 'memory')}.")
    yield from _left_out(answer.problems)


def _left_out(problems: list[ImportProblemOut]) -> Renderables:
    if problems:
        yield Text(f"Left out {counted(len(problems), 'line')}.", style="yellow")


def _observed(answer: ObservedOut) -> Renderables:
    if len(answer.events) == 1:
        event = answer.events[0]
        yield Shorter(event.text, lead=Text(f"recorded  {event.type}  ", style="dim"))
        yield indented(RowReference(event.id, "event"), 2)
    else:
        yield Text(f"Recorded {counted(len(answer.events), 'event')}.")
    yield from _left_out(answer.problems)


def _strengthened(answer: FeedbackOut) -> Renderables:
    if answer.status != "active":
        yield Text(f"It is {answer.status}; `remembrancer show {short_id(answer.id)}` says why.", style="yellow")
    yield facts(strength_facts(answer.strength))


def _credited(answer: TaskOutcomeOut) -> Renderables:
    """Each memory's share in an outcome, and what it changed."""
    if answer.repeated:
        yield Text("This key was recorded before: nothing changed.", style="yellow")
    if not answer.credits:
        yield Text("No memory was used, so nothing changed.", style="yellow")
    for one in answer.credits:
        yield Text(f"{one.result}, {one.basis}, share {one.share:.2f}")
        yield indented(Text(credit_text(one)), 2)
        yield indented(RowReference(one.memory_id), 2)


def _counted(marked: MemoriesOut) -> Renderables:
    """Each memory with how often it was used."""
    for memory in marked.memories:
        yield from _changed(memory)
        yield indented(facts(pair for pair in strength_facts(memory.strength) if pair[0] == "use"), 2)


def _changed(memory: MemoryOut) -> Renderables:
    """A memory that was just written."""
    yield memory_line(memory.status, memory)
    yield indented(RowReference(memory.id), 2)


def _linked(edge: RelationOut) -> Renderables:
    """A relation as a sentence."""
    yield Text(f"{short_id(edge.source)} {edge.kind} {short_id(edge.target)}, weight {edge.weight:.2f}")


def _ended(memory: MemoryOut) -> Renderables:
    """A memory whose validity has ended, and since when."""
    since = memory.superseded_at or memory.valid_until
    yield memory_line("ended", memory)
    yield facts([("since", optional_minute(since))])
    if memory.superseded_by is not None:
        yield indented(RowReference(memory.superseded_by, "replaced by"), 2)
    yield indented(RowReference(memory.id), 2)
