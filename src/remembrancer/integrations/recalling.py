"""The answer of a tool with which an agent recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

if TYPE_CHECKING:
    from remembrancer import Remembrancer

NOTHING: Final = "No memory answers this."
QueryText = Annotated[str, Field(description="A question or keywords; speakers: 'the user', 'the assistant'.")]


def recalled(memory: Remembrancer, query: str, *, limit: int | None, max_chars: int) -> str:
    """A block marked as untrusted, of at most `max_chars` characters, with an id in the line of each memory; and a line
    that says so if nothing answers. `limit`: the most memories; None: the preset's. Raises InvalidInput.
    """
    return memory.recall(query, limit=limit).block(max_chars=max_chars, ids=True).text or NOTHING
