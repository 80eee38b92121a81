"""Prompt: one text that replaces several memories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from remembrancer.policies.consolidation.near_duplicates import claim_of
from remembrancer.policies.prompts.fence import fenced
from remembrancer.policies.prompts.fields import TEXT, Object, object_of
from remembrancer.policies.rendering.safe import indented, one_line
from remembrancer.values import dataclass

MAX_TITLE_CHARS: Final = 100

_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")

SCHEMA: Final[Object] = object_of(title=TEXT, summary=TEXT)
"""The schema of an answer."""

SLEEP: Final = (
    "You condense what an assistant noted lately into one memory that has to do without the notes."
    " Keep every fact, name, number, date, preference and decision; leave out greetings and repetition."
    " Write plain sentences, in the language of the notes, and nothing that is not in them."
)
CLUSTER: Final = (
    "The notes below say nearly the same. Write the one note that may stand for all of them:"
    " what any of them states, once, in the language of the notes, and nothing that is not in them."
)


@dataclass(frozen=True, slots=True)
class HeadedMemory:
    """A memory in the prompt. `heading`: speaker and time, or ""."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    title: str
    text: str


def asked(instructions: str, *, max_chars: int) -> str:
    """The instructions, with the length limit of the answer."""
    return f"{instructions} At most {max_chars} characters, and a title of 3 to 10 words."


def material(told: Sequence[HeadedMemory]) -> str:
    """The memories, numbered from 1, fenced as untrusted text. No text can imitate another memory."""
    lines = (f"{number}. {_headed(one)}" for number, one in enumerate(told, start=1))
    return fenced("\n".join(lines), "notes")


def read(value: Object, told: Sequence[HeadedMemory], *, max_chars: int) -> Summary | str:
    """The summary, or what is wrong with the answer, for the model's next attempt: such as a number that
    no memory has.
    """
    summary, title = value.get("summary"), value.get("title")
    if not isinstance(summary, str) or not summary.strip():
        return "summary is empty"
    if len(summary) > max_chars:
        return f"summary has {len(summary)} characters, more than {max_chars}"
    if not isinstance(title, str) or not one_line(title) or len(title) > MAX_TITLE_CHARS:
        return f"title is not 1 to {MAX_TITLE_CHARS} characters"
    known = _numbers(" ".join(f"{one.heading} {one.text}" for one in told))
    for number in sorted(_DIGITS.findall(f"{title} {summary}")):
        if number.replace(",", "") not in known:
            return f"the number {number} stands in none of the notes"
    return Summary(title=one_line(title), text=summary.strip())


def _headed(told: HeadedMemory) -> str:
    text = indented(told.text)
    return f"({one_line(told.heading)}) {text}" if told.heading else text


def _numbers(text: str) -> frozenset[str]:
    """The numbers of a text as digits, including number words, without thousands separators."""
    as_words = " ".join(claim_of(text).numbers)
    return frozenset(number.replace(",", "") for number in _DIGITS.findall(f"{text} {as_words}"))
