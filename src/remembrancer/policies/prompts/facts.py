"""Prompt: lasting facts in episodes, given the known facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC
from typing import Final, cast

from remembrancer.domain import validation
from remembrancer.domain.memory import Memory
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.policies.consolidation.facts import Action, Category
from remembrancer.policies.prompts.fence import fenced, transcript
from remembrancer.policies.prompts.fields import TEXT, Object, entries, list_of, object_of, objects, one_of, words
from remembrancer.policies.rendering.safe import one_line
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.values import dataclass

PURPOSE: Final = "facts"
MAX_FACT_CHARS: Final = 500
"""The characters of one fact; a longer text should be several facts."""
MAX_EPISODE_CHARS: Final = 2_000
"""The characters of an episode's own text in the prompt: more than a summary by a model has, less than a person may
write.
"""
MAX_FACTS: Final = 50
"""The most facts in one answer."""
MAX_LABEL_CHARS: Final = 20
MAX_TOKENS: Final = 4_096

_MEANINGS: Final[Mapping[Category, str]] = {
    Category.IDENTITY: "who somebody is: name, age, home, work, origin, languages",
    Category.PREFERENCE: "what somebody likes, wants or cannot stand",
    Category.INTEREST: "what somebody follows or likes to do",
    Category.PERSONALITY: "what somebody is like",
    Category.RELATIONSHIP: "who somebody is to somebody else",
    Category.EXPERIENCE: "what somebody has lived through, done or finished",
    Category.GOAL: "what somebody plans or is working towards",
    Category.GUIDELINE: "how the assistant is to behave towards somebody",
}

INSTRUCTIONS: Final = (
    "You are given episodes of conversation and facts that are known already. Say what lasting facts the episodes tell:"
    " what will still be worth knowing in a month. Leave out small talk, what holds for a moment only, and what the"
    " assistant merely said or guessed.\n"
    "For each, one action:\n"
    "- new: nothing known says it.\n"
    "- reinforce: a known fact says it already; `fact` is its label.\n"
    "- update: a known fact, `fact`, no longer holds as it stands; `text` says what holds instead.\n"
    "- invalidate: a known fact, `fact`, no longer holds, and nothing takes its place.\n"
    "`text` is one plain sentence, in the language of the episodes, that can be understood without them: names in the"
    " place of pronouns, and behind words such as last week the date they mean, in parentheses. It holds nothing the"
    " episodes do not say. `episodes` are the labels of those episodes, and only those, that say this very fact."
    " Leave `fact` empty for what is new; `text` may be empty for reinforce and invalidate.\n"
    "Categories: " + "; ".join(f"{category}: {meaning}" for category, meaning in _MEANINGS.items()) + ".\n"
    "Where the episodes tell nothing lasting, answer with an empty list."
)

SCHEMA: Final[Object] = object_of(
    facts=list_of(
        object_of(
            action=one_of(Action),
            fact={"type": "string", "description": "The label of a known fact, such as f1, or nothing."},
            category=one_of(Category),
            text=TEXT,
            episodes=list_of(TEXT, minItems=1),
        ),
        maxItems=MAX_FACTS,
    )
)


@dataclass(frozen=True, slots=True)
class FactEntry:
    """One entry of an answer. `fact`: the label of the known fact it is about, as the model gave it, or "".

    `episodes`: the labels of the episodes that state it, distinct, at least one.
    """

    action: Action
    fact: str
    category: Category
    text: str
    episodes: tuple[str, ...]


def material(
    episodes: Mapping[str, tuple[Memory, Sequence[StreamTurn]]], facts: Mapping[str, Memory], *, chars: int
) -> str:
    """Episodes and known facts by label. `chars`: the characters shown of each episode's turns."""
    told = "\n\n".join(_episode(label, memory, turns, chars) for label, (memory, turns) in episodes.items())
    known = "\n".join(
        f"{label} [{memory.kind}] {one_line(memory.text[:MAX_FACT_CHARS])}" for label, memory in facts.items()
    )
    return f"{fenced(known, 'known-facts') if known else 'No facts are known yet.'}\n\n{fenced(told, 'episodes')}"


def read(answer: Object, episodes: Collection[str]) -> tuple[FactEntry, ...] | str:
    """The entries of an answer, or what is wrong with it, for the model's next attempt. `episodes`: the
    valid labels.
    """
    listed = objects(answer, "facts")
    if listed is None:
        return "facts: a list of objects is expected, empty where there is nothing to tell"
    return entries("facts", listed, lambda path, one: _entry(path, one, episodes), at_most=MAX_FACTS)


def _entry(path: str, given: JsonValue | Object, episodes: Collection[str]) -> FactEntry:
    """One validated entry. Raises InvalidInput."""
    one = cast("Object", given)
    action = validation.choice(f"{path}.action", one.get("action"), Action)
    text = words(one, "text", max_chars=MAX_FACT_CHARS + 1)
    if len(text) > MAX_FACT_CHARS:
        raise InvalidInput(f"{path}.text", text, f"at most {MAX_FACT_CHARS} characters: one fact")
    if not text and action in {Action.NEW, Action.UPDATE}:
        raise InvalidInput(f"{path}.text", one.get("text"), "a sentence")
    return FactEntry(
        action=action,
        fact=words(one, "fact", max_chars=MAX_LABEL_CHARS),
        category=validation.choice(f"{path}.category", one.get("category"), Category),
        text=text,
        episodes=_labels(f"{path}.episodes", one.get("episodes"), episodes),
    )


def _labels(path: str, given: JsonValue, known: Collection[str]) -> tuple[str, ...]:
    if not isinstance(given, list) or not given:
        raise InvalidInput(path, given, "the label of at least one episode that says so")
    for label in given:
        if label not in known:
            raise InvalidInput(path, label, "one of " + ", ".join(known))
    return tuple(dict.fromkeys(str(label) for label in given))


def _episode(label: str, memory: Memory, turns: Sequence[StreamTurn], chars: int) -> str:
    title = "" if memory.title is None else f"{one_line(memory.title)}. "
    said = one_line(memory.text[:MAX_EPISODE_CHARS])
    head = f"{label} ({memory.occurred_to.astimezone(UTC):%Y-%m-%d %H:%M} UTC): {title}{said}"
    return f"{head}\n{_cut(transcript(turns), chars)}".rstrip()


def _cut(told: str, chars: int) -> str:
    """The first lines that fit into `chars` characters; the first line is cut if it alone is too long."""
    if len(told) <= chars:
        return told
    kept, _, _ = told[:chars].rpartition("\n")
    return kept or told[:chars]
