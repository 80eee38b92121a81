"""The frame around a prompt block, and choosing the memories that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from remembrancer.domain import recalled, validation
from remembrancer.domain.identity import short_id
from remembrancer.errors import InvalidInput
from remembrancer.policies.rendering.safe import one_line
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from uuid import UUID

MAX_BLOCK_CHARS: Final = 1_000_000

TAG: Final = recalled.TAG
UNTRUSTED: Final = recalled.UNTRUSTED

_TAG: Final = re.compile(r"[a-z][a-z0-9-]{0,99}")

Shown = TypeVar("Shown")
WithId = TypeVar("WithId", bound="HasId")


class HasId(Protocol):
    @property
    def id(self) -> UUID: ...


@dataclass(frozen=True, slots=True)
class Frame:
    """The tag around a block, and the line that says how to treat its content."""

    tag: str
    preamble: str

    def __post_init__(self) -> None:
        if not _TAG.fullmatch(self.tag):
            raise InvalidInput("tag", self.tag, "a lower-case letter, then letters, digits and '-', at most 100")
        visible_line("preamble", self.preamble)

    def room(self, max_chars: int) -> int:
        """The characters left inside the frame. Raises InvalidInput if not even the frame fits."""
        least = len(self._opening) + len(self._closing)
        return validation.whole("max_chars", max_chars, least, MAX_BLOCK_CHARS) - least

    def around(self, body: str) -> str:
        """The body in its frame. `body` must end with a newline; an empty one gives ""."""
        return f"{self._opening}{body}{self._closing}" if body else ""

    @property
    def _opening(self) -> str:
        return f"<{self.tag}>\n{self.preamble}\n"

    @property
    def _closing(self) -> str:
        return f"</{self.tag}>"


def visible_line(argument: str, value: str) -> str:
    """A line written by the renderer itself, unescaped; it must not contain `<`."""
    if not value or one_line(value) != value:
        raise InvalidInput(argument, value, "one line of visible text without '<'")
    return value


@dataclass(frozen=True, slots=True)
class Item(Generic[Shown]):
    """A memory in a block: its `text`, and optional `details` after it. Both end with a newline."""

    of: Shown
    text: str
    details: str = ""
    group: str = ""


@dataclass(slots=True)
class CharBudget:
    """The characters left in total, and in each group with its own limit.

    `headings`: the additional characters that a group's first item needs.
    """

    left: int
    of_group: dict[str, int] = field(default_factory=dict[str, int])
    headings: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, group: str, chars: int) -> bool:
        """Use characters for an item of a group. Returns False, and uses nothing, if there is no room."""
        chars += self.headings.get(group, 0)
        if chars > min(self.left, self.of_group.get(group, self.left)):
            return False
        self.headings.pop(group, None)
        self.left -= chars
        if group in self.of_group:
            self.of_group[group] -= chars
        return True


def with_ids(items: Iterable[Item[WithId]], *, wanted: bool) -> Iterable[Item[WithId]]:
    """The items with the memory's short id at the end of the first line, if `wanted`. A text that imitates an id stands
    before it.
    """
    if not wanted:
        return items
    return (replace(item, text=item.text.replace("\n", f" (id {short_id(item.of.id)})\n", 1)) for item in items)


def place(items: Iterable[Item[Shown]], room: CharBudget) -> list[Item[Shown]]:
    """The items that fit, in their order, with their details if these fit too.

    An item that does not fit is left out completely; shorter items after it may still fit. Details are added last, so
    that a transcript never displaces a memory. More room never makes the text shorter.
    """
    placed = [item for item in items if room.take(item.group, len(item.text))]
    return [
        replace(item, text=item.text + item.details) if room.take(item.group, len(item.details)) else item
        for item in placed
    ]


def text_of(items: Iterable[Item[Shown]]) -> str:
    return "".join(item.text for item in items)
