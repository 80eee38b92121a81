"""A reminder for an agent to write down what it learned."""

from __future__ import annotations

from typing import Final

UPDATED: Final = "memory.updated"
"""The type of the event by which an agent reports that it has updated its memory."""
NUDGED: Final = "memory.nudged"
"""The type of the event that records a reminder."""
UNCOUNTED: Final = frozenset({UPDATED, NUDGED})
"""Events about the memory itself; they do not count as entries."""


def reminder(entries: int, *, ever_updated: bool) -> str:
    """The text of the reminder: one paragraph with the number of entries."""
    since = "since your last memory update" if ever_updated else "and you have not updated your memory yet"
    return (
        f"{entries:,} new journal {'entry' if entries == 1 else 'entries'} {since}. If you have noticed a pattern in"
        " them, consider writing it down before this session ends: consolidation keeps rules of its own, not your"
        " observations."
    )
