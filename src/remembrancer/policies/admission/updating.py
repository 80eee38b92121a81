"""Editing a memory: which fields may change, and the cues of the edited memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypedDict, cast

from remembrancer.domain import validation
from remembrancer.domain.event import Origin, least_trusted
from remembrancer.domain.memory import Cue, IndexedCue, Memory, MemoryDraft, MemoryWrite
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Visibility
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.flagging import reflagged
from remembrancer.policies.admission.formation import Formation, own_cue


class Changes(TypedDict, total=False):
    """New values of a memory's fields, as in `remember`. A missing field stays; None clears the field.

    `tags` and `metadata` replace the previous ones completely. `origin`: the source of the new values; the memory keeps
    the less trusted of it and its own, so that an edit never raises its trust.
    """

    text: str
    title: str | None
    kind: str
    source: str | None
    importance: float
    priority: int
    tags: Sequence[str]
    metadata: Mapping[str, JsonValue]
    valid_from: datetime | None
    valid_until: datetime | None
    visibility: Visibility | str
    origin: Origin | str


CHANGEABLE: Final = tuple(Changes.__annotations__)
"""The names of the fields that may change."""
_OF_STRENGTH: Final = frozenset({"importance", "priority"})


def updated(memory: Memory, changes: Changes, formation: Formation) -> Memory:
    """The memory with the changes, validated like a new one.

    Raises InvalidInput naming the argument with an invalid value, TypeError for an unknown field.
    """
    given = cast("dict[str, Any]", dict(changes))
    for name in given:
        if name not in CHANGEABLE:
            raise TypeError(f"a memory has no changeable field {name!r}")
    if not given:
        raise InvalidInput("changes", "nothing", "one or more of " + ", ".join(CHANGEABLE))
    if isinstance(given.get("text"), str) and given["text"] != memory.text:
        given["text"] = without_recalled(given["text"]) or given["text"]
    if "kind" in given:
        given["kind"] = formation.kind(validation.slug("kind", given["kind"]))
    if "tags" in given:
        given["tags"] = validation.tags("tags", given["tags"])
    told = {name: getattr(memory, name) for name in CHANGEABLE if name not in _OF_STRENGTH}
    strength = {name: getattr(memory.strength, name) for name in _OF_STRENGTH}
    if "origin" in given:
        given["origin"] = least_trusted([memory.origin, validation.choice("origin", given["origin"], Origin)])
    draft = MemoryDraft(**(told | strength | given))
    later = replace(
        memory,
        **{name: getattr(draft, name) for name in told},
        strength=replace(memory.strength, importance=draft.importance, priority=draft.priority),
    )
    return reflagged(later, memory)


def write_of(later: Memory, earlier: Memory, cues: Iterable[Cue]) -> MemoryWrite:
    """The edited memory with its cues: those of its own text are replaced; others, such as an episode's turns, stay."""
    before, after = own_cue(earlier).cue, own_cue(later)
    if before.text == after.cue.text:
        return MemoryWrite(later, tuple(map(analysed, cues)))
    # The passages of a long turn are its memory's own text; those of an episode's turn are not the episode's.
    reworded = later.text != earlier.text and earlier.role is not None
    others = [cue for cue in cues if cue.text != before.text and not (reworded and cue.start is not None)]
    return MemoryWrite(later, (after, *_numbered(others)))


def _numbered(cues: Iterable[Cue]) -> Iterable[IndexedCue]:
    return (analysed(replace(cue, ordinal=place)) for place, cue in enumerate(cues, start=1))
