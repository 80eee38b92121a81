"""Commands for maintenance: stats, health, doctor, export, import, reindex, backup, restore."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from remembrancer.compose import restore_backup
from remembrancer.domain.erasure import PARTS
from remembrancer.errors import StoreUnavailable
from remembrancer.interfaces.cli.drawing import Meter, Renderables, facts, scope_text, sparkline
from remembrancer.interfaces.cli.erase import SubjectOptions
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import arguments
from remembrancer.interfaces.text import counted, minute, one_line, size
from remembrancer.interfaces.wire.files import BackupOut, ExportedOut, ImportedOut, RestoredOut, SubjectExportOut
from remembrancer.interfaces.wire.state import DoctorOut, HealthOut, IndexReportOut, MemoryHealthOut, StatsOut
from remembrancer.ports.inspection import Finding

METER_CELLS: Final = 20
DAYS: Final = 30
"""Days of health history in the chart."""


def stats(call: Invocation) -> None:
    """Show counts of what is stored.

    Events, memories by status, indexed passages (cues), vectors by model, relations, the period they span, and the
    file's size.

    Example: remembrancer stats --json
    """
    call.run(lambda memory: StatsOut.of(memory.health.stats()), _counts)


def health(call: Invocation, *, history: Annotated[bool, "Also draw the score of the last 30 days."] = False) -> None:
    """Show the memory's health.

    The latest daily snapshot of the workspace, or of a crew with --crew: five metrics and a score from 0 to 100, what
    could not be measured and why, and how to improve the weakest metric. `maintain` takes the snapshots.

    Example: remembrancer health --history
    """
    crew = call.settings.crew
    with call.opened(create=False) as memory:
        latest = memory.health.latest(crew)
        days = memory.health.history(crew, DAYS) if history else None
    call.answer(MemoryHealthOut.of(crew, latest, days), _health)


def doctor(
    call: Invocation, *, mend: Annotated[bool, "Correct an index outside of the database, as in Qdrant."] = False
) -> None:
    """Check the database and the models.

    Checks the file, its indexes, the embedder and the reranker. Each finding says how to fix it. The exit code is 1 if
    something is wrong.

    Example: remembrancer doctor
    """
    try:
        with call.opened(create=False) as memory:
            found = DoctorOut.of(memory.health.doctor(mend=mend))
    except StoreUnavailable as error:
        if call.settings.file is None or not call.settings.file.exists():
            raise  # no file, so there is nothing to check
        cannot_open = Finding("file", ok=False, detail=str(error), repair="restore a backup or an export of it")
        found = DoctorOut.of((cannot_open,))
    call.answer(found, _examined)
    if not found.ok:
        raise typer.Exit(1)


def export(call: Invocation, *, file: Annotated[Path, "FILE", "The file to write; it must not exist."]) -> None:
    """Write the whole workspace to a file.

    Writes events, memories, cues, relations and everything that belongs to them as JSON lines, for `import`. The same
    memories always give the same file.

    Example: remembrancer export backup.jsonl
    """
    with call.opened(create=False) as memory, call.rows("exporting") as on_rows:
        rows = memory.export(file, on_rows=on_rows)
    wrote = f"Wrote {counted(rows, 'row')} to {one_line(str(file))}."
    call.answer(ExportedOut(path=str(file), rows=rows), lambda _: [Text(wrote)])


def export_subject(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "The file to write; it must not exist."],
    chosen: SubjectOptions,
) -> None:
    """Write everything of one subject to a file.

    Writes the rows that match all options given, and the memories derived from these alone, as `export` does. The
    receipt has the number of rows, the file's SHA-256, and the memories that were withheld because they also say what
    others said. `erase` with the same options erases the subject.

    Example: remembrancer export-subject ana.jsonl --of-actor Ana
    """
    with call.opened(create=False) as memory, call.rows("exporting") as on_rows:
        receipt = memory.export_subject(file, **arguments(chosen), on_rows=on_rows)
    call.answer(SubjectExportOut.of(receipt), _subject_exported)


def import_(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "A file that `export` wrote."],
    dry_run: Annotated[bool, "Only report what would be added."] = False,
) -> None:
    """Import an exported file.

    Imports everything or nothing. Rows that already exist are left unchanged, so importing a file again adds nothing.

    Example: remembrancer import backup.jsonl --db other.db
    """
    settings = call.settings
    if dry_run and settings.file is not None and not settings.file.exists():
        settings = replace(settings, db=":memory:")  # checks the rows without creating the file
    with call.opened(create=True, settings=settings) as memory, call.rows("importing") as on_rows:
        imported = memory.import_(file, dry_run=dry_run, on_rows=on_rows)
    call.answer(ImportedOut.of(imported), _imported)


def reindex(call: Invocation) -> None:
    """Compute all vectors again.

    Use this after the embedder's model has changed under the same name, or for memories that were indexed without token
    embeddings. Until its new vector is computed, a memory is found by its words. If the embedder does not answer,
    nothing is lost.

    Example: remembrancer reindex
    """
    with call.opened(create=False) as memory, call.indexing(memory, anew=True) as on_indexed:
        report = IndexReportOut.of(memory.jobs.reindex(on_indexed=on_indexed))
    call.answer(report, _reindexed)


def backup(call: Invocation, *, file: Annotated[Path, "FILE", "The file to write; it must not exist."]) -> None:
    """Copy the whole store to a file, while it is in use.

    The file has all workspaces with their keys and vectors, and is checked against the state that was copied. `restore`
    puts it back; you can also open it as it is. With the setting sealed_backups, each memory and event in it has a key
    of its own: `erase` destroys that, and `restore` needs the file STORE.keys.

    Example: remembrancer backup monday.db
    """
    with call.opened(create=False) as memory, call.pages("copying") as on_pages:
        made = BackupOut.of(memory.backup(file, on_pages=on_pages))
    call.answer(made, _backed_up)


def restore(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "A file that `backup` wrote."],
    replace: Annotated[bool, "Set aside the store that is already there, with its log."] = False,
) -> None:
    """Restore a store from a backup.

    Copies the backup to the file given by --db, and checks the copy. First stop every process that has this store open.
    Without --replace, the file must not exist; with it, the existing file is kept as FILE.replaced-1 (or the next free
    number).

    Example: remembrancer restore monday.db --db memory.db
    """
    with call.pages("copying") as on_pages:
        done = restore_backup(
            file, call.settings.db, replace=replace, encryption_key=call.encryption_key, on_pages=on_pages
        )
    call.answer(RestoredOut.of(done), _restored)


def _subject_exported(answer: SubjectExportOut) -> Renderables:
    rows = counted(sum(answer.counts.values()), "row")
    yield Text(f"Wrote {rows} of {scope_text(answer.asked, PARTS)} to {one_line(str(answer.path))}.")
    yield facts([(kind, f"{number:,}") for kind, number in answer.counts.items()])
    yield Text(f"SHA-256 {answer.sha256}", style="dim")
    if answer.withheld:
        yield Text(f"Withheld: {counted(len(answer.withheld), 'memory')} that also say what others said.")


def _counts(stats: StatsOut) -> Renderables:
    span = ""
    if stats.oldest is not None and stats.newest is not None:
        span = f"{minute(stats.oldest)} to {minute(stats.newest)} UTC"
    yield facts(
        [
            ("events", f"{stats.events:,}"),
            ("memories", ", ".join(f"{number:,} {status}" for status, number in stats.memories.items()) or "0"),
            ("cues", f"{stats.cues:,}"),
            ("vectors", ", ".join(f"{number:,} of {model}" for model, number in stats.vectors.items()) or "0"),
            ("too long", f"{stats.truncated:,} cues are longer than their model reads" if stats.truncated else ""),
            ("relations", f"{stats.relations:,}"),
            ("span", span),
            ("text", size(stats.bytes)),
        ]
    )


def _examined(answer: DoctorOut) -> Renderables:
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in answer.findings:
        mark = Text("✓", style="green") if finding.ok else Text("✗", style="bold red")
        if finding.warning:
            mark = Text("!", style="bold yellow")
        is_good = finding.ok and not finding.warning
        grid.add_row(mark, finding.check, Text(one_line(finding.detail), style="dim" if is_good else ""))
        if finding.repair:
            grid.add_row(
                "", "", Text(f"{'to mend it' if not finding.ok else 'to improve it'}: {one_line(finding.repair)}")
            )
    yield grid


def _health(answer: MemoryHealthOut) -> Renderables:
    """The score, its metrics as bars, missing metrics with the reason, and how to improve the weakest."""
    yield Text("the workspace" if answer.crew is None else f"crew {one_line(answer.crew)}", style="bold")
    if answer.latest is None:
        whose = "" if answer.crew is None else " of each crew that has memories"
        yield Text(f"No health snapshot has been taken yet. `remembrancer maintain` takes one a day{whose}.")
    else:
        yield from _measured(answer.latest)
    if answer.history:
        yield ""
        yield from _days(answer.history)


def _measured(snapshot: HealthOut) -> Renderables:
    verdict = Text("no data", style="dim")
    if snapshot.score is not None and snapshot.band is not None:
        verdict = Text(f"{snapshot.score:.1f} {snapshot.band}", style=f"bold {snapshot.band}")
    yield verdict.append(f"  on {snapshot.day}", style="not bold default")
    grid = Table.grid(padding=(0, 1))
    for no_wrap in (True, False, True, True, True):
        grid.add_column(no_wrap=no_wrap)
    absent: dict[str, list[str]] = {}
    for name, metric in snapshot.metrics.items():
        if metric.value is None or metric.band is None:
            grid.add_row(name, "", "", Text("no data", style="dim"))
            absent.setdefault(metric.absent, []).append(name)
        else:
            bar = Meter(metric.value / 100, metric.band, METER_CELLS)
            weight = Text(f"weighs {metric.weight:.0%}", style="dim")
            grid.add_row(name, bar, f"{metric.value:5.1f}", Text(metric.band, style=metric.band), weight)
    yield grid
    for why, names in absent.items():
        yield Text(f"no {', '.join(names)}: {why}", style="dim")
    if snapshot.weakest is not None and snapshot.advice:
        yield ""
        line = Text(f"weakest: {snapshot.weakest}. ", style="bold")
        yield line.append(f"{snapshot.advice[0].upper()}{snapshot.advice[1:]}.", style="not bold")


def _days(history: list[HealthOut]) -> Renderables:
    """One column per day, the newest at the right; a dot for a day without a score."""
    newest = history[0].day
    scores = {snapshot.day: snapshot.score for snapshot in history}
    days = [newest - timedelta(days=ago) for ago in reversed(range(DAYS))]
    known = [score for score in map(scores.get, days) if score is not None]
    yield Text(sparkline(None if (score := scores.get(one)) is None else score / 100 for one in days))
    span = f"{days[0]} to {newest}: {counted(len(known), 'score')}"
    yield Text(f"{span}, from {min(known):.1f} to {max(known):.1f}" if known else span, style="dim")


def _reindexed(answer: IndexReportOut) -> Renderables:
    yield Text(f"{counted(answer.indexed, 'cue')} indexed anew, {answer.deferred:,} put off.")
    if answer.reason:
        yield Text(one_line(answer.reason), style="dim")


def _backed_up(answer: BackupOut) -> Renderables:
    yield Text(
        f"Copied {counted(answer.rows, 'row')} ({size(answer.bytes)}) to {one_line(answer.path)}, and"
        f" {'sealed' if answer.sealed else 'checked'} them."
    )


def _restored(answer: RestoredOut) -> Renderables:
    yield Text(f"Restored {counted(answer.rows, 'row')} ({size(answer.bytes)}) to {one_line(answer.path)}.")
    if answer.unreadable:
        yield Text(f"{counted(answer.unreadable, 'row')} could not be opened: erasures have destroyed their keys.")
    if answer.set_aside is not None:
        yield Text(f"What lay there is now {one_line(answer.set_aside)}.")


def _imported(answer: ImportedOut) -> Renderables:
    would = "would be new" if answer.dry_run else "were new"
    yield Text(f"{counted(answer.rows, 'row')}, of which {answer.new:,} {would}.")
