"""The use cases, one module each: read what is needed, decide with pure functions, commit once.

`from remembrancer import engine` loads no module; `engine.erase` is loaded on first use.
"""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from . import (  # noqa: F401
        ask,
        asking,
        audit,
        compare,
        consolidate,
        context,
        conversations,
        end_session,
        erase,
        exchange,
        fading,
        forget,
        graph,
        health,
        index,
        index_source,
        inspect,
        journal,
        journal_leg,
        keys,
        learn,
        names,
        near_equals,
        nudge,
        outcomes,
        preferences,
        promote,
        recall,
        record,
        reinforce,
        relate,
        replay,
        rerank,
        retain,
        same_answers,
        search_state,
        sleep,
        spaces,
        stages,
        vault,
        walk,
    )

__getattr__ = loaded_when_used(__name__)
