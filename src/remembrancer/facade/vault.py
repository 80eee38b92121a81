"""`rem.vault`: memories as a folder of markdown files, edited on either side."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer import compose, engine
from remembrancer.facade.view import View

if TYPE_CHECKING:
    from remembrancer.engine.vault import SyncReport
    from remembrancer.ports.vault import VaultFiles


class AsyncVaultApi(View):
    """Brings a folder and the memory to the same state. With a project in the scope, the folder is that project's."""

    async def sync(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Take edits of the files over into the memory, and write what was learned here to the files.

        `name`: what the vault's memories are filed under; None: the folder's name. A file that changes meanwhile is not
        overwritten: it is among `conflicts`, and the next sync merges it. Raises InvalidInput where there is no folder.
        """
        return self._indexed(await engine.vault.sync(self._ctx, self._scope, await _files(folder, name)))

    async def check(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """What is wrong in a vault's files, and what `sync` would do. Writes nothing. Raises as `sync` does."""
        return self._indexed(await engine.vault.check(self._ctx, self._scope, await _files(folder, name)))

    async def rebuild(self, folder: str | Path, *, name: str | None = None) -> SyncReport:
        """Make a vault's memories anew from its files alone; no file is written. Raises as `sync` does."""
        return self._indexed(await engine.vault.rebuild(self._ctx, self._scope, await _files(folder, name)))


async def _files(folder: str | Path, name: str | None) -> VaultFiles:
    return await asyncio.to_thread(compose.vault, Path(folder), name)
