"""A renderer with markdown headings: facts, then episodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Final, assert_never

from remembrancer.domain import validation
from remembrancer.domain.age import spoken_age
from remembrancer.domain.memory import Cue, Memory, Tier
from remembrancer.domain.recall import Detail, Hit, Recall, Rendered
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
from remembrancer.policies.rendering.safe import one_line
from remembrancer.policies.rendering.telling import RenderedTurn, Telling, of_memory, turns
from remembrancer.values import dataclass

FACTS: Final = "\n## Known Facts\n"
EPISODES: Final = "\n## Episodic Memories\n"
RECENT: Final = "\n## Recent Memories\n"

_BEFORE_MARKUP: Final = re.compile(r"^(?=[#>*+\-_~`=|\[]|\d+[.)])")
_BACKSLASH: Final = r"\\"


@dataclass(frozen=True, slots=True)
class Markdown:
    """A renderer: memories of the semantic tier as `- [kind] fact`, then the others, each under its title.

    An episode with a surprise of at least `key_moment` is marked as a key moment. Which episodes get a transcript, one
    line per turn, depends on `detail`: AUTO: key moments among the first `auto_ranks` episodes; LOW: the first episode
    if it is one; NONE: no episode; HIGH: all.

    Each line begins with text of the renderer, and a memory stays on one line after it, so that headings, list items,
    bold markers and code fences in memories have no effect. A speaker's name that would begin one is escaped with a
    backslash.
    """

    tag: str = TAG
    preamble: str = UNTRUSTED
    key_moment: float = 0.7
    auto_ranks: int = 2

    def __post_init__(self) -> None:
        Frame(self.tag, self.preamble)
        validation.fraction("key_moment", self.key_moment)
        validation.whole("auto_ranks", self.auto_ranks, 0, 1_000)

    def hits(self, recall: Recall, *, max_chars: int, detail: Detail, ids: bool = False) -> Rendered:
        """Room is given to the best hits first, in whichever section they are."""
        frame = Frame(self.tag, self.preamble)
        text, shown = _sections(with_ids(self._items(recall.hits, detail), wanted=ids), frame.room(max_chars))
        return Rendered(frame.around(text), tuple(shown))

    def pinned(self, recall: Recall, *, max_chars: int, ids: bool = False) -> str:
        frame = Frame(self.tag, self.preamble)
        text, _ = _sections(with_ids(_pinned_items(recall), wanted=ids), frame.room(max_chars))
        return frame.around(text)

    def recent(self, memories: Iterable[Memory], *, now: datetime, max_chars: int) -> str:
        """A block of memories that were not searched for, in the given order: without rank, score or transcript. Empty
        without any.

        Raises InvalidInput if not even the frame fits.
        """
        frame = Frame(self.tag, self.preamble)
        text, _ = _sections(self._recent_items(memories, now), frame.room(max_chars), (RECENT,))
        return frame.around(text)

    def _recent_items(self, memories: Iterable[Memory], now: datetime) -> Iterable[Item[Memory]]:
        numbers = count(1)
        for memory in memories:
            telling = of_memory(memory)
            if telling.is_empty:
                continue
            mark = " (key moment)" if memory.strength.surprise >= self.key_moment else ""
            title = f"{_title(telling, next(numbers))}{mark}"
            yield Item(memory, _episode(title, now - memory.occurred_to, memory, telling), group=RECENT)

    def _items(self, hits: Iterable[Hit], detail: Detail) -> Iterable[Item[Hit]]:
        ranks = count(1)
        for hit in hits:
            telling = of_memory(hit.memory)
            if telling.is_empty:
                continue
            if hit.memory.tier is Tier.SEMANTIC:
                yield Item(hit, f"{_fact(hit.memory, telling)} (sources: {_sources(hit)})\n", group=FACTS)
                continue
            rank, is_key = next(ranks), hit.memory.strength.surprise >= self.key_moment
            marks = f"rank: {rank}, score: {hit.score:.2f}" + (", key moment" if is_key else "")
            title = f"{_title(telling, rank)} [{marks}]"
            details = _transcript(hit.turns) if self._tells_turns(rank, detail, is_key=is_key) else ""
            yield Item(hit, _episode(title, hit.age, hit.memory, telling), details, group=EPISODES)

    def _tells_turns(self, rank: int, detail: Detail, *, is_key: bool) -> bool:
        match detail:
            case Detail.AUTO:
                return is_key and rank <= self.auto_ranks
            case Detail.LOW:
                return is_key and rank == 1
            case Detail.NONE:
                return False
            case Detail.HIGH:
                return True
            case _:
                assert_never(detail)


def _pinned_items(recall: Recall) -> Iterable[Item[Memory]]:
    """Items of pinned memories. They were not searched for, so they have no rank, score or transcript."""
    numbers = count(1)
    for memory in recall.pinned:
        telling = of_memory(memory)
        if telling.is_empty:
            continue
        if memory.tier is Tier.SEMANTIC:
            yield Item(memory, f"{_fact(memory, telling)}\n", group=FACTS)
        else:
            title = _title(telling, next(numbers))
            yield Item(memory, _episode(title, recall.asked_at - memory.occurred_to, memory, telling), group=EPISODES)


def _sections(
    items: Iterable[Item[Shown]], left: int, headings: Sequence[str] = (FACTS, EPISODES)
) -> tuple[str, list[Shown]]:
    """The text of the items that fit, and their memories, both in the order of the sections."""
    placed = place(items, CharBudget(left, headings={heading: len(heading) for heading in headings}))
    sections = [(heading, [item for item in placed if item.group == heading]) for heading in headings]
    text = "".join(heading + text_of(held) for heading, held in sections if held)
    return text, [item.of for _, held in sections for item in held]


def _fact(memory: Memory, telling: Telling) -> str:
    return f"- [{one_line(memory.kind)}] {one_line(telling.said)}"


def _sources(hit: Hit) -> str:
    """The known sources of a memory: its turns, else the session in which it was said."""
    known = len(hit.turns)
    return "1 conversation" if known == 0 else f"{known} turn{'' if known == 1 else 's'}"


def _title(telling: Telling, number: int) -> str:
    return telling.title or f"Memory {number}"


def _episode(title: str, age: timedelta, memory: Memory, telling: Telling) -> str:
    speaker = f"**By:** {one_line(memory.speaker)}\n" if one_line(memory.speaker) else ""
    summary = f"**Summary:** {one_line(telling.text)}\n" if telling.text else ""
    return f"\n### {title}\n**When:** {spoken_age(age)}\n{speaker}{summary}"


def _transcript(cues: Sequence[Cue]) -> str:
    lines = "".join(f'- {_speaker(turn)}"{one_line(turn.text)}"\n' for turn in turns(cues))
    return f"**Details:**\n{lines}" if lines else ""


def _speaker(turn: RenderedTurn) -> str:
    """The speaker's name at the start of a list item, escaped: a name such as "# ana" must not become a heading."""
    return f"{_BEFORE_MARKUP.sub(_BACKSLASH, turn.heading)}: " if turn.heading else ""
