"""Commands for a vault: a folder of markdown files that memories are kept in."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.interfaces.cli import vault_pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import NoIndex

if TYPE_CHECKING:
    from remembrancer.config import Settings
    from remembrancer.engine.vault import SyncReport
    from remembrancer.interfaces.wire.files import VaultOut
    from remembrancer.sync import VaultApi

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The vault: with --project that project's folder, else all of them.")
]
Name = Annotated[
    str | None, typer.Option("--name", help="What its memories are known by; the folder's name if not given.")
]


def sync(call: Invocation, *, folder: Folder, name: Name = None, no_index: NoIndex = False) -> None:
    """Bring a vault and the memory to say the same.

    What was edited, added, moved or deleted in the folder's markdown files is remembered so, and what was learned here,
    counted or retired is written to them. A file that changed meanwhile is left alone until the next time. Findings are
    told on stderr as file:line: message, and the exit code is 1 then.

    Example: remembrancer vault sync notes
    """
    _once(call, folder, name, lambda vault: vault.sync(folder, name=name), index=not no_index)


def check(call: Invocation, *, folder: Folder, name: Name = None) -> None:
    """Look for what is wrong in a vault.

    Headers that cannot be taken, files that cannot be read, ids that stand twice; and what a sync would do. Nothing is
    written. The exit code is 1 when there is a finding.

    Example: remembrancer vault check notes
    """
    settings = call.settings
    if not Path(settings.db).exists():
        settings = replace(settings, db=":memory:")  # the files can be looked at without making one
    _once(call, folder, name, lambda vault: vault.check(folder, name=name), settings=settings)


def rebuild(call: Invocation, *, folder: Folder, name: Name = None, no_index: NoIndex = False) -> None:
    """Make a vault's memories anew from its files.

    As if the database had been dropped: every memory says what its entry does, and what no file has leaves recall. What
    was learned here and not synced yet is left alone; no file is written.

    Example: remembrancer vault rebuild notes
    """
    _once(call, folder, name, lambda vault: vault.rebuild(folder, name=name), index=not no_index)


def watch(
    call: Invocation,
    *,
    folder: Folder,
    name: Name = None,
    every: Annotated[
        int, typer.Option("--every", help="Seconds after which to sync all the same, for what was learned here.")
    ] = 60,
    no_index: NoIndex = False,
) -> None:
    """Sync a vault whenever one of its files changes.

    Runs until it is interrupted, and says each time what it did, if anything. With --json one document for the first
    sync, and one for each that did something.

    Example: remembrancer vault watch notes --every 300
    """
    from remembrancer.adapters.vault.watching import require_watchfiles

    if not 1 <= every <= 86_400:
        raise InvalidInput("every", every, "a whole number of seconds from 1 to 86400")
    require_watchfiles()
    asyncio.run(_watch(call, folder, name, timedelta(seconds=every), index=not no_index))


def _once(
    call: Invocation,
    folder: Path,
    name: str | None,
    run: Callable[[VaultApi], SyncReport],
    *,
    settings: Settings | None = None,
    index: bool = False,
) -> None:
    from remembrancer.compose import vault
    from remembrancer.interfaces.wire.files import VaultOut

    vault(folder, name)  # raises InvalidInput where there is no folder, before a database is made
    with call.opened(create=True, settings=settings) as memory:
        out = VaultOut.of(run(memory.vault), memory.jobs.index_now() if index else None)
    _show(call, out)
    if out.findings:
        raise typer.Exit(1)


async def _watch(call: Invocation, folder: Path, name: str | None, every: timedelta, *, index: bool) -> None:
    from remembrancer import AsyncRemembrancer
    from remembrancer.adapters.vault.folder import FolderVault
    from remembrancer.adapters.vault.watching import changes
    from remembrancer.interfaces.wire.files import VaultOut

    root = FolderVault(folder, name=name).root
    async with await AsyncRemembrancer.open(settings=call.settings) as memory:

        async def synced() -> VaultOut:
            report = await memory.vault.sync(folder, name=name)
            return VaultOut.of(report, await memory.jobs.index_now() if index else None)

        _show(call, await synced())
        async for _ in changes(root, every=every):
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
    call.answer(out, vault_pages.synced)
