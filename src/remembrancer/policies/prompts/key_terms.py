"""Prompt: the key terms for searching by a long task."""

from __future__ import annotations

from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.policies.prompts.fence import fenced
from remembrancer.policies.prompts.fields import TEXT, Object, list_of, object_of

TASK: Final = "task"
"""The label of the block that holds the task."""
MAX_TERM_CHARS: Final = 60
MAX_TOKENS: Final = 300
"""The limit of an answer."""


def instructions(least: int, most: int) -> str:
    return (
        f"You are given a task. Name the {least} to {most} terms by which notes of earlier work would be found that"
        " help with it: names, things and notions of its domain, one to three words each, as they stand in the task or"
        " as whoever works at it would say them. Leave out common words. Do not do the task."
    )


def material(task: str, chars: int) -> str:
    """The first `chars` characters of the task, fenced."""
    return fenced(task[:chars], TASK)


def schema(least: int, most: int) -> Object:
    return object_of(terms=list_of(TEXT, minItems=least, maxItems=most))


def read(answer: Object, least: int, most: int) -> tuple[str, ...] | str:
    """The terms of an answer, distinct ignoring case; or what is wrong with it."""
    given = answer.get("terms")
    if not isinstance(given, list):
        return "terms: a list is expected"
    terms: dict[str, str] = {}
    for place, one in enumerate(given):
        try:
            term = " ".join(validation.text(f"terms[{place}]", one).split())
            validation.name(f"terms[{place}]", term, max_chars=MAX_TERM_CHARS)
        except InvalidInput as error:
            return str(error)
        terms.setdefault(term.casefold(), term)
    if not least <= len(terms) <= most:
        return f"terms: {len(terms)} different ones, {least} to {most} are expected"
    return tuple(terms.values())
