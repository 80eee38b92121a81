"""A renderer with one section for each memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from remembrancer.domain import recalled, validation
from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import Detail, Recall, Rendered
from remembrancer.policies.rendering.frame import (
    MAX_BLOCK_CHARS,
    TAG,
    CharBudget,
    Frame,
    Item,
    Shown,
    place,
    text_of,
    visible_line,
    with_ids,
)
from remembrancer.policies.rendering.safe import label, one_line
from remembrancer.policies.rendering.telling import Telling, of_hit, of_memory
from remembrancer.values import dataclass

HISTORICAL: Final = recalled.HISTORICAL
INSTITUTIONAL: Final = recalled.INSTITUTIONAL


@dataclass(frozen=True, slots=True)
class Sections:
    """A renderer: each memory under a heading with its kind, speaker, source and title; its text is quoted.

    `kind_chars`: the most characters for a kind, including headings; other kinds have no limit of their own. Pinned
    memories are rendered by a separate call with its own budget, after `pinned_preamble`.

    Every line of a text begins with `>`; all other lines are the renderer's.
    """

    tag: str = TAG
    preamble: str = HISTORICAL
    pinned_preamble: str = INSTITUTIONAL
    kind_chars: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        Frame(self.tag, self.preamble)
        visible_line("pinned_preamble", self.pinned_preamble)
        for kind, chars in self.kind_chars.items():
            validation.slug("kind_chars", kind)
            validation.whole(f"kind_chars.{kind}", chars, 0, MAX_BLOCK_CHARS)

    def hits(self, recall: Recall, *, max_chars: int, detail: Detail, ids: bool = False) -> Rendered:
        """Render hits. `detail` HIGH adds the other turns of the transcript, NONE shows only headings,
        as in `of_hit`.
        """
        frame = Frame(self.tag, self.preamble)
        items = (
            _item(hit, hit.memory, telling) for hit in recall.hits if not (telling := of_hit(hit, detail)).is_empty
        )
        placed = place(with_ids(items, wanted=ids), CharBudget(frame.room(max_chars), of_group=dict(self.kind_chars)))
        return Rendered(frame.around(text_of(placed)), tuple(item.of for item in placed))

    def pinned(self, recall: Recall, *, max_chars: int, ids: bool = False) -> str:
        frame = Frame(self.tag, self.pinned_preamble)
        items = (
            _item(memory, memory, telling) for memory in recall.pinned if not (telling := of_memory(memory)).is_empty
        )
        return frame.around(text_of(place(with_ids(items, wanted=ids), CharBudget(frame.room(max_chars)))))


def _item(of: Shown, memory: Memory, telling: Telling) -> Item[Shown]:
    of_whom = ", ".join(part for part in map(one_line, (memory.speaker, memory.source or "")) if part)
    name = one_line(memory.kind) + (f" ({of_whom})" if of_whom else "")
    heading = f"{name}: {telling.title}" if telling.title else name
    text = f"\n## {heading}\n" + (f"{_quoted(telling.text)}\n" if telling.text else "")
    turns = "".join(f"{f'- {label(turn.heading)}'.rstrip()}\n{_quoted(turn.text)}\n" for turn in telling.turns)
    return Item(of, text, turns, group=memory.kind)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
