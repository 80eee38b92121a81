"""Commands for a vault: a folder of markdown files that contain memories."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from remembrancer import AsyncRemembrancer
from remembrancer.adapters.vault import watching
from remembrancer.adapters.vault.folder import FolderVault
from remembrancer.compose import vault
from remembrancer.config import Settings
from remembrancer.engine.vault import SyncReport
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.main import collect_garbage_as_usual
from remembrancer.interfaces.cli.options import NoIndex
from remembrancer.interfaces.text import counted, one_line
from remembrancer.interfaces.wire.files import VaultOut
from remembrancer.sync import VaultApi

Folder = Annotated[Path, "FOLDER", "The vault's folder or, with --project, that project's folder."]
VaultNameOption = Annotated[str | None, "The vault's name. Default: the folder's name."]


def sync(call: Invocation, *, folder: Folder, name: VaultNameOption = None, no_index: NoIndex = False) -> None:
    """Sync a vault with the memory.

    Copies changes in the folder's Markdown files into the memory, and new learnings, counts of use and retirements from
    the memory into the files. A file that changes in the meantime is left for the next sync. A missing folder is
    created, unless it was synced before. Findings are reported on stderr as file:line: message, and the exit code is
    then 1.

    Example: remembrancer vault sync notes
    """
    _once(call, folder, name, lambda vault: vault.sync(folder, name=name), index=not no_index, new=True)


def check(call: Invocation, *, folder: Folder, name: VaultNameOption = None) -> None:
    """Check the files of a vault.

    Reports invalid headers, unreadable files and duplicate ids, and what a sync would do. Nothing is written. The exit
    code is 1 if there is a finding.

    Example: remembrancer vault check notes
    """
    settings = call.settings
    if settings.file is not None and not settings.file.exists():
        settings = replace(settings, db=":memory:")  # a check needs no database file, and creates none
    _once(call, folder, name, lambda vault: vault.check(folder, name=name), settings=settings)


def rebuild(call: Invocation, *, folder: Folder, name: VaultNameOption = None, no_index: NoIndex = False) -> None:
    """Rebuild a vault's memories from its files.

    Works as if the database had been lost: every memory gets the content of its entry, and memories that are no longer
    in a file are not recalled. What was learned here but not yet synced stays. No file is written.

    Example: remembrancer vault rebuild notes
    """
    _once(call, folder, name, lambda vault: vault.rebuild(folder, name=name), index=not no_index)


def watch(
    call: Invocation,
    *,
    folder: Folder,
    name: VaultNameOption = None,
    every: Annotated[int, "Also sync after this many seconds without a change."] = 60,
    no_index: NoIndex = False,
) -> None:
    """Sync a vault whenever one of its files changes.

    Runs until interrupted, and prints what each sync did, if anything. With --json it prints one document for the first
    sync, and one for each later sync that did something.

    Example: remembrancer vault watch notes --every 300
    """
    if not 1 <= every <= 86_400:
        raise InvalidInput("every", every, "a whole number of seconds from 1 to 86400")
    watching.require_watchfiles()
    collect_garbage_as_usual()
    asyncio.run(_watch(call, folder, name, timedelta(seconds=every), index=not no_index))


def _once(
    call: Invocation,
    folder: Path,
    name: str | None,
    run: Callable[[VaultApi], SyncReport],
    *,
    settings: Settings | None = None,
    index: bool = False,
    new: bool = False,
) -> None:
    vault(folder, name, create=new)  # raises InvalidInput if there is no such folder, before a database is created
    with call.opened(create=True, settings=settings) as memory:
        out = VaultOut.of(run(memory.vault), memory.jobs.index_now() if index else None)
    _show(call, out)
    if out.findings:
        raise typer.Exit(1)


async def _watch(call: Invocation, folder: Path, name: str | None, every: timedelta, *, index: bool) -> None:
    root = FolderVault(folder, name=name, create=True).root
    async with AsyncRemembrancer.open(settings=call.settings) as memory:

        async def synced() -> VaultOut:
            report = await memory.vault.sync(folder, name=name)
            return VaultOut.of(report, await memory.jobs.index_now() if index else None)

        _show(call, await synced())
        async for _ in watching.changes(root, every=every):
            try:
                out = await synced()
            except RemembrancerError as error:  # the database is locked, for example: the next sync finds the change
                call.note(f"error: {error}", style="red")
                continue
            if out.did_something:
                _show(call, out)


def _show(call: Invocation, out: VaultOut) -> None:
    for finding in (*out.findings, *out.conflicts, *out.left):
        where = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
        call.note(f"{where}: {finding.message}", style="yellow")
    call.answer(out, _synced)


def _synced(out: VaultOut) -> Renderables:
    """The content of the vault, then the changes that the sync made, or would make."""
    there = f"{counted(out.files, 'file')}, {counted(out.entries, 'learning')}"
    if out.chunks:
        there += f", {counted(out.chunks, 'piece')} of documents"
    yield Text(one_line(out.vault), style="bold").append(f": {there}", style="not bold")
    done = [f"{counted(number, noun)} {what}" for noun, what, number in _numbers(out) if number]
    if out.dry_run:
        yield Text(f"a sync would change: {', '.join(done)}" if done else "a sync would change nothing")
    else:
        yield Text(", ".join(done) if done else "nothing had to change")
    if out.waiting:
        yield Text(f"{counted(out.waiting, 'learning')} formed here are not in a file yet: `vault sync` writes them.")
    for what, several in (("finding", out.findings), ("conflict", out.conflicts), ("thing", out.left)):
        if several:
            left = " left for the next time" if what == "thing" else ""
            yield Text(f"{counted(len(several), what)}{left}", style="yellow")
    if out.index is not None and out.index.indexed:
        yield Text(f"indexed {counted(out.index.indexed, 'cue')}")


def _numbers(out: VaultOut) -> list[tuple[str, str, int]]:
    return [
        ("memory", "added", out.added),
        ("memory", "changed", out.changed),
        ("memory", "retired", out.retired),
        ("memory", "restored", out.restored),
        ("entry", "written", out.written),
    ]
