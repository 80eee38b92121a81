"""Background jobs: when engine functions run. Each sweep derives its work list from the stored state.

`from remembrancer import jobs` costs nothing: `jobs.worker` is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.jobs import arrivals, indexer, maintenance, overview, sweeps, worker

__all__ = ["arrivals", "indexer", "maintenance", "overview", "sweeps", "worker"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
