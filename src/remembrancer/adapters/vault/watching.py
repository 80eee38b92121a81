"""When something in a vault's folder changes: told by the system, so that nobody has to look again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from remembrancer.adapters.vault.folder import LEFT_OUT, SUFFIX
from remembrancer.errors import Unsupported

if TYPE_CHECKING:
    from watchfiles import Change

NEEDED: Final = "watching a vault needs watchfiles: pip install 'remembrancer[vault]'"
DEBOUNCE: Final = timedelta(milliseconds=500)
"""How long changes are gathered before they are told of: an editor that saves makes several at once."""
_MILLISECOND: Final = timedelta(milliseconds=1)


async def changes(root: Path, *, every: timedelta, debounce: timedelta = DEBOUNCE) -> AsyncGenerator[bool]:
    """True whenever markdown files below the root have changed; False when none has for as long as `every`.

    `root` without links. What changes while the caller works on one is told of after it. Raises Unsupported where
    watchfiles is not installed.
    """
    require_watchfiles()
    from watchfiles import awatch  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]  an extra

    watching = awatch(
        root,
        watch_filter=lambda change, path: _counts(root, change, path),
        debounce=debounce // _MILLISECOND,
        ignore_permission_denied=True,
    )
    async with aclosing(watching):
        following = asyncio.ensure_future(anext(watching))
        try:
            while True:
                # Not its own timeout: that begins anew with every change, also of files that do not count.
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
    """Raises Unsupported where the extra is not installed."""
    if find_spec("watchfiles") is None:
        raise Unsupported(NEEDED)


def _counts(root: Path, change: Change, path: str) -> bool:
    """Whether a change may be one of the vault: to a markdown file, or a folder that came or went with its files."""
    inside = Path(path).relative_to(root)
    if LEFT_OUT & set(inside.parts):
        return False
    return inside.suffix.lower() == SUFFIX or (change.raw_str() != "modified" and not inside.suffix)
