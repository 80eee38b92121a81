"""Commands that let go of memories for good: erase, and the receipts of what was."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import erase_pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIME, TIMES
from remembrancer.interfaces.cli.times import optional_time
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer import Remembrancer
    from remembrancer.domain.erasure import Erasure
    from remembrancer.interfaces.wire.erasures import ErasureOut


@dataclass(frozen=True, kw_only=True)
class ErasureOptions:
    """Options that choose what is erased, in exactly one way."""

    event: Annotated[
        list[str] | None, typer.Option("--event", metavar="ID", help="An entry of the journal; may be repeated.")
    ] = None
    in_session: Annotated[str | None, typer.Option("--in-session", help="All that belongs to this session.")] = None
    of_agent: Annotated[str | None, typer.Option("--of-agent", help="All that belongs to this agent.")] = None
    of_crew: Annotated[str | None, typer.Option("--of-crew", help="All that belongs to this crew.")] = None
    of_project: Annotated[str | None, typer.Option("--of-project", help="All that belongs to this project.")] = None
    before: Annotated[
        str | None,
        typer.Option("--before", metavar=TIME, help=f"Of a session, agent, crew or project: what is older. {TIMES}."),
    ] = None

    def erase(self, memory: Remembrancer, call: Invocation, ids: list[str], *, dry_run: bool) -> Erasure:
        return memory.erase(
            ids=ids or None,
            events=self.event or None,
            session=self.in_session,
            agent=self.of_agent,
            crew=self.of_crew,
            project=self.of_project,
            before=optional_time("before", self.before, now=call.now),
            dry_run=dry_run,
        )


def erase(
    call: Invocation,
    *,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Memories, as `recall` and `recent` print them.")
    ] = None,
    chosen: ErasureOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal.")] = False,
) -> None:
    """Erase memories for good.

    Memories, entries of the journal, or all of a session, agent, crew or project, with all that quotes them or was
    drawn from them: words, vectors, summaries, logs, and what the database's files held of them. It shows what would go
    and asks; nothing brings it back. The receipt says what went and what could not be reached from here.

    Example: remembrancer erase --in-session support-4711 --dry-run
    """
    from remembrancer.interfaces.wire.erasures import ErasureOut

    with call.opened(create=False) as memory:
        receipt = chosen.erase(memory, call, ids or [], dry_run=dry_run or not yes)
        if receipt.dry_run and not dry_run and any(receipt.counts.values()):
            _ask(call, ErasureOut.of(receipt))
            receipt = chosen.erase(memory, call, ids or [], dry_run=False)
    call.answer(ErasureOut.of(receipt), erase_pages.receipt)


def erasures(
    call: Invocation,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many, 1 to 10000.")] = 20,
) -> None:
    """List what was erased.

    The receipts of `erase`, newest first: who asked for what, how much went, and what was left to do. They hold no text
    of what went.

    Example: remembrancer erasures --json
    """
    from remembrancer.interfaces.wire.erasures import ErasuresOut

    call.tell(lambda memory: ErasuresOut.of(memory.erasures(limit)), erase_pages.receipts)


def has_somebody_to_ask(call: Invocation) -> bool:
    """Whether both what is asked is read on a terminal, and what is answered comes from one."""
    return sys.stdin.isatty() and call.err.is_terminal


def _ask(call: Invocation, preview: ErasureOut) -> None:
    """Go on only when somebody says so. Raises InvalidInput where there is nobody to ask, typer.Abort for a no."""
    if not has_somebody_to_ask(call):
        raise InvalidInput("--yes", "left out", "given where there is no terminal to ask on: nothing undoes it")
    for block in erase_pages.receipt(preview):
        call.err.print(block)
    typer.confirm("Erase this for good?", abort=True, err=True)
