"""Commands for erasing data for good, and for the receipts of erasures."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import erase_pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, arguments
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.erasures import ErasureOut


@dataclass(frozen=True, kw_only=True)
class ErasureOptions:
    """Options that select what is erased."""

    events: Annotated[list[str] | None, "ID", "An entry of the journal; may be repeated."] = None
    in_session: Annotated[str | None, "Everything of this session."] = None
    of_agent: Annotated[str | None, "Everything of this agent."] = None
    of_crew: Annotated[str | None, "Everything of this crew."] = None
    of_project: Annotated[str | None, "Everything of this project."] = None
    before: Annotated[datetime | None, f"With a part of the scope: only what is older. {TIMES}."] = None


def erase(
    call: Invocation,
    *,
    ids: Annotated[
        list[str] | None,
        "[ID]",
        "Ids of memories, as `recall` and `recent` print them.",
    ] = None,
    chosen: ErasureOptions,
    dry_run: Annotated[bool, "Only report what would be erased."] = False,
    yes: Annotated[bool, "-y", "Do not ask; required without a terminal."] = False,
) -> None:
    """Erase memories for good.

    Memories, entries of the journal, or everything of a session, agent, crew or project, with everything that quotes
    them or was derived from them: texts, vectors, summaries, logs, and remains in the database's files. Shows what
    would be erased and asks for confirmation; it cannot be undone. The receipt lists what was erased, and where copies
    may remain.

    Example: remembrancer erase --in-session support-4711 --dry-run
    """
    from remembrancer.interfaces.wire.erasures import ErasureOut

    with call.opened(create=False) as memory:
        receipt = memory.erase(ids=ids or None, dry_run=dry_run or not yes, **arguments(chosen))
        if receipt.dry_run and not dry_run and any(receipt.counts.values()):
            _ask(call, ErasureOut.of(receipt))
            receipt = memory.erase(ids=ids or None, **arguments(chosen))
    call.answer(ErasureOut.of(receipt), erase_pages.receipt)


def erasures(
    call: Invocation,
    *,
    limit: Annotated[int, "-n", "The maximum number, 1 to 10000."] = 20,
) -> None:
    """List the receipts of erasures.

    Newest first: who requested it, how much was erased, and what is left to do elsewhere. Receipts contain no text of
    what was erased.

    Example: remembrancer erasures --json
    """
    from remembrancer.interfaces.wire.erasures import ErasuresOut

    call.tell(lambda memory: ErasuresOut.of(memory.erasures(limit)), erase_pages.receipts)


def has_somebody_to_ask(call: Invocation) -> bool:
    """Whether stdin and stderr are terminals, so that a question can be asked and answered."""
    return sys.stdin.isatty() and call.err.is_terminal


def _ask(call: Invocation, preview: ErasureOut) -> None:
    """Ask for confirmation. Raises InvalidInput if there is no terminal, typer.Abort if the answer is no."""
    if not has_somebody_to_ask(call):
        raise InvalidInput("--yes", "left out", "given where there is no terminal to ask on: nothing undoes it")
    for block in erase_pages.receipt(preview):
        call.err.print(block)
    typer.confirm("Erase this for good?", abort=True, err=True)
