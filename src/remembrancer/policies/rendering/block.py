"""A renderer with one list item for each memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal, assert_never, get_args

import numpy as np

from remembrancer.domain.age import spoken_age
from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import Detail, Hit, Recall, Rendered
from remembrancer.errors import InvalidInput
from remembrancer.language.english.dates import spoken_date
from remembrancer.policies.forgetting.decay import Curve
from remembrancer.policies.rendering.frame import (
    TAG,
    UNTRUSTED,
    CharBudget,
    Frame,
    Item,
    Shown,
    place,
    text_of,
    with_ids,
)
from remembrancer.policies.rendering.safe import label
from remembrancer.policies.rendering.telling import Telling, of_hit, of_memory
from remembrancer.values import dataclass

Label = Literal["heading", "kind"]

_LATER_LINES: Final = re.compile(r"(?<=\n)(?=[^\n])")


@dataclass(frozen=True, slots=True)
class Block:
    """A renderer: a list with one item for each memory.

    `label`: what precedes a text. "heading": speaker and time; "kind": the memory's kind, speaker, age and score.
    `freshness`: memories are ordered by score times this curve at their age; None: by rank.

    Only the renderer writes lines that start with a dash, or with two blanks and a dash (a turn). Further lines of a
    text are indented by four blanks, so that they cannot imitate either.
    """

    tag: str = TAG
    preamble: str = UNTRUSTED
    label: Label = "heading"
    freshness: Curve | None = None

    def __post_init__(self) -> None:
        Frame(self.tag, self.preamble)
        if self.label not in get_args(Label):
            raise InvalidInput("label", self.label, "one of " + ", ".join(get_args(Label)))

    def hits(self, recall: Recall, *, max_chars: int, detail: Detail, ids: bool = False) -> Rendered:
        """Render hits. `detail` HIGH adds the other turns of the transcript, NONE shows only titles, as in `of_hit`."""
        frame = Frame(self.tag, self.preamble)
        items = (
            _item(hit, self._label(hit), telling)
            for hit in self._ordered(recall.hits)
            if not (telling := of_hit(hit, detail)).is_empty
        )
        placed = place(with_ids(items, wanted=ids), CharBudget(frame.room(max_chars)))
        return Rendered(frame.around(text_of(placed)), tuple(item.of for item in placed))

    def pinned(self, recall: Recall, *, max_chars: int, ids: bool = False) -> str:
        frame = Frame(self.tag, self.preamble)
        items = (
            _item(memory, self._pinned_label(memory, recall), telling)
            for memory in recall.pinned
            if not (telling := of_memory(memory)).is_empty
        )
        return frame.around(text_of(place(with_ids(items, wanted=ids), CharBudget(frame.room(max_chars)))))

    def _ordered(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        if self.freshness is None:
            return hits
        left = self.freshness.retention(
            np.array([hit.age / timedelta(days=1) for hit in hits]),
            np.zeros(len(hits)),  # exposures do not count here
            np.array([hit.memory.strength.stability for hit in hits]),
        )
        weights = np.array([hit.score for hit in hits]) * left
        return [hits[index] for index in map(int, np.argsort(-weights, kind="stable"))]

    def _label(self, hit: Hit) -> tuple[str, ...]:
        match self.label:
            case "heading":
                return (*_heading(hit), str(hit.age))
            case "kind":
                return (hit.memory.kind, hit.memory.speaker, str(hit.age), f"{hit.score:.2f}")
            case _:
                assert_never(self.label)

    def _pinned_label(self, memory: Memory, recall: Recall) -> tuple[str, ...]:
        """The label of a pinned memory, which has neither a best cue nor a score, because it was not searched for."""
        age = spoken_age(recall.asked_at - memory.occurred_to)
        match self.label:
            case "heading":
                return (memory.speaker, age)
            case "kind":
                return (memory.kind, memory.speaker, age)
            case _:
                assert_never(self.label)


def _heading(hit: Hit) -> tuple[str, ...]:
    """The speaker and time: the heading of a turn that was found, else the memory's speaker and time.

    A memory with a title is never shown by one of its turns.
    """
    if hit.cue.event_id is None:
        return hit.memory.speaker, hit.cue.heading
    return (hit.cue.heading,) if hit.memory.title is None else (hit.memory.speaker, spoken_date(hit.memory.occurred_to))


def _item(of: Shown, parts: tuple[str, ...], telling: Telling) -> Item[Shown]:
    turns = "".join(f"  - {_labelled((turn.heading,), turn.text)}\n" for turn in telling.turns)
    return Item(of, f"- {_labelled(parts, telling.said)}\n", turns)


def _labelled(parts: tuple[str, ...], text: str) -> str:
    return f"{label(*parts)} {_LATER_LINES.sub('    ', text)}".lstrip()
