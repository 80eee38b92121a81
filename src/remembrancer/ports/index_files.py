"""Files in which an index keeps what it derived from the records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from remembrancer.domain.scope import Scope


class IndexFiles(Protocol):
    """Tells whether a file was derived from these very records.

    A file contains a random token, and the records contain the token of the last file. Records that were copied or
    restored from before the file was written lack its token, so that it is not read for them.
    """

    async def put_index_token(self, scope: Scope, model: str | None, token: bytes, *, erasures: int) -> bool:
        """Keep the token of a file in place of the last one, by workspace and model. Call it after the file was written
        and before it is given its name.

        `erasures`: the number of the last erasure that the file includes (`WorkspaceState`). Returns False, and keeps
        nothing, if there has been a later one.
        """
        ...
