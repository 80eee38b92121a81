"""Blocks of memories and turns, marked as untrusted. No text in a block can end its line or the block."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Generic

from remembrancer.domain.identity import short_id
from remembrancer.domain.memory import Memory
from remembrancer.policies.rendering.frame import TAG, UNTRUSTED, CharBudget, Frame, Item, Shown, place, text_of
from remembrancer.policies.rendering.safe import indented, label, one_line
from remembrancer.policies.rendering.telling import MARK
from remembrancer.values import dataclass

FRAME: Final = Frame(TAG, UNTRUSTED)


@dataclass(frozen=True, slots=True)
class Listing(Generic[Shown]):
    """A block of items. `text`: the block, empty if no item fits. `placed`: the items in it, in order. `of`: the number
    of items.
    """

    text: str
    placed: tuple[Shown, ...]
    of: int

    @property
    def left_out(self) -> str:
        """The note about items that did not fit; empty if all did."""
        left = self.of - len(self.placed)
        return (
            f"{left} of {self.of} do not fit: ask again with a larger max_chars, or read memory://ID." if left else ""
        )


def listing(items: Iterable[Item[Shown]], max_chars: int) -> Listing[Shown]:
    """As many items as fit. Raises InvalidInput if not even the frame fits."""
    every = list(items)
    placed = place(every, CharBudget(FRAME.room(max_chars)))
    return Listing(FRAME.around(text_of(placed)), tuple(item.of for item in placed), len(every))


def line(of: Shown, parts: tuple[str, ...], text: str) -> Item[Shown]:
    """A list item of the block. Further lines of `text` are indented by four blanks."""
    return Item(of, f"- {label(*parts)} {indented(text)}\n")


def memory_line(memory: Memory, when: str, conversation: str = "") -> Item[Memory]:
    """A memory's line: its kind, who spoke, when, the title of its conversation, and its id, which other tools take."""
    title = one_line(memory.title or "")
    text = f"{title}: {memory.text}" if title else memory.text
    text = f"{MARK} {text}" if memory.flagged else text
    return line(memory, (memory.kind, memory.speaker, when, conversation, short_id(memory.id)), text)


def minute(at: datetime) -> str:
    """The time in UTC, to the minute.

    >>> from datetime import UTC
    >>> minute(datetime(2026, 3, 4, 9, 5, 30, tzinfo=UTC))
    '2026-03-04 09:05 UTC'
    """
    return f"{at:%Y-%m-%d %H:%M} UTC"
