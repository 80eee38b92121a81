"""Background jobs: the schedule of engine functions. Each sweep derives its work list from the stored state.

`from remembrancer import jobs` loads nothing else: `jobs.worker` is loaded on first use.
"""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from . import arrivals, embedded, indexer, maintenance, overview, sweeps, worker  # noqa: F401

__getattr__ = loaded_when_used(__name__)
