"""The use cases, one module each: gather what is needed, decide with pure functions, commit once.

`from remembrancer import engine` costs nothing: `engine.erase` is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.engine import (
        compare,
        consolidate,
        context,
        end_session,
        erase,
        exchange,
        fading,
        forget,
        graph,
        health,
        inspect,
        journal,
        keys,
        learn,
        nudge,
        promote,
        recall,
        record,
        reinforce,
        relate,
        search_state,
        sleep,
        stages,
        update,
        vault,
    )

__all__ = [
    "compare",
    "consolidate",
    "context",
    "end_session",
    "erase",
    "exchange",
    "fading",
    "forget",
    "graph",
    "health",
    "inspect",
    "journal",
    "keys",
    "learn",
    "nudge",
    "promote",
    "recall",
    "record",
    "reinforce",
    "relate",
    "search_state",
    "sleep",
    "stages",
    "update",
    "vault",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
