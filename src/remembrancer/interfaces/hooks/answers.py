"""The context that a coding agent gets from the memory: at the start of a session, and at a message of the user."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from remembrancer.domain.preference import PREFERENCE
from remembrancer.domain.query import QuestionKind
from remembrancer.domain.recall import RecallMode
from remembrancer.ingest.blocks import BlockKind
from remembrancer.interfaces.hooks.client import EVENTS
from remembrancer.language.reading import read_question

if TYPE_CHECKING:
    from remembrancer import AsyncRemembrancer
    from remembrancer.domain.recall import Recall

MAX_CHARS: Final = 4_000
"""The longest block given to the agent, which shows the first 10,000 characters of all hooks."""
HITS: Final = 5
READ: Final = 4 * HITS
"""Hits asked for, as those of the running session are left out: the agent still sees them."""
RECENT: Final = 6
"""The last turns of earlier sessions that a new session is told."""
LISTED: Final = 60
"""Memories listed to find them: most are what tools printed."""

PREFERENCES: Final = 10
"""The newest stated preferences and lasting instructions that a session is told at its start."""

TOOL_KINDS: Final = frozenset({BlockKind.CALL, BlockKind.RESULT})


async def at_start(memory: AsyncRemembrancer, session: str, source: str) -> str:
    """The answer to `session-start`: what is pinned, how the user wants things, and the end of the last session of this
    project. "" if there is nothing, or if the agent goes on with a session whose turns it still has.
    """
    if source == "resume":
        return ""
    answer = await memory.recall("what was said last", limit=1, mark=False)
    wanted = await memory.preferences(limit=PREFERENCES)
    said = [
        one
        for one in await memory.recent(limit=LISTED)
        if one.scope.session != session and one.kind not in TOOL_KINDS and one not in wanted
    ]
    shown = {one.id: one for one in (*answer.pinned, *wanted, *reversed(said[:RECENT]))}
    return _context("session-start", replace(answer, pinned=tuple(shown.values())).render_pinned(max_chars=MAX_CHARS))


async def at_message(
    memory: AsyncRemembrancer, session: str, prompt: str, compacted: bool
) -> tuple[str, Recall | None]:
    """The answer to `user-prompt`, "" if nothing is relevant, and the recall with the hits that it shows.

    A question is answered. What asks nothing gets the few memories that matter to it; a request also those that say how
    the user wants things. `compacted`: the agent has lost earlier turns of this session, so that they count too.
    """
    if not prompt.strip():
        return "", None
    kind = read_question(prompt, (), memory.now).kind
    mode = RecallMode.MESSAGE if kind is QuestionKind.STATEMENT else RecallMode.QUESTION
    answer = await memory.recall(prompt, mode=mode, limit=READ, mark=False)
    hits = answer.hits
    if kind is QuestionKind.REQUEST:
        wanted = [hit for hit in hits if PREFERENCE in hit.memory.tags]
        related = await memory.recall(prompt, mode=RecallMode.MESSAGE, limit=READ, mark=False)
        ids = {hit.memory.id for hit in wanted}
        hits = (*wanted, *(hit for hit in related.hits if hit.memory.id not in ids))
    shown = replace(answer, hits=tuple(hit for hit in hits if compacted or hit.memory.scope.session != session)[:HITS])
    return (_context("user-prompt", shown.render(max_chars=MAX_CHARS)), shown) if shown.hits else ("", None)


def _context(event: str, block: str) -> str:
    if not block:
        return ""
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": block}}, ensure_ascii=False
    )
