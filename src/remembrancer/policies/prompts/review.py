"""Prompt: how much recalled memories helped the conversation that followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.review import Rating
from remembrancer.policies.prompts.fence import fenced
from remembrancer.policies.prompts.fields import Object, list_of, object_of, one_of
from remembrancer.policies.rendering.safe import one_line
from remembrancer.values import dataclass

PURPOSE: Final = "review"
MAX_TURN_CHARS: Final = 1_000
"""The characters of one turn."""
MAX_MEMORY_CHARS: Final = 1_500
MAX_QUERIES: Final = 5
"""The most questions shown, the last ones, each cut to 200 characters."""
MAX_QUERY_CHARS: Final = 200
MAX_TOKENS: Final = 2_048

WORDS: Final[Mapping[str, Rating]] = {rating.name.lower(): rating for rating in Rating}

INSTRUCTIONS: Final = """\
Memories were looked up during a conversation. Judge each of them by the use that was made of it afterwards.

- again: nothing of it was used; it had nothing to do with what was going on.
- hard: it had to do with the matter, but only at the edge, or it took some inferring to get anything from it.
- good: it was to the point, and what was said afterwards shows that it was used.
- easy: what was said afterwards rests on it.

That a memory was found by several questions hints that it mattered; what decides is whether it was used. Where nothing
was said afterwards, judge by how well it answers the questions, and no better than good. Rate every memory once, by its
label. Leave out one that you cannot judge."""

SCHEMA: Final[Object] = object_of(
    ratings=list_of(
        object_of(
            memory={"type": "string", "description": "The label of a memory, such as m1."},
            rating=one_of(WORDS),
        )
    )
)


@dataclass(frozen=True, slots=True)
class LabelledMemory:
    """A memory with its label in the prompt, and the questions that found it, oldest first."""

    label: str
    memory: Memory
    queries: Sequence[str]


def fitting(said: Sequence[Event], *, chars: int) -> tuple[Event, ...]:
    """The first turns that together fit into `chars` characters, at least one."""
    kept: list[Event] = []
    for event in said:
        chars -= len(_line(event)) + 1
        if chars < 0 and kept:
            break
        kept.append(event)
    return tuple(kept)


def material(looked_up: Sequence[LabelledMemory], said: Sequence[Event]) -> str:
    """The data of the prompt. `said`: the turns since the memories were retrieved, in order."""
    memories = fenced("\n\n".join(_told(one) for one in looked_up), "memories")
    lines = [line for line in map(_line, said) if line]
    talk = fenced("\n".join(lines), "conversation") if lines else "Nothing was said afterwards."
    return f"{memories}\n\nWhat was said afterwards:\n{talk}"


def read(answer: Object, labels: frozenset[str]) -> dict[str, Rating] | str:
    """The ratings by label, or what is wrong with the answer, for the model's next attempt. `labels`: those of the
    memories in the prompt; other labels are ignored.
    """
    listed = answer.get("ratings")
    if not isinstance(listed, list):
        return 'The answer has no list "ratings".'
    by_label: dict[str, Rating] = {}
    for item in listed:
        match item:
            case {"memory": str(label), "rating": str(word)} if word in WORDS:
                if by_label.get(label, WORDS[word]) is not WORDS[word]:
                    return f"{label!r} is rated twice, and not alike."
                by_label[label] = WORDS[word]
            case {"memory": str(label), "rating": rating}:
                return f"The rating of {label!r} is {cast('object', rating)!r}, none of {', '.join(WORDS)}."
            case _:
                return 'An entry of "ratings" has no "memory" or no "rating".'
    return {label: rating for label, rating in by_label.items() if label in labels}


def _line(event: Event) -> str:
    """The turn as one line, without recalled text: showing a memory does not prove its use. "" if nothing is left."""
    said = one_line(without_recalled(event.beginning)[:MAX_TURN_CHARS])
    return f"{one_line(event.actor or event.role)}: {said}" if said else ""


def _told(one: LabelledMemory) -> str:
    memory = one.memory
    title = "" if memory.title is None else f"{one_line(memory.title)}. "
    asked = [one_line(query[:MAX_QUERY_CHARS]) for query in dict.fromkeys(one.queries) if query.strip()]
    found_by = "".join(f"\nfound by: {query}" for query in asked[-MAX_QUERIES:])
    return f"{one.label}: {title}{one_line(memory.text[:MAX_MEMORY_CHARS])}{found_by}"
