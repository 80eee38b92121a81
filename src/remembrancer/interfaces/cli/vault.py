"""Commands for a vault: a folder of markdown files that memories are kept in."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.interfaces.cli import vault_pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import NoIndex

if TYPE_CHECKING:
    from remembrancer.adapters.vault.folder import FolderVault
    from remembrancer.config import Settings
    from remembrancer.domain.scope import Scope
    from remembrancer.engine.context import Context
    from remembrancer.engine.vault import SyncReport
    from remembrancer.interfaces.wire.files import VaultOut

T = TypeVar("T")

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
    from remembrancer.engine import vault

    out = _done(call, folder, name, vault.sync, call.settings, index=not no_index)
    _tell(call, out)


def check(call: Invocation, *, folder: Folder, name: Name = None) -> None:
    """Look for what is wrong in a vault.

    Headers that cannot be taken, files that cannot be read, ids that stand twice; and what a sync would do. Nothing is
    written. The exit code is 1 when there is a finding.

    Example: remembrancer vault check notes
    """
    from remembrancer.engine import vault

    settings = call.settings
    if not Path(settings.db).exists():
        settings = replace(settings, db=":memory:")  # the files can be looked at without making one
    out = _done(call, folder, name, vault.check, settings, index=False)
    _tell(call, out)


def rebuild(call: Invocation, *, folder: Folder, name: Name = None, no_index: NoIndex = False) -> None:
    """Make a vault's memories anew from its files.

    As if the database had been dropped: every memory says what its entry does, and what no file has leaves recall. What
    was learned here and not synced yet is left alone; no file is written.

    Example: remembrancer vault rebuild notes
    """
    from remembrancer.engine import vault

    out = _done(call, folder, name, vault.rebuild, call.settings, index=not no_index)
    _tell(call, out)


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


async def _watch(call: Invocation, folder: Path, name: str | None, every: timedelta, *, index: bool) -> None:
    from remembrancer.adapters.vault.watching import changes
    from remembrancer.engine import vault

    async with _opened(call, call.settings) as ctx:
        files = _vault(folder, name)
        _show(call, await _told(ctx, call, files, vault.sync, index=index))
        async for _ in changes(files.root, every=every):
            try:
                out = await _told(ctx, call, files, vault.sync, index=index)
            except RemembrancerError as error:  # locked for too long, say: the next change finds it all
                call.note(f"error: {error}", style="red")
                continue
            if out.did_something:
                _show(call, out)


def _done(
    call: Invocation,
    folder: Path,
    name: str | None,
    what: Callable[[Context, Scope, FolderVault], Awaitable[SyncReport]],
    settings: Settings,
    *,
    index: bool,
) -> VaultOut:
    async def done() -> VaultOut:
        files = _vault(folder, name)
        async with _opened(call, settings) as ctx:
            return await _told(ctx, call, files, what, index=index)

    return _run(done())


async def _told(
    ctx: Context,
    call: Invocation,
    files: FolderVault,
    what: Callable[[Context, Scope, FolderVault], Awaitable[SyncReport]],
    *,
    index: bool,
) -> VaultOut:
    from remembrancer.domain.scope import Scope
    from remembrancer.interfaces.wire.files import VaultOut
    from remembrancer.interfaces.wire.state import IndexReportOut
    from remembrancer.jobs.indexer import Indexer

    scope = Scope(workspace=call.settings.workspace, project=call.settings.project)
    report = await what(ctx, scope, files)
    swept = await Indexer(ctx, scope).run() if index else None
    return VaultOut.of(report, None if swept is None else IndexReportOut.of(swept))


def _run(work: Coroutine[None, None, T]) -> T:
    return asyncio.run(work)


def _vault(folder: Path, name: str | None) -> FolderVault:
    from remembrancer.adapters.vault.folder import FolderVault

    return FolderVault(folder, name=name)


@asynccontextmanager
async def _opened(call: Invocation, settings: Settings) -> AsyncGenerator[Context]:
    from remembrancer import compose

    ctx = await asyncio.to_thread(compose.context, settings)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(ctx.store.close)
        if ctx.embedder is not None:
            closing.push_async_callback(ctx.embedder.close)
        if ctx.reranker is not None:
            closing.push_async_callback(ctx.reranker.close)
        yield ctx


def _tell(call: Invocation, out: VaultOut) -> None:
    _show(call, out)
    if out.findings:
        raise typer.Exit(1)


def _show(call: Invocation, out: VaultOut) -> None:
    for finding in (*out.findings, *out.conflicts, *out.left):
        where = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
        call.note(f"{where}: {finding.message}", style="yellow")
    call.answer(out, vault_pages.synced)
