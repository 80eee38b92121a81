"""The context that a coding agent gets from the memory: at the start of a session, and at a message of the user."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from remembrancer.ingest.blocks import BlockKind
from remembrancer.interfaces.hooks.client import EVENTS

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

TOOL_KINDS: Final = frozenset({BlockKind.CALL, BlockKind.RESULT})


async def at_start(memory: AsyncRemembrancer, session: str, source: str) -> str:
    """The answer to `session-start`: what is pinned, and the end of the last session of this project. "" if there is
    nothing, or if the agent goes on with a session whose turns it still has.
    """
    if source == "resume":
        return ""
    answer = await memory.recall("what was said last", limit=1, mark=False)
    pinned = {one.id for one in answer.pinned}
    said = [
        one
        for one in await memory.recent(limit=LISTED)
        if one.scope.session != session and one.kind not in TOOL_KINDS and one.id not in pinned
    ][:RECENT]
    block = replace(answer, pinned=(*answer.pinned, *reversed(said))).render_pinned(max_chars=MAX_CHARS)
    return _context("session-start", block)


async def at_message(
    memory: AsyncRemembrancer, session: str, prompt: str, compacted: bool
) -> tuple[str, Recall | None]:
    """The answer to `user-prompt`, "" if nothing is relevant, and the recall with the hits that it shows.

    `compacted`: the agent has lost earlier turns of this session, so that they are recalled too.
    """
    if not prompt.strip():
        return "", None
    answer = await memory.recall(prompt, limit=READ, mark=False)
    hits = [hit for hit in answer if compacted or hit.memory.scope.session != session][:HITS]
    if not hits:
        return "", None
    shown = replace(answer, hits=tuple(hits))
    return _context("user-prompt", shown.render(max_chars=MAX_CHARS)), shown


def _context(event: str, block: str) -> str:
    if not block:
        return ""
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": block}}, ensure_ascii=False
    )
