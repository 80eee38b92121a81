"""Commands for maintenance: stats, health, doctor, export, import."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from remembrancer.errors import StoreUnavailable
from remembrancer.interfaces.cli import pages
from remembrancer.interfaces.cli.invocation import Invocation


def stats(call: Invocation) -> None:
    """Show counts of what is kept.

    Events, memories by status, indexed passages (cues), vectors by model, relations, the period they span, and the
    file's size.

    Example: remembrancer stats --json
    """
    from remembrancer.interfaces.wire.state import StatsOut

    call.tell(lambda memory: StatsOut.of(memory.health.stats()), pages.counts)


def health(
    call: Invocation,
    *,
    history: Annotated[bool, "Also draw the score of the last 30 days."] = False,
) -> None:
    """Show the memory's health.

    The latest daily snapshot of the workspace, or with --crew of that crew: five metrics and the score from 0 to 100,
    what could not be measured and why, and how to improve the weakest metric. `maintain` takes the snapshots.

    Example: remembrancer health --history
    """
    from remembrancer.interfaces.wire.health import MemoryHealthOut

    crew = call.settings.crew
    with call.opened(create=False) as memory:
        latest = memory.health.latest(crew)
        days = memory.health.history(crew, pages.DAYS) if history else None
    call.answer(MemoryHealthOut.of(crew, latest, days), pages.health)


def doctor(call: Invocation) -> None:
    """Check the database and the models.

    Checks the file, its indexes, the embedder and the reranker. Each finding says how to fix it. The exit code is 1 if
    something is wrong.

    Example: remembrancer doctor
    """
    from remembrancer.interfaces.wire.state import DoctorOut
    from remembrancer.ports.inspection import Finding

    try:
        with call.opened(create=False) as memory:
            found = DoctorOut.of(memory.health.doctor())
    except StoreUnavailable as error:
        if not Path(call.settings.db).exists():
            raise  # there is nothing to look at
        cannot_open = Finding("file", ok=False, detail=str(error), repair="restore a backup or an export of it")
        found = DoctorOut.of((cannot_open,))
    call.answer(found, pages.examined)
    if not found.ok:
        raise typer.Exit(1)


def export(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "The file to write; it must not exist."],
) -> None:
    """Write the whole workspace to a file.

    JSON lines with events, memories, cues, relations and everything that belongs to them, for `import`. The same
    memories always give the same file.

    Example: remembrancer export backup.jsonl
    """
    from remembrancer.interfaces.wire.files import ExportedOut

    with call.opened(create=False) as memory, call.rows("exporting") as on_rows:
        rows = memory.export(file, on_rows=on_rows)
    call.answer(ExportedOut(path=str(file), rows=rows), pages.exported)


def import_(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "A file that `export` wrote."],
    dry_run: Annotated[bool, "Only report what would be added."] = False,
) -> None:
    """Import an exported file.

    All of it, or nothing. Rows that already exist are left unchanged, so importing a file again adds nothing.

    Example: remembrancer import backup.jsonl --db other.db
    """
    from remembrancer.interfaces.wire.files import ImportedOut

    settings = call.settings
    if dry_run and not Path(settings.db).exists():
        settings = replace(settings, db=":memory:")  # into a new file, but without making one
    with call.opened(create=True, settings=settings) as memory, call.rows("importing") as on_rows:
        imported = memory.import_(file, dry_run=dry_run, on_rows=on_rows)
    call.answer(ImportedOut.of(imported), pages.imported)
