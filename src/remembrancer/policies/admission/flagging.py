"""Flagging memories of untrusted origins whose text tells a language model what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from remembrancer.domain.event import UNTRUSTED, Event, Origin
from remembrancer.domain.memory import FLAGGED, Memory
from remembrancer.domain.validation import MAX_TAGS
from remembrancer.language.instructions import is_instruction_like


def is_flagged(origin: Origin, *texts: str | None) -> bool:
    """Whether one of the texts is to be flagged. What the user, the system or the assistant says never is."""
    return origin in UNTRUSTED and any(is_instruction_like(text) for text in texts if text)


def any_flagged(events: Iterable[Event]) -> bool:
    """Whether the text of one of the events is to be flagged."""
    return any(is_flagged(event.origin, event.text) for event in events)


def flagged_by_text(memory: Memory, *, inherited: bool = False) -> Memory:
    """The memory with the tag `FLAGGED` exactly if its own text is to be flagged, or that of a source (`inherited`)."""
    return with_flag(memory, flagged=inherited or is_flagged(memory.origin, memory.title, memory.text))


def reflagged(later: Memory, earlier: Memory) -> Memory:
    """An edited memory: flagged as before while it says the same, so that a released one stays released."""
    if (later.title, later.text, later.origin) == (earlier.title, earlier.text, earlier.origin):
        return with_flag(later, flagged=earlier.flagged)
    return flagged_by_text(later)


def with_flag(memory: Memory, *, flagged: bool) -> Memory:
    """The memory with or without the tag `FLAGGED`. It stands first, so that the limit of tags cannot cut it off."""
    if not flagged and not memory.flagged:
        return memory
    others = tuple(tag for tag in memory.tags if tag != FLAGGED)
    return replace(memory, tags=(FLAGGED, *others)[:MAX_TAGS] if flagged else others)
