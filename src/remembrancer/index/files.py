"""The files of indexes: their names, and when one is valid."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from remembrancer.domain.scope import Scope
from remembrancer.durable import sync_folder
from remembrancer.index import file
from remembrancer.index.file import BadIndexFile
from remembrancer.index.workspace import WorkspaceIndex
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.ports.changes import ChangeFeed, WorkspaceState
    from remembrancer.ports.sealing import Sealer

_log = logging.getLogger("remembrancer")
SUFFIX: Final = ".index"
PARTIAL: Final = ".partial"
ABANDONED_S: Final = 600
"""No file takes this long to write, in seconds."""


@dataclass(frozen=True, slots=True)
class Written:
    """A complete file that has not its final name yet."""

    partial: Path
    path: Path
    token: bytes
    erasures: int


class IndexFolder:
    """Files next to a store, one for each workspace and model: `STORE.WORKSPACE-MODEL-ERASURES.index`.

    The names have digests of the workspace and the model, and the number of the last erasure that the file includes. A
    file is written under another name first (`.partial`), then renamed.
    """

    def __init__(self, store: Path, sealer: Sealer | None = None) -> None:
        """`sealer`: seals the files of an encrypted store."""
        self._store = store.absolute()  # the folder of the process may change
        self._sealer = sealer

    def read(
        self, feed: ChangeFeed, scope: Scope, model: str | None, state: WorkspaceState, *, scanned: int
    ) -> WorkspaceIndex | None:
        """The index in the file. None: there is none for these records, or it is damaged; then it is deleted."""
        path = self._path(scope, model, state.erasures)
        if not path.exists():
            return None
        token = feed.index_token(scope, model) or b""
        try:
            stored = file.read(path, self._sealer)
            _require_table(stored.table, token=token.hex(), of=[scope.workspace, model], erasures=state.erasures)
        except BadIndexFile as error:
            _log.warning("%s is not read, and written anew: %s", path, error)
            path.unlink(missing_ok=True)
            return None
        return WorkspaceIndex.restored(stored, scope, model, scanned=scanned)

    def write(self, index: WorkspaceIndex, scope: Scope, model: str | None) -> Written:
        """Write the index under a name of its own. Raises OSError."""
        stored = index.stored()
        token, erasures = secrets.token_bytes(16), stored.table["erasures"]
        path = self._path(scope, model, erasures)
        self._delete_abandoned(path)
        partial = path.with_name(f"{path.name}.{token.hex()[:8]}{PARTIAL}")
        table = {**stored.table, "token": token.hex(), "of": [scope.workspace, model]}
        try:
            file.write(partial, stored.arrays, table, self._sealer)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
        return Written(partial, path, token, erasures)

    def delete(self, scope: Scope, *, before: int) -> None:
        """Delete the files of a workspace that lack the erasure `before`, complete or not, so that a power cut does not
        bring them back. Raises OSError.
        """
        while found := list(self._found(scope, before)):  # again: another process may have renamed one meanwhile
            for path in found:
                path.unlink(missing_ok=True)
        sync_folder(self._store.parent)  # also if another process deleted them, and was killed before this

    def _delete_abandoned(self, path: Path) -> None:
        """Delete what processes left that were killed while they wrote this file."""
        for partial in path.parent.iterdir():
            if partial.name.startswith(f"{path.name}.") and partial.name.endswith(PARTIAL):
                with suppress(OSError):
                    if time.time() - partial.stat().st_mtime > ABANDONED_S:
                        partial.unlink()

    def _path(self, scope: Scope, model: str | None, erasures: int) -> Path:
        return self._store.with_name(f"{self._begin(scope)}{_digest(model or '')}-{erasures}{SUFFIX}")

    def _begin(self, scope: Scope) -> str:
        return f"{self._store.name}.{_digest(scope.workspace)}-"

    def _found(self, scope: Scope, before: int) -> Iterator[Path]:
        for path in self._store.parent.iterdir():  # not a glob: the store's name may contain pattern characters
            if path.name.startswith(self._begin(scope)):
                erasures, suffix, _ = path.name.removeprefix(self._begin(scope)).partition("-")[2].partition(SUFFIX)
                if suffix and erasures.isdecimal() and int(erasures) < before:
                    yield path


def _require_table(table: Mapping[str, Any], **expected: object) -> None:
    for name, value in expected.items():
        if table[name] != value:
            raise BadIndexFile("it was derived from other records")


def _digest(name: str) -> str:
    return blake2b(name.encode(), digest_size=8).hexdigest()
