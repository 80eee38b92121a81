"""The reminder to an agent that much has happened since it last wrote down what it learned."""

from __future__ import annotations

from typing import Final

UPDATED: Final = "memory.updated"
"""The type of the event by which an agent says that it has."""
NUDGED: Final = "memory.nudged"
"""The type of the event that a reminder leaves behind."""
UNCOUNTED: Final = frozenset({UPDATED, NUDGED})
"""Events about the memory itself are nothing to be remembered."""


def reminder(entries: int, *, ever_updated: bool) -> str:
    """What the agent is told: one paragraph, which names the count and asks for nothing that it must do."""
    since = "since your last memory update" if ever_updated else "and you have not updated your memory yet"
    return (
        f"{entries:,} new journal {'entry' if entries == 1 else 'entries'} {since}. If you have noticed a pattern in"
        " them, consider writing it down before this session ends: consolidation keeps rules of its own, not your"
        " observations."
    )
