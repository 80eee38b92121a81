"""Episodic memory for AI agents: records events, recalls the relevant memories, and explains why.

>>> from remembrancer import Remembrancer
>>> with Remembrancer.open(":memory:", embedder="none") as rem:
...     _ = rem.remember("Checkout needs 2 GiB in production")
...     rem.recall("how much memory does checkout need?")[0].memory.text
'Checkout needs 2 GiB in production'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from remembrancer.compose import change_encryption, encryption_status, restore_backup
    from remembrancer.config import Settings
    from remembrancer.domain.event import Event, EventDraft
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.recall import Hit, Recall
    from remembrancer.domain.scope import Scope
    from remembrancer.errors import (
        Conflict,
        InvalidInput,
        ModelUnavailable,
        NotFound,
        RemembrancerError,
        StoreUnavailable,
    )
    from remembrancer.facade import AsyncRemembrancer
    from remembrancer.policies.rendering.notes import untrusted_block
    from remembrancer.sync import Remembrancer

__version__: Final = "0.1.0"

__all__ = [
    "AsyncRemembrancer",
    "Conflict",
    "Cue",
    "Event",
    "EventDraft",
    "Hit",
    "InvalidInput",
    "Memory",
    "ModelUnavailable",
    "NotFound",
    "Recall",
    "Remembrancer",
    "RemembrancerError",
    "Scope",
    "Settings",
    "StoreUnavailable",
    "change_encryption",
    "encryption_status",
    "restore_backup",
    "untrusted_block",
]

_HOMES: Final = {
    "AsyncRemembrancer": "facade",
    "Remembrancer": "sync",
    "Settings": "config",
    "Event": "domain.event",
    "EventDraft": "domain.event",
    "Cue": "domain.memory",
    "Memory": "domain.memory",
    "Hit": "domain.recall",
    "Recall": "domain.recall",
    "Scope": "domain.scope",
    "change_encryption": "compose",
    "encryption_status": "compose",
    "restore_backup": "compose",
    "untrusted_block": "policies.rendering.notes",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import remembrancer` is fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from remembrancer.modules import idle_threads_that_sleep  # noqa: PLC0415  `import remembrancer` loads no module

    with idle_threads_that_sleep():
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
