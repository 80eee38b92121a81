"""`rem.vault`: memories as a folder of markdown files; both can be edited."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer import compose, engine
from remembrancer.domain.audit import Touched
from remembrancer.facade.view import View, path_of

if TYPE_CHECKING:
    from remembrancer.engine.vault import SyncReport
    from remembrancer.ports.vault import VaultFiles


class AsyncVaultApi(View):
    """Synchronises a folder with the memory. If the scope has a project, the folder is that project's."""

    async def sync(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Apply edits of the files to the memory, and write new learnings to the files.

        `name`: the name of the vault in the workspace; None: the folder's name. A file that changes during the sync is
        not overwritten: it is listed in `conflicts`, and the next sync merges it. A folder that does not exist is
        made, unless learnings were synced from it before: an empty folder would retire them all. Raises InvalidInput
        for that, and for a path that is no folder.
        """
        report = await engine.vault.sync(self._ctx, self._scope, await _files(folder, name, create=True))
        if report.written:  # texts left the store; what the sync changed in it is in the audit trail already
            await self._ctx.store.add_to_trail(self._scope, [Touched(counts={"written": report.written})])
        return self._indexed(report)

    async def check(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Report problems in a vault's files, and what `sync` would do. Writes nothing. Raises InvalidInput if the
        folder does not exist.
        """
        return self._indexed(await engine.vault.check(self._ctx, self._scope, await _files(folder, name)))

    async def rebuild(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Rebuild a vault's memories from its files alone; writes no file. Raises as `check` does."""
        return self._indexed(await engine.vault.rebuild(self._ctx, self._scope, await _files(folder, name)))


async def _files(folder: str | Path, name: str | None, *, create: bool = False) -> VaultFiles:
    return await asyncio.to_thread(compose.vault, path_of("folder", folder), name, create=create)
