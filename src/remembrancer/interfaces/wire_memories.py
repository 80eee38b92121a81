"""The JSON shape of a page of memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from remembrancer.interfaces.wire import MemoryOut, Wire

if TYPE_CHECKING:
    from remembrancer.domain.listing import MemoryPage


class MemoryPageOut(Wire):
    """`next`: the cursor of the page after this one; null where there is none."""

    memories: list[MemoryOut]
    next: str | None

    @classmethod
    def of(cls, page: MemoryPage) -> Self:
        return cls(memories=[MemoryOut.of(memory) for memory in page.memories], next=page.next)
