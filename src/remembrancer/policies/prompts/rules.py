"""Prompt: rules that recorded events support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.memory import Memory
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.policies.prompts.extraction import numbers
from remembrancer.policies.prompts.fence import fenced
from remembrancer.policies.prompts.fields import FRACTION, INTEGER, TEXT, Object, entries, list_of, object_of
from remembrancer.policies.rendering.safe import one_line
from remembrancer.values import dataclass

MAX_TOKENS: Final = 4_096
"""The limit of an answer."""
ENTRIES: Final = "entries"
"""The label of the block that holds the entries."""
MAX_PART_BYTES: Final = 1_000
"""The UTF-8 bytes of a rule's pattern, and of its action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule in a model's answer: when `when`, do `then`. `confidence` in [0, 1]; `evidence`: the distinct numbers of
    the entries that support it.
    """

    when: str
    then: str
    confidence: float
    evidence: tuple[int, ...]


def instructions(evidence: int, at_most: int) -> str:
    return (
        "You read entries of a journal of work and look for rules that would have helped: when this happens, do that."
        f" A rule must be shown by at least {evidence} of the entries, not by one alone, and be of use to whoever meets"
        " the same again. Do not repeat what an entry says; do not invent what none shows.\n"
        f"Answer with at most {at_most} rules. when: the situation, as it would be recognised. do: what to do then, in"
        " one sentence. confidence: 0 to 1, how far the entries show it. evidence: the numbers of the entries that"
        " show it. Where there is no rule, answer with an empty list."
    )


def material(entries: Sequence[Memory], entry_chars: int) -> str:
    """The entries, numbered from 1, fenced: kind, time, and text on one line."""
    return fenced("\n".join(_line(place, entry, entry_chars) for place, entry in enumerate(entries, start=1)), ENTRIES)


def _line(place: int, entry: Memory, chars: int) -> str:
    told = one_line(without_recalled(entry.text if entry.title is None else f"{entry.title}: {entry.text}"))
    cut = told if len(told) <= chars else f"{told[:chars].rstrip()}…"
    return f"[{place}] {entry.occurred_to:%Y-%m-%d %H:%M}, {one_line(entry.kind)}: {cut}"


def schema(evidence: int, at_most: int) -> Object:
    rule = {"when": TEXT, "do": TEXT, "confidence": FRACTION, "evidence": list_of(INTEGER, minItems=evidence)}
    return object_of(rules=list_of(object_of(**rule), maxItems=at_most))


def read(answer: Object, shown: int, evidence: int, at_most: int) -> tuple[Rule, ...] | str:
    """The rules of an answer, or what is wrong with it. `shown`: the number of entries in the prompt."""
    given = answer.get("rules")
    if not isinstance(given, list):
        return "rules: a list is expected, empty where there is no rule"
    return entries("rules", given, lambda path, one: _rule(path, one, range(1, shown + 1), evidence), at_most=at_most)


def _rule(path: str, given: JsonValue | Object, shown: range, evidence: int) -> Rule:
    if not isinstance(given, dict):
        raise InvalidInput(path, given, "an object with when, do, confidence and evidence")
    shown_by = numbers(f"{path}.evidence", given.get("evidence"), shown)
    if len(shown_by) < evidence:
        raise InvalidInput(f"{path}.evidence", list(shown_by), f"at least {evidence} different entries")
    return Rule(
        when=validation.text(f"{path}.when", given.get("when"), max_bytes=MAX_PART_BYTES).strip(),
        then=validation.text(f"{path}.do", given.get("do"), max_bytes=MAX_PART_BYTES).strip(),
        confidence=validation.fraction(f"{path}.confidence", given.get("confidence")),
        evidence=shown_by,
    )
