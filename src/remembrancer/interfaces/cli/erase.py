"""Commands for erasing data for good, and for the receipts of erasures."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

import typer
from rich.text import Text

from remembrancer.domain.erasure import PARTS
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.drawing import Renderables, RowReference, facts, indented, scope_text
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, arguments
from remembrancer.interfaces.text import ERASED_ROWS, counted, minute, one_line
from remembrancer.interfaces.wire.erasures import ChoiceOut, ErasureOut, ErasuresOut
from remembrancer.values import dataclass

LISTED: Final = 5
"""Ids printed of each kind; the JSON has all of them."""


@dataclass(frozen=True, kw_only=True)
class SelectionOptions:
    """Options that select rows: a row must match all that are given."""

    in_session: Annotated[str | None, "Everything of this session."] = None
    of_agent: Annotated[str | None, "Everything of this agent."] = None
    of_crew: Annotated[str | None, "Everything of this crew."] = None
    of_project: Annotated[str | None, "Everything of this project."] = None
    of_actor: Annotated[str | None, "Everything that this person or program said."] = None
    of_kind: Annotated[str | None, "Every memory of this kind, and every event of this type."] = None
    of_origin: Annotated[str | None, "Everything from this origin: user, assistant, system, tool, web or import."] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class SubjectOptions(SelectionOptions):
    """Options that select the rows of a subject."""

    before: Annotated[datetime | None, f"Of the rows selected by their parts, only older ones: {TIMES}."] = None


@dataclass(frozen=True, kw_only=True)
class ErasureOptions(SubjectOptions):
    """Options that select what is erased."""

    events: Annotated[list[str] | None, "ID", "A journal entry; may be repeated."] = None


def erase(
    call: Invocation,
    *,
    ids: Annotated[list[str] | None, "[ID]", "Ids of memories, as `recall` and `recent` print them."] = None,
    chosen: ErasureOptions,
    dry_run: Annotated[bool, "Only report what would be erased."] = False,
    yes: Annotated[bool, "-y", "Do not ask for confirmation; required without a terminal."] = False,
) -> None:
    """Erase memories for good.

    Erases memories, journal entries, or everything of a session, agent, crew, project, person, kind or origin, together
    with everything that quotes them or was derived from them: texts, vectors, summaries, logs, and traces in the
    database's files. Shows what would be erased and asks for confirmation; this cannot be undone. The receipt lists
    what was erased, and where copies may remain.

    Example: remembrancer erase --of-actor Ana --dry-run
    """
    with call.opened(create=False) as memory:
        receipt = memory.erase(ids=ids or None, dry_run=dry_run or not yes, **arguments(chosen))
        if receipt.dry_run and not dry_run and any(receipt.counts.values()):
            _ask(call, ErasureOut.of(receipt))
            receipt = memory.erase(ids=ids or None, **arguments(chosen))
    call.answer(ErasureOut.of(receipt), _receipt)


def erasures(call: Invocation, *, limit: Annotated[int, "-n", "The maximum number, 1 to 10000."] = 20) -> None:
    """List the receipts of erasures.

    Newest first: who requested it, how much was erased, and what is left to do elsewhere. Receipts contain no text of
    what was erased.

    Example: remembrancer erasures --json
    """
    call.run(lambda memory: ErasuresOut.of(memory.erasures(limit)), _receipts)


def has_somebody_to_ask(call: Invocation) -> bool:
    """Whether stdin and stderr are terminals, so that a question can be asked and answered."""
    return sys.stdin.isatty() and call.err.is_terminal


def _ask(call: Invocation, preview: ErasureOut) -> None:
    """Ask for confirmation. Raises InvalidInput if there is no terminal, typer.Abort if the answer is no."""
    if not has_somebody_to_ask(call):
        allowed = "--yes, because no terminal can ask for confirmation; erasure cannot be undone: see --dry-run first"
        raise InvalidInput("--yes", "missing", allowed)
    for block in _receipt(preview):
        call.err.print(block)
    typer.confirm("Erase this permanently?", abort=True, err=True)


def _receipt(answer: ErasureOut) -> Renderables:
    """The lines of a receipt: the erased rows, the consequences, and steps that remain for the user."""
    if answer.dry_run:
        gone = any(answer.counts.values())
        yield Text("This would be erased:" if gone else "Nothing matches.", style="bold")
    else:
        yield Text(f"Erased by {one_line(answer.by)} on {minute(answer.at)} UTC: {_asked(answer.asked)}", style="bold")
        yield indented(RowReference(answer.id), 2)
    yield facts([(ERASED_ROWS.get(kind, kind), f"{number:,}") for kind, number in answer.counts.items() if number])
    yield from _ids("Derived from what was erased, and erased too", answer.derived)
    yield from _ids("Rewritten without what was erased", answer.rebuilt)
    yield from _ids("Recalled again, because their successors were erased", answer.restored)
    yield from _ids("To be processed again", answer.requeued)
    yield from _ids("Kept: sources of what was erased, because they say something else", answer.kept_sources)
    yield from _ids(
        "Kept, although it contains one of the texts word for word: erase it too if you mean it", answer.repeated
    )
    if not answer.dry_run and answer.purged_at is not None:
        yield Text(f"The database's files were purged on {minute(answer.purged_at)} UTC.", style="green")
    if answer.left:
        yield ""
        yield Text("Data that the erasure could not reach", style="bold")
    for one in answer.left:
        yield indented(Text.assemble(one_line(one.what), (f": {one_line(one.why)}", "dim")), 2)
        yield indented(Text(one_line(one.do)), 4)


def _receipts(answer: ErasuresOut) -> Renderables:
    """A few lines for each receipt."""
    if not answer.erasures:
        yield Text("Nothing was erased.", style="dim")
    for one in answer.erasures:
        done = "" if one.purged_at is not None else ", the database's files may still contain traces"
        went = f"{counted(one.counts['memories'], 'memory')}, {counted(one.counts['events'], 'event')}"
        yield Text.assemble(
            (f"{minute(one.at)}  ", "dim"), f"{one_line(one.by)}: {_asked(one.asked)}: {went}", (done, "yellow")
        )
        yield indented(RowReference(one.id), 2)


def _asked(choice: ChoiceOut) -> str:
    if choice.ids:
        return counted(len(choice.ids), "memory")
    if choice.events:
        return counted(len(choice.events), "event")
    named = scope_text(choice, PARTS)
    return named if choice.before is None else f"{named}, before {minute(choice.before)} UTC"


def _ids(heading: str, ids: list[UUID]) -> Renderables:
    if not ids:
        return
    yield Text(f"{heading} ({len(ids):,}):")
    for one in ids[:LISTED]:
        yield indented(RowReference(one), 2)
    if len(ids) > LISTED:
        yield Text(f"  and {len(ids) - LISTED:,} more; --json has them all", style="dim")
