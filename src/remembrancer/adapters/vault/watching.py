"""Watch a vault's folder with file system notifications instead of polling."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from remembrancer.adapters.vault.folder import SKIPPED_FOLDERS, SUFFIX
from remembrancer.errors import Unsupported

if TYPE_CHECKING:
    from watchfiles import Change

NEEDED: Final = "watching a vault needs watchfiles: pip install 'remembrancer[vault]'"
DEBOUNCE: Final = timedelta(milliseconds=500)
"""Changes within this time are reported together: an editor makes several when it saves."""
_MILLISECOND: Final = timedelta(milliseconds=1)


async def changes(root: Path, *, every: timedelta, debounce: timedelta = DEBOUNCE) -> AsyncGenerator[bool]:
    """Yield True when markdown files below the root have changed, and False when none has for `every`.

    `root`: a path without symbolic links. Changes while the caller is busy are reported on the next iteration. Raises
    Unsupported when watchfiles is not installed.
    """
    require_watchfiles()
    from watchfiles import awatch  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]  an extra

    watching = awatch(
        root,
        watch_filter=lambda change, path: _is_relevant(root, change, path),
        debounce=debounce // _MILLISECOND,
        ignore_permission_denied=True,
    )
    async with aclosing(watching):
        following = asyncio.ensure_future(anext(watching))
        try:
            while True:
                # Not awatch's own timeout, which restarts with every change, also of files outside of the vault.
                await asyncio.wait([following], timeout=every.total_seconds())
                if following.done():
                    following.result()
                    following = asyncio.ensure_future(anext(watching))
                    yield True
                else:
                    yield False
        finally:
            following.cancel()
            await asyncio.wait([following])


def require_watchfiles() -> None:
    """Raises Unsupported when the extra `vault` is not installed."""
    if find_spec("watchfiles") is None:
        raise Unsupported(NEEDED)


def _is_relevant(root: Path, change: Change, path: str) -> bool:
    """Whether a change concerns the vault: a markdown file, or a folder that was added or removed."""
    inside = Path(path).relative_to(root)
    if SKIPPED_FOLDERS & set(inside.parts):
        return False
    return inside.suffix.lower() == SUFFIX or (change.raw_str() != "modified" and not inside.suffix)
